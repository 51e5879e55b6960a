"""What the tests of the core and those of plug-ins share: approved sentences, the real data, determinism."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from hypersphere.errors import HypersphereError

pytest_plugins = ["tests.changed"]

ROOT = Path(__file__).resolve().parent
SENTENCES = ROOT / "tests" / "golden" / "sentences.yaml"
"""Every sentence that tests show to users, as approved: by test, in the order in which it shows them."""
COMPUTING = ("augmentations", "benchmarks", "encoders", "methods", "training")
"""Folders of tests/unit that train, or compute what trains."""
APPROVE = bool(os.environ.get("APPROVE"))
"""Write what tests show, in place of comparing it."""


@pytest.fixture(scope="session")
def _approved(request: pytest.FixtureRequest) -> Iterator[dict[str, list[str]]]:
    sentences = yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    yield sentences
    if APPROVE:
        ran = {item.nodeid for item in request.session.items}
        # of these tests, cases that are gone lose their sentences
        whole = {name.partition("[")[0] for name in ran}
        kept = {
            name: said
            for name, said in sentences.items()
            if name in ran or name.partition("[")[0] not in whole
        }
        SENTENCES.write_text(
            yaml.safe_dump(kept, allow_unicode=True, width=10_000), encoding="utf-8"
        )


@pytest.fixture
def approve(
    request: pytest.FixtureRequest, tmp_path: Path, _approved: dict[str, list[str]]
) -> Iterator[Callable[[object], None]]:
    """``approve(text)``: what a user is shown is what tests/golden/sentences.yaml has for this test; paths are short.

    ``APPROVE=1 pytest -n 0 TESTS`` writes new sentences there; read the difference before you commit it.
    """
    shown: list[str] = []

    def show(text: object) -> None:
        shown.append(str(text).replace(str(tmp_path), "TMP").replace(str(ROOT), "ROOT"))
        if not APPROVE:
            expected = _approved.get(request.node.nodeid, [])
            assert shown == expected[: len(shown)], (
                f"not as approved for {request.node.nodeid} in {SENTENCES.name}"
            )

    yield show
    if APPROVE:
        _approved[request.node.nodeid] = shown
    assert shown == _approved.get(request.node.nodeid), "fewer sentences than were approved"


@pytest.fixture
def refused(approve: Callable[[object], None]) -> Callable[..., AbstractContextManager[None]]:
    """``with refused(): ...``: it raises an error of ours, by default, and its sentence is the approved one."""

    @contextmanager
    def expect(kind: type[Exception] = HypersphereError) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        approve(caught.value)

    return expect


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


@pytest.fixture(autouse=True)
def _as_commands_compute(request: pytest.FixtureRequest) -> None:
    """Tests that train, and those of what trains, compute as commands do."""
    folders = (ROOT / "plugins", *(ROOT / "tests" / "unit" / name for name in COMPUTING))
    if any(map(request.path.is_relative_to, folders)):
        request.getfixturevalue("deterministic")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of packed public datasets: $HYPERSPHERE_TEST_SHARED, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("HYPERSPHERE_TEST_SHARED") or ROOT.parent / "shared" / "data")
    if not (folder / "unpack.py").is_file():
        pytest.skip(f"real CIFAR not found: no unpack.py in {folder} (set HYPERSPHERE_TEST_SHARED)")
    return folder


@pytest.fixture(scope="session")
def unpacked(shared_data: Path) -> Callable[[str], Path]:
    """``unpacked("mnist")``: a folder with the real files of a set, and maybe of others; tests only read it.

    A set is unpacked once on a machine, where .ci/run unpacks it too, and checked once in a session.
    """
    folder = Path(tempfile.gettempdir()) / f"hypersphere-test-data-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)

    @cache
    def unpack(name: str) -> Path:
        script = [sys.executable, str(shared_data / "unpack.py"), str(folder), "--only", name]
        with FileLock(folder / ".lock"):  # several test processes share it
            done = subprocess.run(script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return folder

    return unpack
