"""Ways are timed in pairs, each first in turn; expected ratios are typed by hand."""

from types import SimpleNamespace

import pytest
import torch

from hypersphere.config.project import Compile
from hypersphere.datasets.training_sizes import Size
from hypersphere.speed import rate, ways
from hypersphere.speed.trial import Trial
from hypersphere.speed.ways import Way

from ...golden.released import released


def test_pairs_change_their_order_and_the_median_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ratios 2, 4 and 3 the median is 3. Seconds are those of ten steps, in the order of the calls."""
    seconds = iter([20.0, 10.0, 10.0, 40.0, 30.0, 10.0])
    modes: list[Compile] = []

    def timed(*asked: object, compile: Compile, **how: object) -> SimpleNamespace:
        modes.append(compile)
        return SimpleNamespace(seconds=next(seconds), steps=10)

    monkeypatch.setattr(rate, "timed", timed)
    run = next(iter(released("quick").runs.values()))
    trial = Trial(run, Size(side=8, classes=10, train=100), steps=2)
    way = Way("compiled", compile="default")
    assert ways.ratio(trial, way, torch.device("cpu"), seconds=1.0) == 3.0
    assert modes == ["none", "default", "default", "none", "none", "default"]
