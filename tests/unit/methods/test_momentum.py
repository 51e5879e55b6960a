"""Methods with a momentum target: how it follows."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.byol import byol
from hypersphere.methods.dino import dino
from hypersphere.methods.mocov2 import mocov2
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.self_distillation import self_distillation

from .shared import make_batch, make_parts, step, trained

Make = Callable[..., Method]


def begun(method: Method) -> Method:
    method.begin()
    return method


def make_byol(**options: Any) -> Method:
    return begun(byol(make_parts(normalised_squared_error), hidden=7, dim=4, **options))


def make_mocov2(**options: Any) -> Method:
    parts = make_parts(partial(momentum_contrast, temperature=0.2))
    return begun(mocov2(parts, hidden=7, dim=4, queue=12, batch_norm=True, **options))


def make_mocov3(**options: Any) -> Method:
    parts = make_parts(partial(info_nce, temperature=0.2))
    return begun(mocov3(parts, hidden=7, dim=4, layers=2, **options))


def make_dino(**options: Any) -> Method:
    parts = make_parts(partial(self_distillation, student_temperature=0.1, teacher_temperature=0.04))
    return begun(dino(parts, hidden=7, bottleneck=4, prototypes=5, **options))


MAKES: list[Make] = [make_byol, make_dino, make_mocov2, make_mocov3]


def target(method: Method) -> dict[str, Tensor]:
    return dict(method.get_submodule("target").state_dict())


def weights(method: Method) -> list[str]:
    """Of the target's tensors, those that are parameters."""
    return [name for name, _ in method.get_submodule("target").named_parameters()]


@pytest.mark.parametrize("make", MAKES)
def test_the_target_follows_by_hand(make: Make) -> None:
    """At base 0.5, along half a cosine: 0.5, 0.625, 0.75 and 1 after nothing, a third, half and all of the steps."""
    method = make(momentum=0.5)
    expected = {name: target(method)[name].double() for name in weights(method)}
    for i, (fraction, momentum) in enumerate([(0.0, 0.5), (1 / 3, 0.625), (0.5, 0.75), (1.0, 1.0)]):
        step(method, make_batch(seed=i), fraction=fraction)
        share = 0.5 if make is make_mocov2 else momentum
        for name in expected:
            expected[name] = share * expected[name] + (1 - share) * method.state_dict()[name].double()
    for name, tensor in expected.items():
        torch.testing.assert_close(target(method)[name].double(), tensor, atol=1e-6, rtol=1e-5)
    moved = [name for name in expected if (target(method)[name] - method.state_dict()[name]).abs().max() > 1e-3]
    assert len(moved) > 2


@pytest.mark.parametrize(
    ("make", "moves"), [(make_byol, True), (make_mocov3, False), (make_dino, True)], ids=["byol", "mocov3", "dino"]
)
def test_the_step_whose_momentum_is_read(make: Make, moves: bool) -> None:
    """The only step of a schedule: BYOL's and DINO's codes read entry 0 of it after the step, so momentum 0 makes the
    target the online network. MoCo v3's read the next step's, which is the end: its target stands still."""
    method = make(momentum=0.0)
    method(make_batch())
    before = copy.deepcopy(target(method))
    with torch.no_grad():
        for parameter in trained(method):
            parameter += 1
    method.after_step(0.0, 1.0)
    for name in weights(method):
        torch.testing.assert_close(target(method)[name], before[name] + moves)
