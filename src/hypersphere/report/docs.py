"""The part of README.md that results/report writes: its findings. And the pictures of docs/images.

`make pages` makes the report, and then writes them anew by ``python -m hypersphere.report.docs``.
"""

import shutil
from pathlib import Path

from hypersphere import files
from hypersphere.config.rules import GRADES
from hypersphere.provenance.tables import Row
from hypersphere.report import evidence, findings, forest, front, our_studies
from hypersphere.report.evidence import REPORT, Evidence
from hypersphere.wording import renewed

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by make pages -->"
END = "<!-- until here -->"
PICTURES = {front.NAME: "front", forest.NAMES[0]: "forest", our_studies.NAME: "studies"}
"""Pictures of the report, by their names in docs/images."""


def lead(known: Evidence) -> str:
    """The findings of the first screen, each with its certainty, and what is not known."""
    leading = [f"- {row['headline']}{_certainty(row)}" for row in findings.leading(known.findings)]
    unknown = " ".join(row["sentence"] for row in findings.not_known(known.findings))
    return "\n".join([*leading, "", f"**What we do not know.** {unknown}"])


def _certainty(row: Row) -> str:
    """What a paper's own table says of its text has no certainty, because it says nothing of the world."""
    return f" *Certainty: {row['certainty']}.*" if row["certainty"] != GRADES[-1] else ""


def build(root: Path) -> None:
    """Write the findings into README.md, and copy the pictures."""
    readme = root / "README.md"
    part = lead(evidence.read(root))
    files.write_text(readme, renewed(readme.read_text(encoding="utf-8"), BEGIN, END, part))
    for name, image in PICTURES.items():
        shutil.copyfile(root / REPORT / f"{name}.png", root / "docs" / "images" / f"{image}.png")


if __name__ == "__main__":
    build(ROOT)
