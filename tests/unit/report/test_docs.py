"""The pages that the report writes into docs: counts, and each question in one place."""

import re
from typing import Any

import pandas as pd

from hypersphere.config.rules import RESULTS
from hypersphere.report import docs
from hypersphere.report.evidence import Evidence

from . import made_up


def question(name: str, outcome: str, certainty: str = "high", lead: str = "") -> dict[str, Any]:
    """A row of findings.csv."""
    headline = f"{name} {outcome}."
    said = {
        "headline": headline,
        "sentence": f"{headline} How we know {name}.",
        "question": f"Does {name}?",
    }
    return {
        "id": name,
        "paper": "margins",
        "outcome": outcome,
        "certainty": certainty,
        "lead": lead,
        "reasons": "",
    } | said


def evidence(claims: list[dict[str, Any]], findings: list[dict[str, Any]]) -> Evidence:
    return Evidence(
        claims=claims,
        ladder=[],
        criteria=[],
        findings=findings,
        studies={"studies": pd.DataFrame()},
    )


def test_a_page_counts_each_published_claim_once_and_its_sums_add_up() -> None:
    """By hand: three encoders' claims of three results; a claim of our own is not counted."""
    answers = ("holds", "opposite", "not tested")
    claims = [
        made_up.comparison(f"c{at}", 1.0, 1.0, 0.5, answer=one) for at, one in enumerate(answers)
    ]
    claims.append(made_up.comparison("c3", 1.0, 1.0, 0.5, answer="holds", origin="ours"))
    page = docs.results_of("margins", "A title", evidence(claims, []))
    (line,) = re.findall(r"^\| numbers.*$", page, re.MULTILINE)
    counted = [int(cell) for cell in line.strip("| ").split(" | ")[1:]]
    assert dict(zip(RESULTS, counted, strict=False)) == {
        "agrees": 1,
        "agrees in sign only": 0,
        "disagrees": 1,
        "undecided": 0,
        "not tested": 1,
    }
    assert counted[-1] == sum(counted[:-1]) == 3


def test_each_question_has_one_place_and_the_surest_stands_first() -> None:
    rows = [
        question("a", "fails", "low"),
        question("b", "holds"),
        question("c", "cannot tell"),
        question("d", "not tested"),
    ]
    page = docs.results_of("margins", "A title", evidence([], rows))
    places = [
        page.index(part)
        for part in (
            "**b holds.** How we know b.",
            "**a fails.**",
            "**Does c?** c cannot",
            "- Does d?",
        )
    ]
    assert places == sorted(places)
    assert page.count("\n## ") == 3
    assert "How we know d" not in page


def test_the_front_page_has_headlines_their_certainty_and_what_is_not_known() -> None:
    rows = [
        question("a", "fails", lead="2"),
        question("b", "holds", "none", lead="1"),
        question("c", "fails", lead="not known"),
    ]
    assert docs.lead(evidence([], rows)).splitlines() == [
        "- b holds. *Not graded: arithmetic.*",
        "- a fails. *Certainty: high.*",
        "",
        "**What we do not know.** c fails. How we know c.",
    ]
