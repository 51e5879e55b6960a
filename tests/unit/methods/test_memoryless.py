"""SimCLR, SimSiam, CMC and the supervised baseline: losses of one batch alone, of what one network makes of it."""

from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypersphere.methods.cmc import cmc
from hypersphere.methods.simclr import simclr
from hypersphere.methods.simsiam import simsiam
from hypersphere.methods.supervised import supervised
from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent

from .shared import Flat, Streams, gradients, make_batch, make_parts, normed, queries

loss = partial(nt_xent, temperature=0.5)


@pytest.mark.parametrize("forward", ["per_view", "both_views"])
def test_simclr_is_its_objective_of_its_projections(forward: Any) -> None:
    """By hand, with its gradient: batch norm's mean and variance over the n rows of a view, or over the 2n of both."""
    given: list[list[int]] = []

    def objective(z_a: Tensor, z_b: Tensor, labels: Tensor) -> Tensor:
        given.append(labels.tolist())
        return loss(z_a, z_b)

    method, views = (
        simclr(make_parts(objective), hidden=7, dim=4, forward=forward),
        make_batch().views,
    )
    output = method(make_batch())
    assert given == [[0, 1, 2, 0, 1]]
    rows = method.encoder.get_submodule("linear")(views.flatten(2))  # [2, n, 6]
    each, both = torch.cat([normed(rows[0]), normed(rows[1])]), normed(rows.flatten(0, 1))
    z = method.get_submodule("projector")(each if forward == "per_view" else both)
    expected = loss(*z.split(5))
    torch.testing.assert_close(output.loss, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(output.embeddings, z.detach(), atol=1e-5, rtol=1e-4)
    assert (each - both).abs().max() > 1e-2
    weight = method.encoder.get_parameter("linear.weight")
    ours, whole = (
        torch.autograd.grad(one, weight, retain_graph=True)[0] for one in (output.loss, expected)
    )
    torch.testing.assert_close(ours, whole, atol=1e-5, rtol=1e-3)


def test_simsiam_is_algorithm_1() -> None:
    """Chen & He 2021, Alg. 1: L = D(p1, z2)/2 + D(p2, z1)/2, z without a graph; with one the gradient is another."""
    method = simsiam(make_parts(negative_cosine), hidden=7, dim=4, bottleneck=3)
    z = [queries(method, view) for view in make_batch().views]
    p = [method.get_submodule("predictor")(part) for part in z]
    stopped, free = (
        -F.cosine_similarity(p[0], t[1]).mean() / 2 - F.cosine_similarity(p[1], t[0]).mean() / 2
        for t in ([part.detach() for part in z], z)
    )
    output = method(make_batch())
    torch.testing.assert_close(output.loss, stopped)
    torch.testing.assert_close(output.embeddings, torch.cat(p).detach())
    ours, theirs, other = (gradients(method, loss) for loss in (output.loss, stopped, free))
    for mine, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-4)
    assert (ours[0] - other[0]).abs().max() > 1e-4


def test_cmc_is_the_two_way_softmax_between_its_streams() -> None:
    """Loss and gradient by hand, from a matrix of cosines. Control: with each other's heads it is another."""
    parts = make_parts(partial(multiview_coding, temperature=0.5))
    method, batch = cmc(parts._replace(encoder=Streams()), dim=4), make_batch(views=1)
    lightness, colour = method.encoder(batch.views[0]).chunk(2, dim=1)
    z_l, z_ab = method.get_submodule("lightness")(lightness), method.get_submodule("colour")(colour)

    def by_hand(a: Tensor, b: Tensor) -> Tensor:
        matrix = (a / a.norm(dim=1, keepdim=True)) @ (b / b.norm(dim=1, keepdim=True)).T / 0.5
        return -(matrix.softmax(1).diagonal().log() + matrix.softmax(0).diagonal().log()).mean() / 2

    output, expected = method(batch), by_hand(z_l, z_ab)
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat([z_l, z_ab]).detach())
    for mine, theirs in zip(
        gradients(method, output.loss), gradients(method, expected), strict=True
    ):
        torch.testing.assert_close(mine, theirs)
        assert mine.abs().max() > 1e-6
    method.lightness, method.colour = method.colour, method.lightness
    assert abs(method(batch).loss - expected) > 1e-4


def test_supervised_is_torchs_own_cross_entropy_of_a_linear_map() -> None:
    """With its gradients. Control: with other labels the loss is another."""
    method, batch = supervised(make_parts(cross_entropy, classes=3)), make_batch(views=1)
    network = nn.Sequential(Flat(), nn.Linear(6, 3))
    network.load_state_dict(
        dict(zip(network.state_dict(), method.state_dict().values(), strict=True))
    )
    output, scores = method(batch), network(batch.views[0])
    expected = nn.CrossEntropyLoss()(scores, batch.labels)
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, scores.detach())
    theirs = torch.autograd.grad(expected, [*network.parameters()])
    torch.testing.assert_close(gradients(method, output.loss), [*theirs])
    assert abs(method(batch._replace(labels=batch.labels.flip(0))).loss - expected) > 1e-3
