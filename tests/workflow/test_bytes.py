"""Determinism: neither cores, nor the batch of a run, nor what was there before, changes a byte."""

import shutil

import pytest

from .conftest import RUNS as COUNT
from .conftest import Checkout

RUNS = ("runs/*/*.safetensors", "runs/*/history.csv", "runs/*/run.yaml", "runs/*/snapshots/*")
RESULTS = (
    *("batches/*", "evaluations/**/*.csv", "statistics/**/*", "simulations/**/*", "*.csv"),
    *("tables/**/*", "figures/**/*", "*.html", "*.pdf"),
)


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    """Names on one side only, or with other bytes."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.long
def test_a_wiped_folder_rebuilt_one_job_at_a_time_has_the_same_bytes(finished: Checkout, copy: Checkout) -> None:
    """The finished copy ran two jobs at a time; here all results, data, logs and Snakemake's records are removed."""
    expected = copy.files(*RUNS, *RESULTS)
    for folder in ("results", "logs", ".snakemake", "data/processed"):
        shutil.rmtree(copy.root / folder)
    copy.make("--cores", "1")
    rebuilt = copy.files(*RUNS, *RESULTS)
    assert {name.rpartition(".")[2] for name in rebuilt} >= {"safetensors", "csv", "md", "tex", "svg", "png", "pdf"}
    assert differing(expected, rebuilt) == set()
    assert expected == finished.files(*RUNS, *RESULTS)


def test_the_batch_of_a_run_changes_no_byte_of_it(finished: Checkout, copy: Checkout) -> None:
    """Two runs to a job instead of six: the last batch of the method and dataset is the one compared."""
    settings = ("runs_per_job=2",)
    shutil.rmtree(copy.results)
    jobs = [job for job in copy.jobs(settings=settings) if job.rule == "pretrain"]
    assert len(jobs) == 11
    markers = [job.output for job in jobs if "/simclr-upright" in job.output]
    done = copy.snakemake("--cores", "1", markers[-1], settings=settings)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = copy.results / "runs"  # of the same scale
    names = [path.name for path in folder.iterdir()]
    assert len(names) == 2
    for name in names:
        for file in ("encoder.safetensors", "heads.safetensors", "history.csv", "run.yaml"):
            assert (folder / name / file).read_bytes() == (finished.results / "runs" / name / file).read_bytes()


def test_another_seed_has_other_bytes(finished: Checkout) -> None:
    """The control: equal bytes above are no accident of runs that all end alike."""
    for file in ("encoder.safetensors", "history.csv"):
        contents = [path.read_bytes() for path in (finished.results / "runs").glob(f"*/{file}")]
        assert len(set(contents)) == len(contents) == COUNT
