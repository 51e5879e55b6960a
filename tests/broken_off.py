"""Runs of any trainer that end before their time: how they are executed, what they leave, and altered states."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from hypersphere.config.run import Run
from hypersphere.file_names import RESUME
from hypersphere.training import checkpoint, loop
from hypersphere.training.loop import Execution


class KilledError(BaseException):
    """Stands for a kill: nothing catches it."""


@contextmanager
def before_steps(act: Callable[[int], object]) -> Iterator[None]:
    """Within it, ``act`` is called before each step, with the number of those that were taken."""
    step, numbers = loop._step, itertools.count()

    def acting(*arguments: Any) -> Tensor:
        act(next(numbers))
        return step(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_step", acting)
        yield


def failing(error: BaseException, after: int) -> AbstractContextManager[None]:
    """Within it, the step after so many fails, and no other."""

    def act(number: int) -> None:
        if number == after:
            raise error

    return before_steps(act)


def execution(run: Run, **changes: Any) -> Execution:
    """On the CPU; the state is saved as often as can be; snapshots after 0 and 2 epochs."""
    options: dict[str, Any] = {
        "device": torch.device("cpu"),
        "snapshots": frozenset({0, 2}),
        "identity": {"run": run.name},
        "save_every": 0.0,
    }
    return Execution(**options | changes)


def contents(folder: Path) -> dict[str, bytes]:
    """All but what holds a time, and the resume state."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timing.csv", "manifest.json", ".lock", RESUME)
    }


def rewrite(
    path: Path, change: Callable[[dict[str, Tensor]], Any], seal: bool = True, **progress: Any
) -> None:
    """Rewrite a resume state after ``change`` to its tensors, and to its ``progress``; ``seal`` it anew, or do not."""
    with safe_open(path, framework="pt") as handle:
        metadata = handle.metadata()
    tensors = load_file(path)
    change(tensors)
    metadata["progress"] = json.dumps(json.loads(metadata["progress"]) | progress)
    if seal:
        metadata["sha256"] = checkpoint._seal(tensors, metadata["progress"])
    save_file(tensors, path, metadata=metadata)


def drop(beginning: str) -> Callable[[dict[str, Tensor]], None]:
    """For ``rewrite``: leave out every tensor whose name begins so."""

    def change(tensors: dict[str, Tensor]) -> None:
        for name in [name for name in tensors if name.startswith(beginning)]:
            del tensors[name]

    return change


def add_one(beginning: str) -> Callable[[dict[str, Tensor]], None]:
    """For ``rewrite``: add 1 to every tensor whose name begins so."""
    return lambda tensors: tensors.update(
        {name: t + 1 for name, t in tensors.items() if name.startswith(beginning)}
    )
