"""effects.csv: each variant minus the baseline of its artifact, with intervals.

All effects, intervals and standard deviations are in the metric's unit (points, for accuracies). docs/statistics.md
states the rules; the arithmetic is scipy's and statsmodels', imported where a test needs them: artifacts without
effects, and exact studies, do without their second of import.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.declared import coordinates
from hypersphere.declared.artifacts import Measured
from hypersphere.declared.coordinates import Coordinates
from hypersphere.declared.rules import Rules
from hypersphere.means import is_constant, spread, t_interval, t_p

COLUMNS = [
    *["coordinates", "baseline", "method", "variant", "dataset", "setting", "measure", "measured_on"],
    *["effect", "low", "high", "p", "p_holm", "low_holm", "high_holm", "df", "pooled_std", "levene_p"],
    *["n_variant", "n_baseline", "welch_low", "welch_high", "welch_p", "paired_low", "paired_high", "paired_p"],
    *["n_pairs", "correlation", "low_power", "detectable"],
]
NAN = float("nan")
Arms = dict[str, pd.Series]
"""By the coordinates of a cell: the value of each finished run, indexed by seed."""


@dataclass(frozen=True)
class Pooled:
    """Residual spread of a one-way layout: an artifact's cells that differ only in how a run was trained."""

    std: float
    """In the metric's unit; nan if no variant has two runs."""
    df: int
    """Degrees of freedom: the sum of n-1."""

    def error(self, *sizes: int) -> float:
        """Standard error of a difference between means over ``sizes`` runs; nan if it is unknown.

        It is unknown without any spread between seeds, which does not prove a perfect measurement.
        """
        if not self.std > 0 or min(sizes) < 1:
            return NAN
        return self.std * float(np.sqrt(sum(1 / n for n in sizes)))


def layout(point: Coordinates) -> str:
    """Coordinates that cells must share to have their spread pooled: all but method, variant and fields of the run."""
    trained = ("method", "variant", *coordinates.of_run(point))
    return coordinates.text({key: value for key, value in point.items() if key not in trained})


def arms(table: pd.DataFrame, points: Iterable[Coordinates], like: Coordinates) -> Arms:
    """The cells of one artifact that share a layout with ``like``, from its measurements.

    A cell without a run is absent. A cell whose runs all diverged is present and empty.
    """
    cells = [coordinates.text(point) for point in points if layout(point) == layout(like)]
    rows_of = {cell: table[table["coordinates"] == cell] for cell in cells}
    return {
        cell: runs[runs["status"] == "finished"].dropna(subset="value").set_index("seed")["value"]
        for cell, runs in rows_of.items()
        if len(runs)
    }


def pool(groups: Mapping[str, pd.Series]) -> Pooled:
    """Pool the variance over all arms. Arms of one run add nothing."""
    several = [group.to_numpy(dtype=float) for group in groups.values() if len(group) > 1]
    df = sum(len(values) - 1 for values in several)
    squares = sum((len(values) - 1) * spread(values) ** 2 for values in several)
    return Pooled(float(np.sqrt(squares / df)) if df else NAN, df)


def holm(p: Sequence[float], alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Holm's adjusted p, and the level of each row's interval; nan for rows without a p, which are not tests.

    The step-down test at level alpha / (m - rank + 1) stops at the first p that is too large. From there on all rows
    get the level of that step, so that an interval excludes 0 exactly if its adjusted p is at most alpha.
    """
    raw = np.asarray(p, dtype=float)
    adjusted, levels = np.full(len(raw), NAN), np.full(len(raw), NAN)
    tested = np.flatnonzero(~np.isnan(raw))
    if not len(tested):
        return adjusted, levels
    order = tested[np.argsort(raw[tested], kind="stable")]
    left = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * left), 1)
    steps = alpha / left
    failed = np.flatnonzero(raw[order] > steps)
    if len(failed):
        steps[failed[0] :] = steps[failed[0]]
    levels[order] = steps
    return adjusted, levels


def levene(groups: Mapping[str, pd.Series]) -> float:
    """p of Levene's test (around medians) that all arms have the same variance.

    Only arms of three runs or more count: two values are equally far from their median, which always looks significant.
    """
    usable = [group.to_numpy(dtype=float) for group in groups.values() if len(group) > 2]
    if len(usable) < 2 or all(is_constant(values) for values in usable):
        return NAN
    from scipy import stats

    return float(stats.levene(*usable, center="median").pvalue)


def detectable(n_variant: int, n_baseline: int, pooled: Pooled, rules: Rules) -> float:
    """The effect that a two-sided test at alpha, with the pooled df, detects with the stated power (metric's unit).

    Detecting means rejecting on the right side, so the power is that of the one-sided test at alpha / 2.
    """
    if np.isnan(pooled.error(n_variant, n_baseline)):
        return NAN
    from scipy import optimize
    from statsmodels.stats.power import TTestIndPower

    design = {"nobs1": n_variant, "ratio": n_baseline / n_variant, "df": pooled.df, "alpha": rules.alpha / 2}

    def excess(effect_in_stds: float) -> float:
        return float(TTestIndPower().power(effect_in_stds, **design, alternative="larger")) - rules.power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high)) * pooled.std


def welch(variant: pd.Series, baseline: pd.Series, confidence: float) -> dict[str, float]:
    """Sensitivity: Welch's interval and p, from only these two arms."""
    a, b = variant.to_numpy(dtype=float), baseline.to_numpy(dtype=float)
    if min(len(a), len(b)) < 2 or (is_constant(a) and is_constant(b)):
        return {"welch_low": NAN, "welch_high": NAN, "welch_p": NAN}
    from scipy import stats

    test = stats.ttest_ind(a, b, equal_var=False)
    low, high = test.confidence_interval(confidence)
    return {"welch_low": float(low), "welch_high": float(high), "welch_p": float(test.pvalue)}


def paired(variant: pd.Series, baseline: pd.Series, confidence: float) -> dict[str, float]:
    """Sensitivity: the paired interval and p over shared seeds, and the correlation that pairing relies on."""
    seeds = variant.index.intersection(baseline.index)
    a, b = variant[seeds].to_numpy(dtype=float), baseline[seeds].to_numpy(dtype=float)
    result = {
        "paired_low": NAN,
        "paired_high": NAN,
        "paired_p": NAN,
        "n_pairs": len(seeds),
        "correlation": NAN,
    }
    from scipy import stats

    if len(seeds) > 1 and not is_constant(a - b):
        test = stats.ttest_rel(a, b)
        low, high = test.confidence_interval(confidence)
        result |= {"paired_low": float(low), "paired_high": float(high), "paired_p": float(test.pvalue)}
    # Two points always have a perfect correlation.
    if len(seeds) > 2 and not is_constant(a) and not is_constant(b):
        result["correlation"] = float(stats.pearsonr(a, b).statistic)
    return result


def effect(variant: pd.Series, baseline: pd.Series, groups: Arms, rules: Rules) -> dict[str, Any]:
    """A row's numbers, except Holm's: ``variant`` minus ``baseline``, both among ``groups``, which are pooled."""
    pooled = pool(groups)
    sizes = len(variant), len(baseline)
    difference = float(variant.mean() - baseline.mean()) if min(sizes) else NAN
    error = pooled.error(*sizes)
    low, high = t_interval(difference, error, pooled.df, rules.confidence)
    return {
        "effect": difference,
        "low": low,
        "high": high,
        "p": t_p(difference, error, pooled.df),
        "df": pooled.df,
        "pooled_std": pooled.std,
        "levene_p": levene(groups),
        "n_variant": sizes[0],
        "n_baseline": sizes[1],
        **welch(variant, baseline, rules.confidence),
        **paired(variant, baseline, rules.confidence),
        "low_power": pooled.df < rules.low_power_df,
        "detectable": detectable(*sizes, pooled, rules),
        "error": error,
    }


def of_artifact(table: pd.DataFrame, artifact: Measured, rules: Rules) -> pd.DataFrame:
    """effects.csv: all effects of one artifact, Holm-corrected together, in the order of its cells.

    A cell without a baseline is absent, and so is one that was not run or whose baseline was not. ``table`` holds the
    artifact's measurements.
    """
    points = artifact.points
    by_layout: dict[str, Arms] = {}

    def arms_like(point: Coordinates) -> Arms:
        if layout(point) not in by_layout:
            by_layout[layout(point)] = arms(table, points, point)
        return by_layout[layout(point)]

    rows: list[dict[str, Any]] = []
    for point in points:
        against = artifact.compared_with(point)
        if against is None:
            continue
        groups = arms_like(point) | arms_like(against)  # two layouts if the two differ in a reading
        cell, baseline = coordinates.text(point), coordinates.text(against)
        if cell not in groups or baseline not in groups:
            continue
        first = table[table["coordinates"] == cell].iloc[0]
        key = {name: first[name] for name in COLUMNS if name in table.columns}
        rows.append(key | {"baseline": baseline} | effect(groups[cell], groups[baseline], groups, rules))
    adjusted, levels = holm([row["p"] for row in rows], rules.alpha)
    for row, p, level in zip(rows, adjusted, levels, strict=True):
        low, high = t_interval(row["effect"], row["error"], row["df"], 1 - level)
        row |= {"p_holm": float(p), "low_holm": low, "high_holm": high}
    return pd.DataFrame(rows, columns=COLUMNS)
