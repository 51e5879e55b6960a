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
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.training.build import build_method

from .shared import batches_seen, gradients, make_batch, make_parts, make_run, step
from .test_every_method import batch_for, build


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


def begun(method: Method) -> Method:
    method.begin()
    return method


@pytest.mark.parametrize("name", ["byol", "dino", "mocov2", "mocov3"])
def test_the_target_follows_by_hand(name: str) -> None:
    """At base 0.5, along half a cosine: 0.5, 0.625, 0.75 and 1 after nothing, a third, half and all of the steps.

    BYOL's and DINO's codes read the momentum of what was done before a step. MoCo v3's reads the next step's, so that
    at the end its target stands still.
    """
    method = build(name, momentum=0.5)
    target = method.get_submodule("target")
    expected = {key: tensor.detach().double() for key, tensor in target.named_parameters()}
    for i, (before, after) in enumerate(pairwise([(0.0, 0.5), (1 / 3, 0.625), (0.5, 0.75), (1.0, 1.0)])):
        step(method, batch_for(name, seed=i), done=(before[0], after[0]))
        share = {"mocov2": 0.5, "mocov3": after[1]}.get(name, before[1])
        for key in expected:
            expected[key] = share * expected[key] + (1 - share) * method.state_dict()[key].double()
    for key, tensor in expected.items():
        torch.testing.assert_close(target.state_dict()[key].double(), tensor, atol=1e-6, rtol=1e-5)
    moved = [key for key in expected if (target.state_dict()[key] - method.state_dict()[key]).abs().max() > 1e-3]
    assert len(moved) > 2
    running = "encoder.bn1.running_mean"  # it has statistics of its own
    assert not torch.equal(target.state_dict()[running], method.state_dict()[running])


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
    batch = batch_for("mocov3")
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
