"""DINO's wiring: a teacher that follows, a centre that follows the teacher, a head of cosines."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from lightly.loss import DINOLoss
from lightly.models.modules.heads import DINOProjectionHead
from torch import Tensor

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.dino import dino
from hypersphere.objectives.self_distillation import self_distillation

from .shared import descend, make_batch, make_parts, step

LOSS = partial(self_distillation, student_temperature=0.5, teacher_temperature=0.2)


def make(loss: Callable[..., Tensor] = LOSS, **options: Any) -> Method:
    method = dino(make_parts(loss), hidden=7, bottleneck=4, prototypes=9, **options)
    method.begin()
    return method


def outputs(method: Method, batch: Batch, prefix: str = "") -> list[Tensor]:
    """Of the student, or of the teacher, view by view: cosines of bottleneck and prototypes."""
    encoder, projector = (method.get_submodule(prefix + name) for name in ("encoder", "projector"))
    rows = F.normalize(method.get_parameter(f"{prefix}prototypes.weight"))
    return [F.normalize(projector(encoder(view))) @ rows.T for view in batch.views]


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("batch_norm", [False, True])
def test_its_head_is_lightlys(batch_norm: bool) -> None:
    """Caron et al. 2021, Sec. 3.1 (from memory): three layers with GELU, normalisation, a weight-normalised layer.
    lightly's DINOProjectionHead has the same, and with the same weights gives the same outputs."""
    method = make(batch_norm=batch_norm)
    theirs = DINOProjectionHead(6, 7, 4, 9, batch_norm=batch_norm)
    projector, rows = method.get_submodule("projector"), method.get_parameter("prototypes.weight")
    theirs.layers.load_state_dict(projector.state_dict())
    theirs.last_layer.weight_v.data.copy_(rows.detach())
    features = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    ours = method.get_submodule("prototypes")(projector(features))
    torch.testing.assert_close(ours, theirs(features))
    assert (projector(features) @ rows.T - ours).abs().max() > 1e-2  # control: a plain linear layer


def test_its_loss_and_centre_are_lightlys() -> None:
    """DINOLoss of two crops over six steps: the loss before the centre moves, and the centre after it."""
    method, theirs = make(centre_momentum=0.7), DINOLoss(9, teacher_temp=0.2, student_temp=0.5, center_momentum=0.7)
    for seed in range(6):
        batch = make_batch(seed=seed)
        expected = theirs(outputs(method, batch, "target."), outputs(method, batch))
        torch.testing.assert_close(method(batch).loss, expected)
        step(method, batch, rate=2.0)  # sees the batch again, which changes no mean
        torch.testing.assert_close(method.get_buffer("centre"), theirs.center.view(9))
    assert method.get_buffer("centre").abs().max() > 0.05


def test_the_centre_follows_the_teachers_outputs_of_all_passes() -> None:
    """By hand over three steps of two passes; within a step it rests, for the loss too."""
    given: list[Tensor] = []

    def spy(student: Tensor, teacher: Tensor, centre: Tensor) -> Tensor:
        given.append(centre.clone())
        return LOSS(student, teacher, centre)

    method = make(spy, centre_momentum=0.6)
    expected = torch.zeros(9)
    for k in range(3):
        batches = [make_batch(seed=2 * k), make_batch(seed=2 * k + 1)]
        rows = torch.cat([part for batch in batches for part in outputs(method, batch, "target.")]).detach()
        step(method, *batches, rate=2.0)
        for centre in given[4 * k :]:  # two passes, two directions
            torch.testing.assert_close(centre, expected)
        before, expected = expected, 0.6 * expected + 0.4 * rows.mean(dim=0)
        torch.testing.assert_close(method.get_buffer("centre"), expected)
        assert (before - expected).abs().max() > 1e-3


def test_a_frozen_last_layer_rests_for_its_share_of_training() -> None:
    """A quarter of eight steps: two; weight decay rests too. Control: without it the layer moves in the first."""
    fractions = [(k + 1) / 8 for k in range(8)]
    method = make(freeze_last_layer=0.25)
    start = {name: parameter.detach().clone() for name, parameter in method.named_parameters()}
    found = [start["prototypes.weight"], *descend(method, fractions)]
    moved = [not torch.equal(a, b) for a, b in pairwise(found)]
    assert moved == [False, False, *[True] * 6]
    assert (method.get_parameter("projector.4.weight") - start["projector.4.weight"]).abs().max() > 1e-3
    assert not torch.equal(descend(make(), fractions[:1])[0], found[0])
    assert torch.equal(descend(make(freeze_last_layer=1.0), fractions[:7])[-1], found[0])
