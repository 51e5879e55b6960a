"""Mean corruption errors, from a run's errors and those of a baseline (Hendrycks & Dietterich 2019, Sec. 4)."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates

Errors = Mapping[str, Mapping[int, float]]
"""Error by corruption and severity, in percent."""
BENCHMARK = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    *("snow", "frost", "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression"),
)
"""The benchmark's corruptions, over which means are taken. The four others of its authors are for tuning."""
CLEAN = "none"
"""Stands for a corruption in a probe's error on clean images."""


class CorruptionErrors(NamedTuple):
    """What a probe found for one run."""

    errors: Errors
    """Of the benchmark's corruptions; others are no part of the mean."""
    clean: float
    n_test: float

    @property
    def lacks(self) -> str:
        """What of the benchmark has no finite error, in words; empty if nothing. The rest has another mean."""
        if not math.isfinite(self.clean):
            return "clean images"
        for name in BENCHMARK:
            for severity in range(1, 6):
                if not math.isfinite(self.errors.get(name, {}).get(severity, math.nan)):
                    return f"{name} at severity {severity}"
        return ""


def corruption_errors(
    answers: Mapping[tuple[str, str], Mapping[str, Any]], readings: Coordinates
) -> CorruptionErrors | None:
    """Sort the values of the probe ``corruption`` by corruption and severity; None for a diverged run.

    ``answers`` are rows of one evaluation, by measure and reading (``corruption=fog;severity=3``); those counted have
    all ``readings`` (``augmentation=augmix``).
    """
    clean = n_test = math.nan
    errors: dict[str, dict[int, float]] = {name: {} for name in BENCHMARK}
    for (measure, reading), row in answers.items():
        if row["status"] == "diverged":
            return None
        if measure != "corruption_error":
            continue
        at = coordinates.parse(reading, "evaluation")
        if any(at.get(key) != value for key, value in readings.items()):
            continue
        if at["corruption"] == CLEAN:
            clean, n_test = float(row["value"]), float(row["n_test"])
        elif at["corruption"] in errors:
            errors[str(at["corruption"])][int(at["severity"])] = float(row["value"])
    return CorruptionErrors({name: found for name, found in errors.items() if found}, clean, n_test)


def mce(errors: Errors, baseline: Errors, clean: float = 0.0, baseline_clean: float = 0.0) -> float:
    """100 · mean over corruptions c of CE_c = (sum over severities of E_c,s) / (the same of the baseline).

    It is in percent, 100 for the baseline itself. With the two errors on clean images it is the relative one: of what
    corruption adds to them. NaN if that is nothing for some corruption of the baseline.
    """
    ours, theirs = (
        {name: math.fsum(error - base for error in of[name].values()) for name in baseline}
        for of, base in ((errors, clean), (baseline, baseline_clean))
    )
    if not baseline or any(below <= 0 for below in theirs.values()):
        return math.nan
    return 100 * math.fsum(ours[name] / theirs[name] for name in baseline) / len(baseline)
