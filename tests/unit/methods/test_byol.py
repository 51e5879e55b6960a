"""BYOL's wiring: predictions of the target's embeddings, no negatives."""

import os
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.byol import byol
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.training.build import build_method

from .shared import batches_seen, described, gradients, make_batch, make_parts, make_run, step

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.models.modules.heads import BYOLPredictionHead, BYOLProjectionHead


def make(objective: Any = normalised_squared_error, **options: Any) -> Method:
    method = byol(make_parts(objective), hidden=7, dim=4, **options)
    method.begin()
    return method


def moved(**options: Any) -> Method:
    """After two steps, so that the target is not the online network."""
    method = make(**options)
    for i in range(2):
        step(method, make_batch(seed=i + 5), fraction=0.5, rate=0.3)
    return method


def both(method: Method, stop: bool = True) -> tuple[list[Tensor], list[Tensor]]:
    """Predictions and targets, view by view; the targets without a graph, or (a control) the online ones with it."""
    views = make_batch().views
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    p = [method.get_submodule("predictor")(part) for part in z]
    slow = method.get_submodule("target")
    targets = [slow.get_submodule("projector")(slow.get_submodule("encoder")(view)).detach() for view in views]
    return p, (targets if stop else z)


def test_its_heads_are_the_papers() -> None:
    """Grill et al. 2020, Sec. 3.3, and lightly's: two layers, batch norm between them and none at the end."""
    method = make()
    projector, predictor = (method.get_submodule(name) for name in ("projector", "predictor"))
    assert described(projector) == described(BYOLProjectionHead(6, 7, 4).layers)
    assert described(predictor) == described(BYOLPredictionHead(4, 7, 4).layers)


def test_its_heads_without_bias() -> None:
    """As in the authors' code."""
    method = make(bias=False)
    for name, inputs in (("projector", 6), ("predictor", 4)):
        assert described(method.get_submodule(name)) == [
            ("linear", inputs, 7, False),
            ("batch norm", 7, True),
            ("ReLU",),
            ("linear", 7, 4, False),
        ]


@pytest.mark.parametrize("symmetric", [True, False])
def test_its_loss_by_hand(symmetric: bool) -> None:
    """Grill et al. 2020, Sec. 3.1: (2 - 2cos(p1, t2)) + (2 - 2cos(p2, t1)), a sum; or the first term alone."""
    method = moved(symmetric=symmetric)
    output = method(make_batch())
    p, t = both(method)
    terms = [2 - 2 * F.cosine_similarity(p[0], t[1]).mean(), 2 - 2 * F.cosine_similarity(p[1], t[0]).mean()]
    torch.testing.assert_close(output.loss, terms[0] + terms[1] if symmetric else terms[0])
    torch.testing.assert_close(output.embeddings, (torch.cat(p) if symmetric else p[0]).detach())


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_gradient_stops_at_targets(symmetric: bool) -> None:
    """By hand, targets without a graph; control: online embeddings as targets, with a graph."""
    method = make(symmetric=symmetric)  # the target's values are those of the online network
    ours = gradients(method, method(make_batch()).loss)

    def by_hand(stop: bool) -> list[Tensor]:
        p, t = both(method, stop)
        terms = [normalised_squared_error(p[0], t[1]), normalised_squared_error(p[1], t[0])]
        return gradients(method, terms[0] + terms[1] if symmetric else terms[0])

    for mine, expected in zip(ours, by_hand(stop=True), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-4)
    assert (ours[0] - by_hand(stop=False)[0]).abs().max() > 1e-3


def test_both_directions_swap_and_one_does_not() -> None:
    batch = make_batch()
    swapped = batch._replace(views=batch.views.flip(0))
    method = moved()
    torch.testing.assert_close(method(batch).loss, method(swapped).loss)
    method = moved(symmetric=False)
    assert (method(batch).loss - method(swapped).loss).abs() > 1e-3


@pytest.mark.parametrize("symmetric", [True, False])
def test_which_network_sees_which_view(symmetric: bool) -> None:
    """One direction: the student sees the first view alone, the teacher the second; by the counts of batch norm."""
    method, passes = make(symmetric=symmetric), 2 if symmetric else 1
    method(make_batch())
    assert batches_seen(method) == [passes] * 5  # encoder, projector, predictor; the target's two
    other = make_batch(seed=1).views
    output = make(symmetric=symmetric)(make_batch())
    changed = make(symmetric=symmetric)(make_batch()._replace(views=torch.stack([make_batch().views[0], other[1]])))
    assert torch.equal(output.embeddings, changed.embeddings) != symmetric
    assert not torch.equal(output.loss, changed.loss)


@pytest.mark.parametrize("symmetric", [True, False])
def test_it_trains_with_an_info_nce_of_beta_0(symmetric: bool) -> None:
    """Margins paper, Eq. 3 and App. E: -cos/t with t = 1/2 is 2 - 2cos but for a constant, in each direction."""

    def attraction(p: Tensor, z: Tensor) -> Tensor:
        return generalised_info_nce(
            p, z, lambda cosines, targets: cosine_logits(cosines, targets, temperature=0.5), negatives="none", beta=0.0
        )

    ours, theirs = (make(objective, symmetric=symmetric) for objective in (attraction, normalised_squared_error))
    constant = 4 if symmetric else 2
    torch.testing.assert_close(ours(make_batch()).loss + constant, theirs(make_batch()).loss)


def test_it_is_built_from_a_run() -> None:
    run = make_run({"name": "byol", "hidden": 8, "dim": 4}, {"name": "normalised_squared_error"})
    built = build_method(run).get_submodule("predictor")
    assert described(built) == [("linear", 4, 8, False), ("batch norm", 8, True), ("ReLU",), ("linear", 8, 4, True)]
