"""Weights and resume states as safetensors: nothing is ever unpickled.

Random draws are functions of (seed, purpose, epoch), so a resume state needs no generator state: parameters, buffers,
momentum, history and the number of epochs done are all there is.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from hypersphere import files
from hypersphere.errors import HypersphereError


class Progress(NamedTuple):
    """What a resume state says besides tensors."""

    digest: str
    """Of run, code and data; a state with another digest is not resumed."""
    epochs: int
    """Finished ones."""
    history: list[dict[str, float]]
    timing: list[dict[str, float]]


def save_weights(module: nn.Module, path: Path) -> None:
    """Write parameters and buffers, contiguous and on the CPU, atomically."""
    with files.replacing(path) as temporary:
        save_file(_plain(module.state_dict()), temporary)


def load_weights(module: nn.Module, path: Path) -> None:
    """Read parameters and buffers into ``module``.

    Raises:
        HypersphereError: the file is missing, damaged, or of another architecture.
    """
    try:
        module.load_state_dict(load_file(path), strict=True)
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (SafetensorError, OSError) as error:
        raise HypersphereError(f"{path}: not a readable safetensors file ({error})") from None
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise HypersphereError(f"{path}: the weights are of another architecture ({detail})") from None


def save_state(path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Write everything that training needs to go on, atomically."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"momentum.{i}": buffer for i, buffer in _momentum(optimiser).items()}
    with files.replacing(path) as temporary:
        save_file(_plain(tensors), temporary, metadata={"progress": json.dumps(progress._asdict())})


def load_state(path: Path, digest: str, model: nn.Module, optimiser: torch.optim.Optimizer) -> Progress | None:
    """Restore ``model`` and ``optimiser``; None if there is no state, or one of another run, code or data.

    Raises:
        HypersphereError: the file is damaged.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as handle:
            progress = Progress(**json.loads(handle.metadata()["progress"]))
        tensors = load_file(path)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise HypersphereError(f"{path}: the resume state cannot be read ({error}); delete it to start over") from None
    if progress.digest != digest:
        return None
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    for i, parameter in enumerate(parameters):
        if f"momentum.{i}" in tensors:
            buffer = torch.empty_like(parameter, memory_format=torch.preserve_format)
            optimiser.state[parameter]["momentum_buffer"] = buffer.copy_(tensors[f"momentum.{i}"])
    return progress


def _momentum(optimiser: torch.optim.Optimizer) -> dict[int, Tensor]:
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    buffers: dict[int, Any] = {i: optimiser.state[p].get("momentum_buffer") for i, p in enumerate(parameters)}
    return {i: buffer for i, buffer in buffers.items() if buffer is not None}


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
