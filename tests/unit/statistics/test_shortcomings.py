"""The certainty of evidence: what holds it down, and the grades at their borders."""

import itertools
from typing import Any

import pytest

from hypersphere.config.certainty import GRADES, RUNGS, SHORTCOMINGS, Rung, load_certainty
from hypersphere.statistics import shortcomings

from ...golden.released import ROOT

RULES = load_certainty(ROOT)


def measured(**changed: Any) -> dict[str, Any]:
    """A comparison that five runs of an arm answer below the published scale."""
    row = {
        "kind": "comparison",
        "verdict": "laptop only",
        "answer": "holds",
        "reported": "4.6",
        "n": 5.0,
    }
    return row | {"floored": "", "scale": "laptop"} | changed


@pytest.mark.parametrize("rung", RUNGS)
def test_no_shortcoming_raises_a_grade_and_none_is_above_its_rung(rung: Rung) -> None:
    for size in range(len(SHORTCOMINGS)):
        for chosen in itertools.combinations(SHORTCOMINGS, size):
            grade, _ = RULES.of(rung, chosen)
            assert GRADES.index(grade) >= GRADES.index(RULES.rungs[rung].grade)
            for one in SHORTCOMINGS:
                assert GRADES.index(RULES.of(rung, {*chosen, one})[0]) >= GRADES.index(grade)


@pytest.mark.parametrize(
    ("rung", "changed", "stand_in", "grade"),
    [
        ("laptop", {}, False, "low"),
        ("laptop", {"n": 4.0}, False, "very low"),
        ("laptop", {"answer": "cannot tell"}, False, "very low"),
        ("laptop", {"answer": "direction only"}, False, "low"),
        ("laptop", {}, True, "very low"),
        ("laptop", {"floored": "variant"}, False, "very low"),
        ("laptop", {"kind": "value", "answer": "cannot tell"}, False, "none"),
        ("published", {"verdict": "reproduced"}, False, "high"),
        ("published", {"verdict": "reproduced", "n": 4.0}, False, "moderate"),
        ("published", {"verdict": "inconclusive", "answer": "cannot tell"}, False, "very low"),
    ],
)
def test_grades_at_their_borders(
    rung: Rung, changed: dict[str, Any], stand_in: bool, grade: str
) -> None:
    """The grades of DESIGN: high from five runs at the published setting, low from five on the named images."""
    row = measured(**changed)
    assert RULES.of(rung, shortcomings.of_encoders(row, stand_in, RULES.enough_runs))[0] == grade
