"""`make setup`, whole, beside a Python of the system's that is thrown away afterwards: a copy of this one."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from .conftest import REPOSITORY

pytestmark = pytest.mark.tools

NEEDED = ("uv", "setuptools", "packaging")
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "hypersphere"
version = "0"
requires-python = ">=3.11,<3.13"
"""


def contents(folder: Path) -> dict[str, bytes]:
    paths = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A Python of the system's, with one package."""
    if sys.base_prefix == "/usr":
        pytest.skip("this Python is the system's own, of which no copy can be made")
    base, made = Path(sys.base_prefix), tmp_path / "system"
    left_out = shutil.ignore_patterns(
        "test", "__pycache__", "site-packages", "share", "include", "*.a"
    )
    shutil.copytree(base, made, symlinks=True, ignore=left_out)
    library = made / Path(sysconfig.get_path("stdlib")).relative_to(base) / "site-packages"
    about = library / "kept-1.0.dist-info"
    about.mkdir(parents=True)
    (library / "kept.py").write_text("")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kept\nVersion: 1.0\n")
    (about / "RECORD").write_text(
        "kept.py,,\nkept-1.0.dist-info/METADATA,,\nkept-1.0.dist-info/RECORD,,\n"
    )
    return made


def test_the_systems_python_keeps_its_packages(system: Path, tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    for name in (
        "Makefile",
        "workflow/install.py",
        "src/hypersphere/foreign.py",
        "src/hypersphere/foreign.txt",
        "src/hypersphere/systems.py",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / name, root / name)
    (root / "src" / "hypersphere" / "__init__.py").touch()
    (root / "pyproject.toml").write_text(PROJECT)
    lock = (REPOSITORY / "requirements.lock").read_text()
    pins = (re.search(rf"^{name}==.*\n(?:[ \t].*\n)+", lock, flags=re.MULTILINE) for name in NEEDED)
    (root / "requirements.lock").write_text("".join(pin[0] for pin in pins if pin))

    before = contents(system)
    hostile = {
        "UV_SYSTEM_PYTHON": "1",
        "UV_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_USER": "1",
        "PIP_TARGET": "/dev/null/nowhere",
    }
    given = (
        os.environ
        | hostile
        | {"PATH": f"{system / 'bin'}:/usr/bin:/bin", "PIP_PREFIX": str(tmp_path / "prefix")}
    )
    done = subprocess.run(["make", "setup"], cwd=root, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(system) in done.stderr  # which Python it was made with
    assert contents(system) == before
    assert not (tmp_path / "prefix").exists()
    installed = {
        path.name.partition("-")[0] for path in root.glob(".venv/lib/*/site-packages/*.dist-info")
    }
    assert installed - {"pip"} == {*NEEDED, "hypersphere"}  # uv leaves pip alone

    # The control: without a name of its interpreter, uv would empty the system's.
    command = [str(root / ".venv" / "bin" / "uv"), "pip", "sync", "--dry-run", "requirements.lock"]
    would = subprocess.run(command, cwd=root, env=given, capture_output=True, text=True)
    assert "- kept==1.0" in would.stderr
