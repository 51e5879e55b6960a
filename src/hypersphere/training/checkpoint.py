"""Resume states as safetensors: nothing is ever unpickled.

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
from safetensors.torch import load_file
from torch import Tensor, nn

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.file_names import RESUME
from hypersphere.provenance import stop
from hypersphere.training import device as devices
from hypersphere.training.weights import plain, snapshot_names, write_tensors

MODEL, OPTIMISER = "model.", "optimiser."
"""Prefixes of tensor names: ``model.<name>`` and ``optimiser.<number of a parameter>.<key>``."""


@dataclass
class Progress:
    """How far training is, or how it ended: the part of a resume state that is not tensors."""

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
    """The step at which each process that trained the run started: [0] unless it was resumed."""
    status: str = "finished"
    """How training ends: ``finished`` or ``diverged``."""

    @property
    def epochs(self) -> int:
        """Epochs finished."""
        return len(self.history)


@dataclass
class Checkpointer:
    """Restores the resume state, and saves it every ``save_every`` seconds, and when a signal asked to stop."""

    folder: Path
    model: nn.Module
    optimiser: torch.optim.Optimizer
    progress: Progress
    save_every: float
    request: stop.Request
    saved: int = 0
    """The step of the last state that was saved; 0 if none was."""
    saved_at: float = field(default_factory=time.monotonic)

    def due(self) -> bool:
        """Whether it is time for a save, or the process was asked to stop."""
        asked_to_stop = self.request.number is not None
        return asked_to_stop or time.monotonic() - self.saved_at >= self.save_every

    def save(self) -> None:
        """Write everything that training needs to resume, atomically and sealed by a checksum.

        A StoppedError follows if the process was asked to stop.
        """
        # a signal that comes from here on is answered after the next step
        number = self.request.number
        tensors = plain(self.tensors())
        progress = json.dumps(asdict(self.progress))
        metadata = {"progress": progress, "sha256": _seal(tensors, progress)}
        write_tensors(self.folder / RESUME, tensors, metadata)
        self.saved = self.progress.step
        self.saved_at = time.monotonic()
        name = self.folder.parent.name  # of the run, in whose folder this one is
        print(f"{name}: in epoch {self.progress.epochs + 1}, at step {self.saved}", flush=True)
        if number is not None:
            sentence = f"stopped by {signal.Signals(number).name} after step {self.progress.step}"
            raise stop.StoppedError(
                f"{self.folder}: {sentence}; run again to resume from there", number
            )

    def tensors(self) -> dict[str, Tensor]:
        """The tensors of the model and the optimiser, under their names in a resume state."""
        named = {f"{MODEL}{name}": value for name, value in self.model.state_dict().items()}
        for place, moments in self.optimiser.state_dict()["state"].items():
            for key, value in moments.items():
                if isinstance(value, Tensor):
                    named[f"{OPTIMISER}{place}.{key}"] = value
        return named

    def load(self, snapshots: Collection[int]) -> bool:
        """Restore model, optimiser and progress from the state in the folder; False if there is none.

        Raises:
            HypersphereError: nothing was restored, because the state is damaged, has another identity or tensors that
                are not those of the model and the optimiser, one of its snapshots is missing or altered, or it is past
                an epoch in ``snapshots`` of which it has no snapshot.
        """
        path = self.folder / RESUME
        if not path.exists():
            return False
        progress, tensors = read(self.folder)
        if progress.identity != self.progress.identity:
            reason = difference(progress, self.progress.identity)
            raise HypersphereError(f"{path}: not resumed: {reason}")
        self._check_snapshots(progress, snapshots)
        self._restore(tensors)
        self.progress = progress
        self.saved = progress.step
        return True

    def _check_snapshots(self, progress: Progress, snapshots: Collection[int]) -> None:
        """Raise unless those up to the state's epoch were written, and those written are as they were."""
        path = self.folder / RESUME
        for epoch in sorted(snapshots):
            written = progress.snapshots.keys() >= set(snapshot_names(epoch))
            if epoch <= progress.epochs and not written:
                raise HypersphereError(
                    f"{path}: not resumed: saved at step {progress.step} without a snapshot of epoch {epoch}"
                )
        for name, sha256 in progress.snapshots.items():
            if files.problem(self.folder / name, sha256):
                raise HypersphereError(
                    f"{self.folder / name}: missing, or altered since {path.name} was saved"
                )

    def _restore(self, tensors: dict[str, Tensor]) -> None:
        """Load a state's tensors into the model and the optimiser, if all of them fit."""
        parameters: list[Tensor] = []
        for group in self.optimiser.param_groups:
            parameters += group["params"]
        weights: dict[str, Tensor] = {}
        moments = self.optimiser.state_dict()
        fits = True
        for name, tensor in tensors.items():
            if name.startswith(MODEL):
                weights[name.removeprefix(MODEL)] = tensor
            elif name.startswith(OPTIMISER):
                number, _, key = name.removeprefix(OPTIMISER).partition(".")
                place = int(number)
                if place >= len(parameters) or tensor.shape not in ((), parameters[place].shape):
                    fits = False
                    break
                # In the parameter's layout, unless it is a count of steps, which has no dimensions.
                like = parameters[place] if tensor.ndim else tensor
                moment = torch.empty_like(like, device="cpu").copy_(tensor)
                moments["state"].setdefault(place, {})[key] = moment
        if not fits or _shapes(weights) != _shapes(self.model.state_dict()):
            raise HypersphereError(
                f"{self.folder / RESUME}: not resumed: its tensors do not fit this model and its optimiser"
            )
        self.model.load_state_dict(weights)
        self.optimiser.load_state_dict(moments)


def _shapes(tensors: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def difference(progress: Progress, identity: dict[str, Any]) -> str:
    """Sentence that names what differs between a state's identity and ``identity``."""
    saved = progress.identity
    changed = sorted(key for key in identity | saved if identity.get(key) != saved.get(key))
    return f"it was saved at step {progress.step} with another {' and '.join(changed)}"


def read(folder: Path) -> tuple[Progress, dict[str, Tensor]]:
    """The resume state in ``folder``; a missing or damaged one is a HypersphereError."""
    path = folder / RESUME
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
