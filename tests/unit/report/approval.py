"""Approved text: what pages and tables say of made-up results, in files that a person has read (``approved/``).

After a change of words that is meant, ``APPROVE=1 pytest tests/unit/report`` writes them anew; read the difference.
"""

import os
import re
from html import unescape
from pathlib import Path

FOLDER = Path(__file__).parent / "approved"


def approve(name: str, text: str) -> None:
    """Compare with ``approved/<name>``, or write it."""
    file = FOLDER / name
    if os.environ.get("APPROVE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), (
        f"{file}: other words; if they are meant: APPROVE=1"
    )


def read_aloud(html: str) -> str:
    """What is read of a page, without its styles and script: a line for each paragraph, row, heading and claim."""
    body = re.sub(r"<(style|script|title)\b.*?</\1>|<!.*?>", "", html, flags=re.DOTALL)
    blocks = re.split(
        r"</?(?:p|li|tr|h\d|summary|option|figcaption|form|nav|section|div|details)\b[^>]*>", body
    )
    said = (" ".join(unescape(re.sub(r"<[^>]+>", " ", block)).split()) for block in blocks)
    return "\n".join(filter(None, said)) + "\n"
