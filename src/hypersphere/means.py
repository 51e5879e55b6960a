"""The spread of a few values, and the interval of their mean."""

import math

import numpy as np
from scipy import stats


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
    low, high = stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    return float(low), float(high)
