"""``hypersphere grim``: how many runs a printed mean accuracy, and its standard deviation, can be of."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from hypersphere.errors import HypersphereError
from hypersphere.grim import MOST, Assumptions, Printed, TooManyToTryError, fits, informative

LARGEST = 10_000_000
"""Test images; no accuracy so fine is printed."""


def lines(mean: str, std: str | None, n_test: int) -> list[str]:
    """A line for each set of assumptions: the numbers of runs, up to 10, that fit."""
    if not 1 <= n_test <= LARGEST:
        raise HypersphereError(f"grim: --n-test: must be between 1 and {LARGEST} test images (given: {n_test})")
    printed = Printed(_number(mean, "MEAN"), None if std is None else _number(std, "STD"))
    raw, rounded = Fraction(100, n_test), Fraction(1, 100)
    ways = {"as measured": Assumptions(raw), "truncated": Assumptions(raw, "truncated")}
    ways["each run rounded to 0.01 first"] = Assumptions(rounded)
    if std is not None:
        ways["standard deviation over n, not n - 1"] = Assumptions(raw, ddof=0)
    return [f"{way}: {_fitting(printed, assumptions)}" for way, assumptions in ways.items()]


def _fitting(printed: Printed, assumptions: Assumptions) -> str:
    allowed, unknown = [], []
    for n in range(1, MOST + 1):
        try:
            if fits(printed, n, assumptions):
                allowed.append(n)
        except TooManyToTryError:
            unknown.append(n)
    if not informative(printed, assumptions) and len(allowed) == MOST:
        return "uninformative: the printed decimals allow every number of runs"
    found = f"n = {', '.join(map(str, allowed))}" if allowed else ""
    open_ones = f"too many to try for n = {', '.join(map(str, unknown))}" if unknown else ""
    return "; ".join(filter(None, (found, open_ones))) or f"no number of runs up to {MOST}: an assumption fails"


def _number(text: str, name: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    if not (value.is_finite() and 0 <= value <= 100 and -value.as_tuple().exponent <= 6):  # type: ignore[operator]
        raise HypersphereError(
            f"grim: {name}: must be a number from 0 to 100 percent, with six decimals at most (given: '{text}')"
        )
    return value
