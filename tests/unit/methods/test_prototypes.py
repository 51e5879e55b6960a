"""DINO's and SwAV's wiring: cosines with prototypes, a teacher's centre that follows, a sphere that rows go back to."""

from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from lightly.loss import DINOLoss, SwaVLoss
from lightly.models.modules import DINOProjectionHead
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.dino import dino
from hypersphere.methods.swav import swav
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.swapped_prediction import swapped_prediction

from .shared import given, gradients, make_batch, make_parts, queries, step

DISTILLATION = partial(self_distillation, student_temperature=0.5, teacher_temperature=0.2)


def make_dino(**options: Any) -> Method:
    method = dino(make_parts(DISTILLATION), hidden=7, bottleneck=4, prototypes=9, **options)
    method.begin()
    return method


def outputs(method: Method, batch: Batch, prefix: str = "") -> list[Tensor]:
    """Of the student, or of the teacher, view by view: cosines of bottleneck and prototypes."""
    encoder, projector = (method.get_submodule(prefix + name) for name in ("encoder", "projector"))
    rows = F.normalize(method.get_parameter(f"{prefix}prototypes.weight"))
    return [F.normalize(projector(encoder(view))) @ rows.T for view in batch.views]


def test_dinos_loss_and_centre_are_lightlys() -> None:
    """DINOLoss of two crops over six steps: the loss before the centre moves, and the centre after it."""
    method = make_dino(centre_momentum=0.7)
    theirs = DINOLoss(9, teacher_temp=0.2, student_temp=0.5, center_momentum=0.7)
    for seed in range(6):
        batch = make_batch(seed=seed)
        expected = theirs(outputs(method, batch, "target."), outputs(method, batch))
        torch.testing.assert_close(method(batch).loss, expected)
        step(method, batch, rate=2.0)  # sees the batch again, which changes no mean
        torch.testing.assert_close(method.get_buffer("centre"), theirs.center.view(9))
    assert method.get_buffer("centre").abs().max() > 0.05


def test_the_centre_follows_the_teachers_outputs_of_all_passes() -> None:
    """By hand over three steps of two passes; within a step it rests, for the loss too."""
    method = make_dino(centre_momentum=0.6)
    expected = torch.zeros(9)
    for k in range(3):
        batches = [make_batch(seed=2 * k), make_batch(seed=2 * k + 1)]
        rows = torch.cat(
            [part for batch in batches for part in outputs(method, batch, "target.")]
        ).detach()
        seen = given(method, *batches)
        assert len(seen) == 4  # two passes, two directions
        for _, _, centre in seen:
            torch.testing.assert_close(centre, expected)
        step(method, *batches, rate=2.0)  # sees them again, which changes no mean
        before, expected = expected, 0.6 * expected + 0.4 * rows.mean(dim=0)
        torch.testing.assert_close(method.get_buffer("centre"), expected)
        assert (before - expected).abs().max() > 1e-3


SWAPPED = partial(swapped_prediction, temperature=0.5, epsilon=0.3)


def make_swav() -> Method:
    method = swav(make_parts(SWAPPED), hidden=7, dim=4, prototypes=9)
    method.begin()
    return method


def prototypes(method: Method) -> nn.Parameter:
    return method.get_parameter("prototypes.weight")


def test_swavs_loss_is_lightlys_of_cosines_with_prototypes() -> None:
    """SwaVLoss of two crops, and its gradient; controls: of unnormalised embeddings, or with either view stopped."""
    method, batch = make_swav(), make_batch()
    output, theirs = method(batch), SwaVLoss(temperature=0.5, sinkhorn_epsilon=0.3)
    z = [queries(method, view) for view in batch.views]
    first, second = (F.normalize(part) @ prototypes(method).T for part in z)
    expected = theirs([first, second], [])[0]
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat(z).detach())
    assert abs(theirs([part @ prototypes(method).T for part in z], [])[0] - output.loss) > 1e-3
    ours, stopped = (
        gradients(method, loss) for loss in (output.loss, SWAPPED(first.detach(), second))
    )
    for mine, by_them in zip(ours, gradients(method, expected), strict=True):
        torch.testing.assert_close(mine, by_them, atol=1e-6, rtol=1e-4)
    assert (ours[0] - stopped[0]).abs().max() > 1e-4


def test_prototypes_go_back_to_the_sphere_after_each_step() -> None:
    """Three steps of two passes of gradient descent, by hand: w <- normed(w - rate · gradient), the gradient that of
    plain inner products with w, which has a part along w itself: normalisation has no gradient."""
    method, rate = make_swav(), 0.5
    for k in range(3):
        batches = [make_batch(seed=2 * k), make_batch(seed=2 * k + 1)]
        w = prototypes(method).detach().clone().requires_grad_()
        z = [[queries(method, view).detach() for view in batch.views] for batch in batches]
        losses = [SWAPPED(*(F.normalize(part) @ w.T for part in views)) for views in z]
        (move,) = torch.autograd.grad(losses[0] + losses[1], w)
        assert (move * w).sum(dim=1).abs().max() > 1e-3
        step(method, *batches, rate=rate)
        torch.testing.assert_close(
            prototypes(method).detach(), F.normalize(w - rate * move).detach()
        )
        assert ((w - rate * move).norm(dim=1) - 1).abs().max() > 1e-3  # control


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("batch_norm", [False, True])
def test_dinos_head_is_lightlys(batch_norm: bool) -> None:
    """Caron et al. 2021, Sec. 3.1 (from memory): three layers with GELU, normalisation, a weight-normalised layer.
    lightly's DINOProjectionHead has the same, and with the same weights gives the same outputs."""
    method = make_dino(batch_norm=batch_norm)
    theirs = DINOProjectionHead(6, 7, 4, 9, batch_norm=batch_norm)
    projector, rows = method.get_submodule("projector"), method.get_parameter("prototypes.weight")
    theirs.layers.load_state_dict(projector.state_dict())
    theirs.last_layer.weight_v.data.copy_(rows.detach())
    features = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    ours = method.get_submodule("prototypes")(projector(features))
    torch.testing.assert_close(ours, theirs(features))
    assert (projector(features) @ rows.T - ours).abs().max() > 1e-2  # control: a plain linear layer
