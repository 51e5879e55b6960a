"""Claims beside what is found: the interval over test images, and which side of it a claim lies on."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from hypersphere.certificate.claims import Accuracy, Claim, accuracy, judge, parse

from ...fixtures import Refused


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 20_000), data=st.data())
def test_the_interval_is_wilson_s_and_holds_the_accuracy(n: int, data: st.DataObject) -> None:
    """As scipy computes it."""
    hits = data.draw(st.integers(0, n))
    found = accuracy(100 * hits / n, n)
    expected = binomtest(hits, n).proportion_ci(0.95, "wilson")
    assert found.low == pytest.approx(100 * expected.low, abs=1e-9)
    assert found.high == pytest.approx(100 * expected.high, abs=1e-9)
    assert found.value == pytest.approx(100 * hits / n)
    assert found.n == n


FOUND = Accuracy(value=88.4, low=87.76, high=89.01, n=10_000)


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [
        ("91.9", "above the interval"),
        ("88.4", "inside the interval"),
        ("85", "below the interval"),
        ("89.01", "inside the interval"),
        ("89.0", "inside the interval"),
        # 89.0501 and more round to 89.1, and 89.05 is above 89.01
        ("89.1", "above the interval"),
        # it stands for 88.5 and more
        ("89", "inside the interval"),
        ("87.7", "below the interval"),
        ("87.8", "inside the interval"),
        ("100", "above the interval"),
    ],
)
def test_a_claim_stands_for_all_that_rounds_to_it(claimed: str, verdict: str) -> None:
    assert judge(parse(claimed), FOUND) == verdict


def test_a_claim_is_of_the_linear_probe_unless_it_says_otherwise() -> None:
    assert parse("91.90") == Claim("linear", Decimal("91.90"))
    assert parse("knn=88") == Claim("knn", Decimal(88))
    assert parse("linear=0") == Claim("linear", Decimal(0))


@pytest.mark.parametrize(
    "text", ["", "ninety", "91,9", "-3", "100.1", "0.919", "nan", "inf", "top1=91", "=91", "knn="]
)
def test_what_is_no_percentage_is_refused(refused: Refused, text: str) -> None:
    with refused("--claims"):
        parse(text)
