"""``pytest --since COMMIT``: leave out, and name, the tests of what nothing changed since then.

A paper's tests need a change of the paper or of the engine, as do those of a plug-in; a test of other people's programs
needs a change of what it is about. All other tests run. ``make test SINCE=COMMIT`` and ``.ci/run`` select so.
"""

import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
OWN = ("papers", "plugins")
"""Folders of folders, each with tests of its own in ``tests``."""
WORDS = ("docs", "paper", "benchmarks")
"""Folders that no code of a paper or a plug-in reads."""
PIPELINE = (
    "requirements.lock",
    "Snakefile",
    "workflow",
    "tests/project",
    "tests/preloaded.py",
    "tests/workflow/conftest.py",
)
"""A rebuild by Snakemake in the tests' small project."""
RELEASED = (
    *PIPELINE,
    "dvc.yaml",
    ".dvc",
    ".dvcignore",
    "src/hypersphere/command/store.py",
    "src/hypersphere/command/restore.py",
    "tests/workflow/released.py",
)
"""The same, published with DVC."""
ABOUT = {
    "conda": (*PIPELINE, "environment.yml", "tests/workflow/stand_ins/conda"),
    "dag": (
        *PIPELINE,
        "src/hypersphere/command/dag.py",
        "src/hypersphere/command/dag.yaml",
    ),
    "dvc": RELEASED,
    "facts": ("requirements.lock",),
    "generic": (
        *PIPELINE,
        "profiles/generic",
        "docs/cluster.md",
        "tests/workflow/stand_ins/queues",
    ),
    "profiles": (*PIPELINE, "profiles"),
    "restore": (*RELEASED, "src/hypersphere/provenance/archive.py", "tests/workflow/served.py"),
    "setup": (
        "requirements.lock",
        "pyproject.toml",
        "Makefile",
        "workflow/install.py",
        "src/hypersphere/foreign.txt",
        "src/hypersphere/systems.py",
    ),
    "slurm": (
        *PIPELINE,
        "profiles/slurm",
        "tests/workflow/one_node_slurm.py",
        "tests/workflow/slurm.conf",
    ),
}
"""What each test of other people's programs, tests/workflow/test_<name>.py, is about."""


def within(path: str, folder: str) -> bool:
    """Whether a path, relative to the repository, is a file or folder, or is in it."""
    return Path(path).is_relative_to(folder)


def is_engine(path: str) -> bool:
    """Whether a changed file may change what any paper or plug-in does: all may but those known to be about less."""
    if path.endswith(".md"):
        return False
    folder, *rest = Path(path).parts
    if folder in OWN:
        return len(rest) < 2  # a file beside the papers is about all of them
    tools = [f"tests/workflow/test_{name}.py" for name in ABOUT]
    return folder not in WORDS and path not in tools


def lenders(folder: Path) -> set[str]:
    """The papers whose methods a paper borrows, as ``borrows`` of its paper.yaml says."""
    file = folder / "paper.yaml"
    declared = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {f"papers/{name}" for name in (declared.get("borrows") or {}).values()}


def plug_ins(folder: Path) -> set[str]:
    """The plug-ins that a paper's exact studies need, as ``NEEDS`` of their compute.py says."""
    found = set()
    for file in folder.glob("studies/*/compute.py"):
        if named := re.search(
            r'^NEEDS = "hypersphere_(\w+)"$', file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            found.add(f"plugins/{named[1]}")
    return found


def left_out(changed: Collection[str], root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """The paths of tests that changed files leave out, relative to ``root``, and why."""
    engine = any(map(is_engine, changed))
    for tests in sorted(path for name in OWN for path in root.glob(f"{name}/*/tests")):
        own = tests.parent.relative_to(root).as_posix()
        subjects = {own} | lenders(tests.parent) | plug_ins(tests.parent)
        touched = any(within(path, subject) for path in changed for subject in subjects)
        if not engine and not touched:
            yield f"{own}/tests", f"neither the engine nor {' or '.join(sorted(subjects))} changed"
    for name, subjects in ABOUT.items():
        test = f"tests/workflow/test_{name}.py"
        if not any(within(path, subject) for path in changed for subject in (test, *subjects)):
            yield test, f"none of {', '.join(subjects)} changed"


def changed_since(commit: str, root: Path = ROOT) -> list[str]:
    """The files that differ from a commit's, those that git does not know yet among them."""
    found: list[str] = []
    for command in (
        ["diff", "--name-only", "--no-renames", commit],
        ["ls-files", "--others", "--exclude-standard"],
    ):
        done = subprocess.run(
            ["git", *command, "--"], cwd=root, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise pytest.UsageError(f"--since {commit}: {done.stderr.strip()}")
        found += done.stdout.splitlines()
    return found


LEFT_OUT = pytest.StashKey[dict[Path, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--since", metavar="COMMIT", help="leave out tests of what did not change since a commit"
    )


def pytest_configure(config: pytest.Config) -> None:
    commit = config.getoption("--since")
    reasons = left_out(changed_since(commit)) if commit else ()
    config.stash[LEFT_OUT] = {ROOT / path: reason for path, reason in reasons}


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [
        f"left out: {path.relative_to(ROOT)}: {why}" for path, why in config.stash[LEFT_OUT].items()
    ]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path in config.stash[LEFT_OUT] else None
