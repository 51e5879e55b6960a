"""The answer to each study's question, by the rule that its plan fixed in words before its first confirmation run.

What fits both yes and no by the plan's words is unclear, and so is what fits neither.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates
from hypersphere.config.rules import Rules
from hypersphere.config.study import COUNTED, Answers, Counted
from hypersphere.statistics import effects
from hypersphere.statistics.effects import Arms
from hypersphere.t_test import mean_interval

Answer = Literal["yes", "no", "unclear", "level", ""]
"""``level``: an arm is level with raw pixels or its untrained encoder, so that no answer is read; empty: not all runs
are there, or the plan's words have no rule."""


class Comparison(NamedTuple):
    """An arm against another, at one place (``at``) of its study."""

    arm: Coordinates
    against: Coordinates
    mean: float
    """The arm's own mean."""
    low: float
    """The interval after the study's correction; of an A/A comparison, its own."""
    high: float
    margin: float
    called: Sequence[Counted]


def called(row: Mapping[str, Any]) -> list[Counted]:
    """What a row of studies.csv is counted as. A direction is read after correction, of an A/A comparison without it.

    None is read before all runs are there, or where neither arm is shown to be above its controls.
    """
    if row["n_missing"] or row["floored"] == "both":
        return []
    low, high = adjusted(row)
    flags = low > 0, low > 0 and row["effect"] > row["margin"], bool(row["equivalent"]), high < 0
    return [name for name, flag in zip(COUNTED, flags, strict=True) if flag]


def adjusted(row: Mapping[str, Any]) -> tuple[float, float]:
    """The interval after the study's correction; of an A/A comparison, which is in no family, its own."""
    ends = ("low_holm", "high_holm") if row["in_family"] else ("low", "high")
    return float(row[ends[0]]), float(row[ends[1]])


def of_study(
    name: str, answers: Answers, rows: Sequence[Mapping[str, Any]], declared: int, values: Arms, rules: Rules
) -> Answer:
    """The answer by the rows of studies.csv of a study's primary comparison, of which ``declared`` are planned.

    ``name`` is document and study: ``ours/sentences``. ``values`` has those of every cell of the rows.
    """
    if len(rows) < declared or any(row["n_missing"] for row in rows) or not (answers.numbers or name in RULES):
        return ""
    if answers.level_arms == "no answer" and any(row["floored"] == "both" for row in rows):
        return "level"
    family, again = list[Comparison](), list[Comparison]()
    for row in rows:
        arm, against = (coordinates.parse(row[key], name) for key in ("coordinates", "baseline"))
        one = Comparison(arm, against, row["mean"], *adjusted(row), row["margin"], called(row))
        (family if row["in_family"] else again).append(one)
    if answers.numbers:
        counts = {key: sum(key in one.called for one in family) for key in COUNTED}
        fits = {
            answer: all(low <= counts[key] <= high for key, (low, high) in bounds.items())
            for answer, bounds in answers.numbers.items()
        }
        yes, no = fits.get("yes", False), fits.get("no", False)
    else:
        yes, no = _by_words(name, family, again, values, rules)
    return "unclear" if yes == no else "yes" if yes else "no"


RULES = ("ours/sentences", "ours/confidence", "ours/losses", "ours/multidigits", "ours/cut_by_steps")
"""Studies, after their document, of which a plan's ``numbers`` cannot say whether yes and whether no fits."""


def _by_words(
    name: str, family: Sequence[Comparison], again: Sequence[Comparison], values: Arms, rules: Rules
) -> tuple[bool, bool]:
    """Whether yes and whether no fits what one of ``RULES`` found. The words are the plan's ``answers``."""
    match name:
        case "ours/sentences":
            # Of three tasks; helped are those on which + DP (summed) is ahead of none, as compared with uniformity.
            of_dp = [one for one in family if one.arm["variant"] == "dp_sum"]
            against_none = [one for one in of_dp if one.against["variant"] == "default"]
            against_uniform = {one.arm["target"]: one.called for one in of_dp if one.against["variant"] == "uniform"}
            helped = [against_uniform[one.arm["target"]] for one in against_none if "ahead" in one.called]
            better, worse = any("ahead" in one for one in helped), any("behind" in one for one in helped)
            yes = len(helped) >= 2 and better and not worse
            return yes, all("level" in one or "behind" in one for one in helped)
        case "ours/confidence":
            # Of two methods on two sets, the trained encoder against itself before its training.
            yes = all("beyond" in one.called and one.mean > one.margin for one in family)
            return yes, all("level" in one.called or "behind" in one.called for one in family)
        case "ours/losses":
            # Of fifteen losses against tuned NT-Xent.
            alike = all(one.low <= 0 <= one.high for one in again)
            yes = alike and any("beyond" in one.called for one in family)
            return yes, all(one.high < one.margin for one in family)
        case "ours/multidigits":
            return _multidigits(family, values, rules)
        case "ours/cut_by_steps":
            return _cut_by_steps(family, values, rules)
        case _:
            raise ValueError(f"{name} has no rule here")


def _multidigits(family: Sequence[Comparison], values: Arms, rules: Rules) -> tuple[bool, bool]:
    """Of three temperatures; the sizes are those of the second digit, in pixels."""
    curves: dict[float, dict[int, pd.Series]] = {}
    largest = {}
    for one in family:
        curve = curves.setdefault(float(one.arm["objective.temperature"]), {})
        # The side of the second digit ends the name of its set: multidigits_20_80.
        size, other = (int(str(point["dataset"]).rpartition("_")[2]) for point in (one.arm, one.against))
        curve[other] = values[coordinates.text(one.against)]
        curve[size] = values[coordinates.text(one.arm)]
        if size == max(curve):
            largest[float(one.arm["objective.temperature"])] = "behind" in one.called
    falls = True
    for curve in curves.values():
        # The slope of each seed's values on the size, by least squares, in the measure's unit a pixel.
        table = pd.DataFrame(curve).dropna()
        slopes = np.polyfit(np.array(table.columns, dtype=float), table.to_numpy().T, 1)[0]
        falls = falls and mean_interval(slopes, rules.confidence)[1] < 0
    halves = [half_loss_sizes(curves[temperature]).dropna() for temperature in (min(curves), max(curves))]
    low, high = effects.welch(*halves).interval(halves[1].mean() - halves[0].mean(), rules.confidence)
    behind = [*largest.values()]
    yes = all(behind) and falls and (low > 0 or high < 0)
    return yes, not any(behind) or (all(behind) and low > -SAME_SIZE and high < SAME_SIZE)


SAME_SIZE = 10.0
"""Sizes at half loss that differ by less than these pixels are the same (the plan of ``multidigits``)."""


def half_loss_sizes(curve: Mapping[int, pd.Series]) -> pd.Series:
    """The size at which the line through each seed's values first falls to the middle between the two end sizes'.

    nan: the value at the largest size is not below that at the smallest.
    """
    table = pd.DataFrame({size: curve[size] for size in sorted(curve)}).dropna()
    sizes, found = np.array(table.columns, dtype=float), dict[Any, float]()
    for seed, values in zip(table.index, table.to_numpy(dtype=float), strict=True):
        middle = (values[0] + values[-1]) / 2
        at = int(np.argmax(values <= middle))
        falls = np.interp(-middle, -values[at - 1 : at + 1], sizes[at - 1 : at + 1]) if at else np.nan
        found[seed] = float(falls) if values[-1] < values[0] else np.nan
    return pd.Series(found, dtype=float)


def _cut_by_steps(family: Sequence[Comparison], values: Arms, rules: Rules) -> tuple[bool, bool]:
    """Of two methods, the cut at the least and at the most steps; steps are in proportion to epochs."""
    by_method: dict[str, list[Comparison]] = {}
    for one in sorted(family, key=lambda one: float(one.arm["schedule.epochs"])):
        by_method.setdefault(str(one.arm["method"]), []).append(one)
    late = []
    for first, *_, last in by_method.values():
        if "behind" in first.called:
            arms = [values[coordinates.text(point)] for point in (last.arm, last.against, first.arm, first.against)]
            means = [arm.mean() for arm in arms]
            risen = means[0] - means[1] - (means[2] - means[3])
            low, _ = effects.welch(*arms).interval(risen, rules.confidence)
            late.append((last.called, low > 0))
    level_or_ahead = all("level" in called or "ahead" in called for called, _ in late)
    yes = bool(late) and level_or_ahead and all(clear for _, clear in late)
    return yes, bool(late) and all("behind" in called for called, _ in late)
