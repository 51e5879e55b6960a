"""Learning rates in closed form. The update rules that they go into are in test_optimisers.py."""

from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.config.recipe import Schedule
from hypersphere.simulations.learning_rates import compute as learning_rates
from hypersphere.training.optimisation import annealing, fraction_of_peak, peak_rate

from .conftest import MakeRun


@pytest.mark.parametrize(("rate", "batch", "expected"), [(0.18, 256, 0.18), (0.12, 1024, 0.48), (0.03, 64, 0.0075)])
def test_peak_is_per_256_images(make_run: MakeRun, rate: float, batch: int, expected: float) -> None:
    """Norms paper, App. C.1: 0.18 · 256/256 for SimCLR, 0.12 · 1024/256 for SimSiam."""
    run = make_run(optimiser={"learning_rate": rate}, batch={"size": batch})
    assert peak_rate(run) == pytest.approx(expected)


def fractions(steps: int, per_epoch: int = 10, passes: int = 1, **fields: Any) -> list[float]:
    """Of the peak, over the first ``steps``."""
    schedule = Schedule.model_validate({"epochs": 10, "warmup": 0.0} | fields)
    return [fraction_of_peak(schedule, step, per_epoch, passes) for step in range(steps)]


WARM_UP = [step / 10 for step in range(1, 11)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"shape": "cosine", "warmup": 0.1}, [*WARM_UP, 1.0]),  # the peak once more, where the cosine starts
        ({"shape": "constant", "warmup": 0.1}, WARM_UP + [1.0] * 90),
        ({"shape": "constant"}, [1.0] * 100),
        # the peak to step 49, a fifth from the fiftieth, a twenty-fifth from the 75th
        (
            {"shape": "step", "warmup": 0.1, "drops": [0.5, 0.75], "factor": 0.2},
            WARM_UP + [1.0] * 40 + [0.2] * 25 + [0.04] * 25,
        ),
        ({"shape": "step", "drops": [0.6]}, [1.0] * 60 + [0.1] * 40),  # the factor by default
    ],
)
def test_a_hundred_steps_are_those_by_hand(fields: dict[str, Any], expected: list[float]) -> None:
    assert fractions(100, **fields)[: len(expected)] == pytest.approx(expected)


SHAPES: list[dict[str, Any]] = [{"shape": "cosine"}, {"shape": "constant"}, {"shape": "step", "drops": [0.3, 0.6]}]
of_every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["shape"])


@of_every_shape
def test_a_longer_horizon_is_the_beginning_of_a_longer_training(shape: dict[str, Any]) -> None:
    """Ten epochs of a schedule over forty: warm-up and drops are fractions of the horizon, not of the training."""
    laid_out = fractions(100, warmup=0.1, horizon=40, **shape)
    assert laid_out == fractions(400, warmup=0.1, epochs=40, **shape)[:100]
    assert laid_out != fractions(100, warmup=0.1, **shape)
    assert fractions(100, warmup=0.1, horizon=10, **shape) == fractions(100, warmup=0.1, **shape)


@of_every_shape
@pytest.mark.parametrize("passes", [1, 2, 4])
def test_counted_in_passes_a_schedule_is_as_many_times_longer(shape: dict[str, Any], passes: int) -> None:
    counted = fractions(100, passes=passes, warmup=0.1, counted_in="passes", **shape)
    assert counted == fractions(100 * passes, per_epoch=10 * passes, warmup=0.1, **shape)[:100]
    assert (counted == fractions(100, passes=passes, warmup=0.1, **shape)) == (passes == 1)


@pytest.mark.parametrize(("batch", "epochs"), [(256, 20), (512, 40), (1024, 80)])
def test_the_norms_authors_warm_up_lasts_20_40_and_80_epochs(batch: int, epochs: int) -> None:
    """Erratum N41, against the authors' own formula in simulations/: ten epochs of 512, counted in passes of 128.

    The formula differs by less than 2 % of its peak: it counts an epoch's last passes, which fill no step; its cosine
    begins with the first step, under the warm-up; and it ends at a floor. Control: counted in steps the warm-up is the
    ten epochs that the paper states, and the rates are others.
    """
    passes = batch // learning_rates.PASS
    theirs, per_epoch = learning_rates.authors(learning_rates.AUTHORS_SIMSIAM, learning_rates.PASS, passes, 10, 500)
    found = {}
    for counted_in in ("passes", "steps"):
        laid_out = {"epochs": 500, "warmup": 10 / 512, "horizon": 512, "counted_in": counted_in}
        found[counted_in] = np.array(fractions(500 * per_epoch, per_epoch, passes, **laid_out))
    warmups = {name: (int(rates.argmax()) + 1) / per_epoch for name, rates in found.items()}
    assert warmups == {"passes": epochs, "steps": 10}
    assert (int(theirs.argmax()) + 1) / per_epoch == pytest.approx(epochs, rel=0.02)
    assert np.abs(found["passes"] - theirs / theirs.max()).max() < 0.02
    assert np.abs(found["steps"] - theirs / theirs.max()).max() > 0.5


@pytest.mark.parametrize("first", [0, 2, 20])
def test_cosine_is_torchs_and_ends_one_step_short_of_zero(first: int) -> None:
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=100 - first)
    for step in range(first, 100):
        assert annealing(step, 100, first / 100) == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)
        optimiser.step()
        theirs.step()
