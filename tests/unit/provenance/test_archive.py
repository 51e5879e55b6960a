"""An archive has equal bytes each time, holds what it should, and `sha256sum` checks it."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import archive

from ...conftest import PROJECT
from ...fixtures import Refused

RESULTS = {
    "claims.csv": "id,verdict\n",
    "tables/a/table1.csv": "1,2\n",
    "runs/one/encoder.safetensors": "weights",
    "runs/one/.lock": "",
    "batches/one.json": "{}",
}


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A committed project with results, in a folder of its own."""
    root = tmp_path / "project"
    shutil.copytree(PROJECT, root)
    (root / "CITATION.cff").write_text("version: 1.2.3\n")
    (root / "LICENSE").write_text("Everything is allowed.\n")
    (root / ".gitignore").write_text("/results/\n/*.zip*\n")
    (root / "run.sh").write_text("echo\n")
    (root / "run.sh").chmod(0o755)
    person = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    for command in (["init", "-q"], ["add", "-A"], [*person, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    plan = planning.make(root, {"scale": "tiny"})
    for name, text in RESULTS.items():
        path = plan.config.results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return plan


def names(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as file:
        return {name.partition("/")[2] for name in file.namelist() if not name.endswith("/")}


def test_it_holds_the_commit_the_results_and_their_description(plan: Plan) -> None:
    path = archive.pack(plan)
    assert path.name == "hypersphere-1.2.3-tiny.zip"
    listed = subprocess.run(["git", "ls-files"], cwd=plan.config.root, capture_output=True, text=True, check=True)
    results = {"results/tiny/claims.csv", "results/tiny/tables/a/table1.csv"}
    packed = names(path)
    assert packed == {*listed.stdout.split(), *results, "SHA256SUMS"}
    heavy = names(archive.pack(plan, weights=True))
    assert heavy - packed == {"results/tiny/runs/one/encoder.safetensors"}
    with zipfile.ZipFile(path) as file:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=plan.config.root, capture_output=True, check=True)
        assert file.comment == commit.stdout.strip()
        assert oct(file.getinfo("hypersphere-1.2.3-tiny/run.sh").external_attr >> 16) == "0o100755"
        file.extractall(plan.config.root.parent)
    folder = plan.config.root.parent / "hypersphere-1.2.3-tiny"
    checking = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    subprocess.run(checking, cwd=folder, capture_output=True, check=True)
    beside = ["sha256sum", "--strict", "-c", f"{path.name}.sha256"]
    subprocess.run(beside, cwd=plan.config.root, capture_output=True, check=True)
    (folder / "LICENSE").write_text("Nothing is.\n")  # the control
    assert subprocess.run(checking, cwd=folder, capture_output=True, check=False).returncode


def test_equal_contents_give_equal_bytes_whenever_and_wherever_they_are_packed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = archive.pack(plan).read_bytes()
    copy = tmp_path / "elsewhere" / "project"
    shutil.copytree(plan.config.root, copy, ignore=shutil.ignore_patterns("*.zip*"))
    for path in copy.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1, 1))
    again = planning.make(copy, {"scale": "tiny"})
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert archive.pack(again).read_bytes() == first
    (again.config.results / "claims.csv").write_text("id,verdict\nA,exact\n")  # the control
    assert archive.pack(again).read_bytes() != first


SPOILS: dict[str, Callable[[Plan], object]] = {
    "a file of someone else": lambda plan: (plan.config.results / "tables" / "secret.csv").symlink_to("/etc/hosts"),
    "a folder of someone else": lambda plan: (plan.config.results / "tables" / "home").symlink_to("/etc"),
    "a result's name": lambda plan: (plan.config.results / "tables" / os.fsdecode(b"caf\xe9.csv")).write_text("1\n"),
    "a file that is not committed": lambda plan: (plan.config.root / "new.txt").write_text("new"),
    "no results": lambda plan: (plan.config.results / "claims.csv").unlink(),
    "no commit": lambda plan: shutil.rmtree(plan.config.root / ".git"),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_is_not_sound_is_not_packed(plan: Plan, refused: Refused, spoil: str) -> None:
    SPOILS[spoil](plan)
    with refused():
        archive.pack(plan)
    assert not list(plan.config.root.glob("*.zip*"))
