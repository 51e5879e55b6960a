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
from pydantic import ValidationError

from hypersphere.config.validation import sentence
from hypersphere.errors import HypersphereError
from tests.prose import faults, listed_briefly, shortened

pytest_plugins = ["tests.changed"]

ROOT = Path(__file__).resolve().parent
SENTENCES = ROOT / "tests" / "golden" / "sentences.yaml"
"""The sentences that users meet most, as approved: by border and by the test that shows them."""
COMPUTING = ("augmentations", "benchmarks", "encoders", "methods", "training")
"""Folders of tests/unit that train, or compute what trains."""
APPROVE = bool(os.environ.get("APPROVE"))
"""Write the sentences of the page, in place of comparing them."""


@pytest.fixture(scope="session")
def _page() -> Iterator[dict[str, dict[str, str]]]:
    page = yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    yield page
    if APPROVE:
        head = [line for line in SENTENCES.read_text().splitlines() if line.startswith("#")]
        body = yaml.safe_dump(page, allow_unicode=True, width=10_000, sort_keys=False)
        SENTENCES.write_text("\n".join([*head, body]), encoding="utf-8")


@pytest.fixture
def names(
    request: pytest.FixtureRequest, tmp_path: Path, _page: dict[str, dict[str, str]]
) -> Iterator[Callable[..., None]]:
    """``names(sentence, "papers/p/paper.yaml", "run.views")``: it names this place, and it is a sentence for users.

    The place is a file and a field of it, or whatever a user would look for first. In both, paths begin below
    ``tmp_path``, and runs have no digest. The words are free, but for the tests that tests/golden/sentences.yaml lists:
    there the first sentence of each stands as approved. ``APPROVE=1 pytest -n 0 TESTS`` writes it anew.
    """
    shown: list[str] = []
    folders = [str(tmp_path), str(ROOT)]

    def check(sentence: object, *place: object) -> None:
        shown.append(shortened(str(sentence), folders))
        named = shortened(": ".join(map(str, place)), folders)
        assert faults(shown[-1], named) == [], shown[-1]

    yield check
    for border in _page.values():
        if (test := request.node.nodeid) in border:
            first = listed_briefly(shown[0]) if shown else "nothing"
            if APPROVE:
                border[test] = first
            assert first == border[test], f"not as approved in {SENTENCES.name}"


@pytest.fixture
def refused(names: Callable[..., None]) -> Callable[..., AbstractContextManager[None]]:
    """``with refused("papers/p/paper.yaml", "run.views"): ...``: it raises an error that names this place.

    What pydantic refuses is said as it is where a file is read.
    """

    @contextmanager
    def expect(*place: object, kind: type[Exception] = HypersphereError) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        wrong = caught.value
        names(sentence(wrong) if isinstance(wrong, ValidationError) else wrong, *place)

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
