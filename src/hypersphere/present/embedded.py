"""Figures inside a page: one file that needs no other, as small as it can be without looking worse."""

import base64
import io
from pathlib import Path

from PIL import Image

STEP = 17
"""Levels of a colour channel that become one: 16 are left. Lines and letters stay crisp, and no two colours of a figure merge."""


def data(svg: Path) -> str:
    """A figure as the address of an image: its svg or a picture of its png, whichever is smaller.

    Args:
        svg: the figure's file. The png, if there is one, lies beside it.
    """
    drawn = svg.read_bytes()
    picture = _picture(svg.with_suffix(".png"))
    kind, chosen = ("svg+xml", drawn) if picture is None or len(drawn) <= len(picture) else ("webp", picture)
    return f"data:image/{kind};base64,{base64.b64encode(chosen).decode('ascii')}"


def _picture(png: Path) -> bytes | None:
    if not png.is_file():
        return None
    levels = [min(255, round(level / STEP) * STEP) for level in range(256)]
    written = io.BytesIO()
    with Image.open(png) as image:
        image.convert("RGB").point(levels * 3).save(written, "WEBP", lossless=True, quality=30, method=3)
    return written.getvalue()
