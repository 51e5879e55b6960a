"""An encoder that takes a pass in parts: the same loss and gradients as in one, with one part's memory.

The oracle is the pass as a whole; where batch norm sees parts, each part by hand.
"""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.methods.base import Batch, Method
from hypersphere.training.build import build_method

from ...broken_off import contents
from ...fixtures import Refused
from ...of_images import METHODS
from ..methods.shared import make_batch
from .conftest import IMAGES as NOISE
from .conftest import Broken, execute, make_run
from .test_batch_norm import VIT
from .test_compatibility import BY_METHOD, pair
from .test_work import SENTENCES

COUNT, PARTS = 8, 4
BATCH = {"size": COUNT, "micro": COUNT}
IN_PARTS = {"batch": BATCH | {"parts": PARTS}}
OF_BATCH_NORM = nn.modules.batchnorm._BatchNorm


def built(parts: int, **fields: Any) -> Method:
    """In float64 and training mode."""
    return (
        build_method(make_run(**fields | {"batch": BATCH | {"parts": parts}}), COUNT, 3)
        .double()
        .train()
    )


def batch_of(method: str) -> Batch:
    views = registry.read_constant("methods", method, "VIEWS", 2)
    batch = make_batch(COUNT, views, side=8)
    return batch._replace(views=batch.views.double())


def without_batch_norm(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, OF_BATCH_NORM):
            setattr(module, name, nn.Identity())
        without_batch_norm(child)


def encoders(method: Method) -> list[nn.Module]:
    """The encoder, and a target's copy of it."""
    return [
        module for name, module in method.named_modules() if name in ("encoder", "target.encoder")
    ]


def taken(method: Method, batch: Batch) -> dict[str, Tensor]:
    """Loss, embeddings and all gradients of a pass."""
    output = method(batch)
    output.loss.backward()
    gradients = {name: one.grad for name, one in method.named_parameters() if one.grad is not None}
    return {"loss": output.loss.detach(), "embeddings": output.embeddings} | gradients


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        scale = float(value.abs().max())
        torch.testing.assert_close(
            found[name], value, rtol=1e-9, atol=1e-11 * scale, msg=lambda m, n=name: f"{n}: {m}"
        )


PAIRS = [("simclr", one) for one in BY_METHOD["simclr"]]
PAIRS += [
    (method, one)
    for method in METHODS
    for one in BY_METHOD[method]
    if one not in BY_METHOD["simclr"]
]
PAIRS += [
    (method, BY_METHOD[method][0])
    for method in METHODS
    if (method, BY_METHOD[method][0]) not in PAIRS
]
"""Every objective, and every method."""
EVERY_PAIR = {"lower": 0.0, "upper": 1.0}
"""Distances that are punished: few embeddings of an untrained encoder lie between the published bounds."""


@pytest.mark.parametrize(("method", "objective"), PAIRS)
def test_loss_and_gradients_are_those_of_the_whole_pass(method: str, objective: str) -> None:
    """Without batch norm in the encoder, and with whatever the heads have. Control: a part alone gives another loss."""
    fields = pair(method, objective)
    fields["objective"] |= EVERY_PAIR if objective == "distance_polarization" else {}
    whole, parted = (built(parts, **fields) for parts in (1, PARTS))
    for one in (whole, parted):
        for encoder in encoders(one):
            without_batch_norm(encoder)
    batch = batch_of(method)
    expected = taken(whole, batch)
    assert any(name.startswith("encoder.") for name in expected)
    assert_same(taken(parted, batch), expected)
    part = Batch(batch.views[:, :2], batch.places[:2], batch.labels[:2], batch.rng_key)
    assert float(whole(part).loss.detach()) != pytest.approx(float(expected["loss"]), rel=1e-9)


def test_a_transformer_too() -> None:
    whole, parted = (taken(built(parts, encoder=VIT), batch_of("simclr")) for parts in (1, PARTS))
    assert_same(parted, whole)


@pytest.mark.parametrize("with_gradient", [True, False])
def test_batch_norm_sees_a_part_at_a_time_and_each_part_once(with_gradient: bool) -> None:
    """Features and statistics are those of an encoder that takes the parts one after the other, by hand."""
    parted, by_hand = built(PARTS).encoder, built(1).encoder
    images = batch_of("simclr").views[0]
    with torch.set_grad_enabled(with_gradient):
        features = parted(images)
        expected = torch.cat([by_hand(part) for part in images.chunk(PARTS)])
        if with_gradient:
            features.square().sum().backward()
            expected.square().sum().backward()
    torch.testing.assert_close(features, expected, rtol=1e-12, atol=0)
    # which saw all of them together
    assert (features - built(1).encoder(images)).abs().max() > 1e-3
    for (name, found), hand in zip(parted.named_buffers(), by_hand.buffers(), strict=True):
        assert torch.equal(found, hand), name
        assert "num_batches" not in name or found == PARTS
    for found, hand in zip(parted.parameters(), by_hand.parameters(), strict=True):
        assert (found.grad is not None) == with_gradient
        if with_gradient:
            torch.testing.assert_close(found.grad, hand.grad, rtol=1e-9, atol=1e-12)


def test_in_evaluation_an_encoder_sees_a_batch_whole() -> None:
    """Of any size: probes give it their own."""
    parted, whole = (built(parts).eval().encoder for parts in (PARTS, 1))
    images = batch_of("simclr").views[0][:7]
    assert torch.equal(parted(images), whole(images))


@pytest.mark.parametrize("method", ["byol", "dino", "mocov2", "mocov3"])
def test_a_target_takes_parts_with_its_own_weights(method: str) -> None:
    """It is a copy of an encoder that takes parts. Control: the online encoder's features are others."""
    model = built(PARTS, **pair(method, BY_METHOD[method][0]))
    online, target = encoders(model)
    with torch.no_grad():
        for parameter in online.parameters():
            parameter.mul_(1.5)
        images = batch_of(method).views[0]
        plain = built(1, **pair(method, BY_METHOD[method][0])).encoder
        expected = torch.cat([plain(part) for part in images.chunk(PARTS)])
        torch.testing.assert_close(target(images), expected, rtol=1e-12, atol=0)
        assert (online(images) - expected).abs().max() > 1e-3
    assert copy.deepcopy(target).forward.args[0] is not target  # type: ignore[union-attr]
    assert [*built(1, **pair(method, BY_METHOD[method][0])).state_dict()] == [*model.state_dict()]


def kept_for_backward(method: Method, batch: Batch) -> int:
    """Bytes that autograd keeps between a pass and its backward pass."""
    kept: list[int] = []

    def count(tensor: Tensor) -> Tensor:
        kept.append(tensor.nbytes)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        method(batch)
    return sum(kept)


def test_less_is_kept_for_the_backward_pass() -> None:
    """Of the encoder nothing is, until a part's turn comes; what heads and loss need stays."""
    parted, whole = (kept_for_backward(built(parts), batch_of("simclr")) for parts in (PARTS, 1))
    assert parted < whole / 4


def test_stopped_and_resumed_it_ends_with_the_same_bytes(broken: Broken) -> None:
    whole, folder, resume = broken(3, batch={"parts": 2})
    assert resume().starts == [0, 3]
    assert contents(folder) == whole


def test_parts_are_part_of_the_name_and_of_the_result(tmp_path: Path) -> None:
    runs = [make_run(), make_run(batch={"parts": 1}), make_run(batch={"parts": 2})]
    assert len({run.name for run in runs}) == 2 == len({run.name for run in runs[1:]})
    for number, run in enumerate(runs[1:]):
        assert execute(run, NOISE, tmp_path / str(number)).status == "finished"
    first, second = ((tmp_path / name / "encoder.safetensors").read_bytes() for name in "01")
    assert first != second  # batch norm saw other images together


GROUPED = {
    "method": {"name": "mocov2", "hidden": 8, "dim": 4, "queue": 8, "groups": 2},
    "objective": {"name": "momentum_contrast", "temperature": 0.2},
}
REFUSED: dict[str, dict[str, Any]] = {
    "no whole parts": {"batch": {"size": 12, "micro": 6, "parts": 4}},
    "no parts": {"batch": BATCH | {"parts": 0}},
    "parts of one image under batch norm": {"batch": BATCH | {"parts": COUNT}},
    "groups of a method": GROUPED | IN_PARTS,
    "sentences": SENTENCES | IN_PARTS,
}


@pytest.mark.parametrize("name", REFUSED)
def test_parts_that_cannot_be_are_refused(name: str, refused: Refused) -> None:
    with refused("batch.parts", kind=ValidationError):
        make_run(**REFUSED[name])


def test_a_transformer_takes_parts_of_one_image() -> None:
    assert make_run(encoder=VIT, batch=BATCH | {"parts": COUNT}).batch.parts == COUNT
