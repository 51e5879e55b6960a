"""README.md says what the report says; the scorecard is small, and its links lead somewhere."""

import html
import json
import math
import re
from typing import Any

import pytest

from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Answer
from hypersphere.report import docs, evidence
from hypersphere.report.evidence import REPORT

from .conftest import ROOT

MOST = 4_000_000  # bytes: small enough to send, with its pictures inside


def written(page: str) -> str:
    """What ``make pages`` wrote into a page."""
    found = re.search(
        f"{docs.BEGIN}(.*?){docs.END}", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL
    )
    assert found
    return found[1].strip()


def test_the_readme_is_as_it_is_written_from_the_report(plan: Plan) -> None:
    """After new records: ``make pages``."""
    assert written("README.md") == docs.lead(evidence.read(plan.config.root))


def test_the_page_of_each_paper_is_as_it_is_written_from_the_report(plan: Plan) -> None:
    known = evidence.read(plan.config.root)
    for name, paper in plan.config.papers.items():
        page = (ROOT / docs.PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert page == docs.results_of(name, paper.title, known)


Row = dict[str, Any]


def said_of(row: Row) -> str:
    """What a page must say of a claim."""
    return Answer.of(row["answer"]).result


def ends(text: str) -> list[float]:
    """The numbers of ``[−1.2, +0.3]``."""
    return [
        float(number.replace("−", "-")) for number in re.findall(r"[+−]?[0-9]+(?:\.[0-9]+)?", text)
    ]


def agrees(text: str, row: Row, low: str, high: str) -> bool:
    """Whether an interval that is printed on a page is a claim's, to half of its last decimal."""
    unit = 10.0 ** -MEASURES[row["metric"]].decimals
    return ends(text) == pytest.approx([row[low], row[high]], abs=unit / 2 + 1e-9)


def test_the_page_says_of_each_claim_what_the_table_says(plan: Plan) -> None:
    """By id: answer, certainty, and of a comparison of encoders n and both intervals."""
    known, page = (
        evidence.read(plan.config.root),
        (plan.config.root / REPORT / "index.html").read_text(encoding="utf-8"),
    )
    lines = re.findall(
        r'<details class="claim item" id="([^"]+)".*?<summary>(.*?)</summary>', page, re.DOTALL
    )
    cell = re.compile(
        r'data-of="(\w+)"[^>]*>(.*?)</span>(?=<span (?:class="num" )?data-of|$)', re.DOTALL
    )
    shown = {html.unescape(name): dict(cell.findall(line)) for name, line in lines}
    assert shown.keys() == {row["id"] for row in known.claims}
    intervals = 0
    for row in known.claims:
        line = {
            key: html.unescape(re.sub("<[^>]+>", " ", text))
            for key, text in shown[row["id"]].items()
        }
        assert line["result"].strip() == said_of(row), row["id"]
        assert line.get("certainty", "none").strip() == row["certainty"], row["id"]
        if row["answered_by"] == "encoder" and not math.isnan(row["low_unadjusted"]):
            assert f"n = {row['n']:g}" in line["ours"], row["id"]
            welch, holm = re.findall(r"\[[^]]*\]", line["ours"])
            assert agrees(welch, row, "low_unadjusted", "high_unadjusted"), row["id"]
            assert agrees(holm, row, "low", "high"), row["id"]
            intervals += 1
    assert intervals


def test_the_article_says_of_each_effect_what_the_table_says(plan: Plan) -> None:
    known, folder = evidence.read(plan.config.root), plan.config.root / REPORT
    listed = {row["id"]: row for row in known.claims}
    content = json.loads((folder / "content.json").read_text(encoding="utf-8"))
    effects = [effect for paper in content["papers"] for effect in paper["all_effects"]]
    assert effects
    for effect in effects:
        row = listed[effect["id"]]
        assert effect["result"].startswith(said_of(row)), row["id"]
        assert effect.get("certainty", row["certainty"]) == row["certainty"], row["id"]
        assert effect["n"] == f"{row['n']:g}", row["id"]
        assert agrees(effect["welch"], row, "low_unadjusted", "high_unadjusted"), row["id"]
        assert agrees(effect["holm"], row, "low", "high"), row["id"]


def test_a_study_that_is_not_finished_says_nothing_anywhere(plan: Plan) -> None:
    """Its claims are not tested, and its tables in the article hold estimates alone."""
    known = evidence.read(plan.config.root)
    compared = known.studies["studies"]
    finished = {
        (row.paper, row.study): row.finished
        for row in compared.itertuples()
        if row.artifact == row.study
    }
    assert {*finished.values()} == {True, False}  # the control: there are both
    claims = [
        row for row in known.claims if row["origin"] == "ours" and row["answered_by"] == "encoder"
    ]
    for row in claims:
        study = row["id"].split(".")[1]
        if not finished.get((row["paper"], study), False):
            assert (row["answer"], row["certainty"], row["direction"]) == (
                "not tested",
                "none",
                "",
            ), row["id"]
    unread = compared[~compared["finished"].astype(bool)]
    assert set(unread["called"]) == {""}
    content = json.loads((plan.config.root / REPORT / "content.json").read_text(encoding="utf-8"))
    questions = {
        study.question: name
        for paper in plan.config.papers.values()
        for name, study in paper.studies.items()
    }
    for study in content["studies"]:
        if not finished["ours", questions[study["question"]]]:
            said = {row[-1] for group in study["groups"] for row in group["rows"]}
            assert said <= {"estimate", "not finished"}, study["question"]


def test_the_scorecard_is_small_and_every_relative_link_names_a_file_or_folder(plan: Plan) -> None:
    scorecard = plan.config.results / "scorecard.html"
    assert scorecard.stat().st_size < MOST
    hrefs = re.findall(r'<a [^>]*href="([^"#][^"]*)"', scorecard.read_text(encoding="utf-8"))
    links = {link.partition("#")[0] for link in hrefs}
    assert len(links) > 100
    links.remove("../report/index.html")  # what `make report` writes
    assert not [link for link in links if not (plan.config.results / link).exists()]
