"""What results/report writes into the pages of docs: findings, results of each paper, and pictures.

`make pages` makes the report, and then writes them anew by ``python -m hypersphere.report.docs``.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from hypersphere import files
from hypersphere.config import project
from hypersphere.config.project import Config
from hypersphere.config.rules import GRADES, RESULTS, Answer
from hypersphere.provenance.tables import Row
from hypersphere.report import counts, evidence, findings, forest, front, our_studies
from hypersphere.report.evidence import REPORT, Evidence
from hypersphere.wording import renewed

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by make pages -->"
END = "<!-- until here -->"
PAGES = Path("docs") / "papers"
"""The folder of the pages of results, one a paper."""
WRITTEN = """`make pages` writes this page from the evidence.
[How we grade certainty](../statistics.md#what-is-known-the-ladder-and-certainty), [all words](../glossary.md)."""
PICTURES = {front.NAME: "front", forest.NAMES[0]: "forest", our_studies.NAME: "studies"}
"""Pictures of the report, by their names in docs/images."""


def lead(known: Evidence) -> str:
    """The findings of the first screen, each with its certainty, and what is not known."""
    leading = [f"- {row['headline']}{_certainty(row)}" for row in findings.leading(known.findings)]
    unknown = " ".join(row["sentence"] for row in findings.not_known(known.findings))
    return "\n".join([*leading, "", f"**What we do not know.** {unknown}"])


def _certainty(row: Row) -> str:
    """The certainty of a finding. What a paper's own table says of its text has none: it says nothing of the world."""
    return (
        f" *Certainty: {row['certainty']}.*"
        if row["certainty"] != GRADES[-1]
        else " *Not graded: arithmetic.*"
    )


def results_of(paper: str, title: str, known: Evidence) -> str:
    """The page of a paper: how its claims stand, what we found, what is undecided, and what we have not tested."""
    rows = [row for row in known.findings if row["paper"] == paper]
    by_outcome: dict[str, list[Row]] = {Answer.CANNOT_TELL: [], Answer.NOT_TESTED: []}
    found: list[Row] = []
    for row in rows:
        by_outcome.get(row["outcome"], found).append(row)
    parts = [
        f"# {title}",
        WRITTEN,
        counts_in_words([claim for claim in known.claims if claim["paper"] == paper]),
    ]
    if found:
        surest_first = sorted(found, key=lambda row: GRADES.index(row["certainty"]))
        parts += [
            "## What we found",
            *(f"**{row['headline']}** {_rest(row)}" for row in surest_first),
        ]
    if undecided := by_outcome[Answer.CANNOT_TELL]:
        parts += ["## What is undecided"]
        parts += [f"**{row['question']}** {row['headline']} {_rest(row)}" for row in undecided]
    if untested := by_outcome[Answer.NOT_TESTED]:
        parts += [
            "## What we have not tested yet",
            "\n".join(f"- {row['question']}" for row in untested),
        ]
    return "\n\n".join(map(str.strip, parts)) + "\n"


def counts_in_words(claims: Sequence[Row]) -> str:
    """How the claims of a paper stand, as a table of results by what answers them, of published claims alone."""
    published = [claim for claim in claims if claim["origin"] == "printed"]
    if not published:
        return "Every question below has a plan, which we fixed before the first run of its study."
    lines = [
        f"| published claims | {' | '.join(RESULTS)} | all |",
        f"|---|{'--:|' * (len(RESULTS) + 1)}",
    ]
    for kind, of_kind in counts.by_kind(published).items():
        numbers = of_kind.values()
        lines.append(f"| {counts.KINDS[kind]} | {' | '.join(map(str, numbers))} | {sum(numbers)} |")
    return "\n".join(lines)


def _rest(row: Row) -> str:
    """How we know a finding, and its certainty."""
    return row["sentence"].removeprefix(row["headline"]).strip() + _certainty(row)


def build(config: Config) -> None:
    """Write the findings into README.md, the page of each paper, and the pictures."""
    known = evidence.read(config.root)
    readme = config.root / "README.md"
    files.write_text(readme, renewed(readme.read_text(encoding="utf-8"), BEGIN, END, lead(known)))
    for paper, declared in config.papers.items():
        page = config.root / PAGES / f"{paper}.md"
        files.write_text(page, results_of(paper, declared.title, known))
    for name, image in PICTURES.items():
        shutil.copyfile(
            config.root / REPORT / f"{name}.png", config.root / "docs" / "images" / f"{image}.png"
        )


if __name__ == "__main__":
    build(project.load(ROOT, {}))
