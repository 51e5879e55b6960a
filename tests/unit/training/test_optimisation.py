"""Learning rates in closed form; update rules against independent implementations, and which parameters they reach."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from lightly.utils.lars import LARS
from torch import Tensor, nn

from hypersphere.config.recipe import Optimiser, Schedule
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.optimisation import annealing, fraction_of_peak, peak_rate, set_rate
from papers.embedding_norms.studies.learning_rates import compute as learning_rates

from .conftest import OPTIMISERS, make_run


@pytest.mark.parametrize(
    ("rate", "batch", "expected"), [(0.18, 256, 0.18), (0.12, 1024, 0.48), (0.03, 64, 0.0075)]
)
def test_peak_is_per_256_images_or_the_rate_itself(
    rate: float, batch: int, expected: float
) -> None:
    """Norms paper, App. C.1: 0.18 · 256/256 for SimCLR, 0.12 · 1024/256 for SimSiam. Without scaling it is the rate."""
    for scaling, peak in (("linear", expected), ("none", rate)):
        run = make_run(optimiser={"learning_rate": rate, "scaling": scaling}, batch={"size": batch})
        assert peak_rate(run) == pytest.approx(peak)


def fractions(steps: int, per_epoch: int = 10, passes: int = 1, **fields: Any) -> list[float]:
    """Of the peak, over the first ``steps``."""
    schedule = Schedule.model_validate({"epochs": 10, "warmup": 0.0} | fields)
    return [fraction_of_peak(schedule, step, per_epoch, passes) for step in range(steps)]


WARM_UP = [step / 10 for step in range(1, 11)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # the peak once more, where the cosine starts
        ({"shape": "cosine", "warmup": 0.1}, [*WARM_UP, 1.0]),
        ({"shape": "constant", "warmup": 0.1}, WARM_UP + [1.0] * 90),
        ({"shape": "constant"}, [1.0] * 100),
        # the peak to step 49, a fifth from the fiftieth, a twenty-fifth from the 75th
        (
            {"shape": "step", "warmup": 0.1, "drops": [0.5, 0.75], "factor": 0.2},
            WARM_UP + [1.0] * 40 + [0.2] * 25 + [0.04] * 25,
        ),
        ({"shape": "step", "drops": [0.6]}, [1.0] * 60 + [0.1] * 40),  # the factor by default
        # fractions of a horizon of 20 epochs, of which ten are trained
        (
            {"shape": "step", "warmup": 0.05, "horizon": 20, "drops": [0.4]},
            WARM_UP + [1.0] * 70 + [0.1] * 20,
        ),
        ({"shape": "cosine", "warmup": 0.05, "horizon": 20}, [*WARM_UP, 1.0]),
    ],
)
def test_a_hundred_steps_are_those_by_hand(fields: dict[str, Any], expected: list[float]) -> None:
    assert fractions(100, **fields)[: len(expected)] == pytest.approx(expected)


@pytest.mark.parametrize(("batch", "epochs"), [(256, 20), (512, 40), (1024, 80)])
def test_the_norms_authors_warm_up_lasts_20_40_and_80_epochs(batch: int, epochs: int) -> None:
    """Erratum N41, against the authors' own formula in simulations/: ten epochs of 512, counted in passes of 128.

    The formula differs by less than 2 % of its peak: it counts an epoch's last passes, which fill no step; its cosine
    begins with the first step, under the warm-up; and it ends at a floor. Control: counted in steps the warm-up is the
    ten epochs that the paper states, and the rates are others.
    """
    passes = batch // learning_rates.PASS
    theirs, per_epoch = learning_rates.authors(
        learning_rates.AUTHORS_SIMSIAM, learning_rates.PASS, passes, 10, 500
    )
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
        assert annealing(step, 100, first / 100) == pytest.approx(
            optimiser.param_groups[0]["lr"], abs=1e-12
        )
        optimiser.step()
        theirs.step()


NORMS = nn.BatchNorm1d | nn.BatchNorm2d | nn.LayerNorm
TRANSFORMER = {"name": "vit", "image_size": 8, "patch": 4, "depth": 2, "width": 8, "heads": 2}


@pytest.mark.parametrize("encoder", [{}, TRANSFORMER], ids=["resnet8", "transformer"])
def test_biases_and_normalisations_do_not_decay(encoder: dict[str, Any]) -> None:
    """Told here by the kind of module and the name: the rule of DINO's official code (from memory). A transformer's
    token and positions decay. No parameter is in two groups; SimSiam's predictor stays at the peak of 0.48."""
    model = build_method(make_run("simsiam", encoder=encoder))
    optimiser = optimisation.build(
        model, Optimiser.model_validate(OPTIMISERS["adamw"] | {"weight_decay": 0.3})
    )
    listed = [
        (id(p), group["weight_decay"]) for group in optimiser.param_groups for p in group["params"]
    ]
    bare = {
        id(p)
        for module in model.modules()
        if isinstance(module, NORMS)
        for p in module.parameters()
    }
    bare |= {id(parameter) for name, parameter in model.named_parameters() if name.endswith("bias")}
    assert sorted(listed) == sorted(
        (id(p), 0.0 if id(p) in bare else 0.3) for p in model.parameters()
    )
    set_rate(optimiser, 0.48, 0.25)
    predictor = {id(parameter) for parameter in model.get_submodule("predictor").parameters()}
    for group in optimiser.param_groups:
        assert {id(p) in predictor for p in group["params"]} == {group["lr"] == 0.48}
        assert group["lr"] in (0.48, 0.12)


# Steps


def take(
    parameters: list[nn.Parameter], optimiser: Any, gradient: Callable[[Tensor], Tensor]
) -> None:
    """A step with a gradient for each parameter."""
    for parameter in parameters:
        parameter.grad = gradient(parameter)
    optimiser.step()


def drawn(step: int) -> Callable[[Tensor], Tensor]:
    """Gradients that are standard normal, but zero at step 3."""
    generator = np.random.default_rng(step)
    return lambda parameter: (
        torch.from_numpy(generator.normal(size=tuple(parameter.shape))) * (step != 3)
    )


TORCHS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, {}, {"momentum": 0.9}),
    "sgd, nesterov": (torch.optim.SGD, {"nesterov": True}, {"momentum": 0.9, "nesterov": True}),
    "adam": (torch.optim.Adam, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
    "adamw": (torch.optim.AdamW, {"betas": [0.8, 0.9]}, {"betas": (0.8, 0.9)}),
}
"""By name, torch's optimiser, our fields, and its own."""


@pytest.mark.parametrize("decay", ["all", "weights"])
@pytest.mark.parametrize("case", TORCHS)
def test_steps_are_torchs(case: str, decay: str) -> None:
    """Its optimiser over two lists of parameters, with and without decay: six steps in double precision at changing
    rates, one of them 0, with a gradient of zero on the way, and at first no rate at all."""
    kind, fields, options = TORCHS[case]
    ours, theirs = (build_method(make_run()).double() for _ in range(2))
    settings = {
        "name": case.partition(",")[0],
        "learning_rate": 1.0,
        "weight_decay": 0.1,
        "decay": decay,
    } | fields
    optimiser = optimisation.build(ours, Optimiser.model_validate(settings))
    bare = [p for p in theirs.parameters() if p.ndim == 1 and decay == "weights"]
    decayed = [p for p in theirs.parameters() if p.ndim > 1 or decay == "all"]
    reference = kind(
        [{"params": bare, "weight_decay": 0.0}, {"params": decayed, "weight_decay": 0.1}], **options
    )
    for number, rate in enumerate((0.0, 0.1, 0.3, 0.0, 0.2, 0.05, 0.4)):
        if number:
            optimisation.set_rate(optimiser, rate, 1.0)
        for group in reference.param_groups:
            group["lr"] = rate
        for model, one in ((ours, optimiser), (theirs, reference)):
            take([*model.parameters()], one, drawn(number))
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("momentum", "nesterov"), [(0.9, False), (0.9, True), (0.0, False)])
def test_lars_is_lightlys(momentum: float, nesterov: bool) -> None:
    """lightly.utils.lars, an independent implementation, at equal settings and without its epsilon of 1e-8."""
    fields = {"momentum": momentum, "nesterov": nesterov}
    settings = Optimiser.model_validate(OPTIMISERS["lars"] | fields)
    ours, theirs = (build_method(make_run()).double() for _ in range(2))
    optimiser = optimisation.build(ours, settings)
    set_rate(optimiser, 0.3, 1.0)
    weights, rest = (
        [p for p in theirs.parameters() if (p.ndim > 1) == decayed] for decayed in (True, False)
    )
    groups = [
        {"params": weights, "weight_decay": settings.weight_decay},
        {"params": rest, "weight_decay": 0.0},
    ]
    reference = LARS(groups, lr=0.3, trust_coefficient=settings.trust, eps=0, **fields)
    for number in (0, 1, 2):
        take([*ours.parameters()], optimiser, drawn(number))
        take([*theirs.parameters()], reference, drawn(number))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("decay", "gradient"), [(0.01, 0.0), (0.0, 1.0), (0.01, 1.0)])
def test_lars_by_hand_where_a_norm_is_zero_and_on_what_it_leaves_alone(
    decay: float, gradient: float
) -> None:
    """You et al. 2017, Eq. 6: rate · trust · |w| / (|g| + decay · |w|) · (g + decay · w). So without a
    gradient a weight still decays, by rate · trust. A weight of zero has no scale of its own and takes the plain step;
    a tensor of one dimension neither decays nor adapts."""
    model = build_method(make_run()).double()
    optimiser = optimisation.build(
        model, Optimiser.model_validate(OPTIMISERS["lars"] | {"weight_decay": decay})
    )
    set_rate(optimiser, 0.3, 1.0)
    parameters = [*model.parameters()]
    nn.init.zeros_([parameter for parameter in parameters if parameter.ndim > 1][-1])
    before = [parameter.detach().clone() for parameter in parameters]
    take(parameters, optimiser, lambda parameter: torch.full_like(parameter, gradient))
    for parameter, old in zip(parameters, before, strict=True):
        move = torch.full_like(old, gradient)
        if old.ndim > 1 and old.any():
            move = 0.02 * old.norm() / (move.norm() + decay * old.norm()) * (move + decay * old)
        torch.testing.assert_close(parameter.detach(), old - 0.3 * move)
