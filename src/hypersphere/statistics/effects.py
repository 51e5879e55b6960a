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
from hypersphere.provenance import tables
from hypersphere.provenance.columns import EFFECTS
from hypersphere.t_test import holm, is_constant, spread, t_interval, t_p

WELCH, POOLED, PAIRED = "welch", "pooled", "paired"
ENOUGH = 3
"""Runs in each of two arms from which their own spreads are used."""
Arms = dict[str, pd.Series]
"""The values of each cell's finished runs, indexed by seed; by the cell's coordinates."""


class Pooled(NamedTuple):
    """Residual spread of a one-way layout: an artifact's cells that differ only in how a run was trained."""

    std: float
    """The standard deviation, in the metric's unit; nan if no variant has two runs."""
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
    dataset_and_readings = point.keys() - {"method", "variant", *coordinates.of_run(point)}
    return coordinates.in_order({key: point[key] for key in dataset_and_readings})


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
    df = 0
    squares = 0.0
    for arm in arms:
        values = arm.to_numpy(dtype=float)
        if len(values) > 1 and (constant or not is_constant(values)):
            df += len(values) - 1
            squares += (len(values) - 1) * spread(values) ** 2
    return Pooled(math.sqrt(squares / df) if df else math.nan, df)


def pool_for(own: Sequence[pd.Series], groups: Mapping[str, pd.Series], rules: Rules) -> Pooled:
    """Pool the variance of ``own``, which are among ``groups``, with that of the others, unless those vary less.

    An F test at the level ``pooled_if`` says so. If no arm of ``own`` varies, nothing is borrowed.
    """
    compared = {id(arm) for arm in own}
    ours = pool(own)
    others = pool(arm for arm in groups.values() if id(arm) not in compared)
    if not ours.df or not others.df:
        return ours
    vary_less = special.fdtr(others.df, ours.df, (others.std / ours.std) ** 2)
    if vary_less < rules.pooled_if:
        return ours
    return pool(groups.values())


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
    sizes = np.array([len(arm) for arm in arms])
    variances = np.array([spread(arm.to_numpy(dtype=float)) ** 2 for arm in arms]) / sizes
    variance = float(variances.sum())
    if not variance > 0:  # nan for one run
        return NO_TEST
    squares = variances**2 / (sizes - 1)
    return Test(WELCH, math.sqrt(variance), variance**2 / float(squares.sum()))


def pooled_test(variant: pd.Series, baseline: pd.Series, pooled: Pooled) -> Test:
    """The test by a pooled spread; none of one run. None without any spread: that is no perfect measurement."""
    if min(len(variant), len(baseline)) < 2 or not pooled.std > 0:
        return NO_TEST
    return Test(POOLED, pooled.std * math.sqrt(1 / len(variant) + 1 / len(baseline)), pooled.df)


def paired_test(differences: np.ndarray) -> Test:
    """The test of differences by seed; none of one seed, or where they are all equal."""
    n = len(differences)
    deviation = spread(differences)
    return Test(PAIRED, deviation / math.sqrt(n), n - 1) if deviation > 0 else NO_TEST


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
    pooled = pool_for((variant, baseline), groups, rules)
    shared = variant.index.intersection(baseline.index)
    own = variant[shared]
    other = baseline[shared]
    differences = (own - other).to_numpy(dtype=float)
    paired = paired_test(differences)
    paired_difference = float(differences.mean()) if len(shared) else math.nan
    if of_pairs:
        variant, baseline = own, other
    test = paired if of_pairs else primary(variant, baseline, pooled)
    difference = float(variant.mean() - baseline.mean())
    low, high = test.interval(difference, rules.confidence)
    low_equal, high_equal = test.interval(difference, rules.equivalence)
    paired_low, paired_high = paired.interval(paired_difference, rules.confidence)
    return {
        "primary": test,
        "effect": difference,
        "low": low,
        "high": high,
        "p": test.p(difference),
        "low_equal": low_equal,
        "high_equal": high_equal,
        "test": test.name,
        "df": test.df,
        "pooled_std": pooled.std,
        "n_variant": len(variant),
        "n_baseline": len(baseline),
        "low_power": test.df < rules.low_power_df,
        "detectable": detectable(test, rules),
        "paired_low": paired_low,
        "paired_high": paired_high,
        "paired_p": paired.p(paired_difference),
        "n_pairs": len(shared),
        "correlation": correlation(own.to_numpy(dtype=float), other.to_numpy(dtype=float)),
    }


def correlation(own: np.ndarray, other: np.ndarray) -> float:
    """Pearson's correlation over seeds; nan where an arm does not vary, or of two, which always lie on a line."""
    if len(own) < 3 or is_constant(own) or is_constant(other):
        return math.nan
    return float(np.corrcoef(own, other)[0, 1])


def of_artifact(
    table: pd.DataFrame, artifact: Measured, declared: Mapping[str, int], rules: Rules
) -> pd.DataFrame:
    """effects.csv: all effects of one artifact, Holm-corrected together: against the baseline, then the others.

    Comparisons that were not run have no row and count for Holm, whose family is what the artifact declares. A/A
    comparisons are in no family. ``table`` holds the artifact's measurements, and ``declared`` the number of seeds that
    each cell should have.
    """
    by_layout = arms(table, artifact.points)
    cells = table.drop_duplicates("coordinates").set_index("coordinates", drop=False)
    about = dict(zip(cells.index, tables.rows(cells), strict=True))
    lost = table.loc[table["status"].isin(WITHOUT_VALUE), "coordinates"].value_counts()
    margin = math.nan if artifact.margin is None else artifact.margin
    rows: list[dict[str, Any]] = []
    for point, against in artifact.comparisons:
        # Two layouts if the two differ in a reading; a baseline that is no cell has none.
        groups = by_layout.get(layout(point), {}) | by_layout.get(layout(against), {})
        cell, baseline = pair = point.text, against.text
        if not groups.keys() >= {*pair}:
            continue
        in_family = _in_family(point, against)
        of_pairs = _of_same_encoders(point, against) or (artifact.test == PAIRED and in_family)
        row = effect(groups[cell], groups[baseline], groups, rules, of_pairs)
        seen = sum(len(groups[one]) + lost.get(one, 0) for one in pair)
        row |= {
            "baseline": baseline,
            "in_family": in_family,
            "margin": margin,
            "equivalent": -margin < row["low_equal"] and row["high_equal"] < margin,
            "n_declared": min(declared[one] for one in pair),
            "n_missing": sum(declared[one] for one in pair) - seen,
        }
        rows.append(about[cell] | row)
    family = sum(_in_family(point, against) for point, against in artifact.comparisons)
    _adjust([row for row in rows if row["in_family"]], family, rules)
    return pd.DataFrame(rows, columns=list(EFFECTS))


def _in_family(point: Coordinates, against: Coordinates) -> bool:
    """Whether Holm's correction counts a comparison: every one but of a baseline with itself (A/A)."""
    return AGAIN not in (point["variant"], against["variant"])


def _of_same_encoders(point: Coordinates, against: Coordinates) -> bool:
    """Whether two cells are readings of the same encoders: a difference between seeds is in both."""
    epochs = point.get("epoch"), against.get("epoch")
    return (
        coordinates.without_readings(point) == coordinates.without_readings(against)
        and epochs[0] == epochs[1]
    )


def _adjust(rows: list[dict[str, Any]], family: int, rules: Rules) -> None:
    """Set Holm's p, and the interval at the level of its step, of each row of one family, in place.

    Each row keeps its own test, so that no interval widens or narrows with the spread of arms that it does not compare.
    """
    adjusted, levels = holm([row["p"] for row in rows], rules.alpha, family)
    for row, p, level in zip(rows, adjusted, levels, strict=True):
        row["p_holm"] = float(p)
        row["low_holm"], row["high_holm"] = row["primary"].interval(row["effect"], 1 - level)


MOST = 65_536
"""Runs an arm that are never tried: a comparison that needs more has no price."""


def runs_to_see(effect: float, spread: float, rules: Rules) -> float:
    """Runs an arm with which Welch's test finds a true ``effect``, on its side, with the stated power.

    Both are in the measure's unit; ``spread`` is the standard deviation over seeds, taken as equal in both arms. Before
    any correction for other comparisons. nan: one of the two is zero or unknown, or more than ``MOST`` are needed.
    """

    def power(error: float, df: int) -> float:
        critical = special.stdtrit(df, 1 - rules.alpha / 2)
        return 1 - float(special.nctdtr(df, abs(effect) / error, critical))

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

    def power_of(n: int) -> float:
        return power(spread * math.sqrt(2 / n), 2 * n - 2)

    sizes = range(2, MOST + 1)
    least = bisect_left(sizes, rules.power, key=power_of)
    return float(sizes[least]) if least < len(sizes) else math.nan
