"""effects.csv: what each intervention does against the baseline of its own table, with honest intervals.

All effects, intervals and standard deviations are in the metric's unit (points, for accuracies). docs/statistics.md
states the rules; the arithmetic is scipy's and statsmodels'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower

from hypersphere.declared.artifacts import Paper, Table
from hypersphere.declared.rules import Rules
from hypersphere.statistics.gather import is_constant, spread

COLUMNS = [
    *["paper", "artifact", "method", "variant", "baseline", "dataset", "measured_on", "metric"],
    *["effect", "low", "high", "p", "p_holm", "low_holm", "high_holm", "df", "pooled_std", "levene_p"],
    *[
        "n_variant",
        "n_baseline",
        "welch_low",
        "welch_high",
        "welch_p",
        "paired_low",
        "paired_high",
        "paired_p",
    ],
    *["n_pairs", "correlation", "low_power", "detectable"],
]
NAN = float("nan")
Arms = dict[str, pd.Series]
"""Row of a table (``method.variant``) -> final value of each finished run, indexed by seed."""


@dataclass(frozen=True)
class Pooled:
    """Residual spread of a one-way layout: a table's variants on one dataset."""

    std: float
    """In the metric's unit; nan where no variant has two runs."""
    df: int
    """Degrees of freedom: the sum of n-1."""

    def error(self, *sizes: int) -> float:
        """Standard error of a difference between means of so many runs; nan where it cannot be known.

        No spread at all between seeds is no proof of a perfect measurement, so it gives no error either.
        """
        if not self.std > 0 or min(sizes) < 1:
            return NAN
        return self.std * float(np.sqrt(sum(1 / n for n in sizes)))


def arms(table: pd.DataFrame, paper: str, metric: str, rows: Sequence[str], dataset: str) -> Arms:
    """The arms of one table on one published dataset, from measurements.

    A row with no run is absent; a row whose runs all diverged is there, and empty. Where a run was probed on several
    datasets (transfer) its value is their mean, because n counts runs.
    """
    wanted = (table["paper"] == paper) & (table["metric"] == metric) & (table["dataset"] == dataset)
    here = table[wanted & table["final"].astype(bool)]
    names = here["method"] + "." + here["variant"]
    found = {row: here[names == row] for row in rows}
    return {
        row: runs[runs["status"] == "finished"].dropna(subset="value").groupby("seed")["value"].mean()
        for row, runs in found.items()
        if len(runs)
    }


def pool(groups: Mapping[str, pd.Series]) -> Pooled:
    """Pool the variance over all arms; arms of one run add nothing."""
    several = [group.to_numpy(dtype=float) for group in groups.values() if len(group) > 1]
    df = sum(len(values) - 1 for values in several)
    squares = sum((len(values) - 1) * spread(values) ** 2 for values in several)
    return Pooled(float(np.sqrt(squares / df)) if df else NAN, df)


def t_interval(centre: float, error: float, df: int, confidence: float) -> tuple[float, float]:
    """Student's interval around ``centre``; nan where the error is unknown."""
    if not error > 0 or df < 1:
        return NAN, NAN
    low, high = stats.t.interval(confidence, df, loc=centre, scale=error)
    return float(low), float(high)


def t_p(difference: float, error: float, df: int) -> float:
    """Two-sided p of Student's test that ``difference`` is 0; nan where the error is unknown."""
    if not error > 0 or df < 1:
        return NAN
    return float(2 * stats.t.sf(abs(difference) / error, df))


def holm(p: Sequence[float], alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Holm's adjusted p, and the level of each row's interval; nan for rows without a p, which are no tests.

    A step-down test at level alpha / (m - rank + 1), which stops at the first p that is too large. Rows from there on
    all get that step's level, so that an interval excludes 0 exactly where the adjusted p is at most alpha.
    """
    raw = np.asarray(p, dtype=float)
    adjusted, levels = np.full(len(raw), NAN), np.full(len(raw), NAN)
    tested = np.flatnonzero(~np.isnan(raw))
    if not len(tested):
        return adjusted, levels
    adjusted[tested] = multipletests(raw[tested], alpha=alpha, method="holm")[1]
    order = tested[np.argsort(raw[tested], kind="stable")]
    steps = alpha / np.arange(len(order), 0, -1)
    failed = np.flatnonzero(raw[order] > steps)
    if len(failed):
        steps[failed[0] :] = steps[failed[0]]
    levels[order] = steps
    return adjusted, levels


def levene(groups: Mapping[str, pd.Series]) -> float:
    """p of Levene's test (around medians) that the arms vary alike.

    Only arms of three runs or more: two values lie equally far from their median, which always looks significant.
    """
    usable = [group.to_numpy(dtype=float) for group in groups.values() if len(group) > 2]
    if len(usable) < 2 or all(is_constant(values) for values in usable):
        return NAN
    return float(stats.levene(*usable, center="median").pvalue)


def detectable(n_variant: int, n_baseline: int, pooled: Pooled, rules: Rules) -> float:
    """The effect that a two-sided test at alpha, with the pooled df, finds with the stated power (metric's unit).

    Finding means rejecting on the right side, so power is that of the one-sided test at alpha / 2.
    """
    if np.isnan(pooled.error(n_variant, n_baseline)):
        return NAN
    design = {"nobs1": n_variant, "ratio": n_baseline / n_variant, "df": pooled.df, "alpha": rules.alpha / 2}

    def excess(effect_in_stds: float) -> float:
        return float(TTestIndPower().power(effect_in_stds, **design, alternative="larger")) - rules.power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high)) * pooled.std


def welch(variant: pd.Series, baseline: pd.Series, confidence: float) -> dict[str, float]:
    """Sensitivity: Welch's interval and p, from these two arms alone."""
    a, b = variant.to_numpy(dtype=float), baseline.to_numpy(dtype=float)
    if min(len(a), len(b)) < 2 or (is_constant(a) and is_constant(b)):
        return {"welch_low": NAN, "welch_high": NAN, "welch_p": NAN}
    test = stats.ttest_ind(a, b, equal_var=False)
    low, high = test.confidence_interval(confidence)
    return {"welch_low": float(low), "welch_high": float(high), "welch_p": float(test.pvalue)}


def paired(variant: pd.Series, baseline: pd.Series, confidence: float) -> dict[str, float]:
    """Sensitivity: the paired interval and p over shared seeds, and the correlation that pairing would live off."""
    seeds = variant.index.intersection(baseline.index)
    a, b = variant[seeds].to_numpy(dtype=float), baseline[seeds].to_numpy(dtype=float)
    result = {
        "paired_low": NAN,
        "paired_high": NAN,
        "paired_p": NAN,
        "n_pairs": len(seeds),
        "correlation": NAN,
    }
    if len(seeds) > 1 and not is_constant(a - b):
        test = stats.ttest_rel(a, b)
        low, high = test.confidence_interval(confidence)
        result |= {"paired_low": float(low), "paired_high": float(high), "paired_p": float(test.pvalue)}
    # Two points always correlate perfectly.
    if len(seeds) > 2 and not is_constant(a) and not is_constant(b):
        result["correlation"] = float(stats.pearsonr(a, b).statistic)
    return result


def effect(variant: pd.Series, baseline: pd.Series, groups: Arms, rules: Rules) -> dict[str, Any]:
    """One row's numbers but for Holm's: ``variant`` minus ``baseline``, both among the ``groups`` of their table."""
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


def of_artifact(table: pd.DataFrame, paper: str, name: str, artifact: Table, rules: Rules) -> list[dict[str, Any]]:
    """All effects of one table, Holm-corrected together; rows whose variant or baseline was not run are absent."""
    rows: list[dict[str, Any]] = []
    for dataset in artifact.columns:
        groups = arms(table, paper, artifact.metric, artifact.rows, dataset)
        for row in groups:
            method, _, variant = row.partition(".")
            against = f"{method}.{artifact.baseline}"
            if variant == artifact.baseline or against not in groups:
                continue
            key: dict[str, Any] = {"paper": paper, "artifact": name, "method": method, "variant": variant}
            key |= {"baseline": artifact.baseline, "dataset": dataset, "metric": artifact.metric}
            key |= {"measured_on": measured_on(table, paper, dataset)}
            rows.append(key | effect(groups[row], groups[against], groups, rules))
    adjusted, levels = holm([row["p"] for row in rows], rules.alpha)
    for found, p, level in zip(rows, adjusted, levels, strict=True):
        low, high = t_interval(found["effect"], found["error"], found["df"], 1 - level)
        found |= {"p_holm": float(p), "low_holm": low, "high_holm": high}
    return rows


def measured_on(table: pd.DataFrame, paper: str, dataset: str) -> str:
    """The dataset that stands for a published one in these measurements."""
    return str(table.loc[(table["paper"] == paper) & (table["dataset"] == dataset), "measured_on"].iloc[0])


def effects(table: pd.DataFrame, papers: Mapping[str, Paper], rules: Rules) -> pd.DataFrame:
    """effects.csv, from measurements: every table of every paper, sorted."""
    rows = [
        row
        for paper in papers.values()
        for name, artifact in paper.artifacts.items()
        if isinstance(artifact, Table)
        for row in of_artifact(table, paper.paper, name, artifact, rules)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.sort_values(["paper", "artifact", "method", "variant", "dataset"], kind="stable", ignore_index=True)
