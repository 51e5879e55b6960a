"""Figures inside a page: one file that needs no other, as small as it can be without looking worse."""

import base64
import io
from pathlib import Path

from PIL import Image

LEVELS = 8
"""Levels of a colour channel that are kept. Lines and letters stay crisp, and no two colours of a legend become one."""
WIDTH = 900
"""Pixels of a picture that is full of dots, which is smaller as a photograph."""


def data(svg: Path) -> str:
    """A figure as the address of an image: its svg or a picture of its png, whichever is smallest.

    Args:
        svg: the figure's file. The png, if there is one, lies beside it.
    """
    ways = [("svg+xml", svg.read_bytes())]
    png = svg.with_suffix(".png")
    if png.is_file():
        with Image.open(png) as image:
            ways += [("webp", written) for written in _pictures(image.convert("RGB"))]
    kind, chosen = min(ways, key=lambda way: len(way[1]))
    return f"data:image/{kind};base64,{base64.b64encode(chosen).decode('ascii')}"


def _pictures(image: Image.Image) -> tuple[bytes, bytes]:
    """The picture without loss in fewer colours, and as a photograph."""
    step = 255 / (LEVELS - 1)
    fewer = image.point([round(round(level / step) * step) for level in range(256)] * 3)
    width = min(WIDTH, image.width)
    photograph = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    return _webp(fewer, lossless=True, quality=30, method=3), _webp(photograph, quality=40, method=4)


def _webp(image: Image.Image, **how: int) -> bytes:
    written = io.BytesIO()
    image.save(written, "WEBP", **how)
    return written.getvalue()
