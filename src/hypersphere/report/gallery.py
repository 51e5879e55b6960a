"""The pictures of docs/gallery.md: ``python -m hypersphere.report.gallery``, which `make pages` calls.

The page names its pictures, ``images/gallery/<paper>-<figure>.png``; each is a figure of an exact study, drawn from
results/exact.
"""

import re
from pathlib import Path

from PIL import Image

from hypersphere import files
from hypersphere.config import project
from hypersphere.provenance import exact
from hypersphere.report import figures, style
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import ExactResults

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "gallery.md"
SHOWN = re.compile(r"\]\((images/gallery/(\w+)-(\w+)\.png)\)")
"""A picture of the page: its path, its paper and its figure."""
COLOURS = 256


def build(config: project.Config, page: Path) -> None:
    """Draw every picture that the page shows, and remove those that it no longer shows."""
    results = ExactResults(config, exact.originals(config))
    shown = set()
    for path, paper, figure in SHOWN.findall(page.read_text(encoding="utf-8")):
        picture = page.parent / path
        shown.add(picture)
        context = Context(results, config.papers[paper], figure)
        with style.house_style():
            figures.save(study_figure.draw(context), [picture], "")
        with files.replacing(picture) as smaller:
            colours = Image.open(picture).convert("RGB").quantize(COLOURS)
            colours.save(smaller, format="png", optimize=True)
    folder = page.parent / "images" / "gallery"
    for picture in set(folder.glob("*.png")) - shown:
        picture.unlink()


if __name__ == "__main__":
    build(project.load(ROOT, {}), PAGE)
