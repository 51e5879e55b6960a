"""Methods with a momentum target: where it starts, how it follows, and that a resumed run has lost nothing of it."""

import copy
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.byol import byol
from hypersphere.methods.dino import dino
from hypersphere.methods.mocov2 import mocov2
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.frozen import load_weights
from hypersphere.training.weights import save_weights

from .shared import batches_seen, gradients, identity, make_batch, make_parts, make_run, step, trained

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


MAKES: list[Make] = [make_byol, make_mocov2, make_mocov3]
SCHEDULED: list[Make] = [make_byol, make_mocov3]
every = pytest.mark.parametrize("make", MAKES)

BUILT = {
    "byol": ({"name": "byol", "hidden": 8, "dim": 4}, {"name": "normalised_squared_error"}),
    "mocov2": (
        {"name": "mocov2", "hidden": 8, "dim": 4, "queue": 6},
        {"name": "momentum_contrast", "temperature": 0.2},
    ),
    "mocov3": ({"name": "mocov3", "hidden": 8, "dim": 4}, {"name": "info_nce", "temperature": 0.2}),
}


def online(method: Method) -> dict[str, Tensor]:
    """Encoder and projector's tensors, by the names that the target has for them."""
    return {name: tensor for name, tensor in method.state_dict().items() if name.startswith(("encoder.", "projector."))}


def target(method: Method) -> dict[str, Tensor]:
    return dict(method.get_submodule("target").state_dict())


def weights(method: Method) -> list[str]:
    """Of the target's tensors, those that are parameters."""
    return [name for name, _ in method.get_submodule("target").named_parameters()]


@every
def test_the_target_starts_as_a_copy_of_encoder_and_projector(make: Make) -> None:
    method = make()
    assert online(method).keys() == target(method).keys()
    assert all(torch.equal(target(method)[name], tensor) for name, tensor in online(method).items())
    before = copy.deepcopy(target(method))
    with torch.no_grad():
        for parameter in trained(method):
            parameter += 1
    assert all(torch.equal(target(method)[name], tensor) for name, tensor in before.items())


@pytest.mark.parametrize("name", BUILT)
def test_a_cut_covers_the_target(name: str) -> None:
    """Norms paper, Sec. 6 (erratum N44): all of the target's weights too are a third of what they were."""
    method, objective = BUILT[name]
    plain = build_method(make_run(method, objective))
    cut = build_method(make_run(method, objective, initialisation={"name": "cut_initialisation", "c": 3}))
    assert all(torch.equal(target(cut)[key], tensor) for key, tensor in online(cut).items())
    assert len(weights(cut)) > 10
    assert all(torch.equal(target(cut)[key], target(plain)[key] / 3) for key in weights(cut))


@pytest.mark.parametrize("name", BUILT)
def test_no_optimiser_moves_the_target(name: str) -> None:
    run = make_run(*BUILT[name])
    method = build_method(run)
    optimiser = optimisation.build(method, run.optimiser)
    held = {id(parameter) for group in optimiser.param_groups for parameter in group["params"]}
    assert held == {id(p) for key, p in method.named_parameters() if not key.startswith("target.")}
    assert held.isdisjoint(id(parameter) for parameter in method.get_submodule("target").parameters())
    before = copy.deepcopy(target(method))
    images = torch.rand(2, 4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    method(Batch(images, torch.arange(4), torch.arange(4))).loss.backward()
    optimisation.set_rate(optimiser, 1.0, 1.0)
    optimiser.step()
    assert all(torch.equal(target(method)[key], before[key]) for key in weights(method))
    assert any(not torch.equal(online(method)[key], before[key]) for key in weights(method))


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
        update_momentum(nn.Sequential(method.encoder, method.get_submodule("projector")), theirs, 0.75)
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


@every
def test_no_gradient_reaches_the_target(make: Make) -> None:
    """Control: every other parameter gets one."""
    method = make()
    method(make_batch()).loss.backward()
    assert all(parameter.grad is None for parameter in method.get_submodule("target").parameters())
    assert all(parameter.grad is not None for parameter in trained(method))
    assert len(trained(method)) > 7


@every
def test_the_gradient_transform_acts_on_what_is_trained_and_nothing_else(make: Make) -> None:
    calls: list[Tensor] = []

    def transform(z: Tensor) -> Tensor:
        calls.append(z)
        return z

    method = make(transform)
    output = method(make_batch())
    assert torch.equal(torch.cat(calls).detach(), output.embeddings)
    assert not output.embeddings.requires_grad
    assert len(output.embeddings) == (10 if make in SCHEDULED else 5)
    halved = make(lambda z: z / 2 + z.detach() / 2)
    ours, theirs = (gradients(m, m(make_batch()).loss) for m in (make(), halved))
    torch.testing.assert_close(ours[0] / 2, theirs[0], atol=1e-6, rtol=1e-4)


@every
def test_a_resumed_method_goes_on_as_if_nothing_had_happened(make: Make, tmp_path: Path) -> None:
    """All that it remembers is in what is saved; the controls drop one tensor of it each."""
    method = make(momentum=0.5)
    for i in range(3):
        step(method, make_batch(seed=i), make_batch(seed=i + 10), fraction=i / 4)
    saved, file = copy.deepcopy(method.state_dict()), tmp_path / "state.safetensors"
    save_weights(method, file)

    def go_on(resumed: Method) -> tuple[Tensor, dict[str, Tensor]]:
        loss = resumed(make_batch(seed=3)).loss.detach()
        step(resumed, make_batch(seed=4), fraction=1.0)
        return loss, copy.deepcopy(dict(resumed.state_dict()))

    expected = go_on(method)
    fresh = make(momentum=0.5)
    load_weights(fresh, file)
    found = go_on(fresh)
    assert torch.equal(found[0], expected[0])
    assert all(torch.equal(found[1][name], tensor) for name, tensor in expected[1].items())
    dropped = ["target.encoder.linear.weight", "target.projector.0.weight", "target.encoder.norm.running_mean"]
    for name in dropped + ["queue"] * (make is make_mocov2):
        poorer = make(momentum=0.5)
        poorer.load_state_dict({key: value for key, value in saved.items() if key != name}, strict=False)
        lost = go_on(poorer)
        assert any(not torch.equal(lost[1][key], tensor) for key, tensor in expected[1].items()), name
        assert name.endswith("running_mean") or not torch.equal(lost[0], expected[0]), name


@every
def test_every_tensor_of_the_state_has_one_name(make: Make) -> None:
    """safetensors refuses a tensor under two names; the encoder that is kept and probed is the online one."""
    method = make()
    state = method.state_dict()
    assert len({tensor.data_ptr() for tensor in state.values()}) == len(state)
    heads = {name.split(".")[0] for name in state}
    assert heads == {"encoder", "projector", "target"} | ({"queue"} if make is make_mocov2 else {"predictor"})
    assert method.encoder is not method.get_submodule("target").get_submodule("encoder")
    assert all(parameter.requires_grad for parameter in method.encoder.parameters())


@every
def test_a_method_that_has_begun_moves_to_another_type_whole(make: Make) -> None:
    """As it moves to a device: no tensor is left behind."""
    method = make().double()
    kept = {name: tensor.dtype for name, tensor in method.state_dict().items() if tensor.is_floating_point()}
    assert set(kept.values()) == {torch.float64}
    batch = make_batch()
    step(method, batch._replace(views=batch.views.double()))
    assert all(tensor.dtype != torch.float32 for tensor in method.state_dict().values())


@every
def test_no_rate_is_constant(make: Make) -> None:
    assert list(make().constant_rate()) == []
