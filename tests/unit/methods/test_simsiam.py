"""SimSiam's wiring: a predictor on one side, a stop-gradient on the other."""

import os
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.simsiam import simsiam
from hypersphere.objectives.negative_cosine import negative_cosine

from .shared import batches_seen, described, gradients, identity, make_batch, make_parts

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.models.modules.heads import SimSiamPredictionHead, SimSiamProjectionHead


def make(gradient: Any = identity, **options: Any) -> Method:
    return simsiam(make_parts(negative_cosine, gradient), **{"hidden": 7, "dim": 4, "bottleneck": 3} | options)


def both(method: Method) -> tuple[list[Tensor], list[Tensor]]:
    """Projections and predictions, view by view."""
    z = [method.get_submodule("projector")(method.encoder(view)) for view in make_batch().views]
    return z, [method.get_submodule("predictor")(part) for part in z]


def test_its_heads_are_the_papers() -> None:
    """Sec. 3: projector of three layers, batch norm to the end; predictor of two, batch norm inside. And lightly's."""
    method = make()
    projector, predictor = (method.get_submodule(name) for name in ("projector", "predictor"))
    assert described(projector) == described(SimSiamProjectionHead(6, 7, 4).layers)
    assert described(predictor) == described(SimSiamPredictionHead(4, 3, 4).layers)
    shapes = [tuple(p.shape) for p in method.parameters() if p.ndim == 2]
    assert shapes == [(6, 12), (7, 6), (7, 7), (4, 7), (3, 4), (4, 3)]


def test_a_projector_of_two_layers() -> None:
    """Chen & He 2021, App. D: on CIFAR."""
    assert described(make(layers=2).get_submodule("projector")) == [
        ("linear", 6, 7, False),
        ("batch norm", 7, True),
        ("ReLU",),
        ("linear", 7, 4, False),
        ("batch norm", 4, False),
    ]


def test_the_last_batch_norm_may_have_scale_and_shift() -> None:
    """As in the norms paper's authors' code, ``Projector`` of CLA/training/models.py."""
    head = described(make(last_batch_norm="affine").get_submodule("projector"))
    assert head[-2:] == [("linear", 7, 4, False), ("batch norm", 4, True)]


def test_it_is_algorithm_1() -> None:
    """Chen & He 2021, Alg. 1: L = D(p1, z2)/2 + D(p2, z1)/2."""
    method = make()
    z, p = both(method)
    output = method(make_batch())
    expected = -F.cosine_similarity(p[0], z[1]).mean() / 2 - F.cosine_similarity(p[1], z[0]).mean() / 2
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat(p).detach())
    assert not output.embeddings.requires_grad


def test_the_gradient_stops_at_targets() -> None:
    """By hand: targets computed without a graph; without the stop the gradient is another."""
    method = make()
    ours = gradients(method, method(make_batch()).loss)

    def by_hand(stop: bool) -> list[Tensor]:
        z, p = both(method)
        t = [torch.tensor(part.tolist()) if stop else part for part in z]
        return gradients(method, (negative_cosine(p[0], t[1]) + negative_cosine(p[1], t[0])) / 2)

    for mine, expected in zip(ours, by_hand(stop=True), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-4)
    assert (ours[0] - by_hand(stop=False)[0]).abs().max() > 1e-4


def test_each_view_has_its_own_batch_statistics() -> None:
    method = make()
    method(make_batch())
    assert batches_seen(method) == [2] * 5
