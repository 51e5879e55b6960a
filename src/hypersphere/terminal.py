"""What a terminal that is not UTF-8 shows of our output: an ASCII spelling, and never an error."""

import codecs
import io
from collections.abc import Mapping
from typing import Any

SPELT: Mapping[str, str] = {
    "±": "+/-",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "“": '"',
    "”": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "…": "...",
    "·": "*",
    "\N{MULTIPLICATION SIGN}": "x",
    "²": "^2",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "\N{NO-BREAK SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ",
}
"""Characters that our sentences use; any other is shown by its number, as ``\\u03bb``."""


def spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """An error handler of ``codecs``, which spells one character of a text that cannot be encoded.

    A byte of a file's name that is no character comes out as that byte, as it does from ``ls``.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    number, end = ord(character), error.start + 1
    if 0xDC80 <= number <= 0xDCFF:
        return bytes([number - 0xDC00]), end
    return SPELT.get(character, character.encode("ascii", "backslashreplace").decode("ascii")), end


def use(*streams: Any) -> None:
    """Let these streams spell what their encoding lacks, and show each line at once, wherever they lead.

    Whatever is not a stream of text stays as it is.
    """
    codecs.register_error("spell", spell)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spell", line_buffering=True)
