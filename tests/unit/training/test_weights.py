"""Weights on disk: saved bit for bit, read back or refused in a sentence, and a trained run's encoder and head."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.training import loop
from hypersphere.training.frozen import load_frozen

from ...harm import truncate
from ...of_images import METHODS
from .conftest import execute, of_method, unbroken


@pytest.mark.parametrize("name", METHODS)
def test_encoder_and_head_come_back_as_they_were_at_an_epoch(
    methods_plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """To the bit, where memory is laid out alike, in eval mode and without gradients; the last are the run's own.

    They are compared with the method itself as it was at each epoch's end, not by way of any file.
    """
    (run, images), seen, found = of_method(methods_plan, name), dict[int, Method](), dict[int, Tensor]()
    pictures, snapshot = torch.tensor(images.pixels[:5]).permute(0, 3, 1, 2) / 255, loop._snapshot

    def copying(method: Method, *arguments: Any) -> None:
        *_, progress = arguments
        seen[progress.epochs] = copy.deepcopy(method).eval().to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        snapshot(method, *arguments)

    monkeypatch.setattr(loop, "_snapshot", copying)
    execute(run, images, tmp_path)
    for epoch in (0, 2, 4):
        encoder, head = load_frozen(run, tmp_path, epoch)
        found[epoch] = head(encoder(pictures))
        assert torch.equal(found[epoch], seen[epoch].head(seen[epoch].encoder(pictures)))
        assert not found[epoch].requires_grad
        assert not any(part.training for module in (encoder, head) for part in module.modules())
    assert not torch.equal(found[0], found[2])
    assert not torch.equal(found[2], found[4])
    assert name != "supervised" or found[0].shape[1] == 10
    assert name != "instance_discrimination" or len(seen[0].get_buffer("bank")) == len(images.pixels)
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
        folder, epoch = tmp_path / str(number), 4 if "/" not in file else 2
        shutil.copytree(unbroken(run, images, kept) / "whole", folder)
        load_frozen(run, folder, epoch)
        HARMS[harm](folder / file)
        with pytest.raises(HypersphereError) as caught:
            load_frozen(run, folder, epoch)
        assert str(caught.value).startswith(f"{folder / file}: ")
        load_frozen(run, folder, 6 - epoch)  # the control: of the other epoch nothing was harmed
