""".ci/run: which steps it takes with and without the real CIFAR, and that its check of the smoke scale can fail.

The steps themselves are stood in for by a `make` that writes down what it is asked.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..fixtures import Approve
from .conftest import REPOSITORY, program

PROGRAMS = ("chromium", "slurmctld", "sshd")
"""What .ci/run installs where it is missing."""
DOCUMENTS = (
    *("quick-0/claims.csv", "quick-0/scorecard.html"),
    *("report/index.html", "report/report.pdf", "report/claims.csv", "site/index.html", "site/report/index.html"),
)
MAKE = """\
# A stand-in for make, for tests: it makes nothing, and writes down what it is asked, and in which shell.
echo "$*${MPLBACKEND:+ with MPLBACKEND}" >> asked.log
case "$*" in
plan*smoke*) echo "results/smoke-0" ;;
plan*) echo "results/quick-0" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with .ci, stand-ins for make and PROGRAMS, this interpreter as .venv/bin/python, documents of quick."""
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
    program(root / ".venv" / "bin" / "pytest", 'echo "pytest ${*#*-m } under $ATEN_CPU_CAPABILITY" >> asked.log')
    program(root / ".venv" / "bin" / "python", f'exec "{sys.executable}" "$@"')
    return root


def run(checkout: Path, archives: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run .ci/run; what it said, and what it asked of make."""
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HYPERSPHERE_TEST_SHARED": str(archives), "PYENV_ROOT": os.devnull}
    environment.pop("ATEN_CPU_CAPABILITY", None)  # these tests may run under another themselves
    done = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False)
    return done, (checkout / "asked.log").read_text().splitlines()


def test_without_the_archives_smoke_is_skipped_and_said_so_and_a_missing_document_fails(
    checkout: Path, tmp_path: Path
) -> None:
    done, asked = run(checkout, tmp_path / "nowhere")
    assert done.returncode == 0, done.stderr
    assert f"skipped: there is no unpack.py in {tmp_path / 'nowhere'}" in done.stdout
    assert [line.split(" SET=")[0] for line in asked] == [
        *("setup", "lint", "test MARKS=", "pytest trained and not tools under avx2"),
        *("reproduce", "plan FOLDER=1", "test-results", "site"),
        *("evidence SCALE=laptop with MPLBACKEND", "plan FOLDER=1 SCALE=laptop"),
    ]
    assert {line.split(" SET=")[1] for line in asked if " SET=" in line} == {"evidence_only=true"}
    (checkout / "results" / "quick-0" / "scorecard.html").write_text("")  # the control
    program(checkout / "bin" / "lscpu", "echo Flags: avx2")
    done, asked = run(checkout, tmp_path / "nowhere")
    assert asked[-4:-2] == ["lint", "test MARKS="]  # without AVX-512, tests of trained numbers have run
    assert done.returncode != 0
    assert "results/quick-0/scorecard.html: missing or empty" in done.stderr


@pytest.mark.parametrize(
    ("changed", "commits", "marks"),
    [
        ("README.md", 31, "not tools"),
        ("requirements.lock", 31, ""),
        ("workflow/rules/new.smk", 31, ""),
        ("README.md", 5, ""),  # too young to tell
    ],
)
def test_tests_of_tools_run_if_what_they_are_about_changed(
    checkout: Path, tmp_path: Path, changed: str, commits: int, marks: str
) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments]
        subprocess.run(command, cwd=checkout, check=True, capture_output=True)

    git("init")
    git("add", ".ci")
    for number in range(commits):
        git("commit", "--allow-empty", "-m", f"{number}")
    program(checkout / changed, "changed")
    git("add", changed)
    git("commit", "-m", "the change")
    done, asked = run(checkout, tmp_path / "nowhere")
    assert done.returncode == 0, done.stderr
    assert f"test MARKS={marks}" in asked
    assert ("left out: the tests of Snakemake" in done.stdout) == bool(marks)


def test_light_tests_run_under_the_other_python_where_there_is_one(checkout: Path, tmp_path: Path) -> None:
    other = 23 - sys.version_info[1]
    program(checkout / "bin" / f"python3.{other}", f'[ -z "$2" ] || echo 3.{other}')
    program(checkout / ".venv" / "bin" / "pytest", f'echo "pytest ${{*#*-m }}" >> "{checkout}/asked.log"')
    for command in ("init", "add .", "-c user.name=n -c user.email=e commit -m all"):
        subprocess.run(["git", *command.split()], cwd=checkout, check=True, capture_output=True)
    done, asked = run(checkout, tmp_path / "nowhere")
    assert done.returncode == 0, done.stderr
    assert "pytest not long and not tools and not heavy" in asked
    (setup,) = (line for line in asked if line.startswith("-C "))
    assert setup.endswith(f"/checkout setup PYTHON=python3.{other}")


def test_with_the_archives_smoke_runs_on_them_and_is_checked(checkout: Path, tmp_path: Path) -> None:
    """Nothing was trained here, so the check at the end has to fail."""
    archives = tmp_path / "archives"
    archives.mkdir()
    (archives / "unpack.py").write_text("import sys\nprint('unpacked into', sys.argv[1])\n")
    done, asked = run(checkout, archives)
    folder = done.stdout.split("unpacked into ")[1].split()[0]
    assert [line.split()[:2] for line in asked[-2:]] == [["reproduce", "SCALE=smoke"], ["plan", "FOLDER=1"]]
    assert f"data_root={folder}" in asked[-2]
    assert done.returncode != 0
    assert "check_smoke.py" in done.stderr
    assert done.stdout.count(f"unpacked into {folder}\n") == 2  # CIFAR-10 and CIFAR-100


TABLE = "coordinates,measured_on,mean\na,cifar10_lt_tenth,23.3\nb,,\nc,cifar10_lt_tenth,20\n"
HARMS = {
    "": ("", ""),
    "no label": ("Not a reproduction", "A reproduction"),
    "an empty cell": ("23.3", ""),
    "another dataset": ("cifar10_lt_tenth", "digits"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_complete_and_labelled_table_passes_and_no_other(tmp_path: Path, approve: Approve, harm: str) -> None:
    folder = tmp_path / "tables" / "embedding_norms"
    folder.mkdir(parents=True)
    for ending, text in {"csv": TABLE, "md": "Not a reproduction: smaller."}.items():
        (folder / f"table5.{ending}").write_text(text.replace(*HARMS[harm]) if harm else text)
    command = [sys.executable, REPOSITORY / ".ci" / "check_smoke.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(harm), done.stderr
    approve((done.stdout + done.stderr).strip())
