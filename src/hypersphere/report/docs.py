"""What results/report writes into the pages of docs: findings, results of each paper, and pictures.

`make pages` makes the report, and then writes them anew by ``python -m hypersphere.report.docs``. The words are in
templates/lead.md and templates/paper.md.
"""

import shutil
from pathlib import Path

from hypersphere import files
from hypersphere.config import project
from hypersphere.config.certainty import GRADES
from hypersphere.config.project import Config
from hypersphere.config.rules import RESULTS, Answer
from hypersphere.report import (
    counts,
    evidence,
    findings,
    forest,
    front,
    our_studies,
    rendering,
)
from hypersphere.report.evidence import REPORT, Evidence
from hypersphere.wording import replace_between

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by make pages -->"
END = "<!-- until here -->"
PAGES = Path("docs") / "papers"
"""The folder of the pages of results, one a paper."""
PICTURES = {front.NAME: "front", forest.NAMES[0]: "forest", our_studies.NAME: "studies"}
"""Pictures of the report, by their names in docs/images."""


def lead(known: Evidence) -> str:
    """The findings of the first screen, each with its certainty, and what is not known."""
    return rendering.fill(
        "lead.md",
        leading=findings.leading(known.findings),
        unknown=findings.not_known(known.findings),
    )


def results_of(paper: str, title: str, known: Evidence) -> str:
    """The page of a paper: how its claims stand, what we found, what is undecided, and what we have not tested."""
    published = [
        claim for claim in known.claims if claim["paper"] == paper and claim["origin"] == "printed"
    ]
    rows = [row for row in known.findings if row["paper"] == paper]
    undecided = [row for row in rows if row["outcome"] == Answer.CANNOT_TELL]
    untested = [row for row in rows if row["outcome"] == Answer.NOT_TESTED]
    found = [row for row in rows if row not in (*undecided, *untested)]
    found.sort(key=lambda row: GRADES.index(row["certainty"]))
    return rendering.fill(
        "paper.md",
        title=title,
        kinds=counts.KINDS,
        results=RESULTS,
        by_kind=counts.by_kind(published),
        found=found,
        undecided=undecided,
        untested=untested,
    )


def build(config: Config) -> None:
    """Write the findings into README.md, the page of each paper, and the pictures."""
    known = evidence.read(config.root)
    readme = config.root / "README.md"
    files.write_text(
        readme, replace_between(readme.read_text(encoding="utf-8"), BEGIN, END, lead(known))
    )
    for paper, declared in config.papers.items():
        page = config.root / PAGES / f"{paper}.md"
        files.write_text(page, results_of(paper, declared.title, known))
    for name, image in PICTURES.items():
        picture = config.root / "docs" / "images" / f"{image}.png"
        shutil.copyfile(config.root / REPORT / f"{name}.png", picture)


if __name__ == "__main__":
    build(project.load(ROOT, {}))
