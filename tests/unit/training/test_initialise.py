"""Initial weights: keyed by seed and tensor, of the stated distributions, and of nothing else."""

from collections.abc import Callable

import pytest
import scipy.stats
import torch
from torch import Tensor, nn

from hypersphere.encoders.resnet import resnet
from hypersphere.spec import Run
from hypersphere.training.build import build_method
from hypersphere.training.initialise import initialise


def state(run: Run) -> dict[str, Tensor]:
    return dict(build_method(run).state_dict())


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_weights_are_a_function_of_the_seed_alone(make_run: Callable[..., Run], method: str) -> None:
    """torch's own generator decides no tensor, of any layer type that the models use."""
    torch.manual_seed(1)
    first = state(make_run(method))
    torch.manual_seed(2)
    second = state(make_run(method))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_another_seed_draws_every_weight_anew(make_run: Callable[..., Run]) -> None:
    a, b = state(make_run(seed=0)), state(make_run(seed=1))
    drawn = [name for name in a if "conv" in name or "downsample.0" in name or name.startswith("projector")]
    assert len(drawn) == 13  # seven 3x3 convolutions, two shortcuts, two linear layers with bias
    assert not any(torch.equal(a[name], b[name]) for name in drawn)


def test_a_tensor_does_not_depend_on_the_rest_of_the_model(make_run: Callable[..., Run]) -> None:
    """What makes a paired test paired: variants and methods with one seed share all that they have in common."""
    base = state(make_run())
    for other in (make_run(method={"hidden": 16}), make_run("simsiam"), make_run(objective={"temperature": 0.1})):
        shared = {name: tensor for name, tensor in state(other).items() if name.startswith("encoder.")}
        assert len(shared) > 20
        assert all(torch.equal(tensor, base[name]) for name, tensor in shared.items())


def test_cut_runs_start_at_the_same_weights_divided(make_run: Callable[..., Run]) -> None:
    plain = dict(build_method(make_run()).named_parameters())
    cut = build_method(make_run(initialisation={"name": "cut_initialisation", "c": 3}))
    for name, parameter in cut.named_parameters():
        assert torch.equal(parameter, plain[name] / 3), name


def test_distributions() -> None:
    """He et al. 2015, fan-out: normal of std sqrt(2 / (out · k · k)). torch's Linear: uniform in ± 1/sqrt(in)."""
    model = nn.Sequential(nn.Conv2d(16, 32, 3), nn.Linear(400, 50))
    initialise(model, seed=0)
    convolution = model.get_parameter("0.weight").detach().double().flatten().numpy()
    assert scipy.stats.kstest(convolution, "norm", (0, (2 / (32 * 9)) ** 0.5)).pvalue > 0.01
    for name in ("1.weight", "1.bias"):
        linear = model.get_parameter(name).detach().double().flatten().numpy()
        assert scipy.stats.kstest(linear, "uniform", (-0.05, 0.1)).pvalue > 0.01


def test_tensors_are_uncorrelated() -> None:
    model = nn.Sequential(nn.Linear(30, 30), nn.Linear(30, 30))
    initialise(model, seed=0)
    a, b = (model.get_parameter(f"{i}.weight").detach().flatten() for i in (0, 1))
    assert abs(torch.corrcoef(torch.stack([a, b]))[0, 1]) < 4 / 30


def test_residual_branches_that_start_at_zero_stay_there() -> None:
    model = resnet(depth=18, stem="cifar", zero_init_residual=True)
    initialise(model, seed=0)
    scales = {name: p for name, p in model.named_parameters() if name.endswith("bn2.weight")}
    assert len(scales) == 8
    assert all((scale == 0).all() for scale in scales.values())
    assert (model.get_parameter("layer1.0.bn1.weight") == 1).all()
