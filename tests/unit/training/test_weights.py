"""Weights on disk: saved bit for bit, read back or refused in a sentence, and a trained run's encoder and head."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.training import loop
from hypersphere.training.frozen import load_frozen
from hypersphere.training.trainers.image import Images

from ...harm import truncate
from ...of_images import METHODS
from .conftest import execute, of_method, unbroken


def trained(run: Run, images: Images, folder: Path) -> dict[int, Method]:
    """Train into ``folder``; the method itself as it was after 0, 2 and 4 epochs, not by way of any file."""
    seen: dict[int, Method] = {}
    snapshot = loop._snapshot

    def copying(method: Method, *arguments: Any) -> None:
        *_, progress = arguments
        seen[progress.epochs] = copy.deepcopy(method)
        snapshot(method, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_snapshot", copying)
        execute(run, images, folder)
    return {epoch: seen[epoch] for epoch in (0, 2, 4)}


@torch.no_grad()
def embeddings(encoder: nn.Module, head: nn.Module, pictures: Tensor) -> Tensor:
    found: Tensor = head(encoder(pictures))
    return found


@pytest.mark.parametrize("name", METHODS)
def test_encoder_and_head_come_back_as_they_were_at_an_epoch(methods_plan: Plan, tmp_path: Path, name: str) -> None:
    """To the bit, where memory is laid out alike, in eval mode and without gradients; the last are the run's own."""
    (run, images), found = of_method(methods_plan, name), {}
    pictures = torch.tensor(images.pixels[:5]).permute(0, 3, 1, 2) / 255
    for epoch, method in trained(run, images, tmp_path).items():
        encoder, head = load_frozen(run, tmp_path, epoch)
        method.eval().to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        found[epoch] = embeddings(encoder, head, pictures)
        assert torch.equal(found[epoch], embeddings(method.encoder, method.head, pictures))
        for module in (encoder, head):
            assert not any(part.training for part in module.modules())
            assert not any(parameter.requires_grad for parameter in module.parameters())
    assert not torch.equal(found[0], found[2])
    assert not torch.equal(found[2], found[4])
    assert {path.name for path in tmp_path.glob("snapshots/*")} == {
        f"epoch-000{epoch}{kind}.safetensors" for epoch in (0, 2) for kind in ("", ".heads")
    }


def drop_one(path: Path) -> None:
    tensors = load_file(path)
    del tensors[max(tensors)]
    save_file(tensors, path)


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": truncate,
    "of another architecture": drop_one,
}
FILES = ("encoder", "heads", "snapshots/epoch-0002", "snapshots/epoch-0002.heads")


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["simclr", "supervised"])
def test_a_file_that_is_missing_or_damaged_is_named(
    methods_plan: Plan, tmp_path: Path, kept: Path, name: str, harm: str
) -> None:
    run, images = of_method(methods_plan, name)
    for number, file in enumerate(f"{name}.safetensors" for name in FILES):
        folder, epoch = tmp_path / str(number), 4 if number < 2 else 2
        shutil.copytree(unbroken(run, images, kept) / "whole", folder)
        load_frozen(run, folder, epoch)
        HARMS[harm](folder / file)
        with pytest.raises(HypersphereError) as caught:
            load_frozen(run, folder, epoch)
        assert str(caught.value).startswith(f"{folder / file}: ")
        load_frozen(run, folder, 6 - epoch)  # the control: of the other epoch nothing was harmed
