"""Weights and resume states as safetensors: nothing is ever unpickled.

Random draws are functions of (seed, purpose, epoch), so a resume state needs no generator state: parameters, buffers
(queues, banks and targets among them), the optimiser's moments, history and the number of steps taken are all there is.
"""

import hashlib
import json
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor, nn

from hypersphere import files, stop
from hypersphere.errors import HypersphereError
from hypersphere.plan import RESUME

OPTIMISER = "optimiser."
"""How the names of the optimiser's tensors begin, before the number of their parameter."""


def snapshot_name(epoch: int) -> str:
    """Where, inside a run's folder, the encoder after ``epoch`` epochs is kept."""
    return f"snapshots/epoch-{epoch:04d}.safetensors"


@dataclass
class Progress:
    """What a resume state says besides tensors."""

    parts: dict[str, Any]
    """What decided the run's bytes (run, code, data …): a state of other parts is not resumed."""
    step: int = 0
    """Optimiser steps taken, counted over all epochs."""
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Loss and norm, summed over the steps of the epoch begun."""
    seconds: float = 0.0
    """Spent in the epoch begun."""
    history: list[dict[str, float]] = field(default_factory=list)
    timing: list[dict[str, float]] = field(default_factory=list)
    snapshots: dict[str, str] = field(default_factory=dict)
    """sha256 of each snapshot written so far, by its name."""
    starts: list[int] = field(default_factory=list)
    """The step at which each process that worked on the run began."""

    @property
    def epoch(self) -> int:
        """Epochs finished."""
        return len(self.history)

    def end_epoch(self, row: dict[str, float]) -> None:
        """Add an epoch's row to the history, and begin the next one."""
        self.history.append(row)
        self.timing.append({"epoch": row["epoch"], "seconds": round(self.seconds, 4)})
        self.sums, self.seconds = [0.0, 0.0], 0.0


def save_weights(module: nn.Module, path: Path) -> None:
    """Write parameters and buffers, contiguous and on the CPU, atomically."""
    _save(path, _plain(module.state_dict()))


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


def save_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Write everything that training needs to go on, atomically and sealed by a checksum."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"{OPTIMISER}{key}": value for key, value in _moments(optimiser).items()}
    _save_sealed(folder / RESUME, _plain(tensors), json.dumps(asdict(progress)))


class Keeper:
    """Saves the resume state every so often, and when asked to stop."""

    def __init__(
        self,
        folder: Path,
        model: nn.Module,
        optimiser: torch.optim.Optimizer,
        progress: Progress,
        every: float,
        request: stop.Request,
    ) -> None:
        self.folder, self.model, self.optimiser, self.progress = folder, model, optimiser, progress
        self.every, self.request = every, request
        self.saved = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to save (``every`` is in seconds), or we were asked to stop."""
        return self.request.number is not None or time.monotonic() - self.saved >= self.every

    def save(self) -> None:
        """Save the state.

        Raises:
            StoppedError: we were asked to stop; the state is saved.
        """
        save_state(self.folder, self.model, self.optimiser, self.progress)
        self.saved = time.monotonic()
        if self.request.number is not None:
            sentence = f"stopped by {self.request.name} after step {self.progress.step}; run again to go on from there"
            raise stop.StoppedError(f"{self.folder}: {sentence}", self.request.number)


def load_state(
    folder: Path,
    parts: dict[str, Any],
    snapshots: Collection[int],
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
) -> Progress | None:
    """Restore ``model`` and ``optimiser`` from the state in ``folder``; None if there is none.

    Raises:
        HypersphereError: the state is damaged or was saved with other ``parts``, a snapshot that goes with it is lost,
            or it is past one of the epochs ``snapshots`` without having kept that; nothing was restored.
    """
    path = folder / RESUME
    if not path.exists():
        return None
    progress, tensors = _load_sealed(path)
    if progress.parts != parts:
        raise HypersphereError(f"{path}: not resumed: {differing(progress, parts)}")
    for epoch in sorted(snapshots):
        if epoch <= progress.epoch and snapshot_name(epoch) not in progress.snapshots:
            raise HypersphereError(
                f"{path}: not resumed: saved at step {progress.step}, and the snapshot of epoch {epoch} was not kept"
            )
    for name, sha256 in progress.snapshots.items():
        if files.problem(folder / name, sha256):
            raise HypersphereError(f"{folder / name}: missing, or altered since {path.name} was saved")
    names = {name.removeprefix("model.") for name in tensors if name.startswith("model.")}
    if names != model.state_dict().keys():
        raise HypersphereError(f"{path}: not resumed: its tensors are not those of the run's model")
    _restore(tensors, model, optimiser)
    return progress


def read_progress(folder: Path) -> Progress:
    """What a state says besides tensors.

    Raises:
        HypersphereError: there is none, or it is damaged.
    """
    return _load_sealed(folder / RESUME)[0]


def differing(progress: Progress, parts: dict[str, Any]) -> str:
    """How a state's parts differ from ``parts``, in words."""
    changed = sorted(key for key in parts | progress.parts if parts.get(key) != progress.parts.get(key))
    return f"it was saved at step {progress.step} with another {' and '.join(changed)}"


def _restore(tensors: dict[str, Tensor], model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    for name, tensor in tensors.items():
        if name.startswith(OPTIMISER):
            number, _, key = name.removeprefix(OPTIMISER).partition(".")
            parameter = parameters[int(number)]
            if tensor.shape == parameter.shape:  # in its layout, and on its device
                tensor = torch.empty_like(parameter, memory_format=torch.preserve_format).copy_(tensor)
            optimiser.state[parameter][key] = tensor


def _save_sealed(path: Path, tensors: dict[str, Tensor], progress: str) -> None:
    _save(path, tensors, {"progress": progress, "sha256": _seal(tensors, progress)})


def _load_sealed(path: Path) -> tuple[Progress, dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as handle:
            metadata = handle.metadata()
        tensors = load_file(path)
        if _seal(tensors, metadata["progress"]) != metadata["sha256"]:
            raise ValueError("its bytes are not those that were saved")
        return Progress(**json.loads(metadata["progress"])), tensors
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise HypersphereError(f"{path}: the resume state is damaged ({error})") from None


def _seal(tensors: dict[str, Tensor], progress: str) -> str:
    """sha256 over the progress and every tensor, by name."""
    seal = hashlib.sha256(progress.encode())
    for name, tensor in sorted(tensors.items()):
        seal.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        seal.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return seal.hexdigest()


def _save(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    with files.replacing(path) as temporary:
        temporary.write_bytes(save(tensors, metadata))  # safetensors' own writer makes files that only we may read


def _moments(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimiser remembers of each parameter: SGD's momentum, Adam's two moments and count of steps …"""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    state = {f"{i}.{key}": value for i, p in enumerate(parameters) for key, value in optimiser.state[p].items()}
    return {key: value for key, value in state.items() if value is not None}  # SGD without momentum keeps a None


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
