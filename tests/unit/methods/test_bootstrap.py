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

from .shared import batches_seen, make_batch, make_parts, step

Term = Callable[[Tensor, Tensor], Tensor]


def contrast(q: Tensor, k: Tensor) -> Tensor:
    """Each query among the keys of the other view, at temperature 0.2."""
    to_logits = partial(cosine_logits, temperature=0.2)
    return generalised_info_nce(q, k, to_logits, negatives="other_view")


def cross_entropy(q: Tensor, k: Tensor) -> Tensor:
    """Chen et al. 2021, Alg. 1's ctr, by hand: log-softmax over the keys, its diagonal, the mean."""
    logits = F.normalize(q) @ F.normalize(k).T / 0.2
    return -(logits.diagonal() - logits.exp().sum(1).log()).mean()


def distance(p: Tensor, z: Tensor) -> Tensor:
    """Grill et al. 2020, Sec. 3.1: 2 - 2cos."""
    return 2 - 2 * F.cosine_similarity(p, z).mean()


TWINS: dict[str, tuple[Callable[..., Method], Term, Term]] = {
    "byol": (byol, normalised_squared_error, distance),
    "mocov3": (mocov3, contrast, cross_entropy),
}
"""The method, its objective, and one direction of its loss by hand."""
each = pytest.mark.parametrize("name", TWINS)
either_way = pytest.mark.parametrize("symmetric", [True, False])


def make(name: str, **options: Any) -> Method:
    method = TWINS[name][0](make_parts(TWINS[name][1]), hidden=7, dim=4, **options)
    method.begin()
    return method


def moved(name: str, **options: Any) -> Method:
    """After two steps, so that the target is not the online network."""
    method = make(name, **options)
    for i in range(2):
        step(method, make_batch(seed=i + 5), fraction=0.5, rate=0.3)
    return method


def terms(name: str, method: Method, stop: bool = True) -> tuple[list[Tensor], list[Tensor]]:
    """Predictions, view by view, and both directions' losses by hand: targets without a graph, or (a control) the
    online ones with it."""
    views = make_batch().views
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    p = [method.get_submodule("predictor")(part) for part in z]
    slow = method.get_submodule("target")
    frozen = [slow.get_submodule("projector")(slow.get_submodule("encoder")(view)).detach() for view in views]
    t = frozen if stop else z
    return p, [TWINS[name][2](p[0], t[1]), TWINS[name][2](p[1], t[0])]


@either_way
@each
def test_the_loss_by_hand(name: str, symmetric: bool) -> None:
    """A sum of both directions, or the first alone."""
    method = moved(name, symmetric=symmetric)
    output = method(make_batch())
    p, (there, back) = terms(name, method)
    torch.testing.assert_close(output.loss, there + back if symmetric else there)
    torch.testing.assert_close(output.embeddings, (torch.cat(p) if symmetric else p[0]).detach())
    assert (there - back).abs() > 1e-3


@either_way
@each
def test_which_network_sees_which_view(name: str, symmetric: bool) -> None:
    """One direction: the student sees the first view alone, the teacher the second; by the counts of batch norm."""
    method, passes = make(name, symmetric=symmetric), 2 if symmetric else 1
    method(make_batch())
    assert set(batches_seen(method)) == {passes}
    other = make_batch(seed=1).views
    output = make(name, symmetric=symmetric)(make_batch())
    views = torch.stack([make_batch().views[0], other[1]])
    changed = make(name, symmetric=symmetric)(make_batch()._replace(views=views))
    assert torch.equal(output.embeddings, changed.embeddings) != symmetric
    assert not torch.equal(output.loss, changed.loss)
