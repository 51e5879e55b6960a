"""How often the rules of a study call a difference where there is none: its own runs, which differ in their seed alone.

The runs of one arm are split at random into arms of n, the first of which stands for the baseline. Every call of a
difference among them is wrong. docs/statistics.md says how the table is read.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config import rules as rules_file
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Rules
from hypersphere.provenance import tables
from hypersphere.statistics import measure
from hypersphere.statistics.effects import WELCH
from hypersphere.t_test import mean_interval

DRAWS = 2000
"""Random splits of each set of runs."""
SIZES = (5, 10)
"""Runs an arm: the least that a study has, and what most have."""
SPLITS: tables.Columns = {
    **tables.texts("paper", "study", "run", "measure"),
    **tables.numbers("margin", "runs", "n", "arms", "called", "level"),
}
"""splits.csv: a row for each set of runs (``run``: the first of them) and number of runs an arm; shares in percent."""
AGAIN: tables.Columns = {
    **tables.texts("paper", "study", "coordinates", "measure"),
    **tables.numbers("n", "effect", "low", "high"),
}
"""again.csv: a row for each A/A comparison of a study, in the measure's unit, with its 95 % interval."""
TABLES = {"again": AGAIN, "splits": SPLITS}


class Shares(NamedTuple):
    """What the rules say of random splits."""

    arms: int
    """Of one split, the baseline among them."""
    called: float
    """Splits of which an arm is called better or worse than the baseline, after Holm's correction (%)."""
    level: float
    """Comparisons that are called equal within the margin (%)."""


def shares(values: np.ndarray, n: int, margin: float, rules: Rules, draws: int = DRAWS) -> Shares:
    """What a study's rules (Welch, Holm, two one-sided tests) say of random splits of ``values`` into arms of ``n``.

    ``values`` and ``margin`` are in the measure's unit. The splits depend on ``n`` and on the number of values alone.

    Raises:
        ValueError: There are fewer than two arms of ``n``.
    """
    from scipy import stats

    arms = len(values) // n
    if arms < 2:
        raise ValueError(f"{len(values)} values are no two arms of {n}")
    order = np.random.default_rng([len(values), n]).permuted(np.tile(np.arange(len(values)), (draws, 1)), axis=1)
    split = np.asarray(values, dtype=float)[order[:, : arms * n]].reshape(draws, arms, n)
    tested = stats.ttest_ind(split[:, 1:], split[:, :1], axis=2, equal_var=False)
    equal = tested.confidence_interval(rules.equivalence)
    # Holm's procedure calls something exactly if its first step does.
    called = (tested.pvalue.min(axis=1) <= rules.alpha / (arms - 1)).mean()
    level = ((equal.low > -margin) & (equal.high < margin)).mean()
    return Shares(arms, float(100 * called), float(100 * level))


def of_plan(plan: Plan) -> dict[str, tuple[pd.DataFrame, tables.Columns]]:
    """again.csv and splits.csv of a scale, by name: from the runs that measure the primary number of its studies.

    An A/A arm is one set of runs with its baseline. A set that two artifacts show counts once. Studies with another
    test than Welch's are left out.
    """
    rules, again, splits = rules_file.load(plan.config.root), list[dict[str, Any]](), list[dict[str, Any]]()
    for paper, study, artifact in _confirmed(plan):
        declared = plan.config.papers[paper].studies[study]
        of_study = {"paper": paper, "study": study, "measure": declared.measure}
        found, runs = measure.judged_tables(plan, paper, artifact), plan.runs_of(paper, artifact)
        for row in tables.rows(found["effects"]):
            if not row["in_family"] and not math.isnan(row["low"]):
                n = min(row["n_variant"], row["n_baseline"])
                again.append(
                    of_study | {name: row[name] for name in ("coordinates", "effect", "low", "high")} | {"n": n}
                )
        measured = found["measurements"]
        kept = measured["run"].isin(runs) & measured["final"] & (measured["status"] == "finished")
        measured = measured[kept].drop_duplicates("run").sort_values("seed")
        alike = [runs[name].model_dump_json(exclude={"seed"}) for name in measured["run"]]
        for _, of_run in measured.groupby(alike, sort=False):
            of = of_study | {"run": of_run["run"].iloc[0], "margin": declared.margin, "runs": len(of_run)}
            values = of_run["value"].to_numpy(dtype=float)
            if not any(row.items() >= of.items() for row in splits):
                sizes = [n for n in SIZES if len(values) >= 2 * n]
                splits += [of | {"n": n, **shares(values, n, declared.margin, rules)._asdict()} for n in sizes]
    rows = {"again": again, "splits": splits}
    return {name: (pd.DataFrame(rows[name], columns=list(kinds)), kinds) for name, kinds in TABLES.items()}


def _confirmed(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Paper, study and artifact that show a study's primary measure on its confirmation runs at this scale."""
    for paper, document in plan.config.papers.items():
        for study, declared in document.studies.items():
            for artifact in (study, f"{study}_printed"):
                if (paper, artifact) in plan.made and declared.test == WELCH:
                    yield paper, study, artifact


def by_size(table: pd.DataFrame, confidence: float) -> list[dict[str, float]]:
    """A row for each number of runs an arm: how many sets, and the mean shares with their intervals over sets (%)."""
    rows = []
    for _, sets in table.groupby(["n", "margin"]):
        row = {name: float(sets[name].iloc[0]) for name in ("n", "margin")} | {"sets": float(len(sets))}
        row |= {"least": float(sets["arms"].min()), "most": float(sets["arms"].max())}
        for name in ("called", "level"):
            low, high = mean_interval(sets[name].to_numpy(dtype=float), confidence)
            row |= {name: float(sets[name].mean()), f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return rows


class Called(NamedTuple):
    """How many A/A comparisons call a difference."""

    comparisons: int
    called: int
    low: float
    """The interval of the share (%), after Clopper and Pearson (1934); nan of no comparison."""
    high: float


def called(table: pd.DataFrame, confidence: float) -> Called:
    """Of the A/A comparisons of again.csv, those whose interval excludes zero."""
    from scipy import stats

    clear = int(((table["low"] > 0) | (table["high"] < 0)).sum())
    if not len(table):
        return Called(0, 0, math.nan, math.nan)
    low, high = stats.binomtest(clear, len(table)).proportion_ci(confidence, method="exact")
    return Called(len(table), clear, 100 * float(low), 100 * float(high))
