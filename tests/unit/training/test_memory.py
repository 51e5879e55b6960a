"""What a training step keeps, against sums by hand and a step with data."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.datasets.training_sizes import Size
from hypersphere.training import build
from hypersphere.training.build import build_method
from hypersphere.training.memory import least_parts, needed

from ..methods.shared import make_batch
from .conftest import OPTIMISERS, make_run
from .test_parts import GROUPED

N, SIDE, WIDTH, F32 = 12, 8, 4, 4
SIZE = Size(SIDE, 3, 50)
CONVNET = {"encoder": {"name": "convnet", "width": WIDTH}, "batch": {"size": N, "micro": N}}
BOTH = {"method": {"forward": "both_views"}}


def of_encoder(images: int) -> int:
    """Each convolution's output, which batch norm saves with mean and deviation of each channel; and the ReLU's, in
    place, which the next layer saves, too."""
    channels_and_sides = [(WIDTH, SIDE), (2 * WIDTH, SIDE // 2), (4 * WIDTH, SIDE // 4)]
    return sum(
        F32 * (2 * images * channels * side**2 + 2 * channels)
        for channels, side in channels_and_sides
    )


@pytest.mark.parametrize(("method", "given"), [({}, (N, N)), (BOTH, (2 * N,))])
def test_an_encoders_activations_are_those_counted_by_hand(
    method: dict[str, Any], given: tuple[int, ...]
) -> None:
    """Whole, those of all its calls of a pass; in parts, those of one part."""
    need = needed(make_run(**CONVNET, **method), SIZE)
    assert need.given == given
    assert need.with_parts(1) - need.rest == sum(map(of_encoder, given))
    for parts in (2, 3):
        assert need.with_parts(parts) - need.rest == of_encoder(given[0] // parts)


def saved_with_data(run: Any) -> int:
    """Bytes that autograd saves of a pass, each storage once, apart from weights and views."""
    model, batch = build_method(run, SIZE.train, SIZE.classes), make_batch(N, side=SIDE)
    own = {
        one.untyped_storage().data_ptr()
        for one in (*model.parameters(), *model.buffers(), batch.views)
    }
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = model(batch).loss
    assert loss.requires_grad
    return sum(one.untyped_storage().nbytes() for place, one in kept.items() if place not in own)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        BOTH,
        {"encoder": {"name": "resnet8", "width": 2}, "method": {"batch_norm": True}},
        {
            "method": {"name": "byol", "hidden": 8, "dim": 4},
            "objective": {"name": "normalised_squared_error"},
        },
    ],
)
def test_a_step_with_data_saves_as_much(fields: dict[str, Any]) -> None:
    """Of heads and loss as of the encoder; a target saves nothing, and its weights count."""
    run = make_run(**{**CONVNET, **fields})
    model = build_method(run)
    weights = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    moved = sum(one.nbytes for one in model.parameters() if one.requires_grad)
    views, images = 2 * N * 3 * SIDE**2 * F32, SIZE.train * 3 * SIDE**2
    held = weights + 2 * moved + views + images  # gradients and SGD's momentum
    assert needed(run, SIZE).with_parts(1) == held + saved_with_data(run)


def test_an_optimisers_state_counts() -> None:
    """Adam has two numbers for each weight, SGD and LARS one."""
    moved = sum(one.nbytes for one in build_method(make_run(**CONVNET)).parameters())
    of = {
        name: needed(make_run(**CONVNET, optimiser=given), SIZE).rest
        for name, given in OPTIMISERS.items()
    }
    assert of["adam"] - of["sgd"] == of["adamw"] - of["sgd"] == moved
    assert of["lars"] == of["sgd"]


def test_a_loss_that_needs_data_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss of a package of one's own may ask which of its cosines are positive. None of ours asks."""
    run = make_run(**CONVNET)
    whole = needed(run, SIZE).rest

    def of_positives(z_a: Tensor, z_b: Tensor, **given: Tensor) -> Tensor:
        cosines = z_a @ z_b.T
        return cosines[cosines > 0].sum()

    monkeypatch.setattr(build, "loss_of", lambda run: of_positives)
    assert 0 < needed(run, SIZE).rest < whole


def test_the_fewest_parts_that_fit() -> None:
    """Divisors of a pass alone, none under which batch norm sees one image, and none for a method that has groups."""
    run = make_run(**CONVNET)
    need = needed(run, SIZE)
    for parts in (1, 2, 3, 4, 6):
        assert least_parts(run, need, need.with_parts(parts)) == parts
    assert least_parts(run, need, need.with_parts(6) - 1) is None
    grouped = make_run(**CONVNET, **GROUPED)
    assert least_parts(grouped, needed(grouped, SIZE), needed(grouped, SIZE).with_parts(2)) is None
