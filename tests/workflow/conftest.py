"""This checkout's code with the papers of tests/project: a copy whose pipeline ran once, and copies to change."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from hypersphere import foreign

from ..preloaded import Server

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = REPOSITORY / "tests" / "project"
"""Its config/, papers/ and paper/ stand where those of the real papers are: no row of theirs can break a test here."""
DATASETS = ("upright", "turned")
RUNS = 21
"""The norms paper trains five of SimCLR and SimSiam with two seeds on each dataset; the lecture trains one more."""
ALONE = "supervised-upright"
"""The batch of the lecture's run, which nothing else shows."""
Once = Callable[[Path, Callable[[], None]], None]
TRAINED = ("runs/*/*.safetensors", "runs/*/history.csv", "runs/*/run.yaml", "runs/*/snapshots/*")
MADE = (
    *("batches/*", "evaluations/**/*.csv", "statistics/**/*", "simulations/**/*", "*.csv"),
    *("tables/**/*", "figures/**/*", "*.html"),
)


@cache
def preloaded() -> Server:
    """One for each process of pytest. It imports nothing of the package: each copy of the repository has its own."""
    programs = ("snakemake.cli", "snakemake_executor_plugin_slurm", "dvc.cli", "dvc.repo")
    return Server(
        *programs, "pandas", "scipy.stats", "torch", "torchvision", "matplotlib.figure", "seaborn"
    )


@pytest.fixture(scope="session", autouse=True)
def _end_of_session() -> Iterator[None]:
    yield
    if preloaded.cache_info().currsize:
        preloaded().close()


class Job(NamedTuple):
    """One job of Snakemake's dry run."""

    rule: str
    output: str
    reason: str
    resources: dict[str, str]


def parse(text: str) -> list[Job]:
    """The jobs in the text of a dry run, without rules that only collect files and have no output."""
    jobs = []
    for block in re.split(r"\n(?=(?:local)?rule )", text)[1:]:
        rule = re.match(r"(?:local)?rule (\w+):", block)
        output = re.search(r"^    output: (.+)$", block, flags=re.MULTILINE)
        reason = re.search(r"^    reason: (.+)$", block, flags=re.MULTILINE)
        asked = re.findall(
            r"(\w+)=([^,\n]+)",
            "".join(re.findall(r"^    resources: (.+)$", block, flags=re.MULTILINE)),
        )
        if rule and output and reason:
            jobs.append(Job(rule[1], output[1], reason[1], dict(asked)))
    return jobs


@dataclass(frozen=True)
class Checkout:
    """A copy of the repository, and the commands that a person gives in it."""

    root: Path
    environment: dict[str, str]

    def run(
        self, *command: str, status: int = 0, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command here with the environment's interpreter and programs; it must end with that status."""
        environment = self.environment | variables
        # which is read when Python starts
        if command[0] == sys.executable and "PYTHONPATH" not in variables:
            done = preloaded().run(command[1:], self.root, environment)
        else:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
            )
        assert done.returncode == status, (
            f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done

    def snakemake(
        self, *options: str, status: int = 0, settings: tuple[str, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        config = ["--config", *settings] if settings else []
        return self.run(
            sys.executable, "-m", "snakemake", *options, *config, status=status, **variables
        )

    def dry_run(self, *options: str, settings: tuple[str, ...] = (), **variables: str) -> str:
        """What Snakemake's own logger says of a dry run: reasons too, silent in the profile."""
        command = ("--dry-run", "--cores", "2", "--quiet", "host", *options)
        done = self.snakemake(*command, settings=settings, **variables)
        return done.stdout + done.stderr

    def jobs(self, *options: str, settings: tuple[str, ...] = (), **variables: str) -> list[Job]:
        text = self.dry_run(*options, settings=settings, **variables)
        found = parse(text)
        # A parser that finds nothing would make every "nothing reruns" below true.
        assert found or "Nothing to be done" in text, text
        return found

    def hypersphere(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        return self.run(
            sys.executable, str(self.root / "src" / "hypersphere"), *arguments, status=status
        )

    @property
    def results(self) -> Path:
        """The results of the scale that config.yaml asks for."""
        return self.root / "results" / "quick"

    def run_folder(self, start: str) -> Path:
        """The folder of the run whose name begins so."""
        (path,) = self.results.glob(f"runs/{start}-*")
        return path

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which must be in the file."""
        path = self.root / file
        text = path.read_text()
        assert old in text, f"{file} no longer holds {old!r}: this test must follow it"
        path.write_text(text.replace(old, new))

    def files(self, *patterns: str) -> dict[str, bytes]:
        """Content of the files of the results folder that match one of the patterns, by path."""
        paths = sorted(
            {path for pattern in patterns for path in self.results.glob(pattern) if path.is_file()}
        )
        return {path.relative_to(self.results).as_posix(): path.read_bytes() for path in paths}

    def content(self) -> dict[str, bytes]:
        """Every file that is the same wherever and however often it is made: a run's manifest says how long it took."""
        arrays = [path for path in self.root.glob("data/processed/*/*/*")]
        return self.files(*TRAINED, *MADE) | {
            str(path.relative_to(self.root)): path.read_bytes() for path in arrays
        }

    def equipped(self, python: str | None = None) -> "Checkout":
        """The same with programs in .venv/bin, as `make` looks for them; by default they start in milliseconds."""
        for name, module in (
            ("hypersphere", f"{self.root}/src/hypersphere"),
            ("snakemake", "-m snakemake"),
        ):
            program(
                self.root / ".venv" / "bin" / name,
                f'exec {python or preloaded().python} {module} "$@"',
            )
        set_up(self.root)
        path = f"{self.root / '.venv' / 'bin'}{os.pathsep}{self.environment['PATH']}"
        return Checkout(self.root, self.environment | {"PATH": path})


def states(root: Path) -> dict[str, tuple[int, int]]:
    """Time and size of every file that is not Snakemake's own."""
    paths = [path for path in root.rglob("*") if path.is_file() and ".snakemake" not in path.parts]
    known = {
        path.relative_to(root).as_posix(): path.stat() for path in paths if path.suffix != ".pyc"
    }
    return {name: (about.st_mtime_ns, about.st_size) for name, about in known.items()}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    """Names on one side only, or with other bytes."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def set_up(root: Path) -> None:
    """Have `make` find .venv as if it had set it up: with a Python, by default this one, and what it notes of it."""
    if not (root / ".venv" / "bin" / "python").exists():
        program(root / ".venv" / "bin" / "python", f'exec "{sys.executable}" "$@"')
    setup = runpy.run_path(str(root / "workflow" / "install.py"))
    setup["STAMP"].write_text(json.dumps(setup["made_of"]()))


def rules(jobs: list[Job]) -> Counter[str]:
    return Counter(job.rule for job in jobs)


def batches(jobs: list[Job], rule: str) -> set[str]:
    """The batches, or datasets of raw pixels, that a rule's jobs work on, without the digest of their names."""
    names = (Path(job.output).name.partition(".")[0] for job in jobs if job.rule == rule)
    return {re.sub(r"-[0-9a-f]{8}$", "", name) for name in names}


def clone(source: Path, target: Path) -> None:
    """Copy what git tracks or does not ignore, with its times; config is that of tests/project."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True).stdout
    replaced = ("tests/", "config/", "papers/", "evidence/")
    for name in filter(None, listed.split("\0")):
        if (source / name).is_file() and not name.startswith(replaced):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)
    shutil.copytree(PROJECT, target, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """This interpreter's programs first, and no setting of other programs: test_hands.py sets them."""
    others = ("PYTEST", "PYTHON", "SNAKEMAKE", "MAKE")
    dropped = foreign.names_in(os.environ)
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(others) and key not in dropped
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return kept | {"PATH": path}


@pytest.fixture(scope="session")
def fresh(environment: dict[str, str], shared: Path, once: Once) -> Checkout:
    """A copy in which nothing has run. Tests only read it, or dry-run in it."""
    made = Checkout(shared / "fresh", environment)
    once(made.root, lambda: clone(REPOSITORY, made.root))
    return made


@pytest.fixture(scope="session")
def finished(fresh: Checkout, shared: Path, once: Once) -> Checkout:
    """A copy in which everything ran, two jobs at a time. Tests only read it, or dry-run in it."""
    made = Checkout(shared / "finished", fresh.environment)
    once(made.root, lambda: another(fresh, made.root, ".snakemake").snakemake("--cores", "2"))
    return made


def another(place: Checkout, root: Path, *without: str) -> Checkout:
    """The same checkout at another place; a fresh one without `.snakemake`, where other tests' dry runs may write."""
    shutil.copytree(place.root, root, symlinks=True, ignore=shutil.ignore_patterns(*without))
    return Checkout(root, place.environment)


@pytest.fixture(scope="session")
def released(finished: Checkout, shared: Path, once: Once) -> Checkout:
    """The published checkout; tests only read it."""
    from .released import publish

    return publish(finished, shared / "released", once)


@pytest.fixture
def copy(finished: Checkout, tmp_path: Path) -> Checkout:
    """The finished copy again, for one test to change."""
    return another(finished, tmp_path / "checkout")


@pytest.fixture
def place(fresh: Checkout, tmp_path: Path) -> Checkout:
    """A checkout of its own in which nothing has run."""
    return another(fresh, tmp_path / "checkout", ".snakemake")


def scale_on_real_images(place: Checkout) -> None:
    """Add a scale laptop with the numbers of quick, and what papers change there."""
    scales = place.root / "config" / "scales"
    quick = (scales / "quick.yaml").read_text()
    (scales / "laptop.yaml").write_text(
        re.sub(r"^(scale|level): quick", r"\1: laptop", quick, flags=re.MULTILINE)
    )
    for of_paper in place.root.glob("papers/*/scales/quick.yaml"):
        shutil.copy(of_paper, of_paper.with_name("laptop.yaml"))


@pytest.fixture
def laptop(copy: Checkout) -> Checkout:
    """A finished copy, with a scale laptop of the same runs, which are recorded."""
    made = copy.equipped()
    scale_on_real_images(made)
    for folder in ("runs", "evaluations", "batches"):
        shutil.copytree(made.results / folder, made.root / "results" / "laptop" / folder)
    names = [
        path.name
        for path in sorted((made.results / "runs").iterdir())
        if not path.name.startswith(".")
    ]
    made.hypersphere("pack", *names, "--set", "scale=laptop")
    return made
