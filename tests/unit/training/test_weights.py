"""Weights on disk: saved bit for bit, read back or refused in a sentence, and a trained run's encoder and head."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from hypersphere.config.run import Run
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.training import loop
from hypersphere.training.frozen import load_frozen, load_weights
from hypersphere.training.weights import plain, save_weights

from .conftest import execute, unbroken

Images = UInt8[np.ndarray, "n h w 3"]
MakeRun = Callable[..., Run]
RUNS: dict[str, dict[str, Any]] = {
    "simclr": {"method": {"batch_norm": True, "last_batch_norm": True}},
    "simsiam": {
        "method": {"name": "simsiam", "hidden": 8, "dim": 6, "bottleneck": 3},
        "objective": {"name": "negative_cosine"},
    },
    "supervised": {"method": {"name": "supervised"}, "objective": {"name": "cross_entropy"}},
    "instance_discrimination": {
        "method": {"name": "instance_discrimination", "dim": 4},
        "objective": {"name": "nonparametric_softmax", "temperature": 0.1},
    },
    "cmc": {
        "method": {"name": "cmc", "dim": 4},
        "objective": {"name": "multiview_coding", "temperature": 0.5},
        "encoder": {"name": "lab_streams", "backbone": "resnet8", "width": 2},
    },
}
"""Batch norms, a predictor, a classifier for each of three classes, a bank of the data's size, two streams."""


@pytest.fixture
def pictures() -> Tensor:
    return torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def trained(run: Run, images: Images, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[int, Method]:
    """Train into ``folder``; the method itself as it was after 0, 2 and 4 epochs, not by way of any file."""
    seen: dict[int, Method] = {}
    snapshot = loop._snapshot

    def copying(method: Method, *arguments: Any) -> None:
        *_, progress = arguments
        seen[progress.epoch] = copy.deepcopy(method)
        snapshot(method, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_snapshot", copying)
        execute(run, images, folder)
    return {epoch: seen[epoch] for epoch in (0, 2, 4)}


def embeddings(encoder: nn.Module, head: nn.Module, pictures: Tensor) -> Tensor:
    with torch.no_grad():
        found: Tensor = head(encoder(pictures))
    return found


@pytest.mark.parametrize("name", RUNS)
def test_encoder_and_head_come_back_as_they_were_at_an_epoch(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: Tensor, name: str
) -> None:
    """To the bit, where memory is laid out alike, in eval mode and without gradients; the last are the run's own."""
    run = make_run(**RUNS[name])
    found = {}
    for epoch, method in trained(run, images, tmp_path, monkeypatch).items():
        encoder, head = load_frozen(run, tmp_path, epoch)
        method.eval().to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        found[epoch] = embeddings(encoder, head, pictures)
        assert torch.equal(found[epoch], embeddings(method.encoder, method.head, pictures))
        for module in (encoder, head):
            assert not any(part.training for part in module.modules())
            assert [parameter.requires_grad for parameter in module.parameters()] == [False] * len(
                [*module.parameters()]
            )
    assert not torch.equal(found[0], found[2])
    assert not torch.equal(found[2], found[4])
    assert {path.name for path in tmp_path.glob("snapshots/*")} == {
        f"epoch-000{epoch}{kind}.safetensors" for epoch in (0, 2) for kind in ("", ".heads")
    }


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def drop_one(path: Path) -> None:
    tensors = load_file(path)
    del tensors[max(tensors)]
    save_file(tensors, path)


# Weights of one module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "encoder.safetensors"
    save_weights(resnet8(width=2), path)
    return path


def test_weights_come_back_to_the_bit(path: Path) -> None:
    torch.manual_seed(1)
    model = resnet8(width=2)
    model(torch.rand(4, 3, 8, 8))  # moves the running statistics
    save_weights(model.to(memory_format=torch.channels_last), path)  # type: ignore[call-overload]
    other = resnet8(width=2)
    assert not torch.equal(other.state_dict()["conv1.weight"], model.state_dict()["conv1.weight"])
    load_weights(other, path)
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in model.state_dict().items())


def test_values_and_precision_are_kept_and_memory_is_in_order() -> None:
    words = torch.tensor([[1, -2, 3], [0x7FC00001, 5, 6]], dtype=torch.int32)  # a NaN, and numbers near 0, among them
    tensors = {"turned": words.view(torch.float32).T.requires_grad_(), "count": torch.tensor(3)}
    found = plain(tensors)
    assert found.keys() == tensors.keys()
    assert found["turned"].is_contiguous()
    assert not found["turned"].requires_grad
    assert torch.equal(found["turned"].view(torch.int32), words.T)
    assert found["count"].dtype == torch.int64


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": truncate,
    "of another architecture": drop_one,
}


FILES = ("encoder", "heads", "snapshots/epoch-0002", "snapshots/epoch-0002.heads")


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["simclr", "supervised"])
def test_a_file_that_is_missing_or_damaged_is_named(
    make_run: MakeRun, images: Images, tmp_path: Path, kept: Path, name: str, harm: str
) -> None:
    run = make_run(**RUNS[name])
    for number, file in enumerate(f"{name}.safetensors" for name in FILES):
        folder, epoch = tmp_path / str(number), 4 if number < 2 else 2
        shutil.copytree(unbroken(run, images, kept) / "whole", folder)
        load_frozen(run, folder, epoch)
        HARMS[harm](folder / file)
        with pytest.raises(HypersphereError) as caught:
            load_frozen(run, folder, epoch)
        assert str(caught.value).startswith(f"{folder / file}: ")
        load_frozen(run, folder, 6 - epoch)  # the control: of the other epoch nothing was harmed
