"""False calls: how often the rules of studies call a difference where nothing differs."""

import math
from typing import NamedTuple

import pandas as pd

from hypersphere.config.study import PRINTED
from hypersphere.provenance import tables

SHARES = {
    "sets": ("called", "size"),
    "called": ("called", "mean"),
    "called_least": ("called", "min"),
    "called_most": ("called", "max"),
    "level": ("level", "mean"),
    "level_least": ("level", "min"),
    "level_most": ("level", "max"),
}
"""The shares of ``of_splits``, each with the column of splits.csv and what is taken of it."""


class Called(NamedTuple):
    """How many A/A comparisons call a difference, with the interval of their share (%), after Clopper and Pearson.

    The interval of no comparison is nan.
    """

    comparisons: int
    called: int
    low: float = math.nan
    high: float = math.nan


def of_splits(splits: pd.DataFrame) -> list[dict[str, float]]:
    """The number of sets, and their mean, least and greatest share (%), by number of runs an arm and of arms."""
    return tables.rows(splits.groupby(["n", "arms", "margin"], as_index=False).agg(**SHARES))


def of_again(compared: pd.DataFrame, confidence: float) -> Called:
    """The A/A comparisons of finished studies, by a primary measure, whose interval excludes zero.

    One whose runs are shown twice, at the best values and at the printed ones, counts once.
    """
    from scipy import stats

    primary = compared["artifact"].isin([*compared["study"], *(compared["study"] + PRINTED)])
    again = compared[
        primary & compared["finished"] & ~compared["in_family"] & compared["low"].notna()
    ]
    again = again.drop_duplicates(["paper", "study", "effect", "low", "high"])
    if again.empty:
        return Called(0, 0)
    clear = int(((again["low"] > 0) | (again["high"] < 0)).sum())
    low, high = stats.binomtest(clear, len(again)).proportion_ci(confidence, method="exact")
    return Called(len(again), clear, 100 * float(low), 100 * float(high))
