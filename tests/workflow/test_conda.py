"""`--sdm conda` and `--use-conda` work where conda exists (docs/conda.md).

No conda is needed here, and none is tried: a stand-in answers in its place and solves nothing (stand_ins/conda). What
is tested is what Snakemake hands to conda, and how a job starts in an environment that does not hold the package.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import Checkout

pytestmark = pytest.mark.tools

SPELLINGS = (("--use-conda",), ("--sdm", "conda"))
BATCH = "simsiam-upright"


@dataclass(frozen=True)
class StandIn:
    """A copy of the stand-in for conda, which keeps what it is asked and handed."""

    home: Path

    def first(self, path: str) -> str:
        """``path`` with this conda in front."""
        return f"{self.home / 'bin'}{os.pathsep}{path}"

    @property
    def created(self) -> int:
        """How many environments it was asked for."""
        asked = (self.home / "asked.log").read_text().splitlines()
        return sum(line.startswith("env create ") for line in asked)

    @property
    def handed(self) -> list[bytes]:
        """The environment files, as they lay where Snakemake pointed at."""
        return [path.read_bytes() for path in (self.home / "handed").iterdir()]


@pytest.fixture
def conda(tmp_path: Path) -> StandIn:
    """The stand-in, at a place of its own."""
    home = tmp_path / "conda"
    shutil.copytree(Path(__file__).parent / "stand_ins" / "conda", home)
    (home / "bin" / "conda").chmod(0o755)
    return StandIn(home)


@pytest.fixture
def poison(tmp_path: Path) -> Path:
    """A folder that, on PYTHONPATH, ends every process that imports torch or the package from there."""
    folder = tmp_path / "poison"
    folder.mkdir()
    for module in ("torch", "hypersphere"):
        (folder / f"{module}.py").write_text(f"raise SystemExit('the poisoned {module} was imported')\n")
    return folder


def strays(environment: dict[str, Any]) -> list[str]:
    """What in an environment file points outside of it: Snakemake copies the file away from its neighbours."""
    found = [key for key in environment if key not in {"name", "channels", "dependencies"}]
    found += [channel for channel in environment["channels"] if re.search(r"[/\\.]|^file:", channel)]
    for entry in environment["dependencies"]:
        for text in entry["pip"] if isinstance(entry, dict) else [entry]:
            if text.startswith(("-", ".")) or re.search(r"[/\\]|file:| @ ", text):
                found.append(text)
    return found


def test_jobs_run_in_the_environment_from_the_checkout_to_the_same_bytes(
    place: Checkout, finished: Checkout, conda: StandIn, poison: Path
) -> None:
    """Preparing images and training ends with the bytes of the ordinary run, which is there to compare with."""
    # Which interpreter, and whose source: the tests' own interpreter has another checkout's package installed.
    with (place.root / "src" / "hypersphere" / "command" / "cli.py").open("a") as source:
        source.write("\nprint(f'run by {sys.prefix} from {__file__}')\n")
    marker = finished.marker(BATCH)
    target = marker.relative_to(finished.root).as_posix()
    path = conda.first(place.environment["PATH"])
    done = place.snakemake(target, "--cores", "1", "--sdm", "conda", PATH=path, PYTHONPATH=str(poison))
    assert done.returncode == 0, done.stdout + done.stderr

    logs = [*(place.root / "logs" / "data").glob("upright-*.log"), place.logs / "pretrain" / f"{marker.stem}.log"]
    assert len(logs) == 2
    for log in logs:
        said = re.search(r"^run by (.+) from (.+)$", log.read_text(), flags=re.MULTILINE)
        assert said, log.read_text()
        assert Path(said[1]).parent == place.root / ".snakemake" / "conda"
        assert Path(said[2]) == place.root / "src" / "hypersphere" / "command" / "cli.py"

    runs = ("runs/*/encoder.safetensors", "runs/*/history.csv", "runs/*/run.yaml")
    trained = place.files(*runs)
    assert len(trained) == 3 * 4  # two rows of SimSiam, two seeds
    assert trained.items() <= finished.files(*runs).items()
    (images,) = (place.root / "data" / "processed").glob("upright-*")
    arrays = [path.relative_to(images) for path in images.rglob("*.npy")]
    assert arrays
    for name in (*arrays, Path("manifest.json")):
        other = finished.root / "data" / "processed" / images.name / name
        assert (images / name).read_bytes() == other.read_bytes(), name

    left = {job.output for job in place.jobs()}  # what ran with conda does not run again without it
    assert len(left) > 10
    assert not {target, f"data/processed/{images.name}/manifest.json"} & left

    assert conda.created == 1  # all rules share it
    assert conda.handed == [(place.root / "environment.yml").read_bytes()]
    assert strays(yaml.safe_load(conda.handed[0])) == []


def test_the_poison_is_poison(fresh: Checkout, poison: Path) -> None:
    """The control of the test above: where PYTHONPATH is not dropped, a job ends at once."""
    command = ("python", str(fresh.root / "src" / "hypersphere"), "pretrain", "none")
    done = fresh.run(*command, "--set", "device=cpu", PYTHONPATH=str(poison))
    assert "the poisoned torch was imported" in done.stderr


@pytest.mark.parametrize(
    "entry",
    [
        {"pip": ["-r requirements.lock"]},
        {"pip": ["--requirement=requirements.lock"]},
        {"pip": ["-c constraints.txt"]},
        {"pip": ["-e ."]},
        {"pip": ["."]},
        {"pip": ["hypersphere @ file:///somewhere"]},
        {"pip": ["./wheels/torch-2.0-py3-none-any.whl"]},
        {"pip": ["../torch"]},
        {"pip": ["/wheels/torch"]},
        "file:torch.conda",
    ],
    ids=str,
)
def test_an_environment_that_needs_its_neighbours_is_recognised(entry: Any) -> None:
    """The control: every way for pip or conda to point at another file."""
    environment: dict[str, Any] = {"name": "x", "channels": ["conda-forge"], "dependencies": ["python >=3.11", "pip"]}
    assert strays(environment) == []
    environment["dependencies"].append(entry)
    assert len(strays(environment)) == 1


@pytest.mark.parametrize(
    ("start", "in_conda", "works"),
    [
        ("python {src}/hypersphere --help", True, True),
        ("python -c 'import hypersphere; print(hypersphere.__file__)'", True, False),
        ("python -c 'import hypersphere; print(hypersphere.__file__)'", False, True),
    ],
    ids=["by its path", "by PYTHONPATH", "by PYTHONPATH, without conda"],
)
def test_the_package_is_found_by_its_path_and_not_by_pythonpath(
    fresh: Checkout, conda: StandIn, tmp_path: Path, start: str, in_conda: bool, works: bool
) -> None:
    """Snakemake drops PYTHONPATH from conda jobs: a rule that leaned on it would fail there, and only there."""
    source = fresh.root / "src"
    (tmp_path / "environment.yml").write_text("channels: [conda-forge]\ndependencies: [python]\n")
    (tmp_path / "Snakefile").write_text(
        "rule start:\n    output: 'said.txt'\n    log: 'said.log'\n    conda: 'environment.yml'\n"
        f'    shell: "{start.format(src=source)} > {{output}} 2> {{log}}"\n'
    )
    place = Checkout(tmp_path, fresh.environment)
    option = ("--sdm", "conda") if in_conda else ()
    path = conda.first(place.environment["PATH"])
    done = place.snakemake("--cores", "1", *option, settings=(), PATH=path, PYTHONPATH=str(source))
    assert (done.returncode == 0) == works, done.stdout + done.stderr
    if works:
        said = (tmp_path / "said.txt").read_text()
        assert said.startswith("usage: hypersphere") or Path(said.strip()) == source / "hypersphere" / "__init__.py"
    else:
        assert "hypersphere is not installed" in (tmp_path / "said.log").read_text()


@pytest.mark.parametrize("option", SPELLINGS, ids=" ".join)
def test_without_conda_one_sentence_says_so(fresh: Checkout, option: tuple[str, ...]) -> None:
    folders = fresh.environment["PATH"].split(os.pathsep)
    without = os.pathsep.join(folder for folder in folders if not (Path(folder) / "conda").exists())
    done = fresh.snakemake("--cores", "1", *option, PATH=without)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    (said,) = (line for line in text.splitlines() if "conda" in line)
    assert re.match(r"hypersphere: --sdm conda: no program", said)
    assert "Traceback" not in text
    for folder in ("results", "logs", "data/processed"):
        assert not (fresh.root / folder).exists()


def test_what_ran_without_conda_does_not_run_again_with_it(finished: Checkout, conda: StandIn) -> None:
    path = conda.first(finished.environment["PATH"])
    assert finished.jobs("--sdm", "conda", PATH=path) == []
    assert "info --json" in (conda.home / "asked.log").read_text()  # control: it was a run with conda
    assert conda.created == 0
