"""Weights on disk: read back to the bit, or refused in one sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import HypersphereError
from hypersphere.spec import Run
from hypersphere.training import checkpoint, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import Progress


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "encoder.safetensors"
    checkpoint.save_weights(resnet8(width=2), path)
    return path


def test_weights_come_back_to_the_bit(path: Path) -> None:
    torch.manual_seed(1)
    model = resnet8(width=2)
    model(torch.rand(4, 3, 8, 8))  # moves the running statistics
    checkpoint.save_weights(model.to(memory_format=torch.channels_last), path)  # type: ignore[call-overload]
    other = resnet8(width=2)
    assert not torch.equal(other.state_dict()["conv1.weight"], model.state_dict()["conv1.weight"])
    checkpoint.load_weights(other, path)
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in model.state_dict().items())


def test_weights_can_be_read_by_whoever_may_read_other_files(path: Path) -> None:
    (path.parent / "other").touch()
    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


@pytest.mark.parametrize("width", [3, 4])
def test_another_architecture_is_refused(path: Path, width: int) -> None:
    with pytest.raises(HypersphereError, match=r"encoder\.safetensors: the weights are of another architecture") as e:
        checkpoint.load_weights(resnet8(width=width), path)
    assert "\n" not in str(e.value)


def test_missing_keys_are_refused(path: Path) -> None:
    with pytest.raises(HypersphereError, match="another architecture"):
        checkpoint.load_weights(torch.nn.Linear(2, 2), path)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_truncated_file_is_refused(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(HypersphereError, match=r"encoder\.safetensors: not a readable safetensors file") as e:
        checkpoint.load_weights(resnet8(width=2), path)
    assert "\n" not in str(e.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match=r"none\.safetensors: the file is missing"):
        checkpoint.load_weights(resnet8(width=2), tmp_path / "none.safetensors")


def test_progress_comes_back_with_every_bit_of_its_numbers(make_run: Callable[..., Run], tmp_path: Path) -> None:
    run, parts = make_run(), {"run": "r", "snapshots": [0, 2]}
    model = build_method(run)
    optimiser = optimisation.build(model, run.optimiser)
    rows = [{"epoch": 1, "loss": 0.1 + 0.2, "norm": 1 / 3, "learning_rate": 1e-17}]
    progress = Progress(parts, 7, [0.1 + 0.2, 2 / 3], 0.25, rows, [{"epoch": 1, "seconds": 0.25}], {}, [0, 3])
    checkpoint.save_state(tmp_path, model, optimiser, progress)
    assert checkpoint.load_state(tmp_path, parts, model, optimiser) == progress
    assert checkpoint.read_progress(tmp_path) == progress
    assert checkpoint.load_state(tmp_path / "none", parts, model, optimiser) is None
