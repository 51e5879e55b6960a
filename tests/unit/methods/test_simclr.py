"""SimCLR's wiring: both views through one network, each pass with batch statistics of its own, or both together."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.simclr import simclr
from hypersphere.objectives.nt_xent import nt_xent

from .shared import gradients, make_batch, make_parts, normed


def loss(z_a: Tensor, z_b: Tensor, **given: Tensor) -> Tensor:
    return nt_xent(z_a, z_b, temperature=0.5)


def make(objective: Any = loss, **options: Any) -> Method:
    return simclr(make_parts(objective), hidden=7, dim=4, **options)


@pytest.mark.parametrize("forward", ["per_view", "both_views"])
def test_it_is_its_objective_of_its_projections(forward: str) -> None:
    """By hand: batch norm's mean and variance over the n rows of a view, or over the 2n of both."""
    method, views = make(forward=forward), make_batch().views
    output = method(make_batch())
    rows = method.encoder.get_submodule("linear")(views.flatten(2))  # [2, n, 6]
    each, both = torch.cat([normed(rows[0]), normed(rows[1])]), normed(rows.flatten(0, 1))
    z = method.get_submodule("projector")(each if forward == "per_view" else both)
    expected = nt_xent(*z.split(5), temperature=0.5)
    torch.testing.assert_close(output.loss, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(output.embeddings, z.detach(), atol=1e-5, rtol=1e-4)
    assert (each - both).abs().max() > 1e-2


def test_the_objective_is_given_the_labels() -> None:
    given: list[Tensor] = []

    def recording(z_a: Tensor, z_b: Tensor, labels: Tensor) -> Tensor:
        given.append(labels)
        return z_a.sum()

    make(recording)(make_batch())
    assert given[0].tolist() == [0, 1, 2, 0, 1]


def test_the_gradient_goes_through_both_views() -> None:
    """By hand; stopping it at either side gives another gradient."""
    method = make()
    ours = gradients(method, method(make_batch()).loss)

    def by_hand(stopped: int | None) -> list[Tensor]:
        z = [method.get_submodule("projector")(method.encoder(view)) for view in make_batch().views]
        return gradients(method, loss(*(part.detach() if i == stopped else part for i, part in enumerate(z))))

    for mine, expected in zip(ours, by_hand(None), strict=True):
        torch.testing.assert_close(mine, expected)
    for side in (0, 1):
        assert (ours[0] - by_hand(side)[0]).abs().max() > 1e-4
