"""A project that trains in tenths of a second: the real config folder, with a scale and datasets of its own."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import plan as planning
from hypersphere.plan import Plan

REPOSITORY = Path(__file__).resolve().parents[2]

DATASETS: dict[str, Any] = {
    name: {"source": {"name": "digits", "task": task, "train_per_class": count, "test_per_class": 3}}
    for name, task, count in (("upright", "upright", 8), ("turned", "turned", 5))
}
SCALE: dict[str, Any] = {
    "scale": "tiny",
    "level": "quick",
    "describe": "for tests",
    "seeds": [0],
    "datasets": {"cifar10_lt": "upright", "cifar100_lt": "turned", "flowers102_lt": None},
    "epochs": 4,
    "batch_divisor": 16,
    "learning_rate_factor": 1.0,
    "run": {"encoder": {"name": "resnet8", "width": 2}},
    "methods": {
        "simclr": {"method": {"hidden": 8, "dim": 4}},
        "simsiam": {"method": {"hidden": 8, "dim": 4, "bottleneck": 2}},
    },
    "probes": {"knn": {"k": 5}},
    "snapshots": [0.0, 0.5, 1.0],
    "threads": 1,
    "runs_per_job": 3,
    "resources": {"mem_mb": 100, "runtime": 1, "gpu": 0},
}


@pytest.fixture
def config_root(tmp_path: Path) -> Path:
    """A copy of the repository's config/ under a temporary root, as released."""
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    return tmp_path


@pytest.fixture
def tiny_root(config_root: Path) -> Path:
    """The same with the scale and datasets above, and ``scale: tiny`` as the setting; nothing is prepared."""
    folder = config_root / "config"
    (folder / "scales" / "tiny.yaml").write_text(yaml.safe_dump(SCALE))
    with (folder / "datasets.yaml").open("a") as handle:
        handle.write("\n" + yaml.safe_dump(DATASETS))
    settings = yaml.safe_load((folder / "config.yaml").read_text()) | {"scale": "tiny", "device": "cpu"}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    return config_root


@pytest.fixture
def tiny_plan(tiny_root: Path) -> Plan:
    """Ten runs of four epochs, five on each of two datasets of 80 images, which are prepared."""
    from hypersphere.datasets import store

    plan = planning.make(tiny_root)
    for dataset in plan.datasets.values():
        store.prepare(dataset, tiny_root / "data", None)
    return plan
