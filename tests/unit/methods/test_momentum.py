"""Momentum targets: what is copied, followed and drawn, and BYOL's and MoCo v3's wiring, which is one."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from torch import Tensor

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

from .shared import batches_seen, gradients, make_batch, make_parts, make_run, step


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
    """At base 0.5, along half a cosine: 0.5, 0.625, 0.75 and 1 after nothing, a third, half and all of the steps.

    BYOL's and DINO's codes read the momentum of what was done before a step. MoCo v3's reads the next step's, so that
    at the end its target stands still.
    """
    method = make(momentum=0.5)
    expected = {name: target(method)[name].double() for name in weights(method)}
    for i, (before, after) in enumerate(pairwise([(0.0, 0.5), (1 / 3, 0.625), (0.5, 0.75), (1.0, 1.0)])):
        step(method, make_batch(seed=i), done=(before[0], after[0]))
        share = 0.5 if make is make_mocov2 else after[1] if make is make_mocov3 else before[1]
        for name in expected:
            expected[name] = share * expected[name] + (1 - share) * method.state_dict()[name].double()
    for name, tensor in expected.items():
        torch.testing.assert_close(target(method)[name].double(), tensor, atol=1e-6, rtol=1e-5)
    moved = [name for name in expected if (target(method)[name] - method.state_dict()[name]).abs().max() > 1e-3]
    assert len(moved) > 2
    running = "encoder.norm.running_mean"  # it has statistics of its own
    assert not torch.equal(target(method)[running], method.state_dict()[running])


Term = Callable[[Tensor, Tensor], Tensor]
MOCOV3 = {"name": "mocov3", "hidden": 8, "dim": 4}


def contrast(q: Tensor, k: Tensor) -> Tensor:
    """Each query among the keys of the other view, at temperature 0.2."""
    return generalised_info_nce(q, k, partial(cosine_logits, temperature=0.2), negatives="other_view")


def cross_entropy(q: Tensor, k: Tensor) -> Tensor:
    """Chen et al. 2021, Alg. 1's ctr, by hand: log-softmax over the keys, its diagonal, the mean."""
    logits = F.normalize(q) @ F.normalize(k).T / 0.2
    return -(logits.diagonal() - logits.exp().sum(1).log()).mean()


def distance(p: Tensor, z: Tensor) -> Tensor:
    """Grill et al. 2020, Sec. 3.1: 2 - 2cos."""
    return 2 - 2 * F.cosine_similarity(p, z).mean()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("kind", "objective", "by_hand"),
    [
        (byol, normalised_squared_error, distance),
        (mocov3, contrast, cross_entropy),
    ],
    ids=["byol", "mocov3"],
)
def test_the_loss_by_hand(kind: Callable[..., Method], objective: Term, by_hand: Term, symmetric: bool) -> None:
    """A sum of both directions, or the first alone: then the student sees the first view, the teacher the second."""
    method = begun(kind(make_parts(objective), hidden=7, dim=4, symmetric=symmetric))
    for i in range(2):  # so that the target is not the online network
        step(method, make_batch(seed=i + 5), rate=0.3)
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


@pytest.mark.parametrize("logits", [None, {"name": "cosine_logits", "temperature": 0.2}])
def test_two_tau_multiplies_by_the_temperature_of_the_objective_or_the_logits(logits: dict[str, Any] | None) -> None:
    """The authors' code, erratum M22: cross-entropy times 2·t; and so the gradient."""
    objective: dict[str, Any] = {"name": "info_nce", "temperature": 0.2}
    if logits:
        objective = {"name": "generalised_info_nce", "negatives": "other_view"}
    images = torch.rand(2, 4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    batch = make_batch(4)._replace(views=images)
    plain, scaled = (
        build_method(make_run({**MOCOV3, "two_tau": two_tau}, objective, logits=logits)) for two_tau in (False, True)
    )
    losses = [method(batch).loss for method in (plain, scaled)]
    torch.testing.assert_close(losses[1], 0.4 * losses[0])
    ours, theirs = (gradients(method, loss)[0] for method, loss in zip((scaled, plain), losses[::-1], strict=True))
    torch.testing.assert_close(ours, 0.4 * theirs, atol=1e-6, rtol=1e-3)


def test_two_tau_without_a_temperature_is_refused(refused: Any) -> None:
    with refused():
        build_method(make_run({**MOCOV3, "two_tau": True}, {"name": "negative_cosine"}))
    build_method(make_run(MOCOV3, {"name": "negative_cosine"}))
