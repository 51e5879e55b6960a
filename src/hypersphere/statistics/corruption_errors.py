"""Mean corruption errors, from a run's errors and those of a baseline (Hendrycks & Dietterich 2019, Sec. 4)."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from hypersphere.config.coordinates import Coordinates, Position

BENCHMARK = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
)
"""The benchmark's corruptions, over which means are taken. The four others of its authors are for tuning."""
CLEAN = "none"
"""Stands for a corruption in a probe's error on clean images."""
Errors = Mapping[tuple[str, int], float]
"""Error by corruption and severity, in percent; of clean images at ``(CLEAN, 0)``."""
WHOLE = dict.fromkeys([(CLEAN, 0), *itertools.product(BENCHMARK, range(1, 6))])
"""The places of the whole benchmark."""


def corruption_errors(
    answers: Mapping[tuple[str, Position], Mapping[str, Any]], readings: Coordinates
) -> tuple[Errors, float]:
    """The finite errors of the benchmark that a probe found for one run, and its test images.

    ``answers`` are rows of one evaluation, by measure and reading (corruption and severity); those counted have all
    ``readings`` (an augmentation).
    """
    errors: dict[tuple[str, int], float] = {}
    n_test = math.nan
    for (measure, at), row in answers.items():
        if measure == "corruption_error" and readings.items() <= at.items():
            place = str(at["corruption"]), int(at.get("severity", 0))
            if place in WHOLE and math.isfinite(row["value"]):
                errors[place] = float(row["value"])
            if place[0] == CLEAN:
                n_test = float(row["n_test"])
    return errors, n_test


def mce(errors: Errors, baseline: Errors, relative: bool = False) -> float:
    """100 · mean over corruptions c of CE_c = (sum over severities of E_c,s) / (the same of the baseline).

    It is in percent, 100 for the baseline itself. The ``relative`` one is of what corruption adds to the error on clean
    images, for both. NaN if that is nothing for some corruption of the baseline.
    """
    names = {name for name, _ in baseline} - {CLEAN}
    theirs = {name: _sum(baseline, name, baseline, relative) for name in names}
    if not names or min(theirs.values()) <= 0:
        return math.nan
    ratios = [_sum(errors, name, baseline, relative) / theirs[name] for name in names]
    return 100 * math.fsum(ratios) / len(ratios)


def _sum(errors: Errors, name: str, measured: Errors, relative: bool) -> float:
    """The sum of errors over the severities of a corruption that were measured; ``relative``: of what it adds."""
    clean = errors[CLEAN, 0] if relative else 0.0
    return math.fsum(errors[place] - clean for place in measured if place[0] == name)
