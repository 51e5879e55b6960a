"""What documents say is checked when a plan is shown, before anything is trained: one sentence with file and field."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config import texts
from hypersphere.exact import theorems

from ...fixtures import Project, Refused
from ...golden.released import configured, released

P = "papers/p"
GOOD = {
    f"{P}/claims.csv": """\
id,kind,origin,artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reading,sentence,source,direction
p.cut,value,printed,table,simclr,cut,,cats,,knn_top1,61.1,0.4,as printed,,Table 1,
p.base,value,printed,table,simclr,baseline,,cats,,knn_top1,56.5,,as printed,,Table 1,
p.gain,comparison,printed,table,simclr,cut,baseline,cats,,knn_top1,,,as printed,A cut gains,Table 1,
p.said,comparison,printed,told,,,,,,share,,,as printed,It says so,Sec. 1,
p.steps,value,printed,told_too,,,,,,steps,inf,,as printed,,Table 2,
p.lemma,theorem,printed,lemma,,,,,,,,,as printed,It is so,Lemma 1,
p.lemma.p1,theorem,corrected,lemma,,,,,,,,,P1,It is nearly so,Lemma 1,
""",
    f"{P}/sentences.yaml": """\
p.said:
  checks: [{cells: {artifact: table, variant: cut}, minus: {variant: baseline}, is: above, than: 1}]
""",
    f"{P}/findings.yaml": """\
gains:
  question: Does a cut gain?
  lead: 1
  about: [{id: p.gain, kind: comparison}]
  also: {other: p.cut, lemma: p.lemma}
  headline:
    holds: "A cut gains {effect}, to {other.value} ({place})."
    fails: "No: {statement}; {lemma.counterexample} {{so}}."
    opposite: "No."
    cannot tell: "Open."
""",
    f"{P}/errata.yaml": """\
- id: P1
  place: Lemma 1
  kind: breaks
  printed: so
  chosen: nearly so
  of: text
  decided: by the numbers
  tests: [p.gain, p.lemma.p1, "tests/unit/config/test_texts.py::test_what_is_right_is_taken[x]"]
""",
    "CITATION.cff": """\
cff-version: 1.2.0
title: ours
version: 1.2.3
date-released: 2026-11-24
repository-code: https://code.example/us/ours
authors: [{name: we}, {given-names: A., family-names: B}]
""",
    f"{P}/theorems.py": 'STATEMENTS = (Statement("p.lemma", so), stated("p.lemma.p1", partial(so, nearly=True)))\n',
}
STUDY = {"draw": "study_table", "title": "Told"}
PAPER = {
    "artifacts.told": STUDY | {"study": "sentences", "shows": ["p.gain"]},
    "artifacts.told_too": STUDY | {"study": "printed_numbers"},
    "report": {"short": "the p", "gravest": ["p.lemma"]},
}


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with one of each file that documents have, in which nothing is wrong."""
    folder = project(paper=PAPER)
    for name, text in GOOD.items():
        files.write_text(folder / name, text)
    texts.statements.cache_clear()
    texts._source.cache_clear()
    yield folder
    texts.statements.cache_clear()


THEOREMS = f"{P}/theorems.py"
CLAIMS, TOLD, FINDINGS = f"{P}/claims.csv", f"{P}/sentences.yaml", f"{P}/findings.yaml"
ERRATA, CITED, CERTAIN, RULES = (
    f"{P}/errata.yaml",
    "CITATION.cff",
    "config/certainty.yaml",
    "config/statistics.yaml",
)
PAPERS = f"{P}/paper.yaml"
MISTAKES: dict[str, tuple[str, str, str, str]] = {
    # claims.csv
    "theorems without a list": (THEOREMS, "", "STATEMENTS", "STATEMENT"),
    "theorems that are no Python": (THEOREMS, "", "STATEMENTS = (", "STATEMENTS = (("),
    "a theorem without a statement": (CLAIMS, "p.lemmas: kind", "p.lemma,", "p.lemmas,"),
    "a theorem in another reading": (
        CLAIMS,
        "p.lemma: reading",
        "as printed,It is so",
        "P1,It is so",
    ),
    "565 percent": (CLAIMS, "line 2 (p.cut).reported", "61.1", "565"),
    "a hair above 100 percent": (CLAIMS, "line 2 (p.cut).reported", "61.1", "100.0001"),
    "a negative accuracy": (CLAIMS, "line 2 (p.cut).reported", "61.1", "-3"),
    "an accuracy of infinity": (CLAIMS, "line 2 (p.cut).reported", "61.1", "inf"),
    "minus infinity": (CLAIMS, "line 6 (p.steps).reported", ",inf,", ",-inf,"),
    "no number": (CLAIMS, "line 2 (p.cut).reported", "61.1", "nan"),
    "a deviation of 300 points": (CLAIMS, "line 2 (p.cut).reported_std", ",0.4,", ",300,"),
    "a gain of 150 points": (
        CLAIMS,
        "line 4 (p.gain).reported",
        "cats,,knn_top1,,,as printed,A cut",
        "cats,,knn_top1,150,,as printed,A cut",
    ),
    # sentences.yaml
    "a sentence of no claim": (TOLD, "p.says", "p.said:", "p.says:"),
    "a relation": (TOLD, "p.said.checks.0.is", "is: above", "is: over"),
    "an artifact that prints nothing": (
        TOLD,
        "p.said.checks.0.cells",
        "artifact: table",
        "artifact: tabel",
    ),
    "cells that are not printed": (TOLD, "p.said.checks.0.cells", "variant: cut", "variant: cuts"),
    "a key that no cell has": (
        TOLD,
        "p.said.checks.0.cells",
        "variant: cut}",
        "variant: cut, colour: red}",
    ),
    "a comparison with itself": (
        TOLD,
        "p.said.checks.0.minus",
        "minus: {variant: baseline}",
        "minus: {variant: cut}",
    ),
    "two thresholds": (TOLD, "p.said.checks.0.than", "than: 1", "than: [1, 2]"),
    "no checks": (TOLD, "p.said.check", "checks: [{", "check: [{"),
    "a list": (TOLD, "", "p.said:\n ", "- p.said\n#"),
    # findings.yaml
    "an open brace": (FINDINGS, "gains.headline.holds", "gains {effect}", "gains {effect"),
    "a single brace": (FINDINGS, "gains", '"Open."', '"Open }."'),
    "an attribute": (FINDINGS, "gains.headline.holds", "{effect}", "{effect.real}"),
    "an attribute of another": (
        FINDINGS,
        "gains.headline.holds",
        "{other.value}",
        "{other.__class__}",
    ),
    "an index": (FINDINGS, "gains.headline.holds", "{effect}", "{effect[0]}"),
    "a number for a name": (FINDINGS, "gains.headline.holds", "{effect}", "{0}"),
    "no name": (FINDINGS, "gains.headline.holds", "{effect}", "{}"),
    "10^12 places": (FINDINGS, "gains.headline.holds", "{effect}", "{effect:.1000000000000f}"),
    "a conversion": (FINDINGS, "gains.headline.holds", "{effect}", "{effect!r}"),
    "the effect of a value": (
        FINDINGS,
        "gains: headline.holds: {other.effect}",
        "{other.value}",
        "{other.effect}",
    ),
    "the value of a comparison": (
        FINDINGS,
        "gains: headline.holds: {value}",
        "gains {effect}",
        "gains {value}",
    ),
    "the draws of a comparison": (
        FINDINGS,
        "gains: headline.holds: {draws}",
        "gains {effect}",
        "gains {draws}",
    ),
    "a counterexample of a comparison": (
        FINDINGS,
        "gains: headline.fails: {counterexample}",
        "{lemma.counterexample}",
        "{counterexample}",
    ),
    "the statement of a value": (
        FINDINGS,
        "gains: headline.holds: {other.statement}",
        "{other.value}",
        "{other.statement}",
    ),
    "another that is not named": (
        FINDINGS,
        "gains.headline.holds",
        "{other.value}",
        "{another.value}",
    ),
    "a column": (FINDINGS, "gains.about.0.sort", "kind: comparison", "sort: comparison"),
    "a claim": (FINDINGS, "gains: about.0", "{id: p.gain,", "{id: p.gains,"),
    "a pattern": (FINDINGS, "gains: about.0", "{id: p.gain,", '{id: "q.*",'),
    "a kind": (FINDINGS, "gains: about.0", "kind: comparison", "kind: theorem"),
    "an outcome": (FINDINGS, "gains.headline.opposed", "    opposite:", "    opposed:"),
    "an outcome of studies": (
        FINDINGS,
        "gains.headline.unclear",
        "    opposite:",
        "    unclear: x\n    opposite:",
    ),
    "a leading claim": (FINDINGS, "gains: leading", "  lead: 1", "  leading: p.gains"),
    "a place that is a word": (FINDINGS, "gains.lead", "lead: 1", "lead: first"),
    "a place of 0": (FINDINGS, "gains.lead", "lead: 1", "lead: 0"),
    "another claim": (FINDINGS, "gains: also.other", "other: p.cut", "other: p.cuts"),
    "a study": (
        FINDINGS,
        "gains.headline.opposite",
        "about: [{id: p.gain, kind: comparison}]",
        "study: s",
    ),
    # errata.yaml
    "a test in no file": (
        ERRATA,
        "P1: tests: 'tests/unit/config/test_text.py::test_what_is_right_is_taken[x]'",
        "test_texts.py",
        "test_text.py",
    ),
    "a test that is not there": (
        ERRATA,
        "P1: tests: 'tests/unit/config/test_texts.py::test_what_is_left_is_taken[x]'",
        "test_what_is_right",
        "test_what_is_left",
    ),
    "a statement that is not there": (
        ERRATA,
        "P1: tests: 'p.lemma.p2'",
        "p.lemma.p1",
        "p.lemma.p2",
    ),
    "a kind of erratum": (ERRATA, "P1.kind", "kind: breaks", "kind: broken"),
    # certainty.yaml, statistics.yaml
    "a grade": (CERTAIN, "rungs.proof.grade", "grade: high", "grade: highest"),
    "an order": (CERTAIN, "rungs.exact_", "  proof:", "  exact_:"),
    "a shortcoming": (CERTAIN, "rungs.published.at_most.few_seeds", "few_runs:", "few_seeds:"),
    "a rule": (RULES, "powers", "power:", "powers:"),
    "a margin of 0": (RULES, "margin.below_high", "below_high: 1.5", "below_high: 0"),
    # CITATION.cff
    "a citation that is a list": (CITED, "", GOOD["CITATION.cff"], "- a\n"),
    "a citation that is empty": (CITED, "", GOOD["CITATION.cff"], ""),
    "no version": (CITED, "version", "version: 1.2.3\n", ""),
    "a version that is a number": (CITED, "version", "version: 1.2.3", "version: 1.2"),
    "a version that is a path": (CITED, "version", "version: 1.2.3", "version: ../../x"),
    "an address": (CITED, "repository-code", "https://code.example", "code.example"),
    "a day": (CITED, "date-released", "2026-11-24", "2026-11-34"),
    "an author without a name": (CITED, "authors.0", "{name: we}", "{alias: we}"),
    "an author with half a name": (CITED, "authors.1", ", family-names: B", ""),
    "authors that are words": (CITED, "authors.0", "[{name: we}", "[we"),
    # paper.yaml
    "a claim that is shown": (PAPERS, "artifacts.told.shows", "- p.gain", "- p.gains"),
    "a gravest statement": (PAPERS, "report.gravest", "- p.lemma", "- p.lemma.p1"),
}
"""The file, the place in it that is named, what is right and what stands there instead."""


def test_what_is_right_is_taken(root: Path) -> None:
    assert next(preview.lines(planning.make(root))).startswith("scale")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_by_a_plan(root: Path, refused: Refused, mistake: str) -> None:
    file, place, right, wrong = MISTAKES[mistake]
    before = (root / file).read_text(encoding="utf-8")
    assert right in before
    files.write_text(root / file, before.replace(right, wrong, 1))
    with refused(file, *filter(None, [place])):
        next(preview.lines(planning.make(root)))


def test_a_claim_of_a_sentence_that_is_not_there_is_said(root: Path, refused: Refused) -> None:
    files.write_text(root / TOLD, "{}\n")
    with refused("papers/p/sentences.yaml", "p.said"):
        texts.check(planning.make(root))
    (root / TOLD).unlink()
    with refused("papers/p/sentences.yaml"):
        texts.check(planning.make(root))


@pytest.mark.parametrize("paper", configured().papers)
def test_statements_are_read_as_they_are_imported(paper: str) -> None:
    config = configured("quick")
    imported = [statement.id for statement in theorems.statements(config, paper)]
    assert list(texts.statements(config.theorems_file(paper))) == imported


def test_the_released_documents_are_right() -> None:
    config = configured("quick")
    assert sum(len(texts.statements(config.theorems_file(paper))) for paper in config.papers) > 50
    texts.check(released("quick"))
