"""Learning rates in closed form, and which parameters get them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from hypersphere.spec import Run
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.optimisation import annealing, peak_rate, set_rate


@pytest.mark.parametrize(("rate", "batch", "expected"), [(0.18, 256, 0.18), (0.12, 1024, 0.48), (0.03, 64, 0.0075)])
def test_peak_is_per_256_images(make_run: Callable[..., Run], rate: float, batch: int, expected: float) -> None:
    """Norms paper, App. C.1: 0.18 · 256/256 for SimCLR, 0.12 · 1024/256 for SimSiam."""
    run = make_run(optimiser={"learning_rate": rate}, batch={"size": batch})
    assert peak_rate(run) == pytest.approx(expected)


def test_warm_up_is_linear_to_exactly_one() -> None:
    """By hand, 100 steps, 10 of warm-up: 0.1, 0.2, … 1.0, and 1 once more where the cosine starts."""
    rates = [annealing(step, 100, 0.1) for step in range(100)]
    assert rates[:10] == pytest.approx([(i + 1) / 10 for i in range(10)])
    assert rates[9] == rates[10] == 1.0


@pytest.mark.parametrize("warmup", [0.0, 0.02, 0.2])
def test_cosine_half_way_and_at_the_end(warmup: float) -> None:
    """By hand: half-way down the rate is 1/2; the last step is one short of 0; it falls all the way."""
    steps, first = 1000, int(warmup * 1000)
    rates = [annealing(step, steps, warmup) for step in range(steps)]
    assert rates[(first + steps) // 2] == pytest.approx(0.5)
    assert rates[-1] == pytest.approx((1 - math.cos(math.pi / (steps - first))) / 2)
    assert 0 < rates[-1] < 1e-4
    assert all(a > b for a, b in zip(rates[first:], rates[first + 1 :], strict=False))
    assert max(rates) == 1


def test_cosine_is_torchs() -> None:
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([parameter], lr=1.0)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=80)
    for step in range(20, 100):
        assert annealing(step, 100, 0.2) == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)
        optimiser.step()
        theirs.step()


@pytest.mark.parametrize(("steps", "warmup"), [(1, 0.0), (1, 1.0), (7, 1.0), (3, 0.4)])
def test_short_schedules_stay_between_0_and_1(steps: int, warmup: float) -> None:
    assert all(0 < annealing(step, steps, warmup) <= 1 for step in range(steps))


@pytest.mark.parametrize(("method", "constant"), [("simclr", 0), ("simsiam", 5)])
def test_every_parameter_is_in_one_group(make_run: Callable[..., Run], method: str, constant: int) -> None:
    run = make_run(method)
    model = build_method(run)
    optimiser = optimisation.build(model, run.optimiser)
    members = [id(parameter) for group in optimiser.param_groups for parameter in group["params"]]
    assert sorted(members) == sorted(id(parameter) for parameter in model.parameters())
    assert sum(len(group["params"]) for group in optimiser.param_groups if group["constant"]) == constant


def test_the_predictor_stays_at_the_peak(make_run: Callable[..., Run]) -> None:
    run = make_run("simsiam")
    model = build_method(run)
    optimiser = optimisation.build(model, run.optimiser)
    set_rate(optimiser, 0.48, 0.25)
    rates = {id(p): group["lr"] for group in optimiser.param_groups for p in group["params"]}
    predictor = {id(parameter) for parameter in model.get_submodule("predictor").parameters()}
    assert {rates[i] for i in predictor} == {0.48}
    assert {rate for i, rate in rates.items() if i not in predictor} == {0.12}


@pytest.mark.parametrize("nesterov", [True, False])
def test_steps_are_sgd_with_momentum_and_decay(make_run: Callable[..., Run], nesterov: bool) -> None:
    """Sutskever et al. 2013 in torch's form, in numpy: v = mu v + (g + wd w); w -= lr (v, or g + wd w + mu v)."""
    run = make_run(optimiser={"weight_decay": 0.1, "nesterov": nesterov})
    model = build_method(run).double()
    optimiser = optimisation.build(model, run.optimiser)
    parameter = model.get_parameter("projector.0.weight")
    weight, velocity = parameter.detach().numpy().copy(), np.zeros(parameter.shape)
    generator = np.random.default_rng(0)
    for rate in (0.1, 0.3, 0.2):
        gradient = generator.normal(size=parameter.shape)
        set_rate(optimiser, rate, 1.0)
        parameter.grad = torch.from_numpy(gradient)
        optimiser.step()
        decayed = gradient + 0.1 * weight
        velocity = 0.9 * velocity + decayed
        weight = weight - rate * (decayed + 0.9 * velocity if nesterov else velocity)
        np.testing.assert_allclose(parameter.detach().numpy(), weight, rtol=1e-12)
