"""`--sdm conda` and `--use-conda` work where conda exists (docs/untested.md).

No conda is needed here, and none is tried: a stand-in answers in its place and solves nothing (stand_ins/conda). What
is tested is what Snakemake hands to conda, and how a job starts in an environment that does not hold the package.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from ..fixtures import Names
from .conftest import Checkout

pytestmark = pytest.mark.tools


@pytest.fixture
def poison(tmp_path: Path) -> Path:
    """A folder that, on PYTHONPATH, ends every process that imports torch or the package from there."""
    folder = tmp_path / "poison"
    folder.mkdir()
    for module in ("torch", "hypersphere"):
        (folder / f"{module}.py").write_text(
            f"raise SystemExit('the poisoned {module} was imported')\n"
        )
    return folder


def test_jobs_run_in_the_environment_from_the_checkout_to_the_same_bytes(
    place: Checkout, finished: Checkout, tmp_path: Path, poison: Path
) -> None:
    """Preparing images and training ends with the bytes of the ordinary run, which is there to compare with."""
    conda = tmp_path / "conda"  # a copy of the stand-in, which keeps what it is asked and handed
    shutil.copytree(Path(__file__).parent / "stand_ins" / "conda", conda)
    (conda / "bin" / "conda").chmod(0o755)
    # Which interpreter, and whose source: the tests' own interpreter has another checkout's package installed.
    with (place.root / "src" / "hypersphere" / "command" / "cli.py").open("a") as source:
        source.write("\nprint(f'run by {sys.prefix} from {__file__}')\n")
    (marker,) = finished.results.glob("batches/simsiam-upright-????????.json")
    target = marker.relative_to(finished.root).as_posix()
    path = f"{conda / 'bin'}{os.pathsep}{place.environment['PATH']}"
    place.snakemake(target, "--cores", "1", "--sdm", "conda", PATH=path, PYTHONPATH=str(poison))

    logs = [
        *place.root.glob("logs/quick/prepare/upright-*.log"),
        *place.root.glob(f"logs/quick/pretrain/{marker.stem}.log"),
    ]
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
    prepared = next((place.root / "data" / "processed").glob("upright-*"))
    made = [path for path in prepared.rglob("*") if path.suffix in (".npy", ".json")]
    assert len(made) > 4
    for path in made:
        assert path.read_bytes() == (finished.root / path.relative_to(place.root)).read_bytes(), (
            path
        )

    left = {job.output for job in place.jobs()}  # what ran with conda does not run again without it
    assert len(left) > 10
    assert not {target, f"results/quick/batches/{prepared.name}.prepared.json"} & left

    # all rules share it
    assert f"\n{(conda / 'asked.log').read_text()}".count("\nenv create ") == 1
    (handed,) = (conda / "handed").iterdir()
    assert handed.read_bytes() == (place.root / "environment.yml").read_bytes()
    entries = re.findall(r'^ *- +"?(.+?)"?$', handed.read_text(), flags=re.MULTILINE)
    # It needs no neighbour, from which Snakemake copies it away: no other file, folder, wheel or address.
    assert len(entries) > 100
    assert not [entry for entry in entries if re.search(r"^[-.]|[/\\]|file:| @ ", entry)]


def test_the_poison_is_poison(fresh: Checkout, poison: Path) -> None:
    """The control of the test above: a Python that has PYTHONPATH ends at once."""
    done = fresh.run("python", "-c", "import torch", status=1, PYTHONPATH=str(poison))
    assert "the poisoned torch was imported" in done.stderr


@pytest.mark.parametrize("option", [("--use-conda",), ("--sdm", "conda")], ids=" ".join)
def test_without_conda_one_sentence_says_so(
    fresh: Checkout, names: Names, option: tuple[str, ...]
) -> None:
    folders = fresh.environment["PATH"].split(os.pathsep)
    without = os.pathsep.join(folder for folder in folders if not (Path(folder) / "conda").exists())
    done = fresh.snakemake("--cores", "1", *option, status=1, PATH=without)
    (said,) = (line for line in (done.stdout + done.stderr).splitlines() if "conda" in line)
    names(said, "hypersphere", "--sdm conda")
