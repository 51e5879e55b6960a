"""Numbers of runs behind a printed mean, against a list of all means that n runs can have, and by hand."""

import itertools
import statistics
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypersphere.grim import MOST, Assumptions, Printed, admissible, common, fits, informative

TEN_THOUSAND = Assumptions(Fraction(100, 10_000))


def printed(mean: str, std: str | None = None) -> Printed:
    return Printed(Decimal(mean), None if std is None else Decimal(std))


@pytest.mark.parametrize(
    ("mean", "allowed"),
    [
        ("89.413", {3, 7, 8}),  # thirds end in .xx3: 0.413 = 124/300; by the list below
        ("60.956", {5, 7, 9}),
        ("90.865", {2, 4, 6, 8, 10}),
        ("61.800", set(range(1, 11))),  # a whole hundredth: every number of runs
    ],
)
def test_the_margins_papers_means_of_ten_thousand_images(mean: str, allowed: set[int]) -> None:
    """Erratum M17's examples; expected sets from a list of every mean near the printed one."""
    expected = set()
    for n in range(1, MOST + 1):
        hits = int(Decimal(mean) * 100 * n)
        near = [Decimal(total) / (100 * n) for total in range(hits - 3, hits + 4)]
        roundings = (ROUND_HALF_UP, ROUND_HALF_DOWN)
        if any(one.quantize(Decimal("0.001"), rounding) == Decimal(mean) for one in near for rounding in roundings):
            expected.add(n)
    assert set(admissible(printed(mean), TEN_THOUSAND)) == expected
    assert allowed <= expected


@pytest.mark.parametrize("rounding", ["rounded", "truncated"])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("ddof", [0, 1])
def test_every_set_of_few_images_and_nothing_else_fits(rounding: str, n: int, ddof: int) -> None:
    """20 test images: all accuracies of n runs are listed, with their printed means and standard deviations."""
    assumptions = Assumptions(Fraction(5), rounding, ddof)  # type: ignore[arg-type]
    modes = {"rounded": (ROUND_HALF_UP, ROUND_HALF_DOWN), "truncated": (ROUND_DOWN,)}[rounding]
    possible = set()
    for hits in itertools.combinations_with_replacement(range(9), n):
        values = [Decimal(5 * one) for one in hits]
        mean = sum(values) / n
        std = (statistics.variance if ddof else statistics.pvariance)(values).sqrt()
        cents = Decimal("0.01")
        possible |= {(mean.quantize(cents, one), std.quantize(cents, two)) for one in modes for two in modes}
    means, stds = {mean for mean, _ in possible if 15 <= mean <= 20}, {std for _, std in possible if std <= 8}
    for mean, std in itertools.product(means, stds):
        assert fits(Printed(mean, std), n, assumptions) == ((mean, std) in possible), (mean, std)


def test_one_run_has_no_spread() -> None:
    assert fits(printed("50.00", "0.00"), 1, TEN_THOUSAND)
    assert not fits(printed("50.00", "0.01"), 1, TEN_THOUSAND)


def test_coarse_decimals_say_nothing() -> None:
    """61.8 % of 10,000 images allows every number of runs, and so does any other mean of one decimal."""
    assert not informative(printed("61.8"), TEN_THOUSAND)
    assert admissible(printed("61.8"), TEN_THOUSAND) == tuple(range(1, MOST + 1))
    assert informative(printed("61.800"), TEN_THOUSAND)


def test_a_run_rounded_before_the_mean_moves_in_hundredths() -> None:
    """8,000 images: 0.0125 a step. 70.0125 is one run's, 70.01 one rounded run's."""
    raw, rounded = Assumptions(Fraction(100, 8000)), Assumptions(Fraction(1, 100))
    assert fits(printed("70.0125"), 1, raw)
    assert not fits(printed("70.0125"), 1, rounded)
    assert fits(printed("70.010"), 1, rounded)
    assert not fits(printed("70.010"), 1, raw)


def test_what_all_cells_allow() -> None:
    assert common([(1, 2, 4), (2, 4), (2, 3, 4)]) == (2, 4)
    assert common([(1,), (2,)]) == ()
    assert common([]) == ()


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(2, 5),
    st.sampled_from(["rounded", "truncated"]),
    st.integers(0, 1),
    st.integers(0, 2),
    st.integers(0, 2),
    st.data(),
)
def test_few_images_against_a_list_of_all_sets_of_runs(
    images: int,
    n: int,
    rounding: Literal["rounded", "truncated"],
    ddof: int,
    coarse: int,
    fine: int,
    data: st.DataObject,
) -> None:
    """Every set of n runs of few images, with the intervals of what is printed; the ends of the scale among them."""
    mean = Decimal(data.draw(st.integers(0, 10 ** (coarse + 2)))).scaleb(-coarse)
    std = Decimal(data.draw(st.integers(0, 75 * 10**fine))).scaleb(-fine)

    def prints(low: Fraction, value: Fraction, high: Fraction) -> bool:
        return low <= value <= high if rounding == "rounded" else low <= value < high

    def ends(number: Decimal, decimals: int) -> tuple[Fraction, Fraction]:
        unit, value = Fraction(1, 10**decimals), Fraction(number)
        return (
            (max(value - unit / 2, Fraction(0)), value + unit / 2) if rounding == "rounded" else (value, value + unit)
        )

    expected = False
    (low, high), (least, most) = ends(mean, coarse), ends(std, fine)
    for hits in itertools.combinations_with_replacement(range(images + 1), n):
        values = [Fraction(100 * one, images) for one in hits]
        middle = sum(values) / n
        variance = sum((value - middle) ** 2 for value in values) / (n - ddof)
        if prints(low, middle, high) and prints(least**2, variance, most**2):
            expected = True
            break
    assert fits(Printed(mean, std), n, Assumptions(Fraction(100, images), rounding, ddof)) == expected
