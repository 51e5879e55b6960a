"""Mean corruption errors by hand, after Hendrycks and Dietterich's definitions."""

import math

import pytest

from hypersphere.datasets.corrupting import apply as severities
from hypersphere.probes import corruption
from hypersphere.statistics.corruption_errors import (
    BENCHMARK,
    CLEAN,
    CorruptionErrors,
    corruption_errors,
    mce,
    relative_mce,
)

OURS = {"fog": {1: 20.0, 2: 40.0}, "snow": {1: 30.0, 2: 30.0}}
BASE = {"fog": {1: 40.0, 2: 40.0}, "snow": {1: 20.0, 2: 60.0}}


def test_by_hand() -> None:
    assert mce(OURS, BASE) == pytest.approx(100 * (60 / 80 + 60 / 80) / 2)
    assert relative_mce(OURS, 10, BASE, 15) == pytest.approx(100 * (40 / 50 + 40 / 50) / 2)


def test_the_mean_is_of_ratios_not_the_ratio_of_means() -> None:
    ours = {"fog": {1: 80.0}, "snow": {1: 10.0}}
    base = {"fog": {1: 40.0}, "snow": {1: 20.0}}
    assert mce(ours, base) == pytest.approx(100 * (2 + 0.5) / 2)


def test_the_baseline_is_100() -> None:
    assert mce(BASE, BASE) == pytest.approx(100)
    assert relative_mce(BASE, 7, BASE, 7) == pytest.approx(100)


@pytest.mark.parametrize("clean", [40.0, 50.0])
def test_a_baseline_that_corruption_does_not_hurt_gives_no_number(clean: float) -> None:
    assert math.isnan(relative_mce(OURS, 10, BASE, clean))
    assert math.isnan(mce(OURS, {"fog": {1: 0.0}}))
    assert math.isnan(mce({}, {}))


def row(value: float, status: str = "finished") -> dict[str, object]:
    return {"value": value, "n_test": 50.0, "status": status}


def test_values_are_sorted_by_corruption_and_severity() -> None:
    """Speckle noise is none of the benchmark's fifteen."""
    found = corruption_errors(
        {
            ("corruption_error", "augmentation=augmix;corruption=none"): row(5),
            ("corruption_error", "augmentation=augmix;corruption=fog;severity=1"): row(6),
            ("corruption_error", "augmentation=augmix;corruption=fog;severity=2"): row(7),
            ("corruption_error", "augmentation=augmix;corruption=speckle_noise;severity=2"): row(90),
            ("corruption_error", "augmentation=standard;corruption=fog;severity=1"): row(91),
        },
        {"augmentation": "augmix"},
    )
    assert found == ({"fog": {1: 6, 2: 7}}, 5, 50)


def test_what_the_benchmark_lacks_is_named() -> None:
    """Without a severity of two runs' fog, 98.6 % could read 93.0 %."""
    full = {name: dict.fromkeys(range(1, 6), 30.0) for name in BENCHMARK}
    assert CorruptionErrors(full, 10.0, 50).lacks == ""
    assert CorruptionErrors(full, math.nan, 50).lacks == "clean images"
    assert CorruptionErrors(full | {"fog": {1: 30.0, 2: 30.0, 4: 1.0, 5: 1.0}}, 10, 50).lacks == "fog at severity 3"
    assert CorruptionErrors(full | {"fog": full["fog"] | {5: math.nan}}, 10, 50).lacks == "fog at severity 5"
    del full["snow"]
    assert CorruptionErrors(full, 10.0, 50).lacks == "snow at severity 1"


def test_a_diverged_run_has_none() -> None:
    assert corruption_errors({("corruption_error", ""): row(math.nan, "diverged")}, {}) is None


def test_names_are_those_of_the_datasets_and_of_the_probe() -> None:
    """They are written twice, so that tables are made without importing what makes images."""
    assert severities.BENCHMARK == BENCHMARK
    assert corruption.CLEAN == CLEAN
