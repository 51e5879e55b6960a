"""Effects: two arms compared, with intervals; and how many runs would show an effect.

All effects, intervals and standard deviations are in the metric's unit. docs/statistics.md states the rules. Neither
pandas nor scipy.stats is imported here: each takes a good part of a second.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from scipy import special

from hypersphere.config.rules import Rules
from hypersphere.t_test import holm, is_constant, spread, t_interval, t_p

if TYPE_CHECKING:
    import pandas as pd

WELCH, POOLED, PAIRED = "welch", "pooled", "paired"
ENOUGH = 3
"""Runs in each of two arms from which their own spreads are used."""
Arms = dict[str, "pd.Series"]
"""The values of each cell's finished runs, indexed by seed; by the cell's coordinates."""


class Arm(Protocol):
    """The values of an arm's runs by seed: a mapping, or a series of pandas."""

    def __len__(self) -> int: ...

    def items(self) -> Iterable[tuple[Hashable, Any]]: ...


class Moments(NamedTuple):
    """What is known of an arm whose runs are not: all that a published table tells of it."""

    n: int
    mean: float
    std: float
    """The standard deviation with n - 1; exactly 0 for equal runs, nan for fewer than two."""

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """The moments of an arm's values; its mean is nan without any."""
        mean = float(values.mean()) if len(values) else math.nan
        return cls(len(values), mean, spread(values))


Sample = Arm | Moments


def moments(sample: Sample) -> Moments:
    """The number, mean and spread of a sample's runs."""
    if isinstance(sample, Moments):
        return sample
    return Moments.of(np.array([value for _, value in sample.items()], dtype=float))


def shared(own: Sample, other: Sample) -> tuple[np.ndarray, np.ndarray]:
    """The values of the seeds that two arms have in common, in the order of the first; of moments there are none."""
    if isinstance(own, Moments) or isinstance(other, Moments):
        return np.array([]), np.array([])
    by_seed = dict(other.items())
    pairs = [(value, by_seed[seed]) for seed, value in own.items() if seed in by_seed]
    first, second = np.array(pairs, dtype=float).reshape(-1, 2).T
    return first, second


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


def pool(arms: Iterable[Sample], constant: bool = False) -> Pooled:
    """Pool the variance over all arms of several runs.

    Arms whose runs are all equal (collapsed encoders) would pretend that the others vary less. ``constant`` counts
    those too, for numbers that are often equal because they are whole.
    """
    df = 0
    squares = 0.0
    for arm in arms:
        n, _, std = moments(arm)
        if n > 1 and (constant or std > 0):
            df += n - 1
            squares += (n - 1) * std**2
    return Pooled(math.sqrt(squares / df) if df else math.nan, df)


def pool_for(own: Sequence[Sample], groups: Mapping[str, Sample], rules: Rules) -> Pooled:
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


def power(test: Test, effect: float, rules: Rules) -> float:
    """The probability that a two-sided test at alpha finds a true ``effect``, on its side; nan without a test."""
    critical = special.stdtrit(test.df, 1 - rules.alpha / 2)
    return 1 - float(special.nctdtr(test.df, abs(effect) / test.error, critical))


def welch(*arms: Sample) -> Test:
    """Welch's test of a sum or difference of the arms' means, by their own variances (Welch 1938, Satterthwaite 1946).

    None if one arm has one run, or if none varies. An arm whose runs are all equal adds no variance and no degrees of
    freedom: those left are the others'.
    """
    of_arms = [moments(arm) for arm in arms]
    sizes = np.array([arm.n for arm in of_arms])
    variances = np.array([arm.std**2 for arm in of_arms]) / sizes
    variance = float(variances.sum())
    if not variance > 0:  # nan for one run
        return NO_TEST
    squares = variances**2 / (sizes - 1)
    return Test(WELCH, math.sqrt(variance), variance**2 / float(squares.sum()))


def pooled_test(variant: Sample, baseline: Sample, pooled: Pooled) -> Test:
    """The test by a pooled spread; none of one run. None without any spread: that is no perfect measurement."""
    sizes = moments(variant).n, moments(baseline).n
    if min(sizes) < 2 or not pooled.std > 0:
        return NO_TEST
    return Test(POOLED, pooled.std * math.sqrt(1 / sizes[0] + 1 / sizes[1]), pooled.df)


def paired_test(differences: np.ndarray) -> Test:
    """The test of differences by seed; none of one seed, or where they are all equal."""
    n = len(differences)
    deviation = spread(differences)
    return Test(PAIRED, deviation / math.sqrt(n), n - 1) if deviation > 0 else NO_TEST


def primary(variant: Sample, baseline: Sample, pooled: Pooled) -> Test:
    """Welch's test where both arms have three runs or more; by the pooled spread (``pool_for``) elsewhere.

    Pooling under unequal spreads rejects too often. Two runs alone have too few degrees of freedom for Welch's.
    """
    enough = min(moments(variant).n, moments(baseline).n) >= ENOUGH
    return welch(variant, baseline) if enough else pooled_test(variant, baseline, pooled)


def effect(
    variant: Sample,
    baseline: Sample,
    groups: Mapping[str, Sample],
    rules: Rules,
    of_pairs: bool = False,
) -> dict[str, Any]:
    """A row's numbers, except Holm's: ``variant`` minus ``baseline``, both among ``groups``, which may be pooled.

    ``of_pairs``: two readings of the same encoders, or arms that a study declares as paired, are compared by the paired
    test, over the seeds that both have. Elsewhere that test, and the correlation that it relies on, are sensitivity.
    """
    pooled = pool_for((variant, baseline), groups, rules)
    own, other = shared(variant, baseline)
    differences = own - other
    paired = paired_test(differences)
    paired_difference = float(differences.mean()) if len(differences) else math.nan
    test = paired if of_pairs else primary(variant, baseline, pooled)
    of_variant = Moments.of(own) if of_pairs else moments(variant)
    of_baseline = Moments.of(other) if of_pairs else moments(baseline)
    difference = of_variant.mean - of_baseline.mean
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
        "n_variant": of_variant.n,
        "n_baseline": of_baseline.n,
        "low_power": test.df < rules.low_power_df,
        "detectable": detectable(test, rules),
        "paired_low": paired_low,
        "paired_high": paired_high,
        "paired_p": paired.p(paired_difference),
        "n_pairs": len(differences),
        "correlation": correlation(own, other),
    }


def correlation(own: np.ndarray, other: np.ndarray) -> float:
    """Pearson's correlation over seeds; nan where an arm does not vary, or of two, which always lie on a line."""
    if len(own) < 3 or is_constant(own) or is_constant(other):
        return math.nan
    return float(np.corrcoef(own, other)[0, 1])


def adjust(rows: list[dict[str, Any]], family: int, rules: Rules) -> None:
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

    def power_of(error: float, df: int) -> float:
        return power(Test(WELCH, error, df), effect, rules)

    return _least(power_of, spread, rules) if abs(effect) > 0 else math.nan


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
