"""Momentum targets: what is copied, followed and drawn, and BYOL's and MoCo v3's wiring, which is one."""

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Method
from hypersphere.methods.byol import byol
from hypersphere.methods.dino import dino
from hypersphere.methods.mocov2 import mocov2
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.training.build import build_method

from .shared import batches_seen, gradients, make_batch, make_parts, make_run, step, trained


def test_unit_vectors_are_keyed_and_uniform_on_the_sphere() -> None:
    """Archimedes: on the sphere in space each coordinate is uniform in [-1, 1]."""
    parts = make_parts(normalised_squared_error)
    torch.manual_seed(1)
    vectors = parts.unit_vectors(2000, 3, "queue")
    torch.manual_seed(2)
    assert torch.equal(vectors, parts.unit_vectors(2000, 3, "queue"))
    for other in (parts.unit_vectors(2000, 3, "bank"), parts._replace(seed=1).unit_vectors(2000, 3, "queue")):
        assert (vectors - other).abs().max() > 0.1
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(2000), atol=1e-6, rtol=0)
    for coordinate in vectors.T.numpy():
        assert scipy.stats.kstest(coordinate, "uniform", (-1, 2)).pvalue > 0.01
    assert torch.corrcoef(vectors.T).fill_diagonal_(0).abs().max() < 4 / math.sqrt(2000)


def test_a_batchs_key_is_seed_purpose_and_moment() -> None:
    batch = make_batch()._replace(rng_key=(3, 1, 4, 2))
    assert batch.key("shuffle") == (3, "shuffle", 1, 4, 2)
    order = prng.permutation(50, *batch.key("shuffle"))
    assert order.tolist() == prng.permutation(50, 3, "shuffle", 1, 4, 2).tolist()
    moments = [(9, 1, 4, 2), (3, 9, 4, 2), (3, 1, 9, 2), (3, 1, 4, 9), (3, 1, 4, 2)]
    keys = [batch._replace(rng_key=moment).key("shuffle") for moment in moments] + [batch.key("noise")]
    assert len({tuple(prng.permutation(50, *key)) for key in keys}) == 6


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
    running = "encoder.norm.running_mean"  # it has statistics of its own
    assert not torch.equal(target(method)[running], method.state_dict()[running])


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


Term = Callable[[Tensor, Tensor], Tensor]
MOCOV3 = {"name": "mocov3", "hidden": 8, "dim": 4}


def contrast(q: Tensor, k: Tensor) -> Tensor:
    """Each query among the keys of the other view, at temperature 0.2."""
    return generalised_info_nce(q, k, partial(cosine_logits, temperature=0.2), negatives="other_view")


def attraction(p: Tensor, z: Tensor) -> Tensor:
    return generalised_info_nce(p, z, partial(cosine_logits, temperature=0.5), negatives="none", beta=0.0)


def cross_entropy(q: Tensor, k: Tensor) -> Tensor:
    """Chen et al. 2021, Alg. 1's ctr, by hand: log-softmax over the keys, its diagonal, the mean."""
    logits = F.normalize(q) @ F.normalize(k).T / 0.2
    return -(logits.diagonal() - logits.exp().sum(1).log()).mean()


def distance(p: Tensor, z: Tensor) -> Tensor:
    """Grill et al. 2020, Sec. 3.1: 2 - 2cos."""
    return 2 - 2 * F.cosine_similarity(p, z).mean()


def make(method: Callable[..., Method], objective: Term, temperature: float | None = None, **options: Any) -> Method:
    made = method(make_parts(objective, temperature=temperature), hidden=7, dim=4, **options)
    made.begin()
    return made


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("kind", "objective", "by_hand"),
    [
        (byol, normalised_squared_error, distance),
        # Margins paper, Eq. 3 and App. E: -cos/t with t = 1/2 is 2 - 2cos but for a constant
        (byol, attraction, lambda p, z: distance(p, z) - 2),
        (mocov3, contrast, cross_entropy),
    ],
    ids=["byol", "byol of beta 0", "mocov3"],
)
def test_the_loss_by_hand(kind: Callable[..., Method], objective: Term, by_hand: Term, symmetric: bool) -> None:
    """A sum of both directions, or the first alone: then the student sees the first view, the teacher the second."""
    method = make(kind, objective, symmetric=symmetric)
    for i in range(2):  # so that the target is not the online network
        step(method, make_batch(seed=i + 5), fraction=0.5, rate=0.3)
    seen = batches_seen(method)
    output = method(make_batch())
    passes = 2 if symmetric else 1
    assert [after - before for after, before in zip(batches_seen(method), seen, strict=True)] == [passes] * len(seen)
    views = make_batch().views
    p = [method.get_submodule("predictor")(method.get_submodule("projector")(method.encoder(view))) for view in views]
    slow = method.get_submodule("target")
    t = [slow.get_submodule("projector")(slow.get_submodule("encoder")(view)).detach() for view in views]
    there, back = by_hand(p[0], t[1]), by_hand(p[1], t[0])
    torch.testing.assert_close(output.loss, there + back if symmetric else there)
    torch.testing.assert_close(output.embeddings, (torch.cat(p) if symmetric else p[0]).detach())
    assert (there - back).abs() > 1e-3


@pytest.mark.parametrize("temperature", [0.2, 1.0])
def test_two_tau_multiplies_loss_and_gradient(temperature: float) -> None:
    """The authors' code, erratum M22: cross-entropy times 2·t. In float64: a bias before batch norm has the gradient 0,
    which no tolerance relative to it covers."""
    plain, scaled = (make(mocov3, contrast, temperature, two_tau=two_tau).double() for two_tau in (False, True))
    batch = make_batch()
    batch = batch._replace(views=batch.views.double())
    a, b = plain(batch), scaled(batch)
    torch.testing.assert_close(b.loss, 2 * temperature * a.loss)
    for mine, theirs in zip(gradients(plain, a.loss), gradients(scaled, b.loss), strict=True):
        torch.testing.assert_close(theirs, 2 * temperature * mine, atol=1e-12, rtol=1e-12)
    assert torch.equal(a.embeddings, b.embeddings)


@pytest.mark.parametrize("logits", [None, {"name": "cosine_logits", "temperature": 0.2}])
def test_two_taus_temperature_is_the_objectives_or_the_logits(logits: dict[str, Any] | None) -> None:
    objective: dict[str, Any] = {"name": "info_nce", "temperature": 0.2}
    if logits:
        objective = {"name": "generalised_info_nce", "negatives": "other_view"}
    images = torch.rand(2, 4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    batch = make_batch(4)._replace(views=images)
    plain, scaled = (
        build_method(make_run({**MOCOV3, "two_tau": two_tau}, objective, logits=logits)) for two_tau in (False, True)
    )
    torch.testing.assert_close(scaled(batch).loss, 0.4 * plain(batch).loss)


def test_two_tau_without_a_temperature_is_refused(refused: Any) -> None:
    with refused():
        build_method(make_run({**MOCOV3, "two_tau": True}, {"name": "negative_cosine"}))
    build_method(make_run(MOCOV3, {"name": "negative_cosine"}))
