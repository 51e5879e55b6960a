"""Mean corruption errors, from a run's errors and those of a baseline (Hendrycks & Dietterich 2019, Sec. 4)."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from hypersphere.config.coordinates import Coordinates, Position

BENCHMARK = (
    *(
        "gaussian_noise",
        "shot_noise",
        "impulse_noise",
        "defocus_blur",
        "glass_blur",
        "motion_blur",
        "zoom_blur",
    ),
    *(
        "snow",
        "frost",
        "fog",
        "brightness",
        "contrast",
        "elastic_transform",
        "pixelate",
        "jpeg_compression",
    ),
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
    n_test, errors = math.nan, dict[tuple[str, int], float]()
    for (measure, at), row in answers.items():
        if measure != "corruption_error" or any(
            at.get(key) != value for key, value in readings.items()
        ):
            continue
        place = str(at["corruption"]), int(at.get("severity", 0))
        if place in WHOLE and math.isfinite(row["value"]):
            errors[place] = float(row["value"])
        n_test = float(row["n_test"]) if place[0] == CLEAN else n_test
    return errors, n_test


def mce(errors: Errors, baseline: Errors, relative: bool = False) -> float:
    """100 · mean over corruptions c of CE_c = (sum over severities of E_c,s) / (the same of the baseline).

    It is in percent, 100 for the baseline itself. The ``relative`` one is of what corruption adds to the error on clean
    images, for both. NaN if that is nothing for some corruption of the baseline.
    """
    places = sorted(baseline.keys() - {(CLEAN, 0)})
    ours, theirs = (
        {
            name: math.fsum(of[place] - (of[CLEAN, 0] if relative else 0.0) for place in of_name)
            for name, of_name in itertools.groupby(places, key=lambda place: place[0])
        }
        for of in (errors, baseline)
    )
    if not places or any(below <= 0 for below in theirs.values()):
        return math.nan
    return 100 * math.fsum(ours[name] / theirs[name] for name in theirs) / len(theirs)
