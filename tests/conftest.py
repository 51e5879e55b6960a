"""Fixtures that more than one folder of tests uses: the real data, and a project that trains in tenths of a second."""

import ast
import gc
import os

# One thread for each of pytest-xdist's workers: with one per core in each of them, threads would wait for each other.
# It is set before anything loads OpenMP; commands set their own number of threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# lightly would ask a server for its newest release
os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

ROOT = Path(__file__).resolve().parents[1]

# Neither git's variables, which its hooks set, nor a temporary folder in the checkout lets a test commit to it.
for variable in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[variable]
os.environ |= {
    "GIT_CEILING_DIRECTORIES": str(ROOT),
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": str(ROOT / "tests" / "git_hooks"),
}

PROJECT = ROOT / "tests" / "project"
"""Two small papers with claims and errata: pipelines are tested on them, never on the real ones."""


HEAVY = {"prepared_data", "server", "tab"}
"""Fixtures whose tests train or prepare data for it, serve files, or open a browser."""
LONG = {"real_cifar10", "wheel"}
"""Fixtures that take long themselves, as does the finished pipeline of ``workflow/conftest.py``."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, then those of pipelines, so that no worker is left alone with one; otherwise in their order.

    Tests of long or heavy fixtures, and of numbers that training ends with, are marked so; others name it themselves.
    """
    for item in items:
        fixtures, pipeline = {*getattr(item, "fixturenames", ())}, "workflow" in item.path.parts
        if fixtures & LONG or (pipeline and "finished" in fixtures):
            item.add_marker("long")
        if fixtures & HEAVY or item.get_closest_marker("trained"):
            item.add_marker("heavy")
    items.sort(
        key=lambda item: (
            item.get_closest_marker("long") is None,
            "workflow" not in item.path.parts,
        )
    )


def pytest_collection_finish() -> None:
    """Take what is imported and collected out of the search for garbage, which it would make ten times slower.

    Statsmodels asks for a search at each correction of several p.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


@pytest.fixture(scope="session")
def missing_tests() -> Callable[[list[str]], list[str]]:
    """Of names such as ``unit/test_docs.py::test_x`` (``tests/`` before it or not), those that no test has.

    The tests of plug-ins have whole paths.
    """

    @cache
    def functions(file: str) -> set[str]:
        paths = [path for path in (ROOT / "tests" / file, ROOT / file) if path.is_file()]
        nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
        return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}

    def has(name: str) -> bool:
        file, _, test = name.removeprefix("tests/").partition("::")
        return test.split("[")[0] in functions(file)

    return lambda names: [name for name in names if not has(name)]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all of pytest-xdist's workers share in this session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def once() -> Callable[[Path, Callable[[], None]], None]:
    """``once(folder, make)``: fill a folder of ``shared`` in the first of pytest-xdist's workers that wants it.

    A failure fails them all.
    """

    def fill(folder: Path, make: Callable[[], None]) -> None:
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

    return fill


@pytest.fixture(scope="session")
def real_cifar10(unpacked: Callable[[str], Path]) -> Path:
    """A folder holding the official cifar-10-batches-py."""
    return unpacked("cifar10")


@pytest.fixture
def config_root(tmp_path: Path) -> Path:
    """A copy of the repository's config/ and papers/ under a temporary root, as released."""
    for folder in ("config", "papers"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture
def project_root(tmp_path: Path) -> Path:
    """A copy of tests/project under a temporary root, its scale ``quick``; nothing is prepared."""
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def tiny_root(project_root: Path) -> Path:
    """The same, its scale ``tiny``."""
    settings = project_root / "config" / "config.yaml"
    settings.write_text(settings.read_text().replace("scale: quick", "scale: tiny"))
    return project_root


@pytest.fixture(scope="session")
def prepared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's datasets, prepared once for ``tiny_plan`` and ``every_method``."""
    from hypersphere.datasets import store

    root = tmp_path_factory.mktemp("prepared")
    shutil.copytree(PROJECT, root, dirs_exist_ok=True)
    for scale in ("tiny", "methods"):
        for dataset in planning.make(root, {"scale": scale}).datasets.values():
            store.prepare(dataset, root / "data", None)
    return root / "data"


@pytest.fixture
def tiny_plan(tiny_root: Path, prepared_data: Path) -> Plan:
    """Ten runs of four epochs, five on each of two datasets of 80 images, which are prepared."""
    shutil.copytree(prepared_data, tiny_root / "data", dirs_exist_ok=True)
    return planning.make(tiny_root)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, prepared_data: Path) -> Path:
    """A project of scale ``tiny`` whose first batch, three runs of SimCLR on upright digits, is trained and measured.

    Tests work on a copy.
    """
    from hypersphere.probes import evaluate
    from hypersphere.training.pretrain import pretrain_batch

    root = tmp_path_factory.mktemp("finished")
    shutil.copytree(PROJECT, root, dirs_exist_ok=True)
    shutil.copytree(prepared_data, root / "data")
    plan = planning.make(root, {"scale": "tiny"})
    pretrain_batch(plan, plan.batches[0])
    evaluate.evaluate_batch(plan, plan.batches[0])
    return root


@pytest.fixture
def laptop_root(tiny_root: Path, finished: Path) -> Path:
    """A project with a scale ``laptop`` of the runs of ``tiny``, whose first batch is trained and measured."""
    scale = tiny_root / "config" / "scales" / "tiny.yaml"
    text = (
        scale.read_text()
        .replace("scale: tiny", "scale: laptop")
        .replace("level: quick", "level: laptop")
    )
    scale.with_name("laptop.yaml").write_text(text)
    for of_paper in (tiny_root / "papers").glob("*/scales/tiny.yaml"):
        shutil.copy(of_paper, of_paper.with_name("laptop.yaml"))
    shutil.copytree(finished / "results" / "tiny", tiny_root / "results" / "laptop")
    return tiny_root


@pytest.fixture
def every_method(project_root: Path, prepared_data: Path) -> Plan:
    """Every method's run of four epochs on 80 images, kept at the ends and the middle; the images are prepared."""
    shutil.copytree(prepared_data, project_root / "data", dirs_exist_ok=True)
    return planning.make(project_root, {"scale": "methods"})
