"""An archive has equal bytes each time, holds results and nothing else, and `sha256sum` checks it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import archive, contents

from ...conftest import PROJECT, ROOT
from ...fixtures import Refused
from ...harm import HARMS

NAME = "hypersphere-1.2.3-tiny"
KINDS = {
    "a figure": "figures/embedding_norms/norms_over_epochs.png",
    "a table": "tables/embedding_norms/table5.tex",
    "a tidy table": "statistics/embedding_norms/table5/summary.csv",
    "an artifact's claims": "statistics/embedding_norms/table5/claims.csv",
    "all claims": "claims.csv",
    "a proof": "theory.csv",
    "a study": "simulations/embedding_norms/answers.csv",
    "the page": "scorecard.html",
    "an evaluation": "evaluations/pixels-upright/*.csv",
    "weights": "runs/*/encoder.safetensors",
    "a manifest": "statistics/embedding_norms/table5/manifest.json",
    "a run's manifest": "runs/*/manifest.json",
}
"""Results of every kind, by pattern."""
LISTED = {
    "claims.json": ["claims.csv"],
    "theory.json": ["theory.csv"],
    "theory_claims.json": ["theory_claims.csv"],
    "scorecard.manifest.json": ["scorecard.html", "scorecard.json"],
}
"""What the manifests of the results folder itself list."""


def names_of(manifest: Path, plan: Plan) -> list[str]:
    """Files that a manifest of its place lists."""
    results = plan.config.results
    if manifest.parent == results:
        return LISTED[manifest.name]
    if manifest.parent.is_relative_to(results / "runs"):
        return ["encoder.safetensors", "history.csv"]
    if manifest.is_relative_to(results / "figures"):
        return [f"{manifest.stem}.{form}" for form in ("svg", "png", "csv")]
    if manifest.is_relative_to(results / "tables"):
        return [f"{manifest.stem}.{form}" for form in ("csv", "md", "tex")]
    return ["summary.csv", "answers.csv"] if manifest.name == MANIFEST else [f"{manifest.stem}.csv"]


def fill(plan: Plan) -> None:
    """Every manifest that the plan has, with files, none of them from a computation."""
    for manifest in contents.manifests(plan, weights=True):
        listed = names_of(manifest, plan)
        beside = ["run.yaml", "timing.csv"] if manifest.parent.parent.name == "runs" else []
        for name in (*listed, *beside):
            files.write_text(manifest.parent / name, f"content of {manifest.stem} {name}\n")
        checksums = {name: files.sha256(manifest.parent / name) for name in (*listed, *beside)}
        content = {"files": {name: checksums[name] for name in listed}}
        content |= {"beside": {name: checksums[name] for name in beside}} if beside else {}
        files.write_sealed(manifest, content)
    for name in ("runs/.lock", "batches/one.json"):
        files.write_text(plan.config.results / name, "{}")


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed project with results."""
    root = tmp_path_factory.mktemp("committed") / "project"
    shutil.copytree(PROJECT, root)
    shutil.copy(ROOT / ".gitignore", root)
    (root / "CITATION.cff").write_text("version: 1.2.3\n")
    (root / "LICENSE").write_text("Everything is allowed.\n")
    (root / "run.sh").write_text("echo\n")
    (root / "run.sh").chmod(0o755)
    person = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    for command in (["init", "-q"], ["add", "-A"], [*person, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    fill(planning.make(root, {"scale": "tiny"}))
    return root


@pytest.fixture
def plan(committed: Path, tmp_path: Path) -> Plan:
    """A copy of it, to change."""
    shutil.copytree(committed, tmp_path / "project")
    return planning.make(tmp_path / "project", {"scale": "tiny"})


def names(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as file:
        return {name.partition("/")[2] for name in file.namelist() if not name.endswith("/")}


def results_in(plan: Plan, *without: str) -> set[str]:
    """The files of the results folder as the archive names them, but for locks, markers and the folders ``without``."""
    results = plan.config.results
    found = {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}
    left = ("batches/", *(f"{name}/" for name in without))
    return {
        f"results/tiny/{name}"
        for name in found
        if not name.startswith(left) and not name.endswith(".lock")
    }


def parts(plan: Plan) -> list[Path]:
    """What half an archive would leave."""
    return list(plan.config.root.glob(".hypersphere-*"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "CITATION.cff: the file is missing"), ("version: ../1\n", "cannot name a file")],
)
def test_a_version_that_names_no_file_is_refused(
    plan: Plan, content: str | None, said: str
) -> None:
    citation = plan.config.root / "CITATION.cff"
    citation.unlink() if content is None else citation.write_text(content)
    with pytest.raises(HypersphereError, match=said):
        archive.pack(plan)


def test_it_holds_the_commit_the_results_and_their_description(plan: Plan) -> None:
    path = archive.pack(plan)
    assert path.name == f"{NAME}.zip"
    listed = subprocess.run(
        ["git", "ls-files"], cwd=plan.config.root, capture_output=True, text=True, check=True
    )
    packed = names(path)
    about = {"SHA256SUMS", "ro-crate-metadata.json"}
    assert packed == {*listed.stdout.split(), *results_in(plan, "runs"), *about}
    assert packed > {f"results/tiny/{name}" for of in LISTED.values() for name in of}  # the control
    heavy = names(archive.pack(plan, weights=True))
    assert heavy == {*listed.stdout.split(), *results_in(plan), *about}
    assert {Path(name).name for name in heavy - packed} >= {
        "encoder.safetensors",
        "run.yaml",
        "timing.csv",
    }
    with zipfile.ZipFile(path) as file:
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=plan.config.root, capture_output=True, check=True
        )
        assert file.comment == commit.stdout.strip()
        assert oct(file.getinfo(f"{NAME}/run.sh").external_attr >> 16) == "0o100755"
    archive.pack(plan)
    with zipfile.ZipFile(path) as file:
        file.extractall(plan.config.root.parent)
    folder = plan.config.root.parent / NAME
    checking = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    subprocess.run(checking, cwd=folder, capture_output=True, check=True)
    beside = ["sha256sum", "--strict", "-c", f"{path.name}.sha256"]
    subprocess.run(beside, cwd=plan.config.root, capture_output=True, check=True)
    (folder / "LICENSE").write_text("Nothing is.\n")  # the control
    assert subprocess.run(checking, cwd=folder, capture_output=True, check=False).returncode


def test_equal_contents_give_equal_bytes_whenever_and_wherever_they_are_packed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another folder, order of creation, time zone, language and umask, with other times and rights."""
    first = archive.pack(plan).read_bytes()
    copy = tmp_path / "elsewhere" / "project"
    shutil.copytree(plan.config.root, copy, ignore=shutil.ignore_patterns("*.zip*", "results"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "C")
    before = os.umask(0o077)
    try:
        for path in sorted(plan.config.results.rglob("*"), reverse=True):
            if path.is_file():
                other = copy / path.relative_to(plan.config.root)
                files.write_text(other, path.read_text())
        for path in copy.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, (1, 1))
        again = planning.make(copy, {"scale": "tiny"})
        assert archive.pack(again).read_bytes() == first
    finally:
        os.umask(before)
    claims = again.config.results / "claims.csv"  # the control
    claims.write_text("id,verdict\nA,exact\n")
    files.write_sealed(claims.with_suffix(".json"), {"files": {"claims.csv": files.sha256(claims)}})
    assert archive.pack(again).read_bytes() != first


# What is no result


def listening(path: Path) -> None:
    """A socket that a program left; its short name is relative, because the system takes no long one."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(here)


def secret(path: Path) -> None:
    files.write_text(path, "secret=1\n")


def leading(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


OTHERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a setting": (".env", secret),
    "a password": ("tables/embedding_norms/.netrc", secret),
    "a key": ("figures/id_rsa", secret),
    "a half-written file": ("tables/embedding_norms/.table5.csv.0a1b2c3d.part", secret),
    "a note": ("statistics/note.txt", secret),
    "an editor's copy": ("claims.csv~", secret),
    "a table of a document that is gone": ("tables/gone/table1.csv", secret),
    "an evaluation that nobody asks for": ("evaluations/pixels-upright/00000000.csv", secret),
    "a state that a kill left": ("runs/{run}/unfinished-0a1b2c3d/resume.safetensors", secret),
    "a run of another plan": ("runs/other/encoder.safetensors", secret),
    "a link to a file": ("tables/hosts.csv", leading("/etc/hosts")),
    "a link to a folder": ("tables/etc", leading("/etc")),
    "a link to itself": ("tables/round", leading(".")),
    "a link to nothing": ("tables/gone.csv", leading("nowhere")),
    "a pipe": ("figures/pipe", os.mkfifo),
    "a socket": ("figures/socket", listening),
    "a name that is no text": (os.fsdecode(b"tables/caf\xe9.csv"), secret),
    "a name of two lines": ("tables/a\nleft in.csv", secret),
}
"""What can lie among results, by its place and how it comes there."""


@pytest.mark.parametrize("other", OTHERS)
def test_what_no_manifest_lists_is_named_and_left_out(
    plan: Plan, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = archive.pack(plan, weights=True).read_bytes()
    assert capsys.readouterr().err == ""
    name, lay = OTHERS[other]
    path = plan.config.results / name.format(run=next(iter(plan.runs)))
    path.parent.mkdir(parents=True, exist_ok=True)
    lay(path)
    assert archive.pack(plan, weights=True).read_bytes() == first
    (said,) = capsys.readouterr().err.splitlines()
    place = said.removeprefix("left out: ").removesuffix(": no manifest lists it")
    assert archive.in_one_line(str(path)).startswith(
        archive.in_one_line(str(plan.config.root / place))
    )
    assert len(Path(place).parts) > 2  # below the results folder


def test_a_sealed_manifest_of_something_else_lists_no_result(plan: Plan) -> None:
    first = archive.pack(plan).read_bytes()
    folder = plan.config.results / "tables" / "gone"
    secret(folder / "table1.csv")
    files.write_sealed(
        folder / "table1.json", {"files": {"table1.csv": files.sha256(folder / "table1.csv")}}
    )
    assert archive.pack(plan).read_bytes() == first


@pytest.mark.parametrize("name", ["run.yaml", "timing.csv"])
def test_what_stands_beside_a_run_is_packed_as_it_was_written(
    plan: Plan, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plan.run_folder(next(iter(plan.runs))) / name
    place = path.relative_to(plan.config.root).as_posix()
    assert place in names(archive.pack(plan, weights=True))
    path.write_text("something else\n")
    assert place not in names(archive.pack(plan, weights=True))
    assert capsys.readouterr().err == f"left out: {place}: no manifest lists it\n"


# What is not as its manifest says


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_result_of_any_kind_is_named_and_no_archive_appears(
    plan: Plan, harm: str
) -> None:
    for kind, pattern in KINDS.items():
        path = sorted(plan.config.results.glob(pattern))[0]
        whole = path.read_bytes()
        HARMS[harm](path)
        with pytest.raises(archive.HypersphereError) as caught:
            archive.pack(plan, weights=True)
        assert str(path) in str(caught.value), kind
        assert not list(plan.config.root.glob("*.zip*"))
        assert parts(plan) == []
        path.write_bytes(whole)
    assert archive.pack(plan, weights=True).exists()  # the control


def replace(make: Callable[[Path], object]) -> Callable[[Plan], None]:
    """In the place of a table is something else."""

    def spoil(plan: Plan) -> None:
        path = plan.config.results / KINDS["a table"]
        path.unlink()
        make(path)

    return spoil


SPOILS: dict[str, tuple[str, Callable[[Plan], object]]] = {
    "a flipped bit": (
        "project/results/tiny/tables/embedding_norms/table5.tex",
        lambda plan: HARMS["flipped"](plan.config.results / KINDS["a table"]),
    ),
    "a missing file": (
        "project/results/tiny/figures/embedding_norms/norms_over_epochs.png",
        lambda plan: HARMS["missing"](plan.config.results / KINDS["a figure"]),
    ),
    "an altered manifest": (
        "project/results/tiny/statistics/embedding_norms/table5/manifest.json",
        lambda plan: HARMS["flipped"](plan.config.results / KINDS["a manifest"]),
    ),
    "a missing manifest": (
        "project/results/tiny/scorecard.manifest.json",
        lambda plan: HARMS["missing"](plan.config.results / "scorecard.manifest.json"),
    ),
    "a link to other bytes": (
        "project/results/tiny/tables/embedding_norms/table5.tex",
        replace(leading("/etc/hosts")),
    ),
    "a pipe for a file": (
        "project/results/tiny/tables/embedding_norms/table5.tex",
        replace(os.mkfifo),
    ),
    "a folder for a file": (
        "project/results/tiny/tables/embedding_norms/table5.tex",
        replace(Path.mkdir),
    ),
    "half a table of records": (
        "project/results/tiny/evidence/runs.csv: line 1",
        lambda plan: secret(plan.config.results / "evidence" / "runs.csv"),
    ),
    "a file that is not committed": (
        "project/new.txt",
        lambda plan: (plan.config.root / "new.txt").write_text("new"),
    ),
    "no results": ("project/results/tiny", lambda plan: shutil.rmtree(plan.config.results)),
    "no commit": ("project", lambda plan: shutil.rmtree(plan.config.root / ".git")),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_is_not_sound_is_not_packed(plan: Plan, refused: Refused, spoil: str) -> None:
    place, harm = SPOILS[spoil]
    harm(plan)
    with refused(place):
        archive.pack(plan)
    assert not list(plan.config.root.glob("*.zip*"))


# Where results are links


LINKED = (
    "results",
    "results/tiny",
    "results/tiny/tables",
    "results/tiny/claims.csv",
    "data",
    "logs",
    ".snakemake",
)


@pytest.mark.parametrize("place", LINKED)
def test_results_that_lie_elsewhere_are_packed_as_they_are(
    plan: Plan, tmp_path: Path, place: str
) -> None:
    """A person links them, or the folders beside them, to a larger disk."""
    first = archive.pack(plan).read_bytes()
    here, there = plan.config.root / place, tmp_path / "scratch"
    if here.exists():
        shutil.move(here, there)
    else:
        there.mkdir()
    if place == "data":  # of which git has files: only what is ignored lies elsewhere
        shutil.move(there, here)
        here, there = here / "raw", tmp_path / "raw"
        there.mkdir()
    here.symlink_to(there)
    assert archive.pack(plan).read_bytes() == first


# Kills, and others at work


def killing(
    patch: pytest.MonkeyPatch, where: Any, name: str, calls: int, after: bool = False
) -> None:
    """The process is killed with -9 at a call of a function; ``after``: at its end."""
    real, left = getattr(where, name), [calls]

    def killed(*arguments: Any, **keywords: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **keywords)
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    patch.setattr(where, name, killed)


MOMENTS: dict[str, tuple[Any, str, int, bool]] = {
    "when the commit is written": (archive, "git", 4, True),
    "at the first result": (archive, "_checked_bytes", 1, False),
    "in the middle": (archive, "_checked_bytes", 9, False),
    "before it has its name": (os, "replace", 1, False),
    "when it has its name": (os, "replace", 1, True),
    "before its checksum has its name": (os, "replace", 2, False),
}


@pytest.mark.parametrize(
    ("moment", "older"), [*((moment, True) for moment in MOMENTS), ("in the middle", False)]
)
def test_a_kill_at_any_moment_leaves_nothing_that_blocks_the_next(
    plan: Plan, moment: str, older: bool
) -> None:
    copy = plan.config.root.parent / "copy"
    shutil.copytree(plan.config.root, copy)
    whole = archive.pack(planning.make(copy, {"scale": "tiny"})).read_bytes()
    target = plan.config.root / f"{NAME}.zip"
    if older:
        archive.pack(plan)
    if not (child := os.fork()):
        where, name, calls, after = MOMENTS[moment]
        killing(pytest.MonkeyPatch(), where, name, calls, after)
        archive.pack(plan)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL  # the control
    assert target.exists() == (older or moment in [*MOMENTS][-2:])
    assert not target.exists() or target.read_bytes() == whole
    assert archive.pack(plan).read_bytes() == whole
    assert parts(plan) == []
    beside = ["sha256sum", "--strict", "-c", f"{NAME}.zip.sha256"]
    subprocess.run(beside, cwd=plan.config.root, capture_output=True, check=True)


def test_two_at_once_do_not_disturb_each_other(plan: Plan, refused: Refused) -> None:
    half = plan.config.root / f".{NAME}.zip.0a1b2c3d.part"
    half.write_text("half of")
    with FileLock(plan.config.root / ".git" / "hypersphere-archive.lock"):
        with refused("project/hypersphere-1.2.3-tiny.zip"):
            archive.pack(plan)
        assert half.exists()
    archive.pack(plan)  # the control
    assert not half.exists()


# What git says


def test_a_checkout_of_another_user_is_said_with_what_to_type(
    plan: Plan, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with refused("project"):
        archive.pack(plan)


def test_the_command_prints_the_archive_alone_whatever_a_hook_of_git_exports(
    plan: Plan, tmp_path: Path
) -> None:
    first = archive.pack(plan).read_bytes()
    secret(plan.config.results / ".env")
    command = [sys.executable, str(ROOT / "src" / "hypersphere"), "archive", "--set", "scale=tiny"]
    hook = dict.fromkeys(
        ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"), str(tmp_path / "elsewhere")
    )
    done = subprocess.run(
        command,
        cwd=plan.config.root,
        env=os.environ | hook,
        capture_output=True,
        text=True,
        check=True,
    )
    assert archive.pack(plan).read_bytes() == first
    assert done.stdout == f"{plan.config.root / f'{NAME}.zip'}\n"
    assert done.stderr == "left out: results/tiny/.env: no manifest lists it\n"
