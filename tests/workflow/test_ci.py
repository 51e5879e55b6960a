""".ci/run: which steps it takes, what it leaves out and says so, and that its check of the smoke scale can fail.

The steps themselves are stood in for by programs that write down what they are asked, which `make test-tools` has.
`.ci/choose.py` is read as it is.
"""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config import settings
from hypersphere.config.plan import Plan

from ..fixtures import Names
from ..golden.released import released
from .conftest import REPOSITORY, program

PROGRAMS = ("chromium", "slurmctld", "sshd")
"""What .ci/run installs where it is missing."""
DOCUMENTS = (
    *("quick-0/claims.csv", "quick-0/scorecard.html"),
    *(
        "report/index.html",
        "report/report.pdf",
        "report/claims.csv",
        "site/index.html",
        "site/report/index.html",
    ),
)
MAKE = """\
# A stand-in for make, for tests: it makes nothing, and writes down what it is asked, and in which shell.
echo "$*${MPLBACKEND:+ with MPLBACKEND}" >> asked.log
case "$*" in
plan*smoke*) echo "results/smoke-0" ;;
plan*) echo "results/quick-0" ;;
esac
"""
CHOSEN = "SET=leaves_out=[margins/table2]"
"""What the stand-in for .ci/choose.py prints."""
SOME = (
    *("setup", "lint", "test MARKS=not long", "pytest trained and not tools under avx2"),
    *("hypersphere rehearse --set scale=quick", f"reproduce {CHOSEN}", f"plan FOLDER=1 {CHOSEN}"),
    *(f"test-results {CHOSEN}", "site"),
    *("evidence SCALE=laptop with MPLBACKEND", "plan FOLDER=1 SCALE=laptop SET=evidence_only=true"),
)
ALL = (
    *("setup", "lint", "test MARKS=", "pytest trained and not tools under avx2"),
    *("reproduce", "plan FOLDER=1", "test-results", "site"),
    *("evidence SCALE=laptop with MPLBACKEND", "plan FOLDER=1 SCALE=laptop SET=evidence_only=true"),
)
"""What .ci/run asks for, without and with --all, where there is neither an archive nor another Python."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with .ci, stand-ins for programs, this interpreter as .venv/bin/python, and documents of quick."""
    root = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / ".ci", root / ".ci")
    for name in DOCUMENTS:
        program(root / "results" / name)
    for name in PROGRAMS:
        program(root / "bin" / name)
    for name in ("python3.11", "python3.12"):  # whatever this machine has
        program(root / "bin" / name, "exit 1")
    program(root / "bin" / "make", MAKE)
    program(root / "bin" / "lscpu", "echo Flags: avx2 avx512f")  # whatever this machine has
    program(
        root / ".venv" / "bin" / "pytest",
        'echo "pytest ${*#*-m } under $ATEN_CPU_CAPABILITY" >> asked.log',
    )
    program(root / ".venv" / "bin" / "hypersphere", 'echo "hypersphere $*" >> asked.log')
    choose = f'[ "$1" != .ci/choose.py ] || exec echo "{CHOSEN.removeprefix("SET=")}"'
    program(root / ".venv" / "bin" / "python", choose, f'exec "{sys.executable}" "$@"')
    return root


def run(
    checkout: Path, archives: Path, *options: str, **variables: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run .ci/run; what it said, and what it asked of programs."""
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": path,
        "HYPERSPHERE_TEST_SHARED": str(archives),
        "PYENV_ROOT": os.devnull,
    }
    for name in ("ATEN_CPU_CAPABILITY", "SINCE"):  # these tests may run under others themselves
        environment.pop(name, None)
    command = [checkout / ".ci" / "run", *options]
    done = subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, check=False
    )
    log = checkout / "asked.log"
    return done, log.read_text().splitlines() if log.exists() else []


@pytest.mark.tools
@pytest.mark.parametrize(("options", "asked_for"), [((), SOME), (("--all",), ALL)])
def test_without_archives_smoke_is_skipped_and_said_so(
    checkout: Path, tmp_path: Path, options: tuple[str, ...], asked_for: tuple[str, ...]
) -> None:
    done, asked = run(checkout, tmp_path / "nowhere", *options)
    assert done.returncode == 0, done.stderr
    assert f"skipped: there is no unpack.py in {tmp_path / 'nowhere'}" in done.stdout
    assert asked == [*asked_for]


@pytest.mark.tools
def test_another_system_is_refused_before_anything_is_asked(checkout: Path, tmp_path: Path) -> None:
    program(checkout / "bin" / "uname", "echo Darwin")
    done, asked = run(checkout, tmp_path / "nowhere")
    assert (done.returncode, asked) == (2, [])
    assert done.stderr.startswith(".ci/run: needs Linux; ")


@pytest.mark.tools
def test_a_missing_document_fails(checkout: Path, tmp_path: Path) -> None:
    (checkout / "results" / "quick-0" / "scorecard.html").write_text("")
    program(checkout / "bin" / "lscpu", "echo Flags: avx2")
    done, asked = run(checkout, tmp_path / "nowhere")
    # without AVX-512, tests of trained numbers have run
    assert asked[1:4] == [SOME[1], SOME[2], SOME[4]]
    assert done.returncode != 0
    assert "results/quick-0/scorecard.html: missing or empty" in done.stderr


@pytest.mark.tools
def test_another_option_and_a_commit_that_is_not_there_are_refused(
    checkout: Path, tmp_path: Path
) -> None:
    for options, variables, said in (
        (("--al",), {}, "usage: [SINCE=COMMIT] .ci/run [--all]\n"),
        ((), {"SINCE": "nonesuch"}, "SINCE: no commit 'nonesuch'\n"),
    ):
        done, asked = run(checkout, tmp_path / "nowhere", *options, **variables)
        assert (done.returncode, done.stderr, asked) == (2, said, [])


def commit(checkout: Path, *changed: str) -> str:
    """A commit, its name, of these files with new content; the first makes the repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments]
        return subprocess.run(
            command, cwd=checkout, check=True, capture_output=True, text=True
        ).stdout

    if not (checkout / ".git").is_dir():
        git("init")
    for name in changed:
        program(checkout / name, f"changed after {git('rev-list', '--all', '--count')}")
    git("add", ".")
    git("commit", "--allow-empty", "-m", "one")
    return git("rev-parse", "HEAD").strip()


@pytest.mark.tools
@pytest.mark.parametrize(
    ("changed", "asked_for", "left_out"),
    [
        (
            "README.md",
            set(),
            {"the tests of trained numbers under AVX2", "three tables of the smoke scale"},
        ),
        ("src/hypersphere/training/loop.py", {"pytest"}, {"three tables of the smoke scale"}),
        ("src/hypersphere/datasets/cifar.py", {"pytest", "reproduce SCALE=smoke"}, set()),
    ],
)
def test_what_is_about_files_that_did_not_change_is_left_out_and_said_so(
    checkout: Path, tmp_path: Path, changed: str, asked_for: set[str], left_out: set[str]
) -> None:
    before = commit(checkout)
    commit(checkout, changed)
    archives = tmp_path / "archives"
    program(archives / "unpack.py")
    (archives / "unpack.py").write_text("")
    done, asked = run(checkout, archives, SINCE=before)
    assert f"test MARKS=not long SINCE={before}" in asked
    for start in ("pytest", "reproduce SCALE=smoke"):
        assert any(line.startswith(start) for line in asked) == (start in asked_for)
    lines = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("left out: ") and "; since" in line
    ]
    named = {line.removeprefix("left out: ").partition(";")[0] for line in lines}
    assert named == left_out


@pytest.mark.tools
def test_by_default_changes_count_from_thirty_commits_ago(checkout: Path, tmp_path: Path) -> None:
    first = commit(checkout, "README.md")
    for _ in range(29):
        commit(checkout)
    assert SOME[2] in run(checkout, tmp_path / "nowhere")[1]  # too young to tell
    commit(checkout)
    assert f"{SOME[2]} SINCE={first}" in run(checkout, tmp_path / "nowhere")[1]


@pytest.mark.tools
@pytest.mark.parametrize(
    ("options", "tests"),
    [((), "pythons tests/unit/test_old.py"), (("--all",), "not long and not tools and not heavy")],
)
def test_tests_run_under_the_other_python_where_there_is_one(
    checkout: Path, tmp_path: Path, options: tuple[str, ...], tests: str
) -> None:
    """Without --all, only the files that have the marker are collected."""
    other = 23 - sys.version_info[1]
    program(checkout / "bin" / f"python3.{other}", f'[ -z "$2" ] || echo 3.{other}')
    program(
        checkout / ".venv" / "bin" / "pytest",
        f'echo "pytest ${{*#*-m }}" >> "{checkout}/asked.log"',
    )
    program(checkout / "tests" / "unit" / "test_old.py", "pytestmark = pytest.mark.pythons")
    program(checkout / "tests" / "unit" / "test_new.py")
    commit(checkout)
    done, asked = run(checkout, tmp_path / "nowhere", *options)
    assert done.returncode == 0, done.stderr
    assert f"pytest {tests}" in asked
    (setup,) = (line for line in asked if line.startswith("-C "))
    assert setup.endswith(f"/checkout setup PYTHON=python3.{other}")


@pytest.mark.tools
def test_with_the_archives_smoke_runs_on_them_and_is_checked(
    checkout: Path, tmp_path: Path
) -> None:
    """Nothing was trained here, so the check at the end has to fail."""
    archives = tmp_path / "archives"
    archives.mkdir()
    (archives / "unpack.py").write_text("import sys\nprint('unpacked into', sys.argv[1])\n")
    done, asked = run(checkout, archives)
    folder = done.stdout.split("unpacked into ")[1].split()[0]
    assert [line.split()[:2] for line in asked[-2:]] == [
        ["reproduce", "SCALE=smoke"],
        ["plan", "FOLDER=1"],
    ]
    assert f"data_root={folder}" in asked[-2]
    assert done.returncode != 0
    assert "check_smoke.py" in done.stderr
    assert done.stdout.count(f"unpacked into {folder}\n") == 2  # CIFAR-10 and CIFAR-100


def exercised(plan: Plan) -> dict[str, set[str]]:
    """What all artifacts of a plan exercise, by its cells."""
    cells = [cell for cell in plan.cells if cell.run is not None and not cell.missing]
    data = [one for cell in cells if cell.run for one in (cell.run.dataset, cell.target)]
    return {
        "methods": {cell.run.method.name for cell in cells if cell.run},
        "trainers": {cell.run.kind for cell in cells if cell.run},
        "probes": {cell.how.probe.name for cell in cells if cell.how},
        "sources": {one.source.name for one in data if one and one.source},
        "ways to draw": {
            plan.config.papers[paper].measured[name].draw for paper, name in plan.made_artifacts
        },
    }


def test_the_artifacts_of_quick_that_are_made_have_one_of_each_kind() -> None:
    """In the plan that the printed setting makes; by a quarter of its runs, or so."""
    quick = released("quick")
    script = runpy.run_path(str(REPOSITORY / ".ci" / "choose.py"))
    chosen = script["choose"](quick)
    setting = f"leaves_out=[{','.join(script['left_out'](quick, chosen))}]"
    some = planning.make(REPOSITORY, {"scale": "quick", **settings.parse([setting])})
    assert {*some.made_artifacts} == {*chosen} >= script["TESTED"]
    assert exercised(some) == exercised(quick)
    assert len(some.runs) < 110
    assert f"{len(some.runs)} of {len(quick.runs)} runs" in script["summary"](quick, chosen)


TABLE = "coordinates,measured_on,mean\na,cifar10_lt_tenth,23.3\nb,,\nc,cifar10_lt_tenth,20\n"
HARMS = {
    "": ("2 cells", "", ""),
    "no label": ("tables/embedding_norms/table5.md", "Not a reproduction", "A reproduction"),
    "an empty cell": ("tables/embedding_norms/table5.csv", "23.3", ""),
    "another dataset": ("tables/embedding_norms/table5.csv", "cifar10_lt_tenth", "digits"),
}
"""What is named, and which text is replaced by which."""


@pytest.mark.parametrize("harm", HARMS)
def test_a_complete_and_labelled_table_passes_and_no_other(
    tmp_path: Path, names: Names, harm: str
) -> None:
    folder = tmp_path / "tables" / "embedding_norms"
    folder.mkdir(parents=True)
    place, *change = HARMS[harm]
    for ending, text in {"csv": TABLE, "md": "Not a reproduction: smaller."}.items():
        (folder / f"table5.{ending}").write_text(text.replace(*change) if harm else text)
    command = [sys.executable, REPOSITORY / ".ci" / "check_smoke.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(harm), done.stderr
    names((done.stdout + done.stderr).strip(), place)
