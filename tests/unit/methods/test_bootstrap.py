"""BYOL's and MoCo v3's wiring, which is one: predictions of the target's embeddings of the other view."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
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
