"""Weights and resume states as safetensors: nothing is ever unpickled.

Random draws are functions of (seed, purpose, epoch), so a resume state holds no generator state. It holds parameters,
buffers (queues, banks and targets among them), the optimiser's moments, the history and the number of steps taken.
"""

import hashlib
import json
import signal
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor, nn

from hypersphere import files
from hypersphere.config.plan import RESUME
from hypersphere.errors import HypersphereError
from hypersphere.provenance import stop
from hypersphere.training import device as devices
from hypersphere.training import optimisation
from hypersphere.training.contract import Execution
from hypersphere.training.weights import plain

MODEL, OPTIMISER = "model.", "optimiser."
"""Prefixes of tensor names: ``model.<name>`` and ``optimiser.<number of a parameter>.<key>``."""
COUNT = "step"
"""Adam's key for its count of a parameter's steps, a tensor without dimensions."""


ENCODER = "encoder.safetensors"
HEADS = "heads.safetensors"
"""The modules between the encoder's output and the embeddings at the end of training: ``Method.head``."""


def snapshot_name(epoch: int) -> str:
    """File of the encoder after ``epoch`` epochs, relative to the run's folder."""
    return f"snapshots/epoch-{epoch:04d}.safetensors"


def heads_name(epoch: int) -> str:
    """File of the heads after ``epoch`` epochs, relative to the run's folder."""
    return f"snapshots/epoch-{epoch:04d}.heads.safetensors"


def snapshot_names(epoch: int) -> tuple[str, str]:
    """Both files of a snapshot, encoder and heads: it is unusable if either is missing."""
    return snapshot_name(epoch), heads_name(epoch)


@dataclass
class Progress:
    """The part of a resume state that is not tensors."""

    identity: dict[str, Any]
    """What determines the run's bytes (run, code, data …): only a state of the same identity is resumed."""
    step: int = 0
    """Optimiser steps taken, counted over all epochs."""
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Loss and norm, summed over the steps of the current epoch."""
    seconds: float = 0.0
    """Seconds spent in the current epoch."""
    history: list[dict[str, float]] = field(default_factory=list)
    timing: list[dict[str, float]] = field(default_factory=list)
    snapshots: dict[str, str] = field(default_factory=dict)
    """File name to sha256, for both files of each snapshot written so far."""
    starts: list[int] = field(default_factory=list)
    """The step at which each process that trained the run started."""

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
    _save(path, plain(module.state_dict()))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Parameters and buffers by their names, on the CPU.

    Raises:
        HypersphereError: the file is missing or damaged.
    """
    try:
        return load_file(path)
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (SafetensorError, OSError) as error:
        raise HypersphereError(f"{path}: not a readable safetensors file ({error})") from None


def load_weights(module: nn.Module, path: Path) -> None:
    """Read parameters and buffers into ``module``.

    Raises:
        HypersphereError: the file is missing, damaged, or of another architecture.
    """
    weights = read_weights(path)
    try:
        module.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise HypersphereError(f"{path}: the weights are of another architecture ({detail})") from None


def save_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> None:
    """Write everything that training needs to resume, atomically and sealed by a checksum."""
    tensors = {f"{MODEL}{name}": value for name, value in model.state_dict().items()} | _moments(optimiser)
    _save_sealed(folder / RESUME, plain(tensors), json.dumps(asdict(progress)))


class Keeper:
    """Saves the resume state every ``execution.save_every`` seconds, and when asked to stop."""

    def __init__(
        self,
        folder: Path,
        model: nn.Module,
        optimiser: torch.optim.Optimizer,
        progress: Progress,
        execution: Execution,
    ) -> None:
        self.folder, self.model, self.optimiser, self.progress = folder, model, optimiser, progress
        self.execution = execution
        self.saved = time.monotonic()
        self.stopped_by = 0

    def due(self) -> bool:
        """Whether it is time for a save, or the process was asked to stop. Processes of one run agree on both."""
        overdue = time.monotonic() - self.saved >= self.execution.save_every
        number, due = self.execution.group.largest(self.execution.request.number or 0, overdue)
        self.stopped_by = int(number)
        return bool(self.stopped_by or due)

    def save(self) -> None:
        """Save the state.

        Raises:
            StoppedError: the process was asked to stop; the state is saved.
        """
        save_state(self.folder, self.model, self.optimiser, self.progress)
        self.saved = time.monotonic()
        if self.stopped_by:
            name = signal.Signals(self.stopped_by).name
            sentence = f"stopped by {name} after step {self.progress.step}; run again to resume from there"
            raise stop.StoppedError(f"{self.folder}: {sentence}", self.stopped_by)


def load_state(
    folder: Path,
    identity: dict[str, Any],
    snapshots: Collection[int],
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
) -> Progress | None:
    """Restore ``model`` and ``optimiser`` from the state in ``folder``; None if there is none.

    Raises:
        HypersphereError: nothing was restored, because the state is damaged, has another ``identity``, model or
            optimiser, one of its snapshots is missing or altered, or it is past an epoch in ``snapshots`` of which it
            has no snapshot.
    """
    path = folder / RESUME
    if not path.exists():
        return None
    progress, tensors = _load_sealed(path)
    if progress.identity != identity:
        raise HypersphereError(f"{path}: not resumed: {difference(progress, identity)}")
    for epoch in sorted(snapshots):
        if epoch <= progress.epoch and not progress.snapshots.keys() >= {*snapshot_names(epoch)}:
            raise HypersphereError(
                f"{path}: not resumed: saved at step {progress.step} without a snapshot of epoch {epoch}"
            )
    for name, sha256 in progress.snapshots.items():
        if files.problem(folder / name, sha256):
            raise HypersphereError(f"{folder / name}: missing, or altered since {path.name} was saved")
    moments = _moments_by_parameter(tensors)
    weights = {name.removeprefix(MODEL): tensor for name, tensor in tensors.items() if not name.startswith(OPTIMISER)}
    if _shapes(weights) != _shapes(model.state_dict()):
        raise HypersphereError(f"{path}: not resumed: its tensors are not those of the run's model")
    if not _match(moments, optimiser):
        raise HypersphereError(f"{path}: not resumed: its tensors are not those of the run's optimiser")
    model.load_state_dict(weights)
    _restore_moments(moments, optimiser)
    return progress


def read_progress(folder: Path) -> Progress:
    """Progress of the resume state in ``folder``.

    Raises:
        HypersphereError: there is no state, or it is damaged.
    """
    return _load_sealed(folder / RESUME)[0]


def difference(progress: Progress, identity: dict[str, Any]) -> str:
    """Sentence that names what differs between a state's identity and ``identity``."""
    saved = progress.identity
    changed = sorted(key for key in identity | saved if identity.get(key) != saved.get(key))
    return f"it was saved at step {progress.step} with another {' and '.join(changed)}"


def _shapes(tensors: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _parameters(optimiser: torch.optim.Optimizer) -> dict[str, nn.Parameter]:
    """Parameters that the optimiser updates, by their number in its groups, as text."""
    listed = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    return {str(number): parameter for number, parameter in enumerate(listed)}


def _moments(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state of each parameter: SGD's momentum, Adam's two moments and count of steps …"""
    return {
        f"{OPTIMISER}{number}.{key}": value
        for number, parameter in _parameters(optimiser).items()
        for key, value in optimiser.state.get(parameter, {}).items()
        if key in optimisation.moments(optimiser)
    }


def _moments_by_parameter(tensors: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """The optimiser's tensors in a resume state: parameter's number -> key -> tensor."""
    moments: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(OPTIMISER):
            number, _, key = name.removeprefix(OPTIMISER).partition(".")
            moments.setdefault(number, {})[key] = tensor
    return moments


def _match(moments: dict[str, dict[str, Tensor]], optimiser: torch.optim.Optimizer) -> bool:
    """Whether each entry belongs to one of the optimiser's parameters, with all of its keys and the right shapes.

    A parameter without an entry is accepted: it may have had no gradient yet.
    """
    parameters, keys = _parameters(optimiser), set(optimisation.moments(optimiser))
    return all(
        number in parameters
        and tensors.keys() == keys
        and all(tensor.shape == (() if key == COUNT else parameters[number].shape) for key, tensor in tensors.items())
        for number, tensors in moments.items()
    )


def _restore_moments(moments: dict[str, dict[str, Tensor]], optimiser: torch.optim.Optimizer) -> None:
    """Put each tensor in its parameter's layout and on its device; torch keeps Adam's count of steps on the CPU."""
    for number, parameter in _parameters(optimiser).items():
        for key, tensor in moments.get(number, {}).items():
            optimiser.state[parameter][key] = tensor if key == COUNT else torch.empty_like(parameter).copy_(tensor)


def _save_sealed(path: Path, tensors: dict[str, Tensor], progress: str) -> None:
    _save(path, tensors, {"progress": progress, "sha256": _seal(tensors, progress)})


def _load_sealed(path: Path) -> tuple[Progress, dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as handle:
            metadata = handle.metadata()
        tensors = load_file(path)
        if _seal(tensors, metadata["progress"]) != metadata["sha256"]:
            raise ValueError("its bytes have changed since it was saved")
        return Progress(**json.loads(metadata["progress"])), tensors
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        if devices.is_out_of_memory(error):  # the state may be sound, and must not be thrown away
            raise
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
        temporary.write_bytes(save(tensors, metadata))  # save_file would make files that only their owner may read
