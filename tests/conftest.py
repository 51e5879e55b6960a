"""Fixtures that more than one folder of tests uses: the real data, and a project that trains in tenths of a second."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan

ROOT = Path(__file__).resolve().parents[1]

DATASETS: dict[str, Any] = {
    name: {"source": {"name": "digits", "task": task, "train_per_class": count, "test_per_class": 3}}
    for name, task, count in (("plain", "upright", 8), ("upright", "upright", 8), ("turned", "turned", 5))
}
SCALE: dict[str, Any] = {
    "scale": "tiny",
    "level": "quick",
    "describe": "for tests",
    "seeds": [0],
    "datasets": {"cifar10": "plain", "cifar10_lt": "upright", "cifar100_lt": "turned", "flowers102_lt": None},
    "epochs": 4,
    "batch_divisor": 16,
    "learning_rate_factor": 1.0,
    "run": {"encoder": {"name": "resnet8", "width": 2}},
    "methods": {
        "instance_discrimination": {"method": {"dim": 4}},
        "cmc": {
            "encoder": {"name": "lab_streams", "backbone": "resnet8", "width": 2},
            "method": {"dim": 4},
        },
        "simclr": {"method": {"hidden": 8, "dim": 4}},
        "mocov2": {"method": {"hidden": 8, "dim": 4, "queue": 20, "groups": 2}},
        "mocov3": {"method": {"hidden": 8, "dim": 4}},
        "byol": {"method": {"hidden": 8, "dim": 4}},
        "simsiam": {"method": {"hidden": 8, "dim": 4, "bottleneck": 2}},
        "swav": {"method": {"hidden": 8, "dim": 4, "prototypes": 5}},
        "dino": {"method": {"hidden": 8, "bottleneck": 4, "prototypes": 5}},
    },
    "probes": {"knn": {"k": 5}},
    "snapshots": [0.0, 0.5, 1.0],
    "threads": 1,
    "runs_per_job": 3,
    "resources": {"mem_mb": 100, "runtime": 1, "gpu": 0},
}


def _missing_tests(names: list[str]) -> list[str]:
    tests = {name: name.removeprefix("tests/").partition("::") for name in names}
    return [
        name for name, (file, _, test) in tests.items() if test.split("[")[0] not in _functions(ROOT / "tests" / file)
    ]


def _functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="session")
def missing_tests() -> Callable[[list[str]], list[str]]:
    """Of names such as ``unit/test_docs.py::test_x`` (``tests/`` before it or not), those that no test has."""
    return _missing_tests


def _keep_studies(root: Path, *papers: str) -> None:
    for file in (root / "config" / "papers").glob("*.yaml"):
        if file.stem not in papers:
            _drop(file, r"^  (\w+):\n    kind: study_\w+\n(    .*\n)*")
    _drop(root / "config" / "papers" / "lecture.yaml", r"^  methods_\w+:\n(    .*\n)*")


def _drop(file: Path, artifacts: str) -> None:
    text = re.sub(artifacts, "", file.read_text(), flags=re.MULTILINE)
    file.write_text(re.sub(r"^artifacts:\n+(?=\S|\Z)", "", text, flags=re.MULTILINE))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all of pytest-xdist's workers share in this session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


def _once(folder: Path, make: Callable[[], None]) -> None:
    """Call ``make``, which fills ``folder``, unless another worker of this session did; a failure fails them all."""
    done, failed = folder.with_suffix(".done"), folder.with_suffix(".failed")
    with FileLock(folder.with_suffix(".lock")):
        if failed.exists():
            pytest.fail(f"another worker could not make {folder}: {failed.read_text()}")
        if not done.exists():
            try:
                make()
            except BaseException as error:
                failed.write_text(str(error))
                raise
            done.touch()


@pytest.fixture(scope="session")
def once() -> Callable[[Path, Callable[[], None]], None]:
    """``once(folder, make)``: fill a folder of ``shared`` in the first of pytest-xdist's workers that wants it."""
    return _once


@pytest.fixture(scope="session")
def keep_studies() -> Callable[..., None]:
    """``keep_studies(root, *papers)``: take the exact studies of all other papers out of config/ under a root.

    They take most of a minute, as does the lecture's table of every method, which goes too; and what is tested of a
    pipeline is true of one as of all.
    """
    return _keep_studies


@pytest.fixture
def deterministic() -> Iterator[None]:
    """One thread and deterministic algorithms alone, as every command sets them; restored afterwards."""
    import torch

    from hypersphere.training.determinism import make_deterministic

    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    make_deterministic(1)
    yield
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode(mode)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of packed public datasets: $HYPERSPHERE_TEST_SHARED, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("HYPERSPHERE_TEST_SHARED") or ROOT.parent / "shared" / "data")
    if not (folder / "unpack.py").is_file():
        pytest.skip(f"real CIFAR not found: no unpack.py in {folder} (set HYPERSPHERE_TEST_SHARED)")
    return folder


@pytest.fixture(scope="session")
def real_cifar10(shared_data: Path) -> Path:
    """A folder holding the official cifar-10-batches-py; unpacked once per machine, checked once per session."""
    folder = Path(tempfile.gettempdir()) / f"hypersphere-test-data-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with FileLock(folder / ".lock"):  # several test processes share it
        script = [sys.executable, str(shared_data / "unpack.py"), str(folder), "--only", "cifar10"]
        done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def config_root(tmp_path: Path) -> Path:
    """A copy of the repository's config/ under a temporary root, as released."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


@pytest.fixture
def tiny_root(config_root: Path) -> Path:
    """The same with the scale and datasets above, and ``scale: tiny`` as the setting; nothing is prepared."""
    _add_tiny(config_root)
    _keep_studies(config_root)
    return config_root


def _add_tiny(root: Path) -> None:
    folder = root / "config"
    (folder / "scales" / "tiny.yaml").write_text(yaml.safe_dump(SCALE))
    with (folder / "datasets.yaml").open("a") as handle:
        handle.write("\n" + yaml.safe_dump(DATASETS))
    settings = yaml.safe_load((folder / "config.yaml").read_text()) | {"scale": "tiny", "device": "cpu"}
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))


@pytest.fixture
def tiny_plan(tiny_root: Path) -> Plan:
    """Ten runs of four epochs, five on each of two datasets of 80 images, which are prepared."""
    return _prepared(planning.make(tiny_root))


@pytest.fixture
def every_method(config_root: Path) -> Plan:
    """Every method's run on 80 images, by the lecture's table at the scale above; the images are prepared."""
    _add_tiny(config_root)
    return _prepared(planning.make(config_root, {"papers": ["lecture"]}))


def _prepared(plan: Plan) -> Plan:
    from hypersphere.datasets import store

    for dataset in plan.datasets.values():
        store.prepare(dataset, plan.config.root / "data", None)
    return plan
