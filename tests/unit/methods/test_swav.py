"""SwAV's wiring: cosines with prototypes on the sphere, which nothing but the optimiser moves."""

from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from lightly.loss import SwaVLoss
from lightly.models.modules.heads import SwaVPrototypes
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.swav import swav
from hypersphere.objectives.swapped_prediction import swapped_prediction

from .shared import descend, gradients, make_batch, make_parts, step

LOSS = partial(swapped_prediction, temperature=0.5, epsilon=0.3)


def make(**options: Any) -> Method:
    method = swav(make_parts(LOSS), hidden=7, dim=4, prototypes=9, **options)
    method.begin()
    return method


def prototypes(method: Method) -> nn.Parameter:
    return method.get_parameter("prototypes.weight")


def projected(method: Method, batch: Batch) -> list[Tensor]:
    return [method.get_submodule("projector")(method.encoder(view)) for view in batch.views]


def scores(method: Method, batch: Batch) -> list[Tensor]:
    return [F.normalize(z) @ prototypes(method).T for z in projected(method, batch)]


def is_on_the_sphere(rows: Tensor) -> bool:
    return bool((rows.norm(dim=1) - 1).abs().max() < 1e-6)


def test_its_loss_is_lightlys_of_cosines_with_prototypes() -> None:
    """SwaVLoss of two crops, and its gradient; controls: of unnormalised embeddings, or with either view stopped."""
    method, batch = make(), make_batch()
    output, theirs = method(batch), SwaVLoss(temperature=0.5, sinkhorn_epsilon=0.3)
    first, second = scores(method, batch)
    expected = theirs([first, second], [])[0]
    torch.testing.assert_close(output.loss, expected)
    z = projected(method, batch)
    torch.testing.assert_close(output.embeddings, torch.cat(z).detach())
    assert abs(theirs([part @ prototypes(method).T for part in z], [])[0] - output.loss) > 1e-3
    stopped = torch.autograd.grad(
        LOSS(first.detach(), second), method.get_parameter("encoder.linear.weight"), retain_graph=True
    )[0]
    ours = gradients(method, output.loss)
    for mine, by_them in zip(ours, gradients(method, expected), strict=True):
        torch.testing.assert_close(mine, by_them, atol=1e-6, rtol=1e-4)
    assert (ours[0] - stopped).abs().max() > 1e-4


def test_prototypes_begin_on_the_sphere_as_lightlys() -> None:
    method = swav(make_parts(LOSS), hidden=7, dim=4, prototypes=9)
    theirs = SwaVPrototypes(4, 9)
    theirs.heads[0].weight.data.copy_(prototypes(method).detach())
    assert not is_on_the_sphere(prototypes(method))  # control
    method.begin()
    theirs.normalize()
    assert is_on_the_sphere(prototypes(method))
    torch.testing.assert_close(prototypes(method), theirs.heads[0].weight)


def test_prototypes_go_back_to_the_sphere_after_each_step() -> None:
    """Three steps of two passes of gradient descent, by hand: w <- normed(w - rate · gradient), the gradient that of
    plain inner products with w, which has a part along w itself: normalisation has no gradient."""
    method, rate = make(), 0.5
    for k in range(3):
        batches = [make_batch(seed=2 * k), make_batch(seed=2 * k + 1)]
        w = prototypes(method).detach().clone().requires_grad_()
        losses = [LOSS(*(F.normalize(z.detach()) @ w.T for z in projected(method, batch))) for batch in batches]
        (move,) = torch.autograd.grad(losses[0] + losses[1], w)
        assert (move * w).sum(dim=1).abs().max() > 1e-3
        step(method, *batches, rate=rate)
        torch.testing.assert_close(prototypes(method).detach(), F.normalize(w - rate * move).detach())
        assert not is_on_the_sphere(w - rate * move)  # control


def test_frozen_prototypes_rest_for_their_share_of_training() -> None:
    """A quarter of eight steps: two. Control: without it they move in the first."""
    fractions = [(k + 1) / 8 for k in range(8)]
    method = make(frozen_prototypes=0.25)
    start = [parameter.detach().clone() for parameter in method.parameters()]
    found = descend(method, fractions)
    for rows in found[:2]:
        torch.testing.assert_close(rows, start[-1])
    moved = [(a - b).abs().max() > 1e-3 for a, b in pairwise(found[1:])]
    assert moved == [True] * 6
    first = method.get_parameter("encoder.linear.weight")
    assert (start[0] - first).abs().max() > 1e-3
    assert (descend(make(), fractions[:1])[0] - start[-1]).abs().max() > 1e-3
    always = make(frozen_prototypes=1.0)
    torch.testing.assert_close(descend(always, fractions)[-1], start[-1])


def test_frozen_prototypes_get_no_gradient_and_everything_else_the_same() -> None:
    frozen, free, batch = make(frozen_prototypes=0.5), make(), make_batch()
    found = torch.autograd.grad(frozen(batch).loss, list(frozen.parameters()), allow_unused=True)
    expected = gradients(free, free(batch).loss)
    assert found[-1] is None
    assert expected[-1].abs().max() > 1e-3
    for mine, theirs in zip(found[:-1], expected[:-1], strict=True):
        assert mine is not None
        assert torch.equal(mine, theirs)
