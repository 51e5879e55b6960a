"""The spread of a few values, and the interval of their mean."""

import math

import numpy as np
from scipy import special  # not scipy.stats, whose import takes a second of every job


def is_constant(values: np.ndarray) -> bool:
    """Whether values are equal up to rounding, so that their spread says nothing about the error."""
    return len(values) == 0 or float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.abs(values).max()))


def spread(values: np.ndarray) -> float:
    """Standard deviation with n-1, in the values' unit; exactly 0 for equal values, nan for fewer than two."""
    if len(values) < 2:
        return math.nan
    return 0.0 if is_constant(values) else float(np.std(values, ddof=1))


def mean_interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """The t interval of a mean, in the values' unit; nan where n < 2 or nothing varies."""
    if not spread(values) > 0:
        return math.nan, math.nan
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return t_interval(float(np.mean(values)), error, len(values) - 1, confidence)


def t_interval(centre: float, error: float, df: float, confidence: float) -> tuple[float, float]:
    """Student's interval around ``centre``, in its unit; nan if the error is unknown."""
    if not error > 0 or df < 1:
        return math.nan, math.nan
    low, high = special.stdtrit(df, [(1 - confidence) / 2, (1 + confidence) / 2]) * error + centre
    return float(low), float(high)


def t_p(difference: float, error: float, df: float) -> float:
    """Two-sided p of Student's test that ``difference`` is 0; nan if the error is unknown."""
    if not error > 0 or df < 1:
        return math.nan
    return float(2 * special.stdtr(df, -abs(difference) / error))
