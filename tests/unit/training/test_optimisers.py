"""Update rules against numpy and independent implementations, and which parameters they reach."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from lightly.utils.lars import LARS
from torch import Tensor, nn

from hypersphere.config.recipe import Optimiser
from hypersphere.config.run import Run
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.optimisation import set_rate

from .conftest import OPTIMISERS, MakeRun

NORMS = nn.BatchNorm1d | nn.BatchNorm2d | nn.LayerNorm
TRANSFORMER = {"name": "vit", "image_size": 8, "patch": 4, "depth": 2, "width": 8, "heads": 2}


@pytest.mark.parametrize("encoder", [{}, TRANSFORMER], ids=["resnet8", "transformer"])
def test_biases_and_normalisations_do_not_decay(make_run: MakeRun, encoder: dict[str, Any]) -> None:
    """Told here by the kind of module and the name: the rule of DINO's official code (from memory). A transformer's
    token and positions decay. No parameter is in two groups; both of SimSiam's rates have both kinds."""
    model = build_method(make_run("simsiam", encoder=encoder))
    optimiser = optimisation.build(model, Optimiser.model_validate(OPTIMISERS["adamw"] | {"weight_decay": 0.3}))
    listed = [(id(p), group["weight_decay"]) for group in optimiser.param_groups for p in group["params"]]
    bare = {id(p) for module in model.modules() if isinstance(module, NORMS) for p in module.parameters()}
    bare |= {id(parameter) for name, parameter in model.named_parameters() if name.endswith("bias")}
    assert sorted(listed) == sorted((id(p), 0.0 if id(p) in bare else 0.3) for p in model.parameters())
    assert len({(group["constant"], group["weight_decay"]) for group in optimiser.param_groups}) == 4


def test_the_predictor_stays_at_the_peak(make_run: MakeRun) -> None:
    model = build_method(make_run("simsiam"))
    optimiser = optimisation.build(model, Optimiser.model_validate(OPTIMISERS["adamw"]))
    set_rate(optimiser, 0.48, 0.25)
    rates = {id(p): group["lr"] for group in optimiser.param_groups for p in group["params"]}
    predictor = {id(parameter) for parameter in model.get_submodule("predictor").parameters()}
    assert {rates[i] for i in predictor} == {0.48}
    assert {rate for i, rate in rates.items() if i not in predictor} == {0.12}


# Steps


def take(parameters: list[nn.Parameter], optimiser: Any, gradient: Callable[[Tensor], Tensor]) -> None:
    """A step with a gradient for each parameter."""
    for parameter in parameters:
        parameter.grad = gradient(parameter)
    optimiser.step()


def drawn(step: int) -> Callable[[Tensor], Tensor]:
    """Gradients that are standard normal, but zero at step 3."""
    generator = np.random.default_rng(step)
    return lambda parameter: torch.from_numpy(generator.normal(size=tuple(parameter.shape))) * (step != 3)


TORCHS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, {}, {"momentum": 0.9}),
    "sgd, nesterov": (torch.optim.SGD, {"nesterov": True}, {"momentum": 0.9, "nesterov": True}),
    "adam": (torch.optim.Adam, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
    "adam, as it comes": (torch.optim.Adam, {}, {}),
    "adamw": (torch.optim.AdamW, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
}
"""By name, torch's optimiser, our fields, and its own."""


@pytest.mark.parametrize("decay", ["all", "weights"])
@pytest.mark.parametrize("case", TORCHS)
def test_steps_are_torchs(make_run: MakeRun, case: str, decay: str) -> None:
    """Its optimiser over two lists of parameters, with and without decay: six steps in double precision at changing
    rates, one of them 0, with a gradient of zero on the way, and at first no rate at all."""
    kind, fields, options = TORCHS[case]
    ours, theirs = (build_method(make_run()).double() for _ in range(2))
    settings = {"name": case.partition(",")[0], "learning_rate": 1.0, "weight_decay": 0.1, "decay": decay} | fields
    optimiser = optimisation.build(ours, Optimiser.model_validate(settings))
    bare = [p for p in theirs.parameters() if p.ndim == 1 and decay == "weights"]
    decayed = [p for p in theirs.parameters() if p.ndim > 1 or decay == "all"]
    reference = kind([{"params": bare, "weight_decay": 0.0}, {"params": decayed, "weight_decay": 0.1}], **options)
    for number, rate in enumerate((0.0, 0.1, 0.3, 0.0, 0.2, 0.05, 0.4)):
        if number:
            optimisation.set_rate(optimiser, rate, 1.0)
        for group in reference.param_groups:
            group["lr"] = rate
        for model, one in ((ours, optimiser), (theirs, reference)):
            take([*model.parameters()], one, drawn(number))
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


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
        take(ours, optimiser, drawn(number))
        take(theirs, reference, drawn(number))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-14)


def test_where_lars_is_not_lightlys(make_run: MakeRun) -> None:
    """Where a gradient is zero, by hand: here a weight is multiplied by 1 - rate · trust; there it stays."""
    ours, theirs, optimiser, reference = two_lars(make_run(), trust=0.02)
    before = [parameter.detach().clone() for parameter in ours]
    take(ours, optimiser, torch.zeros_like)
    take(theirs, reference, torch.zeros_like)
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
    take(ours, optimiser, torch.ones_like)
    for weight, old in zip(weights, before, strict=True):
        scale = 0.02 * old.norm() / old.numel() ** 0.5 if old.any() else 1.0
        torch.testing.assert_close(weight.detach(), old - 0.3 * scale * torch.ones_like(old))
