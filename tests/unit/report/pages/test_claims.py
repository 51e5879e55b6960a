"""How a theorem's check is said in words."""

import math

import pytest

from hypersphere.report import claims


@pytest.mark.parametrize(
    ("violated", "worst", "text"),
    [
        (0.0, "3.14e-15", "9 of 10 draws meet the hypothesis, none violates it (deviation at most 3.1e-15)"),
        (0.0, "-0.5", "9 of 10 draws meet the hypothesis, none violates it (deviation at most 0)"),
        (2.0, "0.25", "9 of 10 draws meet the hypothesis, 2 violate it (by up to 0.25)"),
    ],
)
def test_a_finding(violated: float, worst: str, text: str) -> None:
    assert claims.checked({"draws": 10.0, "met": 9.0, "violated": violated, "measured": worst}) == text


def test_a_statement_that_was_not_drawn_for_was_not_checked() -> None:
    empty = dict.fromkeys(("draws", "met", "violated"), math.nan)
    assert claims.checked({**empty, "measured": ""}) == "not checked"


def test_a_counterexample() -> None:
    found = claims.counterexample('{"z": [[1.0, 0.0], [-0.5, 2]], "tau": 0.123456, "excess": 0.53857}')
    assert found == "fails at z = ((1, 0), (−0.5, 2)), tau = 0.1235, by 0.539"
    assert claims.counterexample("") == ""
