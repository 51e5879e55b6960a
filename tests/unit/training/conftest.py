"""A run of a few steps on random images, whole and broken."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import UInt8

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.training import loop
from hypersphere.training.checkpoint import Progress
from hypersphere.training.trainers.image import Views

from ...broken_off import before_steps, contents, execution
from ...conftest import PROJECT
from ...layers import merge

Pixels = UInt8[np.ndarray, "n h w 3"]
Images = tuple[Pixels, Any, Any]
"""With their labels and numbers."""
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
OPTIMISERS: dict[str, dict[str, Any]] = {
    "sgd": SIMCLR["optimiser"] | {"name": "sgd"},
    "adam": {"name": "adam", "learning_rate": 0.1, "weight_decay": 0.01, "betas": [0.8, 0.9]},
    "adamw": {"name": "adamw", "learning_rate": 0.1, "weight_decay": 0.1, "decay": "weights"},
    "lars": {
        "name": "lars",
        "learning_rate": 10.0,
        "weight_decay": 0.01,
        "decay": "weights",
        "trust": 0.02,
    },
}
STEPS = 8
"""Four epochs of two steps."""
IDENTITY = {"run": "a run", "code": "its code", "data": "its data"}


def make_run(base: str = "simclr", /, **changes: Any) -> Run:
    """SimCLR (or, by its name, SimSiam) with some fields replaced: ``make_run(seed=1, batch={"micro": 8})``."""
    return Run.model_validate(
        merge(merge(SIMCLR, SIMSIAM) if base == "simsiam" else SIMCLR, changes)
    )


@pytest.fixture(scope="module")
def methods_plan(tmp_path_factory: pytest.TempPathFactory, prepared_data: Path) -> Plan:
    """Every method's run of four epochs of two steps, on 80 images, which are prepared."""
    root = tmp_path_factory.mktemp("methods")
    shutil.copytree(PROJECT, root, dirs_exist_ok=True)
    shutil.copytree(prepared_data, root / "data")
    return planning.make(root, {"scale": "methods", "batch_divisor": 8})


def of_method(plan: Plan, method: str) -> tuple[Run, Images]:
    """A method's run of that plan, and its images."""
    run = plan.run(next(name for name in plan.runs if name.startswith(f"{method}-")))
    split = store.open(plan.data_folder(run.dataset)).split("train")
    return run, (split.images, split.labels["class"], split.index)


def numbered(pixels: Pixels, numbers: Any = None) -> Images:
    """With three labels in turn, and numbers from 0 unless others are given."""
    count = np.arange(len(pixels))
    return pixels, count % 3, count if numbers is None else numbers


PIXELS: Pixels = np.random.default_rng(0).integers(0, 256, (19, 8, 8, 3), dtype=np.uint8)
"""Two batches of eight, and three left over."""
IMAGES = numbered(PIXELS)


# Runs that end before their time


def execute(run: Run, images: Images, folder: Path, **changes: Any) -> Progress:
    """Train; states are saved once in an hour."""
    how = execution(run, **({"identity": IDENTITY, "save_every": 3600.0} | changes))
    return loop.train(run, Views(run, *images, how.device), how, folder)


Resume = Callable[..., Progress]
Broken = Callable[..., tuple[dict[str, bytes], Path, Resume]]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what ``break_off`` and ``whole_run`` train, each run once."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def broken(tmp_path: Path, kept: Path) -> Broken:
    """``broken(5, "simsiam", seed=1)``: ``break_off`` of such a run, after five steps (None: not begun)."""
    return lambda after, method="simclr", **fields: break_off(
        after, make_run(method, **fields), IMAGES, kept, tmp_path / "broken"
    )


def break_off(
    after: int | None, run: Run, images: Images, kept: Path, folder: Path
) -> tuple[dict[str, bytes], Path, Resume]:
    """The bytes of a whole run, ``folder`` as a kill after so many steps leaves it, and how to go on with that."""
    place = kept / run.name
    if not place.exists():
        with before_steps(
            lambda number: shutil.copytree(
                place / "whole", place / str(number), copy_function=os.link
            )
        ):
            execute(run, images, place / "whole", save_every=0.0)
    if after is not None:
        shutil.copytree(place / str(after), folder)
    return (
        contents(place / "whole"),
        folder,
        lambda **changes: execute(run, images, folder, **changes),
    )
