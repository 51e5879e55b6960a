"""What needs a Unix is named and refused elsewhere, and nothing else needs one. Windows is pretended here.

We have no other system to try it on (docs/untested.md).
"""

import ast
import runpy
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from hypersphere import foreign, systems
from hypersphere.command import preview
from hypersphere.training import pretrain

from ..conftest import ROOT
from ..fixtures import Refused

SOURCES = [*ROOT.glob("src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
OF_UNIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
"""Modules of the standard library whose pages say: Availability: Unix."""
CALLS = {"fork", "getpgid", "getuid", "kill", "killpg", "mkfifo", "sched_getaffinity", "setsid"}
"""Functions of ``os`` whose entries say so; and ``kill``, which Windows has, and which ends a process there."""
REFUSED_BEFORE = {
    "command/campaign.py": {"killpg"},  # as it calls Snakemake
    "command/snakemake_hooks.py": {"fcntl"},  # by workflow/Snakefile, before it is imported
    "provenance/stop.py": {"kill"},  # in jobs of Snakemake alone
}
"""What uses them, by its file, after it was refused elsewhere."""


def needing_unix(file: Path) -> set[str]:
    """What a file needs of a Unix: modules that it imports when it is imported, and functions of ``os``."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & OF_UNIX
        elif isinstance(node, ast.ImportFrom) and node.module in OF_UNIX:
            found.add(node.module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os":
            found |= {node.attr} & CALLS
    return found


def test_only_what_is_refused_elsewhere_needs_a_unix() -> None:
    package = ROOT / "src" / "hypersphere"
    found = {file: needs for file in SOURCES if (needs := needing_unix(file))}
    assert found == {package / name: needs for name, needs in REFUSED_BEFORE.items()}


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that says it runs on Windows."""
    monkeypatch.setattr(sys, "platform", "win32")


def test_snakemake_is_not_called(windows: None, refused: Refused) -> None:
    with refused("snakemake"):
        preview.calling({})


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_on_a_unix_it_is(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert systems.why_not("make") == ""
    assert "snakemake" in preview.calling({})


def test_snakemake_that_a_person_starts_stops_before_it_imports_what_only_a_unix_has() -> None:
    lines = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8").splitlines()
    asks = lines.index('if unfit := systems.why_not("snakemake"):')
    assert lines[asks + 1].strip().startswith("sys.exit(")
    assert asks < lines.index("from hypersphere.command import campaign, snakemake_hooks")


def test_make_is_refused_before_anything_is_installed(windows: None) -> None:
    setup = runpy.run_path(str(ROOT / "workflow" / "install.py"))
    setup["main"].__globals__["install"] = Mock(side_effect=AssertionError)
    assert setup["main"]() == systems.why_not("make") != ""


def test_a_process_starts_again_as_a_child_whose_status_it_has(
    windows: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder is one of the test's own, which the process enters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONINSPECT", "1")
    run = Mock(return_value=subprocess.CompletedProcess([], 7))
    monkeypatch.setattr(foreign.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["program", "a b"])
    with pytest.raises(SystemExit) as ended:
        foreign.start_again("-m", "program", folder=tmp_path)
    assert ended.value.code == 7
    assert run.call_args.args[0] == [sys.executable, "-m", "program", "a b"]


def test_memory_that_no_system_tells_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = torch.device("cpu")
    assert pretrain._peak_memory(processor) > 10  # the control: MiB of this process
    monkeypatch.setitem(sys.modules, "resource", None)
    assert pretrain._peak_memory(processor) == 0
