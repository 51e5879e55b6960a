"""For the tests of plug-ins' trainers: how a run is executed, what it leaves, and a changed state to go on from."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from hypersphere.config.run import Run
from hypersphere.training import checkpoint
from hypersphere.training.loop import Execution


class KilledError(Exception):
    """Stands for a kill: nothing catches it."""


def execution(run: Run, **changes: Any) -> Execution:
    """The state is saved as often as can be; two snapshots."""
    options: dict[str, Any] = {"snapshots": frozenset({0, 2}), "identity": {"run": run.name}, "save_every": 0.0}
    return Execution(device=torch.device("cpu"), **options | changes)


def result(folder: Path) -> dict[str, bytes]:
    paths = [*folder.rglob("*.safetensors"), folder / "history.csv"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.name != checkpoint.RESUME and p.exists()}


def change_state(folder: Path, beginning: str) -> None:
    """Add 1 to a tensor of the saved state whose name begins so, and seal it anew."""
    progress, tensors = checkpoint._load_sealed(folder / checkpoint.RESUME)
    name = next(n for n in sorted(tensors) if n.startswith(beginning) and tensors[n].double().norm() > 0)
    tensors[name] = tensors[name] + 1
    checkpoint._save_sealed(folder / checkpoint.RESUME, tensors, json.dumps(asdict(progress)))
