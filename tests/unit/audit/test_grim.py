"""Numbers of runs behind a printed mean, against a list of all means that n runs can have, and by hand."""

import itertools
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypersphere.audit.command import of_one
from hypersphere.audit.grim import MOST, Assumptions, Printed, _exist, admissible, fits

from ...fixtures import Refused

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
    for n, rounding in itertools.product(range(1, MOST + 1), (ROUND_HALF_UP, ROUND_HALF_DOWN)):
        hits = int(Decimal(mean) * 100 * n)
        near = [Decimal(total) / (100 * n) for total in range(hits - 3, hits + 4)]
        if Decimal(mean) in [one.quantize(Decimal("0.001"), rounding) for one in near]:
            expected.add(n)
    assert set(admissible(printed(mean), TEN_THOUSAND)) == expected
    assert allowed <= expected


def test_one_run_has_no_spread_and_thousands_have_a_closed_form_far_from_the_ends() -> None:
    assert fits(printed("50.00", "0.00"), 1, TEN_THOUSAND)
    assert not fits(printed("50.00", "0.01"), 1, TEN_THOUSAND)
    thousand = Assumptions(Fraction(1, 10))
    assert fits(printed("50.00", "0.70"), 400, thousand)
    assert fits(printed("99.40", "0.70"), 5000, thousand) is None
    # the control: of no numbers up to 100
    assert fits(printed("99.40", "40.00"), 5000, thousand) is False


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9), st.integers(2, 5), st.integers(0, 1), st.data())
def test_few_images_against_a_list_of_all_sets_of_runs(
    images: int, n: int, ddof: int, data: st.DataObject
) -> None:
    """Every set of n runs of few images, with the intervals of what is printed; the ends of the scale among them."""
    rounding = data.draw(st.sampled_from(["rounded", "truncated"]))
    coarse, fine = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    mean = Decimal(data.draw(st.integers(0, 10 ** (coarse + 2)))).scaleb(-coarse)
    std = Decimal(data.draw(st.integers(0, 75 * 10**fine))).scaleb(-fine)

    def prints(value: Fraction, number: Decimal, decimals: int, power: int) -> bool:
        unit, low = Fraction(1, 10**decimals), Fraction(number)
        if rounding == "truncated":
            return low**power <= value < (low + unit) ** power
        return max(low - unit / 2, Fraction(0)) ** power <= value <= (low + unit / 2) ** power

    def is_printed(hits: tuple[int, ...]) -> bool:
        values = [Fraction(100 * one, images) for one in hits]
        middle = sum(values, Fraction(0)) / n
        variance = sum((value - middle) ** 2 for value in values) / (n - ddof)
        return prints(middle, mean, coarse, 1) and prints(Fraction(variance), std, fine, 2)

    expected = any(map(is_printed, itertools.combinations_with_replacement(range(images + 1), n)))
    found = fits(Printed(mean, std), n, Assumptions(Fraction(100, images), rounding, ddof))
    # so few images are near an end of the scale
    assert found == expected or (found is None and n > 3)


@pytest.mark.parametrize(
    ("mean", "std", "n", "possible"),
    [
        ("5.19", None, 28, False),  # Brown and Heathers (2017): a mean of 28 whole numbers
        ("5.18", None, 28, True),
        ("3.45", None, 10, False),
        ("3.45", None, 20, True),
        ("5.93", None, 49, False),  # The Economist (2016), on their paper
        # examples of scrutiny, which has Allard's (2018) form of Anaya's GRIMMER
        ("7.3", "2.51", 12, False),
        ("5.23", "2.55", 35, False),
        ("5.23", "2.55", 31, None),  # possible, and too near the end of the scale for a closed form
    ],
)
def test_published_examples_of_whole_numbers(
    mean: str, std: str | None, n: int, possible: bool | None
) -> None:
    assert fits(printed(mean, std), n, Assumptions(Fraction(1))) is possible


@pytest.mark.parametrize(
    ("most", "n", "told"), [(12, 2, 1), (12, 3, 1), (12, 4, 0.2), (12, 5, 0.1)]
)
def test_every_sum_and_sum_of_squares_of_few_whole_numbers(most: int, n: int, told: float) -> None:
    """All sums from 0 to n · most and all sums of squares, one by one: what is found is what exists.

    Of four and more numbers some have to be far from the ends: at least a share ``told`` of those that exist is found.
    """
    there = {
        (sum(one), sum(x**2 for x in one))
        for one in itertools.combinations_with_replacement(range(most + 1), n)
    }
    asked = list(itertools.product(range(n * most + 1), range(n * most**2 + 1)))
    found = {one: _exist(n, *one, one[1], most) for one in asked}
    unknown = {one for one, exist in found.items() if exist is None}
    assert {one for one, exist in found.items() if exist} == there - unknown
    assert len(there - unknown) >= told * len(there)


def test_every_way_of_printing_has_a_line() -> None:
    """A hundredth is one image of 10,000. Deviations double the ways."""
    first, truncated, rounded, _ = of_one("89.413", None, "10000")
    assert rounded.partition(": ")[2] == first.partition(": ")[2]
    assert truncated.startswith("truncated: n = ")
    assert len(of_one("50.000", "0.025", "10,000")) == 8


@pytest.mark.parametrize(
    ("mean", "std", "images", "said"),
    [
        ("61.8", None, 10_000, "the published decimals allow every number"),
        # thirds, sevenths and eighths of a hundredth end so
        ("89.413", None, 10_000, "n = 3, 4, 6, 7"),
        # of whole percents
        ("61.005", None, 100, "no number of runs up to 10: an assumption fails"),
        # the deviation of two runs is 0.00707 times a whole number: 0.028, and not 0.025
        ("50.000", None, 10_000, "n = 1, 2, 3"),
        ("50.000", "0.025", 10_000, "n = 5, 6"),
        ("50.000", "0.028", 10_000, "n = 2, "),
        # at most 0.05 points above 99.95, two runs are at most 0.07 apart in standard deviation
        ("99.95", "0.20", 10_000, "no number"),
        # of n runs in [0, 100] with a mean of 89.41, the standard deviation is at most 44
        ("89.41", "99", 10_000, "no number"),
        # five squares with a sum can make up any number; three often cannot
        ("89.413456", "0.123456", 10_000_000, "n = 5, 7"),
        ("50.000001", "25.123456", 10_000_000, "not decided for n = 7, 8, 9, 10"),
        ("50", "25.123456", 50_000, "n = 3, 4, 5"),
        # near the ends, where few sets exist: given up, and said so
        ("59", "49.16085", 1000, "not decided for n = 4, "),
    ],
)
def test_every_search_ends(mean: str, std: str | None, images: int, said: str) -> None:
    assert of_one(mean, std, str(images))[0].startswith(f"as measured: {said}")


WRONG = [
    *(("MEAN", (mean, None, "100")) for mean in ("abc", "101", "nan", "1e-30")),
    ("STD", ("50", "-1", "100")),
    ("--n-test", ("50", None, "0")),
]


@pytest.mark.parametrize(("argument", "call"), WRONG)
def test_wrong_calls_are_refused(
    refused: Refused, argument: str, call: tuple[str, str | None, str]
) -> None:
    with refused("grim", argument):
        of_one(*call)
