"""Figures inside a page: one file that needs no other. The full figure lies beside the page."""

import base64
import io
from pathlib import Path

from PIL import Image

WIDTH = 720
"""Pixels: a figure is shown at most 7.2 inches wide, which are 691 pixels of a page."""
QUALITY = 28
"""Of WebP, out of 100: letters and thin lines stay sharp, and colours keep their shades. As many colours in a palette
take twice the bytes; fewer colours draw steps into maps where there are none."""


def data(svg: Path) -> str:
    """A figure as the address of an image: its svg or a picture of its png, whichever is smaller.

    Args:
        svg: the figure's file. The png, if there is one, lies beside it.
    """
    ways = [("svg+xml", svg.read_bytes())]
    if svg.with_suffix(".png").is_file():
        ways.append(("webp", _picture(svg.with_suffix(".png"))))
    kind, chosen = min(ways, key=lambda way: len(way[1]))
    return f"data:image/{kind};base64,{base64.b64encode(chosen).decode('ascii')}"


def _picture(png: Path) -> bytes:
    written = io.BytesIO()
    with Image.open(png) as image:
        width = min(WIDTH, image.width)
        size = (width, round(image.height * width / image.width))
        image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(written, "WEBP", quality=QUALITY, method=6)
    return written.getvalue()
