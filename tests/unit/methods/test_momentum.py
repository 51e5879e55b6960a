"""Methods with a momentum target: where it starts, how it follows, and that a resumed run has lost nothing of it."""

import copy
import os
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

from .shared import batches_seen, identity, make_batch, make_parts, step, trained

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.models.utils import update_momentum

Make = Callable[..., Method]


def contrast(q: Tensor, k: Tensor, queue: Tensor) -> Tensor:
    return momentum_contrast(q, k, queue, temperature=0.2)


def make_byol(gradient: Any = identity, **options: Any) -> Method:
    method = byol(make_parts(normalised_squared_error, gradient), hidden=7, dim=4, **options)
    method.begin()
    return method


def make_mocov2(gradient: Any = identity, **options: Any) -> Method:
    method = mocov2(make_parts(contrast, gradient), hidden=7, dim=4, queue=12, batch_norm=True, **options)
    method.begin()
    return method


def make_mocov3(gradient: Any = identity, **options: Any) -> Method:
    method = mocov3(
        make_parts(lambda q, k: info_nce(q, k, temperature=0.2), gradient), hidden=7, dim=4, layers=2, **options
    )
    method.begin()
    return method


def make_dino(**options: Any) -> Method:
    objective = partial(self_distillation, student_temperature=0.1, teacher_temperature=0.04)
    method = dino(make_parts(objective), hidden=7, bottleneck=4, prototypes=5, **options)
    method.begin()
    return method


MAKES: list[Make] = [make_byol, make_dino, make_mocov2, make_mocov3]
SCHEDULED: list[Make] = [make_byol, make_dino, make_mocov3]
every = pytest.mark.parametrize("make", MAKES)


def online(method: Method) -> dict[str, Tensor]:
    """The tensors that the target follows, by the names that it has for them."""
    return {name: tensor for name, tensor in method.state_dict().items() if name in target(method)}


def target(method: Method) -> dict[str, Tensor]:
    return dict(method.get_submodule("target").state_dict())


def weights(method: Method) -> list[str]:
    """Of the target's tensors, those that are parameters."""
    return [name for name, _ in method.get_submodule("target").named_parameters()]


@every
def test_the_target_follows_by_hand(make: Make) -> None:
    """Four steps at momentum 0.75: in double precision by hand, and by lightly's update_momentum."""
    constant = {"momentum_schedule": "constant"} if make in SCHEDULED else {}
    method = make(momentum=0.75, **constant)
    expected = {name: target(method)[name].double() for name in weights(method)}
    theirs = copy.deepcopy(method.get_submodule("target"))
    for i in range(4):
        step(method, make_batch(seed=i), fraction=(i + 1) / 4)
        for name in expected:
            expected[name] = 0.75 * expected[name] + 0.25 * online(method)[name].double()
        update_momentum(method.online, theirs, 0.75)  # type: ignore[arg-type]
    for name, tensor in expected.items():
        torch.testing.assert_close(target(method)[name].double(), tensor, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(target(method)[name], theirs.state_dict()[name])
    moved = [name for name in expected if (target(method)[name] - online(method)[name]).abs().max() > 1e-3]
    assert len(moved) > 2


@pytest.mark.parametrize("make", SCHEDULED)
def test_the_target_slows_along_half_a_cosine(make: Make) -> None:
    """By hand at base 0.5: 0.5, 0.625, 0.75 and 1 after nothing, a third, half and all of the steps."""
    method = make(momentum=0.5)
    expected = {name: target(method)[name].double() for name in weights(method)}
    for i, (fraction, momentum) in enumerate([(0.0, 0.5), (1 / 3, 0.625), (0.5, 0.75), (1.0, 1.0)]):
        step(method, make_batch(seed=i), fraction=fraction)
        for name in expected:
            expected[name] = momentum * expected[name] + (1 - momentum) * online(method)[name].double()
    for name, tensor in expected.items():
        torch.testing.assert_close(target(method)[name].double(), tensor, atol=1e-6, rtol=1e-5)


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


@pytest.mark.parametrize(
    ("make", "half_way"), [(make_byol, 0.998), (make_mocov2, 0.999), (make_mocov3, 0.995)], ids=["byol", "v2", "v3"]
)
def test_the_papers_momentum_is_the_default(make: Make, half_way: float) -> None:
    """0.996 and 0.99 to 1 along a cosine, 0.999 all the way; half-way, a cosine has gone half of what is left."""
    method = make()
    before = copy.deepcopy(target(method))
    with torch.no_grad():
        for parameter in trained(method):
            parameter += 1
    step(method, make_batch(), fraction=0.5, rate=0.0)
    for name in weights(method):
        shift = target(method)[name].double() - before[name].double()
        torch.testing.assert_close(shift, torch.full_like(shift, 1 - half_way), atol=1e-6, rtol=0)


@every
def test_the_target_has_running_statistics_of_its_own(make: Make) -> None:
    """It is in training mode: each of its passes moves them, and they stay where the weights follow."""
    method = make()
    step(method, make_batch())
    passes = 2 if make in SCHEDULED else 1
    assert batches_seen(method.encoder) == batches_seen(method.get_submodule("target").get_submodule("encoder"))
    assert batches_seen(method.get_submodule("target")) == [passes] * len(batches_seen(method.get_submodule("target")))
    assert method.get_submodule("target").training
