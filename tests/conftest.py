"""Fixtures that more than one folder of tests uses."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]


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
