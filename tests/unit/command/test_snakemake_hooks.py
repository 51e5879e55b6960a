"""After a kill of Snakemake its locks are removed, and no living one's; Snakemake has what is replaced in it."""

import ast
import fcntl
import inspect
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere import files
from hypersphere.command import snakemake_hooks

SNAKEMAKE = """
import sys
from pathlib import Path
from hypersphere.command import snakemake_hooks
print(snakemake_hooks.join(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@contextmanager
def at_work(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that joins those at work in ``folder``, as the Snakefile does, and what it says; killed with -9."""
    command = [sys.executable, "-c", SNAKEMAKE, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def briefly(folder: Path) -> str:
    with at_work(folder) as (_, said):
        return said


def lock(folder: Path) -> Path:
    """Locks as a Snakemake at work has them; returns their folder."""
    locks = folder / ".snakemake" / "locks"
    files.write_text(locks / "0.output.lock", "results/a")
    return locks


def test_the_locks_of_a_killed_snakemake_are_removed(tmp_path: Path) -> None:
    with at_work(tmp_path) as (first, said):
        assert said == "None"
        locks = lock(tmp_path)
        with at_work(tmp_path) as (_, said):
            assert (
                said
                == f"another Snakemake is at work here: process {first.pid} of {platform.node()}"
            )
            first.kill()
            first.wait()
            # The controls: as long as one of them lives, nothing is removed, whichever came first.
            with at_work(tmp_path) as (third, said):
                assert said.startswith("another Snakemake is at work here: process")
            assert locks.exists()
    half = tmp_path / "results/quick/tables/.table5.csv.0a1b2c3d.part"
    training = tmp_path / "results/quick/runs/a/.resume.safetensors.0a1b2c3d.part"
    for path in (half, training):
        files.write_text(path, "half of")
    assert f"(process {third.pid}) was killed" in briefly(tmp_path)
    assert not locks.exists()
    assert not half.exists()
    assert training.exists()  # an orphan may still be writing it; the run tidies up under its lock


def test_where_nothing_can_be_locked_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = lock(tmp_path)
    files.write_json(tmp_path / ".snakemake" / "hypersphere.json", {"hosts": {platform.node(): 1}})
    monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError(95, "Operation not supported")))
    assert snakemake_hooks.join(tmp_path) is None
    assert locks.exists()


@pytest.mark.parametrize("hosts", [{}, {"another-host": 1, platform.node(): 2}])
def test_locks_that_may_be_of_another_machine_are_left_alone(
    tmp_path: Path, hosts: dict[str, int]
) -> None:
    """Our own lock may not be seen from there; nor is it known whose locks are that nobody recorded."""
    locks, record = lock(tmp_path), tmp_path / ".snakemake" / "hypersphere.json"
    files.write_json(record, {"hosts": hosts})
    for _ in range(2):  # nor by the next one, although it is we who came last
        assert briefly(tmp_path) == "None"
        assert locks.exists()
    shutil.rmtree(locks)  # `snakemake --unlock`
    briefly(tmp_path)
    lock(tmp_path)
    # the control: now all is known again
    assert "was killed: its locks are removed" in briefly(tmp_path)


def test_snakemake_has_every_name_that_is_read_or_replaced_in_it() -> None:
    """They are no documented interface: a release without one of them would stop every command."""
    from snakemake.api import DAGSettings, Workflow  # here, because the import takes seconds
    from snakemake_interface_executor_plugins.registry.plugin import Plugin
    from snakemake_interface_executor_plugins.settings import CommonSettings

    kinds: dict[str, type] = {
        "workflow": Workflow,
        "workflow.dag_settings": DAGSettings,
        "asked": DAGSettings,
    }
    kinds |= {"executor_plugin": Plugin, "about": CommonSettings}
    tree = ast.parse(Path(snakemake_hooks.__file__).read_text())
    read = [
        (ast.unparse(node.value), node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    ]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    replaced = [node.keywords for node in calls if ast.unparse(node.func) == "dataclasses.replace"]
    read += [("asked", str(keyword.arg)) for keywords in replaced for keyword in keywords]
    used = {(kinds[of], name) for of, name in read if of in kinds}
    assert {kind for kind, _ in used} == set(kinds.values())
    known = {
        kind: {*dir(kind), *getattr(kind, "__dataclass_fields__", ())} for kind in kinds.values()
    }
    lacks = sorted(f"{kind.__name__}.{name}" for kind, name in used if name not in known[kind])
    if "executor_plugin" not in inspect.signature(Workflow.execute).parameters:
        lacks.append("Workflow.execute(executor_plugin=...)")
    version = metadata.version("snakemake")
    assert not lacks, (
        f"Snakemake {version} has no {', '.join(lacks)}: rewrite command/snakemake_hooks.py, or pin an older one"
    )


BLAMED = (".snakemake", ".snakemake/log/a.log", ".snakemake/iocache/latest.pkl")


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("place", BLAMED)
def test_a_folder_of_snakemake_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, dry: bool
) -> None:
    """Read-only, of another user, on a full disk, or a file in its place: whatever the system says is passed on."""
    for function in ("_begin", "_foresee"):
        monkeypatch.setattr(snakemake_hooks, function, Mock())
    error = OSError(30, "Read-only file system", str(tmp_path / place))
    workflow = Mock(execute=Mock(side_effect=error))
    workflow.execute.__name__ = "execute"
    workflow.dag_settings.allowed_rules = ()
    snakemake_hooks.prepare(workflow, Mock(), Mock())
    plugin = Mock()
    plugin.common_settings.touch_exec, plugin.common_settings.dryrun_exec = False, dry
    with pytest.raises(SystemExit) as stopped:
        workflow.execute(plugin)
    words = "Read-only file system; Snakemake keeps its records there"
    assert stopped.value.code == f"hypersphere: {tmp_path / place}: {words}"
    # the control: of other files Snakemake says what it knows
    error.filename = str(tmp_path / "results" / "a")
    with pytest.raises(OSError, match="Read-only"):
        workflow.execute(plugin)
