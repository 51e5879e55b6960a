"""The card of a claim: the claim as a sentence, and facts that follow from its row."""

import re
from html import unescape
from typing import Any, NamedTuple

import pytest

from hypersphere.provenance import tables
from hypersphere.report import cards, entries

from ...golden.released import configured
from . import made_up

CONFIG = configured("laptop")
FACT = re.compile(
    r'<p><b>(?P<name>[^<]*)</b> (?:<span class="badge [a-z]+">(?P<badge>[^<]*)</span> )?'
    r"(?:<code>(?P<command>[^<]*)</code>, )?(?P<text>[^<]*)</p>"
)


class Fact(NamedTuple):
    """A line of a card, as a reader sees it."""

    name: str
    text: str
    badge: str = ""
    command: str = ""


def card(row: dict[str, Any], *steps: dict[str, Any]) -> str:
    (read,) = tables.rows(made_up.table([row]))
    return cards.of_claim(CONFIG, entries.entry(CONFIG, read, tables.rows(made_up.table([*steps]))))


def sentence(row: dict[str, Any]) -> str:
    (found,) = re.findall(r'<p class="whole">([^<]*)</p>', card(row))
    return unescape(found)


def fact(row: dict[str, Any], name: str, *steps: dict[str, Any]) -> Fact | None:
    for found in FACT.finditer(card(row, *steps)):
        if found["name"] == name:
            return Fact(**{key: unescape(text or "") for key, text in found.groupdict().items()})
    return None


@pytest.mark.parametrize(
    ("published", "changed", "said"),
    [
        ("1.25", {}, "{arm}, is 1.2 points above baseline in linear probe accuracy"),
        ("-1.25", {}, "{arm}, is 1.2 points below baseline in linear probe accuracy"),
        ("larger", {}, "{arm}, is above baseline in linear probe accuracy"),
        ("equal", {}, "{arm}, is level with baseline in linear probe accuracy"),
        ("", {"origin": "ours"}, "{arm}, is compared with baseline in linear probe accuracy"),
        (
            "89.4",
            {"kind": "value", "baseline": ""},
            "for {arm}, the paper publishes 89.4 % (linear probe accuracy)",
        ),
        (
            "64",
            {"kind": "value", "baseline": "", "metric": "steps"},
            "for {arm}, the paper publishes 64 (steps)",
        ),
        ("inf", {"kind": "value", "baseline": "", "metric": "steps"}, "{arm} diverges"),
    ],
)
def test_a_claim_of_encoders_is_a_sentence(
    published: str, changed: dict[str, Any], said: str
) -> None:
    row = made_up.comparison("claim", published, 0.5, **changed)
    arm = "MoCo v3, positives emphasised"
    assert sentence(row) == f"On CIFAR-10, {said.format(arm=arm)}."


def test_a_statement_speaks_for_itself_and_ends_with_a_full_stop() -> None:
    for said in ("One is one.", "One is one"):
        stated = made_up.stated("one", "theorem", "holds", sentence=said)
        assert sentence(stated) == "One is one."


@pytest.mark.parametrize(
    ("row", "badge", "text"),
    [
        (
            made_up.comparison("c", 2.0, 0.1, answer="fails"),
            "disagrees",
            "ours is less than half of the published effect",
        ),
        (
            made_up.comparison("c", 2.0, -3.0, answer="opposite"),
            "disagrees",
            "ours has the opposite sign",
        ),
        (
            made_up.comparison("c", "equal", 9.0, answer="fails"),
            "disagrees",
            "it is not level with the baseline",
        ),
        (made_up.comparison("c", 2.0, 2.0, answer="holds"), "agrees", ""),
        (made_up.comparison("c", 2.0, why="no loader yet"), "", "not tested; no loader yet"),
        (made_up.stated("t", "theorem", "fails"), "disagrees", "there is a counterexample"),
        (
            made_up.stated("s", "sentence", "its table bears it"),
            "agrees",
            "the paper’s own table bears it",
        ),
    ],
    ids=["small", "opposite", "not equal", "agrees", "not tested", "refuted", "own table"],
)
def test_a_result_is_explained_where_its_word_is_not_enough(
    row: dict[str, Any], badge: str, text: str
) -> None:
    assert fact(row, "Result") == Fact("Result", text, badge)


def test_what_stands_in_for_the_data_stands_beside_our_number() -> None:
    ours = fact(made_up.comparison("c", 2.0, 1.0, measured_on="small"), "Ours")
    assert ours is not None
    assert ours.text == "+1.0 (n = 5); Welch [0.0, +2.0]; Holm [−1.0, +3.0]; measured on small"
    assert fact(made_up.comparison("c", 2.0), "Ours") is None


def test_certainty_has_its_evidence_and_reasons_and_weaker_evidence_follows() -> None:
    row = made_up.comparison("c", 2.0, 1.0)
    assert fact(row, "Certainty") == Fact(
        "Certainty", "very low: small encoders, real images; n = 3"
    )
    weaker = fact(row, "Other evidence", row, row | {"scale": "workstation", "measured": "-3"})
    assert weaker is not None
    assert weaker.text.startswith(
        "small encoders, real images; workstation; undecided; −3.0 (n = 5)"
    )
    assert fact(made_up.comparison("c", 2.0), "Certainty") is None


def test_what_would_settle_it_has_its_hours() -> None:
    row = made_up.comparison("c", 2.0)
    assert fact(row, "To settle it") == Fact(
        "To settle it", "about 120.0 hours of a GPU", command=row["settle"]
    )
    assert fact(row | {"settle": ""}, "To settle it") is None
