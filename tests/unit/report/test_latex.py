"""numbers.tex: what each macro stands for, by a reader of its two forms; names that TeX can read; no sign left raw."""

import re

from hypersphere.config import claims
from hypersphere.report import latex

from ...golden.released import configured
from . import made_up

RELEASED = configured()
COUNT = re.compile(r"\\newcommand\{\\hypersphere([^}]*)\}\{(\d+)\}")
NUMBER = re.compile(r"\\@namedef\{hypersphere@(.+)@(\w+)\}\{(.*)\}")


def macros(text: str) -> tuple[dict[str, int], dict[tuple[str, str], str]]:
    """The counts by name, and the numbers of claims by id and field; no line defines anything else."""
    counts: dict[str, int] = {}
    numbers: dict[tuple[str, str], str] = {}
    head, between, after = text.partition(latex.LOOK_UP)
    assert between
    for line in head.splitlines()[1:]:
        match = COUNT.fullmatch(line)
        assert match, line
        assert match[1] not in counts
        counts[match[1]] = int(match[2])
    *lines, last = after.strip().splitlines()
    assert last == r"\makeatother"
    for line in lines:
        match = NUMBER.fullmatch(line)
        assert match, line
        numbers[match[1], match[2]] = match[3]
    return counts, numbers


CLAIMS = [
    made_up.comparison("a.gain", 4.6, -1.25, 0.5, answer="fails", certainty="low"),
    made_up.comparison("b.untested", 2.0),
    made_up.comparison("c.of_ours", 2.0, 1.0, origin="ours", answer="holds", certainty="low"),
]


def test_counts_are_of_published_claims_and_their_names_have_letters_alone() -> None:
    """Of the three claims, two are published, and one of these is measured."""
    counts, _ = macros(latex.build(CLAIMS))
    assert (counts["Claims"], counts["Measured"], counts["Nothing"]) == (2, 1, 1)
    assert all(name.isascii() and name.isalpha() for name in counts)


def test_a_claim_with_evidence_has_its_numbers_and_another_has_none() -> None:
    """Linear probes have one decimal; -1.25 lies in [-1.75, -0.75], and 4.6 is published."""
    _, numbers = macros(latex.build(CLAIMS))
    minus = r"\ensuremath{-}"
    assert {field: text for (name, field), text in numbers.items() if name == "a.gain"} == {
        "published": "+4.6",
        "effect": f"{minus}1.2",
        "interval": f"[{minus}1.8, {minus}0.8]",
        "n": "5",
        "result": "disagrees",
        "certainty": "low",
    }
    assert {name for name, _ in numbers} == {"a.gain", "c.of_ours"}


def test_ids_have_names_of_their_own_that_begin_no_comment_and_no_argument() -> None:
    """Of all released claims; a few of them have a share of the training in percent."""
    ids = [one.id for paper in RELEASED.papers for one in claims.of(RELEASED, paper)]
    assert any("%" in one for one in ids)
    names = {latex.name_of(one) for one in ids}
    assert len(names) == len(ids) > 1000
    assert [name for name in names if not re.fullmatch(r"[\w.+=-]+", name, re.ASCII)] == []
    _, numbers = macros(latex.build([CLAIMS[0] | {"id": "a.100%-0"}]))
    assert {name for name, _ in numbers} == {"a.100-0"}


def test_signs_that_latex_reads_otherwise_are_escaped() -> None:
    assert latex.escaped("5 % of a_b & #1 − ∞") == (
        r"5 \% of a\_b \& \#1 \ensuremath{-} \ensuremath{\infty}"
    )
    assert latex.build(CLAIMS).isascii()
