"""Verdicts on published numbers from our measurements. Pure functions; docs/statistics.md states the rules."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hypersphere.config.claims import Claim
from hypersphere.config.records import Level
from hypersphere.config.rules import Rules
from hypersphere.t_test import t_interval, t_p
from hypersphere.theory.table import NO_COUNTEREXAMPLE as NO_COUNTEREXAMPLE
from hypersphere.theory.table import NO_COUNTEREXAMPLE_ERRATUM as NO_COUNTEREXAMPLE_ERRATUM
from hypersphere.theory.table import REFUTED as REFUTED

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction only"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
NOT_RUN = "not run"
EXACT = "exact"
EXACT_ERRATUM = "exact (erratum)"
DIVERGED = "diverged as published"
CANNOT_BE_JUDGED = "cannot be judged"
Limit = Literal["quick only", "laptop only"]
Direction = Literal["same", "opposite", "unclear"]


@dataclass(frozen=True)
class Judgement:
    """A verdict, and the interval that decided it, in the metric's unit."""

    verdict: str
    low: float
    high: float
    why: str = ""
    """Why it is no better, where the interval alone would be taken for more."""


class Estimate(NamedTuple):
    """Our mean over seeds, in the metric's unit, and how far it may be off."""

    mean: float
    n: int
    std: float
    """Between seeds: of these, or, where they are too few, of more rows."""
    df: int
    """Degrees of freedom of ``std``."""
    floor: float = 0.0
    """The least standard deviation that the printed number's runs are taken to have, like ours."""


def limit(level: Level, overridden: bool) -> Limit | None:
    """The verdict on everything measured below the published scale; None at the published scale.

    The published scale with a number changed on the command line is another scale, and settles nothing.
    """
    if level == "quick":
        return "quick only"
    return "laptop only" if level == "laptop" or overridden else None


def of_effect(published: float, adjusted: tuple[float, float], primary: tuple[float, float], rules: Rules) -> Judgement:
    """Judge a comparison (all in points): variant minus baseline.

    If the Holm-adjusted interval excludes 0 in the published direction, the verdict is reproduced if it reaches half
    the published effect and is not wholly above ``most_effect`` times it, else direction only. Otherwise the verdict is
    not reproduced if the primary 95 % interval lies wholly below half the published effect, else inconclusive. A
    published effect of exactly 0 has no direction; it needs a test of equivalence and is inconclusive here. So is an
    effect without an interval (one run per arm).
    """
    if published == 0 or any(math.isnan(bound) for bound in (*adjusted, *primary)):
        return Judgement(INCONCLUSIVE, *adjusted)
    half = abs(published) / 2
    nearest, furthest = _towards(published, adjusted)
    if nearest > rules.most_effect * abs(published):
        return Judgement(DIRECTION_ONLY, *adjusted, f"above {rules.most_effect:g} times the printed effect")
    if nearest > 0:
        return Judgement(REPRODUCED if furthest >= half else DIRECTION_ONLY, *adjusted)
    if _towards(published, primary)[1] < half:
        return Judgement(NOT_REPRODUCED, *primary)
    return Judgement(INCONCLUSIVE, *adjusted)


def direction(adjusted: tuple[float, float], published: float) -> Direction:
    """Whether our effect has the published direction, at a scale below the published one.

    ``adjusted`` is our Holm-adjusted interval, ``published`` the published effect, both in the metric's unit. A
    sentence that prints no difference (``larger``) has any number of its sign as ``published``. The direction is
    unclear if the interval contains 0 or is unknown (nan), or if the published effect is 0.
    """
    if published == 0 or math.isnan(published) or any(math.isnan(bound) for bound in adjusted):
        return "unclear"
    nearest, furthest = _towards(published, adjusted)
    return "same" if nearest > 0 else "opposite" if furthest < 0 else "unclear"


def _towards(published: float, interval: tuple[float, float]) -> tuple[float, float]:
    """(lowest, highest) of an interval, with its sign changed if the published effect is negative."""
    turned = [math.copysign(1.0, published) * bound for bound in interval]
    return min(turned), max(turned)


def cannot_be_judged(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a claim whose document omits something needed: measurements stay, the verdict is replaced."""
    without = {name: None for name in ("verdict_half", "verdict_double") if name in outcome}
    return {**outcome, **without, "verdict": CANNOT_BE_JUDGED}


def of_direction(adjusted: tuple[float, float], primary: tuple[float, float]) -> Judgement:
    """Judge a sentence that prints no difference and says that the variant has the larger mean.

    Reproduced if the Holm-adjusted interval lies above 0, not reproduced if the 95 % interval lies below 0, else
    inconclusive.
    """
    if adjusted[0] > 0:
        return Judgement(REPRODUCED, *adjusted)
    return Judgement(NOT_REPRODUCED, *primary) if primary[1] < 0 else Judgement(INCONCLUSIVE, *adjusted)


def of_equality(confident: tuple[float, float], primary: tuple[float, float], margin: float) -> Judgement:
    """Judge a sentence that says that there is no effect, by two one-sided tests (points).

    Reproduced if the 90 % interval of the effect (``confident``) lies within ±margin, not reproduced if the 95 %
    interval (``primary``) lies wholly outside, else inconclusive: that an effect is not significant shows nothing.
    """
    if -margin <= confident[0] and confident[1] <= margin:
        return Judgement(REPRODUCED, *confident)
    outside = primary[0] > margin or primary[1] < -margin
    return Judgement(NOT_REPRODUCED, *primary) if outside else Judgement(INCONCLUSIVE, *confident)


def same_as_none(confident: tuple[float, float], primary: tuple[float, float], margin: float) -> Direction:
    """What an effect of which none is published looks like at a scale below the published one."""
    verdict = of_equality(confident, primary, margin).verdict
    return {REPRODUCED: "same", NOT_REPRODUCED: "opposite"}.get(verdict, "unclear")  # type: ignore[return-value]


def judge(claim: Claim, ours: Estimate, margin: float, rules: Rules) -> dict[str, Any]:
    """The columns of a printed number compared with ours, by two one-sided tests.

    Args:
        claim: which prints the number, and perhaps its standard deviation and number of runs, else taken as one.
        ours: what we measured.
        margin: of equivalence; nan if none is stated, and nothing is judged.
        rules: the levels.
    """
    printed = math.nan if claim.reported is None else claim.reported
    error = value_error(ours.n, ours.std, claim.reported_std, claim.reported_n or 1, ours.floor)
    columns: dict[str, Any] = {"p": t_p(ours.mean - printed, error, ours.df), "verdict": INCONCLUSIVE}
    if math.isnan(margin):
        return columns
    half, full, double = (
        of_value(ours.mean, printed, error, ours.df, margin * factor, rules) for factor in (0.5, 1, 2)
    )
    columns |= {"margin": margin, "low": full.low, "high": full.high, "verdict": full.verdict}
    return columns | {"verdict_half": half.verdict, "verdict_double": double.verdict}


def value_error(n: int, std: float, published_std: float | None, published_n: int = 1, floor: float = 0.0) -> float:
    """Standard error of (ours - published): our mean of n runs minus the published mean of ``published_n``.

    A published std below ours, or below the table's (``floor``), is raised to it, because some printed ones cannot be
    run-to-run noise. nan if our own spread is unknown: one run, or runs that are all equal.
    """
    if n < 2 or not std > 0:
        return math.nan
    theirs = max(std, published_std or 0.0, 0.0 if math.isnan(floor) else floor)
    return math.sqrt(std**2 / n + theirs**2 / published_n)


def of_value(ours: float, published: float, error: float, df: int, margin: float, rules: Rules) -> Judgement:
    """Judge a printed number by two one-sided tests (points).

    Reproduced if the 90 % interval of ours - published lies within ±margin, not reproduced if the 95 % interval lies
    wholly outside, else inconclusive. The returned interval is around our mean, to compare with published ± margin: the
    95 % interval if that decided, else the 90 % interval.
    """
    low, high = t_interval(ours, error, df, rules.equivalence)
    wide_low, wide_high = t_interval(ours, error, df, rules.confidence)
    if published - margin <= low and high <= published + margin:
        return Judgement(REPRODUCED, low, high)
    if wide_low > published + margin or wide_high < published - margin:
        return Judgement(NOT_REPRODUCED, wide_low, wide_high)
    return Judgement(INCONCLUSIVE, low, high)
