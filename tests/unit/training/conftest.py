"""A run of a few steps on random images, whole and broken."""

import copy
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import UInt8

from hypersphere.config import plan as planning
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.provenance.manifest import check_files
from hypersphere.training import loop
from hypersphere.training.checkpoint import Progress
from hypersphere.training.pretrain import pretrain
from hypersphere.training.trainers.image import Views

from ...broken_off import before_steps, contents, execution
from ...layers import merge

MakeRun = Callable[..., Run]
Pixels = UInt8[np.ndarray, "n h w 3"]
Images = tuple[Pixels, Any, Any]
"""With their labels and numbers."""
PROJECT = Path(__file__).resolve().parents[2] / "project"
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
    "lars": {"name": "lars", "learning_rate": 10.0, "weight_decay": 0.01, "decay": "weights", "trust": 0.02},
}
STEPS = 8
"""Four epochs of two steps."""
IDENTITY = {"run": "a run", "code": "its code", "data": "its data"}


@pytest.fixture
def make_run() -> MakeRun:
    """SimCLR (or, by its name, SimSiam) with some fields replaced: ``make_run(seed=1, batch={"micro": 8})``."""

    def make(method: str = "simclr", /, **changes: Any) -> Run:
        base = merge(SIMCLR, SIMSIAM) if method == "simsiam" else SIMCLR
        return Run.model_validate(merge(base, changes))

    return make


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


@pytest.fixture
def images() -> Pixels:
    """Nineteen: two batches of eight, and three left over."""
    return np.random.default_rng(0).integers(0, 256, (19, 8, 8, 3), dtype=np.uint8)


def keeping(plan: Plan, *epochs: int) -> Plan:
    """The plan, asking for encoders and heads after so many epochs and no others."""
    asking = copy.copy(plan)
    object.__setattr__(asking, "kept_epochs", lambda run: list(epochs))
    return asking


@pytest.fixture
def tiny_plan(tiny_plan: Plan) -> Plan:
    """The same, and of each run's four epochs the ends are kept, and the middle."""
    return keeping(tiny_plan, 0, 2, 4)


@pytest.fixture
def runs(tiny_plan: Plan) -> list[Run]:
    """SimCLR's first three."""
    return list(tiny_plan.batches[0].runs)


def numbered(pixels: Pixels, numbers: Any = None) -> Images:
    """With three labels in turn, and numbers from 0 unless others are given."""
    count = np.arange(len(pixels))
    return pixels, count % 3, count if numbers is None else numbers


# Runs that end before their time


def execute(run: Run, images: Images | Pixels, folder: Path, **changes: Any) -> Progress:
    """Train; states are saved once in an hour."""
    how = execution(run, **({"identity": IDENTITY, "save_every": 3600.0} | changes))
    given = images if isinstance(images, tuple) else numbered(images)
    return loop.train(run, Views(run, *given, how.device), how, folder)


Resume = Callable[..., Progress]
Broken = Callable[..., tuple[dict[str, bytes], Path, Resume]]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what ``break_off`` and ``whole_run`` train, each run once."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def broken(make_run: MakeRun, images: Pixels, tmp_path: Path, kept: Path) -> Broken:
    """``broken(5, "simsiam", seed=1)``: ``break_off`` of such a run, after five steps (None: not begun)."""
    return lambda after, method="simclr", **fields: break_off(
        after, make_run(method, **fields), images, kept, tmp_path / "broken"
    )


def break_off(
    after: int | None, run: Run, images: Images | Pixels, kept: Path, folder: Path
) -> tuple[dict[str, bytes], Path, Resume]:
    """The bytes of a whole run, ``folder`` as a kill after so many steps leaves it, and how to go on with that."""
    place = kept / run.name
    if not place.exists():
        with before_steps(lambda number: shutil.copytree(place / "whole", place / str(number), copy_function=os.link)):
            execute(run, images, place / "whole", save_every=0.0)
    if after is not None:
        shutil.copytree(place / str(after), folder)
    return contents(place / "whole"), folder, lambda **changes: execute(run, images, folder, **changes)


@pytest.fixture
def whole_run(tiny_plan: Plan, runs: list[Run], kept: Path) -> Path:
    """A batch's first run, finished, in a folder apart; beside it, what a kill after 6 of its 8 steps leaves."""
    folder, whole = tiny_plan.run_folder(runs[0].name), kept / "whole"
    if not whole.exists():
        with before_steps(lambda number: number == 6 and shutil.copytree(folder, kept / "stopped")):
            pretrain(tiny_plan, runs[:1], save_every=0.0)
        shutil.move(folder, whole)
    return whole


@pytest.fixture
def trained(tiny_plan: Plan, runs: list[Run], whole_run: Path) -> Path:
    """That run's own folder, with its result."""
    return Path(shutil.copytree(whole_run, tiny_plan.run_folder(runs[0].name)))


@dataclass(frozen=True)
class Stopped:
    """That run, killed; and what it holds when nothing kills it."""

    plan: Plan
    run: Run
    folder: Path
    whole: dict[str, bytes]

    @property
    def kept(self) -> Path:
        """Where its resume state is."""
        (kept,) = self.folder.glob("unfinished-*")
        return kept

    def go_on(self, plan: Plan | None = None, **options: Any) -> list[int]:
        """Train it to its end; the steps at which processes began."""
        pretrain(plan or self.plan, [self.run], **options)
        return list(check_files(self.folder / MANIFEST)["started_at_steps"])


@pytest.fixture
def stopped(tiny_plan: Plan, runs: list[Run], whole_run: Path) -> Stopped:
    folder = Path(shutil.copytree(whole_run.with_name("stopped"), tiny_plan.run_folder(runs[0].name)))
    return Stopped(tiny_plan, runs[0], folder, contents(whole_run))
