"""Verdicts on published numbers from our measurements. Pure functions; docs/statistics.md states the rules."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from hypersphere.config import coordinates
from hypersphere.config.cells import control
from hypersphere.config.claims import SIGNS, Claim
from hypersphere.config.measures import Measure
from hypersphere.config.rules import Margin, Rules, Verdict
from hypersphere.t_test import t_interval, t_p

Direction = Literal["same", "opposite", "no effect", "unclear"]
Interval = tuple[float, float]
"""Both ends, in the metric's unit; nan where it is unknown."""


class Judgement(NamedTuple):
    """A verdict, and the interval that decided it, in the metric's unit."""

    verdict: Verdict
    low: float
    high: float
    direction: Direction = "unclear"
    """That of the published effect, as it is read below the published scale."""
    why: str = ""
    """Why it is no better, where the interval alone would be taken for more."""
    margin: float = math.nan
    """Of equivalence; nan: nothing is compared with it."""


class Intervals(NamedTuple):
    """Intervals of one effect: variant minus baseline."""

    adjusted: Interval
    """Holm's."""
    primary: Interval
    """Of 95 %."""
    confident: Interval
    """Of 90 %, for tests of equivalence."""


def compare(claim: Claim, ours: Intervals, rules: Rules) -> Judgement:
    """The verdict on a comparison, and its direction.

    There is no effect if no direction is clear and the 90 % interval lies within the margin of equivalence, unless the
    printed effect itself lies within it: then ours does not speak against it. Within the margin that a study of ours
    fixed an effect is too small to count also where its direction is clear.
    """
    margin = claim.margin or (rules.margin.of(claim.level or 0.0) if claim.of_accuracy else math.nan)
    if claim.direction == "equal":
        judged = of_equality(ours.confident, ours.primary, margin)
        directions: dict[str, Direction] = {Verdict.REPRODUCED: "same", Verdict.NOT_REPRODUCED: "opposite"}
        return judged._replace(direction=directions.get(judged.verdict, "unclear"))
    published, signed = SIGNS.get(claim.direction or "", claim.reported or 0.0), claim.direction in SIGNS
    judged = of_effect(published, ours.adjusted, ours.primary, rules, sized=not signed)
    large = signed or abs(published) > margin
    within = -margin <= ours.confident[0] and ours.confident[1] <= margin
    if within and (claim.margin or (judged.direction == "unclear" and large)):
        judged = judged._replace(direction="no effect")
    return judged._replace(margin=(claim.margin if signed else None) or math.nan)


def of_effect(published: float, adjusted: Interval, primary: Interval, rules: Rules, sized: bool = True) -> Judgement:
    """Judge a comparison that prints a difference, or, where it is not ``sized``, which mean is the larger.

    It is inconclusive without an interval (one run an arm), and where 0 is printed, which has no direction: that needs
    a test of equivalence. Without a printed size any effect on its side is large enough, and none too large. The
    direction is unclear if the adjusted interval has 0 in it or is unknown.
    """
    if published == 0 or any(math.isnan(bound) for bound in adjusted):
        return Judgement(Verdict.INCONCLUSIVE, *adjusted)
    half = abs(published) / 2 if sized else 0.0
    nearest, furthest = _towards(published, adjusted)
    direction: Direction = "same" if nearest > 0 else "opposite" if furthest < 0 else "unclear"
    if any(math.isnan(bound) for bound in primary):
        return Judgement(Verdict.INCONCLUSIVE, *adjusted, direction)
    if sized and nearest > rules.most_effect * abs(published):
        why = f"above {rules.most_effect:g} times the printed effect"
        return Judgement(Verdict.DIRECTION_ONLY, *adjusted, direction, why)
    if nearest > 0:
        return Judgement(Verdict.REPRODUCED if furthest >= half else Verdict.DIRECTION_ONLY, *adjusted, direction)
    if _towards(published, primary)[1] < half:
        return Judgement(Verdict.NOT_REPRODUCED, *primary, direction)
    return Judgement(Verdict.INCONCLUSIVE, *adjusted, direction)


def _towards(published: float, interval: Interval) -> Interval:
    """(lowest, highest) of an interval, with its sign changed if the published effect is negative."""
    turned = [math.copysign(1.0, published) * bound for bound in interval]
    return min(turned), max(turned)


def level_with(
    cell: str,
    interval: Interval,
    measure: Measure,
    means: Mapping[str, float],
    controls: Iterable[str],
    margin: Margin | None = None,
) -> str:
    """The first of ``controls`` than which a cell is not shown to be better; empty: it is better than all at hand.

    The interval of its mean must lie on the better side of the control's mean, by more than the margin; an unknown one
    shows nothing. ``controls`` are variants of the method ``control``; one without a mean is not compared.
    """
    sign = -1 if measure.better == "lower" else 1
    nearest = min(sign * bound for bound in interval)
    for variant in controls:
        level = means.get(coordinates.text(control(coordinates.parse(cell, "coordinates"), variant)))
        if level is not None and not nearest > sign * level + (margin.of(level) if margin else 0.0):
            return variant
    return ""


def cannot_be_judged(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a claim whose document omits something needed: measurements stay, the verdict is replaced."""
    without = {name: None for name in ("verdict_half", "verdict_double") if name in outcome}
    return {**outcome, **without, "verdict": Verdict.CANNOT_BE_JUDGED}


def of_equality(confident: Interval, primary: Interval, margin: float) -> Judgement:
    """Judge a sentence that says that there is no effect, by two one-sided tests.

    Reproduced if ``confident`` lies within ±margin, not reproduced if ``primary`` lies wholly outside, else
    inconclusive: that an effect is not significant shows nothing.
    """
    if -margin <= confident[0] and confident[1] <= margin:
        return Judgement(Verdict.REPRODUCED, *confident, margin=margin)
    if primary[0] > margin or primary[1] < -margin:
        return Judgement(Verdict.NOT_REPRODUCED, *primary, margin=margin)
    return Judgement(Verdict.INCONCLUSIVE, *confident, margin=margin)


def judge(
    claim: Claim, mean: float, n: int, std: float, df: int, margin: float, rules: Rules, floor: float = 0.0
) -> dict[str, Any]:
    """The columns of a printed number compared with ours, by two one-sided tests.

    Ours is a mean of ``n`` runs; ``std``, with ``df`` degrees of freedom, is between seeds: of these, or, where they
    are too few, of more rows. The printed one is raised to it, and to the table's (``floor``), because some printed
    ones cannot be run-to-run noise. Its number of runs is taken as one where none is printed. Without a spread of ours
    there is no error, and without a margin of equivalence (nan) nothing is judged.
    """
    printed, error = math.nan if claim.reported is None else claim.reported, math.nan
    if n > 1 and std > 0:
        theirs = max(std, claim.reported_std or 0.0, 0.0 if math.isnan(floor) else floor)
        error = math.sqrt(std**2 / n + theirs**2 / (claim.reported_n or 1))
    columns: dict[str, Any] = {"p": t_p(mean - printed, error, df), "verdict": Verdict.INCONCLUSIVE}
    if math.isnan(margin):
        return columns
    equal, wide = (t_interval(mean, error, df, level) for level in (rules.equivalence, rules.confidence))
    confident, primary = ((low - printed, high - printed) for low, high in (equal, wide))
    half, full, double = (of_equality(confident, primary, margin * factor).verdict for factor in (0.5, 1, 2))
    # The interval that decided it, around our mean, to compare with the printed number ± margin.
    low, high = wide if full == Verdict.NOT_REPRODUCED else equal
    columns |= {"margin": margin, "low": low, "high": high, "verdict": full}
    return columns | {"verdict_half": half, "verdict_double": double}
