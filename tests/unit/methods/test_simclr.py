"""SimCLR's wiring: both views through one network, each pass with batch statistics of its own, or both together."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.simclr import simclr
from hypersphere.objectives.nt_xent import nt_xent

from .shared import batches_seen, described, gradients, identity, make_batch, make_parts, normed


def loss(z_a: Tensor, z_b: Tensor, **given: Tensor) -> Tensor:
    return nt_xent(z_a, z_b, temperature=0.5)


def make(gradient: Any = identity, **options: Any) -> Method:
    return simclr(make_parts(loss, gradient), **{"hidden": 7, "dim": 4} | options)


def projections(method: Method) -> list[Tensor]:
    return [method.get_submodule("projector")(method.encoder(view)) for view in make_batch().views]


def test_its_head_is_the_papers() -> None:
    """Chen et al. 2020, Sec. 4.2: two layers and a ReLU."""
    head = make().get_submodule("projector")
    assert described(head) == [("linear", 6, 7, True), ("ReLU",), ("linear", 7, 4, True)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"layers": 1}, [("linear", 6, 4, True)]),
        ({"layers": 1, "bias": False}, [("linear", 6, 4, False)]),
        (
            {"layers": 3, "bias": False},
            [("linear", 6, 7, False), ("ReLU",), ("linear", 7, 7, False), ("ReLU",), ("linear", 7, 4, False)],
        ),
        (
            {"batch_norm": True},
            [("linear", 6, 7, False), ("batch norm", 7, True), ("ReLU",), ("linear", 7, 4, True)],
        ),
        (
            {"last_batch_norm": True},
            [("linear", 6, 7, True), ("ReLU",), ("linear", 7, 4, False), ("batch norm", 4, False)],
        ),
    ],
)
def test_the_heads_options(options: dict[str, Any], expected: list[tuple[str | int | bool, ...]]) -> None:
    assert described(make(**options).get_submodule("projector")) == expected


@pytest.mark.parametrize("forward", ["per_view", "both_views"])
def test_it_is_its_objective_of_its_projections(forward: str) -> None:
    method = make(forward=forward)
    output = method(make_batch())
    if forward == "per_view":
        z = projections(method)
    else:
        z = list(method.get_submodule("projector")(method.encoder(make_batch().views.flatten(0, 1))).split(5))
    torch.testing.assert_close(output.loss, nt_xent(z[0], z[1], temperature=0.5))
    torch.testing.assert_close(output.embeddings, torch.cat(z).detach())
    assert not output.embeddings.requires_grad


def test_the_objective_is_given_the_labels() -> None:
    given: list[Tensor] = []

    def recording(z_a: Tensor, z_b: Tensor, labels: Tensor) -> Tensor:
        given.extend([z_a, z_b, labels])
        return z_a.sum()

    method = simclr(make_parts(recording), hidden=7, dim=4)
    method(make_batch())
    z = projections(method)
    torch.testing.assert_close(given[0], z[0])
    torch.testing.assert_close(given[1], z[1])
    assert given[2].tolist() == [0, 1, 2, 0, 1]


def test_the_gradient_goes_through_both_views() -> None:
    """Stopping it at either side gives another gradient."""
    method = make()
    ours = gradients(method, method(make_batch()).loss)
    z = projections(method)
    both = gradients(method, nt_xent(z[0], z[1], temperature=0.5))
    for mine, expected in zip(ours, both, strict=True):
        torch.testing.assert_close(mine, expected)
    for stopped in ((0, 1), (1, 0)):
        z = projections(method)
        z[stopped[0]] = z[stopped[0]].detach()
        other = gradients(method, nt_xent(z[0], z[1], temperature=0.5))
        assert (ours[0] - other[0]).abs().max() > 1e-4


@pytest.mark.parametrize(("forward", "passes"), [("per_view", 2), ("both_views", 1)])
def test_how_often_batch_norm_is_asked(forward: str, passes: int) -> None:
    method = make(forward=forward, batch_norm=True)
    method(make_batch())
    assert batches_seen(method) == [passes] * 2


def test_batch_norm_sees_a_view_at_a_time_or_both() -> None:
    """By hand: mean and variance over the n rows of a view, or over the 2n of both."""
    batch = make_batch()

    def by_hand(together: bool) -> Tensor:
        method = make()
        rows = method.encoder.get_submodule("linear")(batch.views.flatten(2))  # [2, n, 6]
        features = normed(rows.flatten(0, 1)) if together else torch.cat([normed(rows[0]), normed(rows[1])])
        return method.get_submodule("projector")(features)

    apart, together = (make(forward=forward)(batch).embeddings for forward in ("per_view", "both_views"))
    torch.testing.assert_close(apart, by_hand(together=False).detach(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(together, by_hand(together=True).detach(), atol=1e-5, rtol=1e-4)
    assert (apart - together).abs().max() > 1e-2
