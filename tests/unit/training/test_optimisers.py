"""Update rules against numpy and independent implementations, and which parameters they reach."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import Float
from lightly.utils.lars import LARS
from torch import nn
from torchvision.models import VisionTransformer

from hypersphere.config.recipe import Optimiser
from hypersphere.config.run import Run
from hypersphere.methods.base import Method, Parts, frozen_copy
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.optimisation import set_rate

from .conftest import OPTIMISERS

MakeRun = Callable[..., Run]
Array = Float[np.ndarray, "..."]
RATES = (0.1, 0.3, 0.0, 0.2, 0.05, 0.4)
STILL = 3
"""The step whose gradients are zero."""


# Which parameters


def groups(method: Method, **fields: Any) -> dict[int, dict[str, Any]]:
    """Each parameter's group, by its id; no parameter may be in two."""
    optimiser = optimisation.build(method, Optimiser.model_validate(OPTIMISERS["adamw"] | fields))
    found = [(id(parameter), group) for group in optimiser.param_groups for parameter in group["params"]]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_biases_and_normalisations_do_not_decay(make_run: MakeRun, method: str) -> None:
    """Told here by the kind of module and the name; both of SimSiam's rates have both kinds."""
    model = build_method(make_run(method))
    found = groups(model, decay="weights", weight_decay=0.3)
    bare = {id(p) for m in model.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d) for p in m.parameters()}
    bare |= {id(parameter) for name, parameter in model.named_parameters() if name.endswith(".bias")}
    assert {key for key, group in found.items() if group["weight_decay"] == 0} == bare
    assert {group["weight_decay"] for group in found.values()} == {0.0, 0.3}
    kinds = {(group["constant"], group["weight_decay"]) for group in found.values()}
    assert len(kinds) == (4 if method == "simsiam" else 2)


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_unless_told_otherwise_all_decay(make_run: MakeRun, name: str) -> None:
    found = groups(build_method(make_run()), **OPTIMISERS[name] | {"weight_decay": 0.3, "decay": "all"})
    assert {group["weight_decay"] for group in found.values()} == {0.3}


class Plain(Method):
    """Two networks: for what ``build`` does, not for training."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__(Parts(encoder, lambda: torch.zeros(()), lambda z: z))
        self.target = frozen_copy(encoder)


@pytest.fixture
def transformer() -> nn.Module:
    """Two layers of width 8 with two heads, on images of 8 by 8."""
    return VisionTransformer(image_size=8, patch_size=4, num_layers=2, num_heads=2, hidden_dim=8, mlp_dim=16)


def test_a_transformers_token_and_positions_decay(transformer: nn.Module) -> None:
    """The rule of DINO's official code (from memory): what has one dimension, or is a bias, does not; all else does."""
    method = Plain(transformer)
    found = groups(method, weight_decay=0.3)
    names = dict(transformer.named_parameters())
    decayed = {name for name, parameter in names.items() if found[id(parameter)]["weight_decay"] == 0.3}
    bare = {name for name in names if re.search(r"bias$|\bln(_[12])?\.weight$", name)}
    assert decayed == names.keys() - bare
    assert {"class_token", "encoder.pos_embedding", "conv_proj.weight"} <= decayed
    assert {"encoder.ln.weight", "encoder.layers.encoder_layer_0.self_attention.in_proj_bias"} <= bare


def test_the_predictor_stays_at_the_peak(make_run: MakeRun) -> None:
    model = build_method(make_run("simsiam"))
    optimiser = optimisation.build(model, Optimiser.model_validate(OPTIMISERS["adamw"]))
    set_rate(optimiser, 0.48, 0.25)
    rates = {id(p): group["lr"] for group in optimiser.param_groups for p in group["params"]}
    predictor = {id(parameter) for parameter in model.get_submodule("predictor").parameters()}
    assert {rates[i] for i in predictor} == {0.48}
    assert {rate for i, rate in rates.items() if i not in predictor} == {0.12}


# Steps against numpy, each a function of weight, gradient and what is remembered

Kept = dict[str, Any]


def sgd(w: Array, g: Array, kept: Kept, rate: float, decay: float, nesterov: bool) -> Array:
    """Sutskever et al. 2013 in torch's form: v = mu v + (g + wd w); w -= lr (v, or g + wd w + mu v)."""
    g = g + decay * w
    kept["v"] = 0.9 * kept.get("v", 0) + g
    return w - rate * (g + 0.9 * kept["v"] if nesterov else kept["v"])


def adam(w: Array, g: Array, kept: Kept, rate: float, decay: float, betas: tuple[float, float]) -> Array:
    """Kingma & Ba 2015, Algorithm 1, epsilon 1e-8; decay is part of the gradient."""
    g = g + decay * w
    t = kept["t"] = kept.get("t", 0) + 1
    kept["m"] = betas[0] * kept.get("m", 0) + (1 - betas[0]) * g
    kept["v"] = betas[1] * kept.get("v", 0) + (1 - betas[1]) * g**2
    return w - rate * kept["m"] / (1 - betas[0] ** t) / (np.sqrt(kept["v"] / (1 - betas[1] ** t)) + 1e-8)


def adamw(w: Array, g: Array, kept: Kept, rate: float, decay: float, betas: tuple[float, float]) -> Array:
    """Loshchilov & Hutter 2019, Algorithm 2, with torch's rate on the decay too: eta_t lambda w becomes rate wd w."""
    return adam(w, g, kept, rate, 0.0, betas) - rate * decay * w


def lars(w: Array, g: Array, kept: Kept, rate: float, decay: float, nesterov: bool, trust: float) -> Array:
    """You et al. 2017, Algorithm 1, for layers' weights; plain momentum for vectors.

    The paper multiplies by the rate before the momentum; the library, like torch's SGD, after.
    """
    if w.ndim > 1:
        bound = np.linalg.norm(g) + decay * np.linalg.norm(w)
        g = trust * np.linalg.norm(w) / bound * (g + decay * w)
    kept["v"] = 0.9 * kept.get("v", 0) + g
    return w - rate * (g + 0.9 * kept["v"] if nesterov else kept["v"])


BY_HAND: dict[str, tuple[Callable[..., Array], dict[str, Any], dict[str, Any]]] = {
    "sgd": (sgd, {}, {"nesterov": False}),
    "sgd, nesterov": (sgd, {"nesterov": True}, {"nesterov": True}),
    "adam": (adam, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
    "adam, as it comes": (adam, {}, {"betas": (0.9, 0.999)}),
    "adamw": (adamw, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
    "lars": (lars, {"trust": 0.02}, {"nesterov": False, "trust": 0.02}),
    "lars, nesterov": (lars, {"nesterov": True}, {"nesterov": True, "trust": 0.001}),
}
DECAYS = [(case, decay) for case in BY_HAND for decay in ("all", "weights") if "lars" not in case or decay == "weights"]
"""LARS has no other."""
REACHED = ("projector.0.weight", "projector.0.bias", "encoder.conv1.weight", "encoder.bn1.weight")


def gradients(shapes: Iterable[torch.Size], step: int) -> list[torch.Tensor]:
    """Standard normal, but zero at one of the steps."""
    generator = np.random.default_rng(step)
    return [torch.from_numpy(generator.normal(size=tuple(shape))) * (step != STILL) for shape in shapes]


@pytest.mark.trained
@pytest.mark.parametrize(("case", "decay"), DECAYS)
def test_steps_are_the_rules(make_run: MakeRun, case: str, decay: str) -> None:
    """Six steps in double precision at changing rates, one of them 0, with a gradient of zero on the way."""
    step, fields, options = BY_HAND[case]
    optimiser_fields = {"name": step.__name__, "learning_rate": 1.0, "weight_decay": 0.1, "decay": decay} | fields
    model = build_method(make_run()).double()
    optimiser = optimisation.build(model, Optimiser.model_validate(optimiser_fields))
    parameters = [model.get_parameter(name) for name in REACHED]
    weights: list[Array] = [parameter.detach().numpy().copy() for parameter in parameters]
    kept: list[Kept] = [{} for _ in parameters]
    for number, rate in enumerate(RATES):
        set_rate(optimiser, rate, 1.0)
        grads = gradients((parameter.shape for parameter in parameters), number)
        for i, (parameter, grad) in enumerate(zip(parameters, grads, strict=True)):
            own = 0.0 if decay == "weights" and parameter.ndim == 1 else 0.1
            weights[i] = step(weights[i], grad.numpy().copy(), kept[i], rate, own, **options)
            parameter.grad = grad
        optimiser.step()
        for parameter, weight in zip(parameters, weights, strict=True):
            np.testing.assert_allclose(parameter.detach().numpy(), weight, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_until_a_rate_is_set_nothing_moves(make_run: MakeRun, name: str) -> None:
    """But the moments do; and a parameter without a gradient is left alone, whatever it remembers or would decay."""
    model = build_method(make_run())
    optimiser = optimisation.build(model, Optimiser.model_validate(OPTIMISERS[name] | {"weight_decay": 0.3}))
    parameters = list(model.parameters())
    before = [parameter.detach().clone() for parameter in parameters]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimiser.step()
    assert all(torch.equal(a, b) for a, b in zip(parameters, before, strict=True))
    assert all(set(optimiser.state[p]) == set(optimisation.moments(optimiser)) for p in parameters)
    set_rate(optimiser, 0.1, 1.0)
    for parameter in parameters[1:]:
        parameter.grad = None
    optimiser.step()
    moved = [not torch.equal(a, b) for a, b in zip(parameters, before, strict=True)]
    assert moved == [True] + [False] * (len(parameters) - 1)


# LARS


def two_lars(run: Run, **fields: Any) -> tuple[list[nn.Parameter], list[nn.Parameter], Any, Any]:
    """The same weights twice, ours and lightly's, at equal settings and a rate of 0.3."""
    settings = Optimiser.model_validate(OPTIMISERS["lars"] | fields)
    ours, theirs = build_method(run).double(), build_method(run).double()
    optimiser = optimisation.build(ours, settings)
    decays = {True: settings.weight_decay, False: 0.0}
    listed = [
        {"params": [p for p in theirs.parameters() if (p.ndim > 1) == weights], "weight_decay": decay}
        for weights, decay in decays.items()
    ]
    reference = LARS(
        listed, lr=0.3, momentum=settings.momentum, nesterov=settings.nesterov, trust_coefficient=settings.trust, eps=0
    )
    set_rate(optimiser, 0.3, 1.0)
    return list(ours.parameters()), list(theirs.parameters()), optimiser, reference


@pytest.mark.parametrize(("momentum", "nesterov"), [(0.9, False), (0.9, True), (0.0, False)])
def test_lars_is_lightlys(make_run: MakeRun, momentum: float, nesterov: bool) -> None:
    """lightly.utils.lars, an independent implementation, at equal settings and without its epsilon of 1e-8."""
    ours, theirs, optimiser, reference = two_lars(make_run(), momentum=momentum, nesterov=nesterov)
    for number in (0, 1, 2):
        for parameters, one in ((ours, optimiser), (theirs, reference)):
            for p, gradient in zip(parameters, gradients((p.shape for p in parameters), number), strict=True):
                p.grad = gradient
            one.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-14)


def test_where_lars_is_not_lightlys(make_run: MakeRun) -> None:
    """Where a gradient is zero, by hand: here a weight is multiplied by 1 - rate · trust; there it stays."""
    ours, theirs, optimiser, reference = two_lars(make_run(), trust=0.02)
    before = [parameter.detach().clone() for parameter in ours]
    for parameters, one in ((ours, optimiser), (theirs, reference)):
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)
        one.step()
    for a, b, old in zip(ours, theirs, before, strict=True):
        torch.testing.assert_close(a, old * (1 - 0.3 * 0.02) if a.ndim > 1 else old)
        assert torch.equal(b, old)


def test_lars_without_weight_decay_adapts_all_the_same_and_a_zero_weight_takes_the_plain_step(
    make_run: MakeRun,
) -> None:
    """By hand: trust · |w| / |g| times g; a weight of zero has no scale of its own, and takes g itself."""
    ours, _, optimiser, _ = two_lars(make_run(), weight_decay=0.0, trust=0.02)
    weights = [parameter for parameter in ours if parameter.ndim > 1]
    with torch.no_grad():
        weights[-1].zero_()
    before = [parameter.detach().clone() for parameter in weights]
    for parameter in ours:
        parameter.grad = torch.ones_like(parameter)
    optimiser.step()
    for weight, old in zip(weights, before, strict=True):
        scale = 0.02 * old.norm() / old.numel() ** 0.5 if old.any() else 1.0
        torch.testing.assert_close(weight.detach(), old - 0.3 * scale * torch.ones_like(old))
