"""The article: prose without a digit, and content that follows the tables."""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from hypersphere import files
from hypersphere.config.artifacts import Section
from hypersphere.config.validation import read_mapping
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import article, page, studies
from hypersphere.report.article import Article
from hypersphere.report.evidence import Evidence
from hypersphere.statistics.confirmed import TABLES

from ....golden.released import configured
from ..conftest import ROOT
from ..made_up import comparison, stated, table
from .conftest import SVG

PROJECT = ROOT / "tests" / "project"
PAPER = ROOT / "paper"
ERRATA = "papers/errata.yaml"
TABLE1 = {
    "paper": "alpha",
    "artifact": "table1",
    "method": "plain",
    "variant": "cut",
    "baseline": "default",
}
TABLE1 |= {"dataset": "photos", "metric": "knn_top1", "scale": "quick", "certainty": "low"}
CLAIMS = [
    stated("alpha.one", "theorem", "fails", paper="alpha", sentence='"One" is one'),
    stated("alpha.two", "theorem", "holds", paper="alpha", sentence="Two is two"),
    comparison("alpha.gain", 4.6, 4.0, 1.5, answer="holds", **TABLE1),
    comparison("alpha.implied", 3, 4.0, 1.5, origin="implied", floored="baseline", **TABLE1),
    comparison("alpha.ours", 3, 4.0, 1.5, origin="ours", answer="holds", **TABLE1),
    comparison(
        "alpha.later",
        "",
        kind="value",
        **TABLE1 | {"baseline": "", "certainty": "none", "scale": ""},
    ),
    stated(
        "alpha.said",
        "sentence",
        "its table contradicts it",
        paper="alpha",
        sentence="All are above",
    ),
]
GRAVE = {
    "statement": "“One” is one",
    "source": "Eq. 1",
    "counterexample": "fails at theta = (0), where the left side is 0.8 and the right side 0.5",
}
FINDINGS = [
    {
        "id": "first",
        "paper": "several",
        "question": "Do they hold?",
        "sentence": "Half do.",
        "lead": "1",
    },
    {
        "id": "gain",
        "paper": "alpha",
        "question": "Does a cut help?",
        "sentence": "It does.",
        "about": "alpha.gain",
    },
]
CRITERIA = {
    "paper": "alpha",
    "rung": "laptop",
    "compared": 2,
    "same_sign": 2,
    "clear": 1,
    "printed_inside": 2,
}
CRITERIA |= {"with_interval": 0, "ours_inside": 0}


def prose() -> str:
    return (PAPER / "report.typ").read_text(encoding="utf-8")


def test_sections_follow_the_argument_and_the_long_lists_come_last() -> None:
    """What is firmest comes first: proofs, computations, tables, small encoders, what is open; then how and limits."""
    body, appendix = prose().split("#show: appendix")
    sections = re.findall(r"^= (.+?)(?: <\w+>)?$", body, re.MULTILINE)
    begin = ("Introduction", "What can be proved", "What can be computed", "What the tables say")
    begin += ("What small encoders show", "What is open", "Methods", "Limits")
    assert [
        section
        for section, start in zip(sections, begin, strict=True)
        if not section.startswith(start)
    ] == []
    # Sentences that are made for every question stand in the appendix alone; the abstract has headlines.
    for generated in ("#asked(", "study.sentence"):
        assert generated in appendix
        assert generated not in body


def test_each_term_is_explained_before_the_first_result() -> None:
    introduction = prose().partition("= What can be proved")[0]
    terms = (
        "margin",
        "Emphasised positives",
        "Distance polarization",
        "cut",
        "GradScale",
        "double metric",
    )
    assert [term for term in terms if f"_{term}_" not in introduction] == []


def test_no_digit_is_typed_into_the_prose() -> None:
    text = prose()
    assert re.findall(r".*\d.*", text) == []
    # A result can be spelt out too; the layout may hold sizes, but no sentence.
    assert not re.search(r"\b(percent|per cent|points? (higher|lower|better))\b", text)


def test_no_semicolon_of_the_prose_is_eaten() -> None:
    """To Typst a semicolon right after an expression is the expression's end: ``#if a [b]; c`` is set as ``b c``.

    One that is meant so is followed by a mark: ``#title;.``
    """
    eaten = re.compile(r"(?:[\])}]|#[\w.-]+);(?=\s)")
    assert eaten.search("#if tuned [at its best]; the others")  # control
    texts = {file.name: file.read_text(encoding="utf-8") for file in (ROOT / "paper").glob("*.typ")}
    assert {name: found for name, text in texts.items() if (found := eaten.findall(text))} == {}


@dataclass
class Report:
    """results/report of the fixture's project, and the plan that it is made with."""

    plan: Any
    claims: list[dict[str, Any]] = field(default_factory=lambda: [dict(row) for row in CLAIMS])
    findings: list[dict[str, Any]] = field(default_factory=lambda: [dict(row) for row in FINDINGS])

    @property
    def folder(self) -> Path:
        return Path(self.plan.config.root) / "results" / "report"

    @property
    def page(self) -> page.Page:
        """What the article shows."""
        findings = [dict.fromkeys(columns.FINDINGS, "") | row for row in self.findings]
        empty = {
            name: tables.as_read(pd.DataFrame(columns=list(kinds)), kinds)
            for name, kinds in TABLES.items()
        }
        listed = tables.rows(table(self.claims))
        return page.of_evidence(self.plan.config, Evidence(listed, [], [CRITERIA], findings, empty))

    def content(self) -> dict[str, Any]:
        return Article(self.plan.config, self.page, self.folder).content()

    def build(self) -> bytes:
        for name in ("forest", "studies"):
            files.write_text(self.folder / f"{name}.svg", SVG)
        article.build(self.plan.config, self.page, self.folder)
        return (self.folder / "report.pdf").read_bytes()


@pytest.fixture
def report(make: Any, monkeypatch: pytest.MonkeyPatch) -> Report:
    """A report on two documents, of which one has claims; its study has a made-up drawing."""
    drawing = studies.Drawing(
        (3.5, 2.0), "rates", lambda figure: None, "How it was computed.", "Rates fall"
    )
    monkeypatch.setattr(studies, "of_artifact", lambda context: drawing)
    world = make()
    root = world.plan.config.root
    shutil.copytree(PROJECT / "paper", root / "paper")
    for name in ("CITATION.cff", "config/certainty.yaml", "paper/layout.typ", "paper/tables.typ"):
        shutil.copy(ROOT / name, root / name)
    (erratum,) = yaml.safe_load((root / ERRATA).read_text(encoding="utf-8"))
    files.write_text(
        root / ERRATA, yaml.safe_dump([erratum | {"chosen": "two", "tests": ["alpha.one"]}])
    )
    return Report(world.plan)


def test_equal_tables_are_equal_bytes_and_a_changed_number_is_not(report: Report) -> None:
    first, again = report.build(), report.build()
    assert first.startswith(b"%PDF-")
    assert first == again
    report.claims[2]["measured"] = "4.5"
    assert report.build() != first


def test_a_source_that_does_not_compile_is_one_sentence(report: Report, names: Any) -> None:
    before = report.build()
    (report.plan.config.root / "paper" / "report.typ").write_text(
        "#nothing-of-this-name", encoding="utf-8"
    )
    with pytest.raises(HypersphereError) as caught:
        report.build()
    names(caught.value, "paper/report.typ")
    assert (report.folder / "report.pdf").read_bytes() == before


@pytest.mark.parametrize(
    ("at", "change", "place"),
    [(1, {"sentence": " "}, ["gain"]), (0, {"lead": ""}, [])],
    ids=["no sentence", "no question leads"],
)
def test_a_finding_without_its_sentence_is_refused(
    report: Report, refused: Any, at: int, change: dict[str, str], place: list[str]
) -> None:
    report.findings[at] |= change
    with refused("results/report/findings.csv", *place):
        report.build()


def test_a_section_that_the_evidence_does_not_bear_is_one_sentence(
    report: Report, refused: Any
) -> None:
    papers = report.plan.config.papers
    papers["alpha"] = papers["alpha"].model_copy(
        update={"report": Section(short="alpha", gravest=["alpha.two"])}
    )
    with refused("papers/alpha/paper.yaml", "report.gravest"):
        report.content()


def test_content_is_by_hand_and_an_exact_figure_is_there_only_if_its_study_ran(
    report: Report,
) -> None:
    """Counts are by hand in ``CLAIMS``: of printed ones; implied differences count among comparisons alone."""
    made = report.content()
    (section,) = made["papers"]
    assert [effect["id"] for effect in section["effects"]] == ["alpha.gain", "alpha.implied"]
    assert section["effects"][1]["result"] == "undecided\N{NO-BREAK SPACE}†"
    assert made["failed"] == [section["title"], {**GRAVE, "erratum": "X2: two"}]
    assert [one["sentence"] for one in made["contradicted"]] == ["All are above"]
    assert [one["sentence"] for one in (*made["leads"], *section["questions"])] == [
        "Half do.",
        "It does.",
    ]
    asked = (
        "claims",
        "statements",
        "statements_fail",
        "encoders",
        "clear",
        "nothing",
        "sentences",
        "contradicted",
    )
    assert [made["counts"][key] for key in asked] == ["5", "2", "1", "2", "1", "1", "1", "1"]
    assert [made["counts"][key] for key in ("compared", "agree", "undecided", "opposite")] == [
        "2",
        "1",
        "1",
        "none",
    ]
    assert made["evidence"][0] == [
        "the alpha paper",
        "5",
        "1",
        "1",
        "0",
        "0",
        "0",
        "1",
        "0",
        "1",
        "0",
        "1",
    ]
    assert made["criteria"][0][1:] == ["2", "2 of 2", "1 of 2", "2 of 2", "–"]
    assert (
        report.plan.config.root / made["papers"][0]["figure"]["path"].removeprefix("/")
    ).is_file()
    (report.plan.config.exact_studies("alpha") / "curve.csv").unlink()
    assert report.content()["papers"][0]["figure"] is None


def test_what_a_scale_has_drawn_changes_no_byte(report: Report) -> None:
    """Figures of the scale are drawn by `make reproduce`, and by no rule that the report waits for."""
    drawn = report.plan.config.results / "figures" / "alpha" / "curve.svg"
    with_it = report.build()
    files.write_text(drawn, SVG.replace("9", "90"))
    with_another = report.build()
    drawn.unlink()
    assert with_it == with_another == report.build()


def test_each_paper_has_an_equation_and_a_figure_and_each_reference_is_cited() -> None:
    config = configured()
    equations, references = (
        (PAPER / "equations.typ").read_text("utf-8"),
        read_mapping(PAPER / "references.yml"),
    )
    # which are questions
    printed = {name: document for name, document in config.papers.items() if name != "ours"}
    for name, document in printed.items():
        assert f"\n  {name}: read(\n" in equations
        assert references[name]["title"].casefold().startswith(document.title.casefold())
        assert f'#figure-of("{name}", ' in prose()
        assert name in config.report_figures
    assert [name for name in references if name not in printed and f"@{name}" not in prose()] == []
    assert [
        name for name, given in references.items() if name not in printed and "date" not in given
    ] == []
