"""What is said of runs besides their effects: seeds, numbers of runs, controls, and the size of the test set.

A finding is about the runs at hand, never about people. It changes no answer.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy import special

from hypersphere.audit.chance import CRITICAL
from hypersphere.judging.judged import Judged, JudgedArm, JudgedEffect
from hypersphere.statistics.effects import Moments, Sample, moments
from hypersphere.wording import count_of

MOST_TRIED = 1000
"""Seeds that lie further apart do not tell how many runs there were."""
BEST = ("best", "max")
"""Words in a column's name which say that values are the best of several, and not the last."""
SHOWN = 12
"""How many seeds a sentence lists."""


class Finding(NamedTuple):
    """A sentence about runs."""

    kind: str
    """``seeds``, ``n``, ``lost``, ``steps``, ``best``, ``controls`` or ``test set``."""
    dataset: str
    says: str


def of(judged: Judged) -> list[Finding]:
    """All findings, by dataset in the table's order."""
    found = list(_best(judged))
    for dataset, arms in judged.runs.arms.items():
        rows = [one for one in judged.arms if one.dataset == dataset]
        compared = {arm: of for arm, of in arms.items() if arm not in judged.question.controls}
        says: list[tuple[str, str]] = []
        says += _numbers(rows, judged.question.controls)
        says += _lost(rows)
        if judged.runs.has_seeds:
            lost = {row.arm: row.lost for row in rows}
            says += _seeds(compared, lost)
        says += _steps(judged.runs.last_steps, dataset)
        says += _controls(rows)
        effects = [one for one in judged.effects if one.dataset == dataset]
        says += _test_set(effects)
        found += [Finding(kind, dataset, sentence) for kind, sentence in says]
    return found


def _best(judged: Judged) -> Iterator[Finding]:
    """Whether the name of what is judged says that it is the best of several."""
    measure = judged.runs.measure
    if any(word in measure.lower() for word in BEST):
        yield Finding(
            "best",
            "",
            f"The name {measure} says that values are the best of several. Where they are chosen on the test set, they "
            "are too high, and more so with more choices.",
        )


def _numbers(rows: Sequence[JudgedArm], controls: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Whether arms have different numbers of runs."""
    numbers = {row.arm: row.n for row in rows if row.arm not in controls}
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"{arm} {n}" for arm, n in numbers.items())
        yield (
            "n",
            f"Arms have different numbers of runs ({listed}). Say why: runs that are added after a look raise the rate "
            "of false calls.",
        )


def _lost(rows: Sequence[JudgedArm]) -> Iterator[tuple[str, str]]:
    """Which arms have runs without a value."""
    for row in rows:
        if row.lost:
            runs = count_of(row.lost + row.n, "run")
            yield "lost", f"{row.arm} lost {row.lost} of {runs}, which are in no mean."


def _seeds(arms: Mapping[str, Sample], lost: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Whether seeds are consecutive, and whether all arms have the same."""
    by_seeds: dict[tuple[object, ...], list[str]] = {}
    for arm, runs in arms.items():
        if not isinstance(runs, Moments):
            own = sorted((seed for seed, _ in runs.items()), key=_order)
            by_seeds.setdefault(tuple(own), []).append(arm)
    if len(by_seeds) > 1:
        listed = "; ".join(
            f"{', '.join(named)}: {_listed(seeds)}" for seeds, named in by_seeds.items()
        )
        yield "seeds", f"Arms have different seeds ({listed})."
    for seeds, named in by_seeds.items():
        numbers = [seed for seed in seeds if isinstance(seed, int)]
        if len(numbers) == len(seeds):
            for arm in named:
                yield from _gaps(arm, numbers, lost[arm], moments(arms[arm]))


def _order(seed: object) -> tuple[bool, int, str]:
    """Numbers by size, and then words."""
    return (False, seed, "") if isinstance(seed, int) else (True, 0, str(seed))


def _listed(seeds: Sequence[object]) -> str:
    """Seeds in words: ``0 to 4``, ``3, 17, 42``."""
    whole = [seed for seed in seeds if isinstance(seed, int)]
    if len(whole) == len(seeds) > 2 and whole[-1] - whole[0] == len(whole) - 1:
        return f"{whole[0]} to {whole[-1]}"
    more = f" and {len(seeds) - SHOWN} more" if len(seeds) > SHOWN else ""
    return ", ".join(map(str, seeds[:SHOWN])) + more


def _gaps(arm: str, seeds: Sequence[int], lost: int, of: Moments) -> Iterator[tuple[str, str]]:
    """What it would have gained to choose these seeds among all of their span, where they are not consecutive.

    Runs that were lost may have the seeds between.
    """
    span = seeds[-1] - seeds[0] + 1
    missing = span - len(seeds)
    if missing <= lost:
        return
    says = f"The seeds of {arm} are not consecutive ({_listed(seeds)})."
    if span <= MOST_TRIED:
        gain = best_of(len(seeds), span) * of.std
        says += (
            f" If they were the best {len(seeds)} of {span}, chance alone would have improved the mean by "
            f"about {gain:.2g}."
        )
    yield "seeds", says


def best_of(n: int, tried: int) -> float:
    """By how many standard deviations the mean of the best ``n`` of ``tried`` runs is expected to be too high.

    Means of normal order statistics, by Blom's approximation (1958), which is within 0.03 of them.
    """
    ranks = np.arange(tried - n + 1, tried + 1)
    return float(special.ndtri((ranks - 0.375) / (tried + 0.25)).mean())


def _steps(
    last_steps: Mapping[tuple[str, str], set[float]], dataset: str
) -> Iterator[tuple[str, str]]:
    """Whether runs ended at different steps."""
    ends = {arm: steps for (where, arm), steps in last_steps.items() if where == dataset}
    if len(set().union(*ends.values())) > 1:
        listed = ", ".join(f"{arm} {_in_order(steps)}" for arm, steps in ends.items())
        yield "steps", f"Runs end at different steps ({listed}); their last values are compared."


def _in_order(steps: set[float]) -> str:
    return " and ".join(f"{step:g}" for step in sorted(steps))


def _controls(rows: Sequence[JudgedArm]) -> Iterator[tuple[str, str]]:
    """Which arms are not shown to be above which control."""
    floored = [row for row in rows if row.below]
    for control, below in groupby(
        sorted(floored, key=lambda row: row.below), lambda row: row.below
    ):
        arms = ", ".join(row.arm for row in below)
        yield "controls", f"Not shown to be above the control {control}: {arms}."


def _test_set(effects: Sequence[JudgedEffect]) -> Iterator[tuple[str, str]]:
    """Which effects the size of the test set alone could give."""
    inside = [one.arm for one in effects if abs(one.effect) < CRITICAL * one.test_set_error]
    if inside and not math.isnan(effects[0].test_set_error):
        error = max(one.test_set_error for one in effects)
        yield (
            "test set",
            f"The size of the test set alone gives a difference a standard error of {error:.2g} (unpaired), which more "
            f"seeds do not shrink. Within {CRITICAL} of it: {', '.join(inside)}.",
        )
