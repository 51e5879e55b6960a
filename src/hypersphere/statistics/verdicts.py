"""Verdicts on published numbers from our measurements. Pure functions; docs/statistics.md states the rules."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Self

from hypersphere.config import coordinates
from hypersphere.config.cells import control
from hypersphere.config.claims import SIGNS, Claim
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.config.rules import Answer, Direction, Rules, Verdict
from hypersphere.t_test import t_interval, t_p

Interval = tuple[float, float]
"""Both ends, in the metric's unit; nan where it is unknown."""


Floored = Literal["", "variant", "baseline", "both"]
"""Which arms are not shown to be above their controls (``floor_of``)."""


class Judgement(NamedTuple):
    """A verdict, and the interval that decided it, in the metric's unit."""

    verdict: Verdict
    low: float
    high: float
    direction: Direction = "unclear"
    why: str = ""
    """Why the verdict is no better, where the interval alone would be taken for more."""
    margin: float = math.nan
    """The margin of equivalence; nan: nothing is compared with it."""

    @property
    def answer(self) -> Answer:
        """What the verdict says of an effect: sign and size are two questions."""
        if self.verdict is Verdict.NOT_REPRODUCED and self.direction == "opposite":
            return Answer.OPPOSITE
        return self.verdict.answer


class Intervals(NamedTuple):
    """The intervals of one effect, variant minus baseline; each answers another question."""

    adjusted: Interval
    """The interval at the level of Holm's step, which tells the effect's sign."""
    primary: Interval
    """The interval at 95 %, which tells its size."""
    confident: Interval
    """The interval at 90 %, which tells whether there is none, by two one-sided tests."""

    @classmethod
    def of(cls, effect: Mapping[str, float]) -> Self:
        """The intervals of a row of effects.csv."""
        return cls(
            (effect["low_holm"], effect["high_holm"]),
            (effect["low"], effect["high"]),
            (effect["low_equal"], effect["high_equal"]),
        )


class Size(NamedTuple):
    """How large an effect on the published side must be to count, in the metric's unit."""

    least: float
    most: float
    """An effect wholly above it is another effect."""

    @classmethod
    def of(cls, published: float, rules: Rules) -> Self:
        """The sizes that a published difference allows: from half of it to twice it (``most_effect``)."""
        return cls(abs(published) / 2, rules.most_effect * abs(published))


def margin_of(measure: Measure, published: float | None, rules: Rules) -> float:
    """The equivalence margin D of a published number, in the measure's unit; nan where its measure has none.

    An accuracy has one without a published number, too. docs/statistics.md has the rules and their reasons.
    """
    if measure.margin == "accuracy":
        return rules.margin.of(published or 0.0)
    if published is None or measure.margin == "none":
        return math.nan
    if measure.margin == "rate":
        return rules.margin.of(max(published, 100 - published))
    return max(rules.margin.relative * abs(published), measure.step)


def compare(claim: Claim, ours: Intervals, rules: Rules, floored: Floored = "") -> Judgement:
    """The verdict on a comparison: the same at every scale, for a published effect and for a study of ours.

    Nothing is read where neither arm is shown to be above its controls. Over a baseline that is not, an effect has a
    direction and no size.
    """
    margin = _margin_of_equivalence(claim, rules)
    if claim.direction == "equal":
        judged = of_equality(ours.confident, ours.primary, margin)
    else:
        judged = _of_difference(claim, ours, margin, rules)
    return with_floor(judged, floored, has_size=claim.direction != "equal")


def with_floor(judged: Judgement, floored: Floored, has_size: bool) -> Judgement:
    """A judgement as far as it holds of arms of which ``floored`` says which are not shown to be above their controls.

    ``has_size``: it is of an effect's size, too, and not of a sentence that says that there is no effect.
    """
    if floored == "both":
        why = "neither arm is shown to be above its controls"
        return judged._replace(verdict=Verdict.INCONCLUSIVE, direction="unclear", why=why)
    if floored == "baseline" and has_size and judged.verdict is Verdict.REPRODUCED:
        why = "the baseline is not shown to be above its controls, so that the effect has no size"
        return judged._replace(verdict=Verdict.DIRECTION_ONLY, why=why)
    return judged


def _margin_of_equivalence(claim: Claim, rules: Rules) -> float:
    """The margin that a study fixed, or else the margin of the printed baseline; nan: there is none."""
    if claim.margin is not None:
        return claim.margin
    return margin_of(MEASURES[claim.metric], claim.level, rules) if claim.metric else math.nan


def _of_difference(claim: Claim, ours: Intervals, margin: float, rules: Rules) -> Judgement:
    """The judgement of a published difference or direction, or of what a study of ours supposes of an arm."""
    if claim.direction in SIGNS:
        judged = of_direction(SIGNS[claim.direction], claim.margin, ours)
        return _or_none(judged, ours, margin)
    published = claim.reported or 0.0
    judged = of_effect(published, Size.of(published, rules), ours.adjusted, ours.primary)
    return _or_none(judged, ours, margin) if abs(published) > margin else judged


def of_direction(sign: float, margin: float | None, ours: Intervals) -> Judgement:
    """The judgement of a supposed direction: that an effect has this sign, and reaches the margin, if there is one."""
    size = Size(margin or 0.0, math.inf)
    judged = of_effect(sign, size, ours.adjusted, ours.primary)
    return _or_none(judged._replace(margin=margin or math.nan), ours, margin or math.nan)


def _or_none(judged: Judgement, ours: Intervals, margin: float) -> Judgement:
    """A judgement that says that there is no effect, if its direction is unclear and its interval within the margin."""
    if judged.direction == "unclear" and _within(ours.confident, margin):
        return judged._replace(direction="no effect")
    return judged


def of_effect(published: float, size: Size, adjusted: Interval, primary: Interval) -> Judgement:
    """Judge an effect by its sign, from the interval after correction, and by its size, from the one without.

    Each interval shrinks around the same estimate as runs are added, so that neither answer turns round. It is
    inconclusive without an interval (one run an arm), and where 0 is published, which has no direction: that needs a
    test of equivalence. The direction is unclear if the adjusted interval has 0 in it or is unknown.
    """
    if published == 0:
        return Judgement(Verdict.INCONCLUSIVE, *adjusted)
    nearest, furthest = _towards(published, adjusted)
    least, most = _towards(published, primary)
    if nearest > 0:
        judged = Judgement(Verdict.DIRECTION_ONLY, *adjusted, "same")
        if least > size.most:
            why = f"above {size.most:g}, so that it is another effect than the published one"
            return judged._replace(why=why)
        return judged._replace(verdict=Verdict.REPRODUCED) if most >= size.least else judged
    direction: Direction = "opposite" if furthest < 0 else "unclear"
    if most < size.least:
        return Judgement(Verdict.NOT_REPRODUCED, *primary, direction)
    return Judgement(Verdict.INCONCLUSIVE, *adjusted, direction)


def _towards(published: float, interval: Interval) -> Interval:
    """(lowest, highest) of an interval, with its sign changed if the published effect is negative."""
    turned = [math.copysign(1.0, published) * bound for bound in interval]
    return min(turned), max(turned)


def floor_of(
    cell: str,
    interval: Interval,
    measure: Measure,
    means: Mapping[str, float],
    controls: Iterable[str],
) -> str:
    """The first of ``controls`` that a cell is not shown to be above; empty: it is above all at hand.

    The interval of its mean must lie on the better side of the control's mean; an unknown one shows nothing. Not to be
    shown above a control is not to be level with it. ``controls`` are variants of the method ``control``; one without
    a mean is not compared.
    """
    sign = -1 if measure.better == "lower" else 1
    nearest = min(sign * bound for bound in interval)
    for variant in controls:
        level = means.get(
            coordinates.text(control(coordinates.parse(cell, "coordinates"), variant))
        )
        if level is not None and not nearest > sign * level:
            return variant
    return ""


def cannot_be_judged(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a claim whose document omits something needed: measurements stay, the verdict is replaced."""
    verdict = Verdict.CANNOT_BE_JUDGED
    no_verdict = {"verdict_half": None, "verdict_double": None}
    return {**outcome, **no_verdict, "verdict": verdict, "answer": verdict.answer}


def of_equality(confident: Interval, primary: Interval, margin: float) -> Judgement:
    """Judge a sentence that says that there is no effect, by two one-sided tests.

    Reproduced if ``confident`` lies within ±margin, not reproduced if ``primary`` lies wholly outside, else
    inconclusive: that an effect is not significant shows nothing.
    """
    if _within(confident, margin):
        return Judgement(Verdict.REPRODUCED, *confident, "no effect", margin=margin)
    low, high = primary
    if low > margin or high < -margin:
        return Judgement(Verdict.NOT_REPRODUCED, *primary, margin=margin)
    return Judgement(Verdict.INCONCLUSIVE, *confident, margin=margin)


def _within(interval: Interval, margin: float) -> bool:
    """Whether an interval lies within ±margin, ends included; an unknown interval or margin does not."""
    low, high = interval
    return -margin <= low and high <= margin


def judge(
    claim: Claim,
    mean: float,
    n: int,
    std: float,
    df: int,
    margin: float,
    rules: Rules,
    floor: float = 0.0,
) -> dict[str, Any]:
    """The columns of a printed number compared with ours, by two one-sided tests.

    Ours is a mean of ``n`` runs; ``std``, with ``df`` degrees of freedom, is between seeds: of these, or, where they
    are too few, of more rows. The printed one is raised to it, and to the table's (``floor``), because some printed
    ones cannot be run-to-run noise. Its number of runs is taken as one where none is printed. Without a spread of ours
    there is no error, and without a margin of equivalence (nan) nothing is judged.
    """
    assert claim.reported is not None
    printed = claim.reported
    error = math.nan
    if n > 1 and std > 0:
        theirs = max(
            std, claim.reported_std or 0.0, floor
        )  # an unknown floor, nan, is never the largest
        error = math.sqrt(std**2 / n + theirs**2 / (claim.reported_n or 1))
    p = t_p(mean - printed, error, df)
    if math.isnan(margin):
        return {"p": p, "verdict": Verdict.INCONCLUSIVE}
    narrow = t_interval(mean, error, df, rules.equivalence)
    wide = t_interval(mean, error, df, rules.confidence)
    confident = narrow[0] - printed, narrow[1] - printed
    primary = wide[0] - printed, wide[1] - printed
    verdict = of_equality(confident, primary, margin).verdict
    # The interval that decided it, around our mean, to compare with the printed number ± margin.
    low, high = wide if verdict is Verdict.NOT_REPRODUCED else narrow
    return {
        "p": p,
        "verdict": verdict,
        "margin": margin,
        "low": low,
        "high": high,
        "verdict_half": of_equality(confident, primary, margin / 2).verdict,
        "verdict_double": of_equality(confident, primary, margin * 2).verdict,
    }
