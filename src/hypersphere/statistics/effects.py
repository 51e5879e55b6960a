"""effects.csv: each variant minus the baseline of its artifact, with intervals; and how many runs would show one.

All effects, intervals and standard deviations are in the metric's unit. docs/statistics.md states the rules. What does
without scipy.stats does without its second of import.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured
from hypersphere.config.coordinates import Coordinates, Position
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Rules
from hypersphere.config.study import AGAIN
from hypersphere.provenance.columns import EFFECTS
from hypersphere.t_test import holm, is_constant, spread, t_interval, t_p

WELCH, POOLED, PAIRED = "welch", "pooled", "paired"
ENOUGH = 3
"""Runs in each of two arms from which their own spreads are used."""
Arms = dict[str, pd.Series]
"""By the coordinates of a cell: the value of each finished run, indexed by seed."""


class Pooled(NamedTuple):
    """Residual spread of a one-way layout: an artifact's cells that differ only in how a run was trained."""

    std: float
    """In the metric's unit; nan if no variant has two runs."""
    df: int
    """Degrees of freedom: the sum of n-1."""


class Test(NamedTuple):
    """Student's test of a difference of two means."""

    name: str
    """``welch``, ``pooled``, ``paired``, or empty if there is none."""
    error: float
    """Standard error of the difference, in the metric's unit; nan if there is no test."""
    df: float

    def interval(self, difference: float, confidence: float) -> tuple[float, float]:
        """The interval of the difference, in its unit; nan if there is no test."""
        return t_interval(difference, self.error, self.df, confidence)

    def p(self, difference: float) -> float:
        """Two-sided p of no difference; nan if there is no test."""
        return t_p(difference, self.error, self.df)


NO_TEST = Test("", math.nan, 0)


def layout(point: Coordinates) -> Position:
    """Coordinates that cells must share to have their spread pooled: all but method, variant and fields of the run."""
    trained = ("method", "variant", *coordinates.of_run(point))
    return coordinates.ordered({key: value for key, value in point.items() if key not in trained})


def arms(table: pd.DataFrame, points: Iterable[Position]) -> dict[Position, Arms]:
    """The measured cells of one artifact, by layout; without values if no run has one."""
    finished = table["value"].where(table["status"] == "finished").set_axis(table["seed"])
    by_cell = finished.groupby(table["coordinates"].to_numpy(), sort=False)
    measured = {str(cell): values.dropna() for cell, values in by_cell}
    found: dict[Position, Arms] = {}
    for point in points:
        alike = found.setdefault(layout(point), {})
        if point.text in measured:
            alike[point.text] = measured[point.text]
    return found


def pool(arms: Iterable[pd.Series], constant: bool = False) -> Pooled:
    """Pool the variance over all arms of several runs.

    Arms whose runs are all equal (collapsed encoders) would pretend that the others vary less. ``constant`` counts
    those too, for numbers that are often equal because they are whole.
    """
    several = [arm.to_numpy(dtype=float) for arm in arms if len(arm) > 1]
    several = [values for values in several if constant or not is_constant(values)]
    df = sum(len(values) - 1 for values in several)
    squares = sum((len(values) - 1) * spread(values) ** 2 for values in several)
    return Pooled(float(np.sqrt(squares / df)) if df else math.nan, df)


def pool_for(own: Sequence[pd.Series], groups: Mapping[str, pd.Series], rules: Rules) -> Pooled:
    """Pool the variance of ``own``, which are among ``groups``, with that of the others, unless those vary less.

    An F test at the level ``pooled_if`` says so. If no arm of ``own`` varies, nothing is borrowed.
    """
    ours, others = (
        pool(own),
        pool(arm for arm in groups.values() if not any(arm is one for one in own)),
    )
    if not ours.df or not others.df:
        return ours
    if special.fdtr(others.df, ours.df, (others.std / ours.std) ** 2) < rules.pooled_if:
        return ours
    df = ours.df + others.df
    return Pooled(math.sqrt((ours.df * ours.std**2 + others.df * others.std**2) / df), df)


def detectable(test: Test, rules: Rules) -> float:
    """The effect that a two-sided test at alpha detects with the stated power (metric's unit); nan without a test.

    Detecting means rejecting on the right side, so the power is that of the one-sided test at alpha / 2.
    """
    critical = special.stdtrit(test.df, 1 - rules.alpha / 2)
    return float(special.nctdtrinc(test.df, 1 - rules.power, critical)) * test.error


def welch(*arms: pd.Series) -> Test:
    """Welch's test of a sum or difference of the arms' means, by their own variances (Welch 1938, Satterthwaite 1946).

    None if one arm has one run, or if none varies. An arm whose runs are all equal adds no variance and no degrees of
    freedom: those left are the others'.
    """
    values = [arm.to_numpy(dtype=float) for arm in arms]
    if not sum(map(spread, values)) > 0:  # nan for one run
        return NO_TEST
    variances = [spread(one) ** 2 / len(one) for one in values]
    df = sum(variances) ** 2 / sum(
        of**2 / (len(one) - 1) for of, one in zip(variances, values, strict=True)
    )
    return Test(WELCH, math.sqrt(sum(variances)), df)


def pooled_test(variant: pd.Series, baseline: pd.Series, pooled: Pooled) -> Test:
    """The test by a pooled spread; none of one run. None without any spread: that is no perfect measurement."""
    sizes = len(variant), len(baseline)
    if min(sizes) < 2 or not pooled.std > 0:
        return NO_TEST
    return Test(POOLED, pooled.std * float(np.sqrt(sum(1 / n for n in sizes))), pooled.df)


def primary(variant: pd.Series, baseline: pd.Series, pooled: Pooled) -> Test:
    """Welch's test where both arms have three runs or more; by the pooled spread (``pool_for``) elsewhere.

    Pooling under unequal spreads rejects too often. Two runs alone have too few degrees of freedom for Welch's.
    """
    enough = min(len(variant), len(baseline)) >= ENOUGH
    return welch(variant, baseline) if enough else pooled_test(variant, baseline, pooled)


def effect(
    variant: pd.Series, baseline: pd.Series, groups: Arms, rules: Rules, of_pairs: bool = False
) -> dict[str, Any]:
    """A row's numbers, except Holm's: ``variant`` minus ``baseline``, both among ``groups``, which may be pooled.

    ``of_pairs``: two readings of the same encoders, or arms that a study declares as paired, are compared by the paired
    test, over the seeds that both have. Elsewhere that test, and the correlation that it relies on, are sensitivity.
    """
    pooled, shared = (
        pool_for((variant, baseline), groups, rules),
        variant.index.intersection(baseline.index),
    )
    own, other = variant[shared], baseline[shared]
    a, b = own.to_numpy(dtype=float), other.to_numpy(dtype=float)
    pairs = NO_TEST
    if len(shared) > 1 and not is_constant(a - b):
        pairs = Test(PAIRED, spread(a - b) / float(np.sqrt(len(shared))), len(shared) - 1)
    if of_pairs:
        variant, baseline = own, other
    sizes = len(variant), len(baseline)
    difference = float(variant.mean() - baseline.mean()) if min(sizes) else math.nan
    test = pairs if of_pairs else primary(variant, baseline, pooled)
    row: dict[str, Any] = {
        **{
            "effect": difference,
            "p": test.p(difference),
            "test": test.name,
            "df": test.df,
            "primary": test,
        },
        **{"pooled_std": pooled.std, "n_variant": sizes[0], "n_baseline": sizes[1]},
        **{"low_power": test.df < rules.low_power_df, "detectable": detectable(test, rules)},
        **dict.fromkeys(("p_holm", "low_holm", "high_holm", "correlation"), math.nan),
    }
    row["low"], row["high"] = test.interval(difference, rules.confidence)
    row["low_equal"], row["high_equal"] = test.interval(difference, rules.equivalence)
    of_pair = float(np.mean(a - b)) if len(shared) else math.nan
    row["paired_low"], row["paired_high"] = pairs.interval(of_pair, rules.confidence)
    row |= {"paired_p": pairs.p(of_pair), "n_pairs": len(shared)}
    # Two points always have a perfect correlation.
    if len(shared) > 2 and not is_constant(a) and not is_constant(b):
        from scipy import stats

        row["correlation"] = float(stats.pearsonr(a, b).statistic)
    return row


def of_artifact(
    table: pd.DataFrame, artifact: Measured, declared: Mapping[str, int], rules: Rules
) -> pd.DataFrame:
    """effects.csv: all effects of one artifact, Holm-corrected together: against the baseline, then the others.

    Comparisons that were not run have no row and count for Holm, whose family is what the artifact declares. A/A
    comparisons are in no family. ``table`` holds the artifact's measurements, and ``declared`` the number of seeds that
    each cell should have.
    """
    points, comparisons = artifact.points, artifact.comparisons
    by_layout = arms(table, points)
    rows: list[dict[str, Any]] = []
    without = table.loc[table["status"].isin(WITHOUT_VALUE), "coordinates"].value_counts().to_dict()
    for point, against in comparisons:
        # Two layouts if the two differ in a reading; a baseline that is no cell has none.
        groups = by_layout.get(layout(point), {}) | by_layout.get(layout(against), {})
        cell, baseline = point.text, against.text
        if cell not in groups or baseline not in groups:
            continue
        first = table[table["coordinates"] == cell].iloc[0]
        in_family = AGAIN not in (point["variant"], against["variant"])
        # Two readings of the same encoders: a difference between seeds is in both.
        alike = all(point.get(key) == against.get(key) for key in (*coordinates.IDENTITY, "epoch"))
        alike = alike and coordinates.of_run(point) == coordinates.of_run(against)
        of_pairs = alike or (artifact.test == PAIRED and in_family)
        row = {name: first[name] for name in EFFECTS if name in table.columns} | {
            "baseline": baseline
        }
        row |= effect(groups[cell], groups[baseline], groups, rules, of_pairs)
        row |= {
            "in_family": in_family,
            "margin": math.nan if artifact.margin is None else artifact.margin,
        }
        row["equivalent"] = -row["margin"] < row["low_equal"] and row["high_equal"] < row["margin"]
        row["n_declared"] = min(declared[cell], declared[baseline])
        row["n_missing"] = sum(
            declared[one] - len(groups[one]) - without.get(one, 0) for one in (cell, baseline)
        )
        rows.append(row)
    family = sum(
        AGAIN not in (point["variant"], against["variant"]) for point, against in comparisons
    )
    _adjust([row for row in rows if row["in_family"]], family, rules)
    return pd.DataFrame(rows, columns=list(EFFECTS))


def _adjust(rows: list[dict[str, Any]], family: int, rules: Rules) -> None:
    """Set Holm's p, and the interval at the level of its step, of each row of one family, in place.

    Each row keeps its own test, so that no interval widens or narrows with the spread of arms that it does not compare.
    """
    adjusted, levels = holm([row["p"] for row in rows], rules.alpha, family)
    for row, p, level in zip(rows, adjusted, levels, strict=True):
        low, high = row["primary"].interval(row["effect"], 1 - level)
        row |= {"p_holm": float(p), "low_holm": low, "high_holm": high}


MOST = 65_536
"""Runs an arm that are never tried: a comparison that needs more has no price."""


def runs_to_see(effect: float, spread: float, rules: Rules) -> float:
    """Runs an arm with which Welch's test finds a true ``effect``, on its side, with the stated power.

    Both are in the measure's unit; ``spread`` is the standard deviation over seeds, taken as equal in both arms. Before
    any correction for other comparisons. nan: one of the two is zero or unknown, or more than ``MOST`` are needed.
    """

    def power(error: float, df: int) -> float:
        return 1 - float(
            special.nctdtr(df, abs(effect) / error, special.stdtrit(df, 1 - rules.alpha / 2))
        )

    return _least(power, spread, rules) if abs(effect) > 0 else math.nan


def runs_to_equate(margin: float, spread: float, rules: Rules) -> float:
    """Runs an arm with which two one-sided tests find arms without any difference equal within ``margin``.

    With the stated power, by the usual approximation (Chow, Shao and Wang, Sample Size Calculations in Clinical
    Research, ch. 3), which takes the interval's width at its mean.
    """

    def power(error: float, df: int) -> float:
        half = float(special.stdtrit(df, (1 + rules.equivalence) / 2))
        return 2 * float(special.stdtr(df, margin / error - half)) - 1

    return _least(power, spread, rules)


def _least(power: Callable[[float, int], float], spread: float, rules: Rules) -> float:
    """The least n of at least 2 with the stated power, which rises with n; nan: more than ``MOST``, or no spread."""
    if not spread > 0:
        return math.nan
    n = 2 + bisect_left(
        range(2, MOST + 1), rules.power, key=lambda n: power(spread * math.sqrt(2 / n), 2 * n - 2)
    )
    return float(n) if n <= MOST else math.nan
