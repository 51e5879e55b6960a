"""A run of a few steps on random images."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8

from hypersphere.plan import Plan, merge
from hypersphere.spec import Run
from hypersphere.training import device
from hypersphere.training.loop import Images

SIMCLR: dict[str, Any] = {
    "dataset": {"name": "noise", "source": {"name": "digits"}},
    "views": {},
    "method": {"name": "simclr", "hidden": 8, "dim": 4},
    "objective": {"name": "nt_xent", "temperature": 0.5},
    "encoder": {"name": "resnet8", "width": 2},
    "optimiser": {"learning_rate": 1.0, "weight_decay": 1e-4, "nesterov": True},
    "schedule": {"epochs": 4, "warmup": 0.25},
    "batch": {"size": 8, "micro": 4},
    "seed": 0,
}
SIMSIAM: dict[str, Any] = {
    "method": {"name": "simsiam", "hidden": 8, "dim": 6, "bottleneck": 3},
    "objective": {"name": "negative_cosine"},
}


@pytest.fixture(autouse=True)
def deterministic() -> Iterator[None]:
    """As every command sets it; restored afterwards."""
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    device.make_deterministic(1)
    yield
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode(mode)


@pytest.fixture
def make_run() -> Callable[..., Run]:
    """SimCLR (or, by its name, SimSiam) with some fields replaced: ``make_run(seed=1, batch={"micro": 8})``."""

    def make(method: str = "simclr", **changes: Any) -> Run:
        base = merge(SIMCLR, SIMSIAM) if method == "simsiam" else SIMCLR
        return Run.model_validate(merge(base, changes))

    return make


@pytest.fixture
def images() -> UInt8[np.ndarray, "n h w 3"]:
    """Nineteen: two batches of eight, and three left over."""
    return np.random.default_rng(0).integers(0, 256, (19, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def runs(tiny_plan: Plan) -> list[Run]:
    """SimCLR's first three."""
    return list(tiny_plan.batches[0].runs)


def numbered(pixels: UInt8[np.ndarray, "n h w 3"], numbers: Any = None) -> Images:
    """With three labels in turn, and numbers from 0 unless others are given."""
    count = np.arange(len(pixels))
    return Images(pixels, count % 3, count if numbers is None else numbers)


def contents(folder: Path) -> dict[str, bytes]:
    """All but what holds a time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timing.csv", "manifest.json", ".lock")
    }
