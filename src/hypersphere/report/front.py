"""The picture above all, which says one thing in a look.

A paper's ``front.py`` draws it, and refuses to where the evidence does not bear its title. Without that file there is
no picture.
"""

from pathlib import Path

from hypersphere.config import paper_code
from hypersphere.report import intervals
from hypersphere.report.evidence import Evidence

NAME = "front"


def alt() -> str:
    """What the picture shows, in words; empty where there is none."""
    module = paper_code.front()
    return str(paper_code.load(module, "ALT")) if module else ""


def build(root: Path, known: Evidence, folder: Path) -> None:
    """Write front.{svg,png} into the folder, and a png for a narrow window."""
    module = paper_code.front()
    if module is None:
        return
    draw = paper_code.load(module, paper_code.FRONT)
    intervals.save(folder, NAME, lambda layout: draw(known, root, narrow=layout.above))
