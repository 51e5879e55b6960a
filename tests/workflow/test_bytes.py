"""Determinism: neither cores, nor what was there before, changes a byte."""

import shutil

from .conftest import RUNS, Checkout, differing


def test_a_wiped_folder_rebuilt_one_job_at_a_time_has_the_same_bytes(finished: Checkout, copy: Checkout) -> None:
    """The finished copy ran two jobs at a time; here all results, data, logs and Snakemake's records are removed."""
    for folder in ("results", "logs", ".snakemake", "data/processed"):
        shutil.rmtree(copy.root / folder)
    copy.make("--cores", "1")
    rebuilt = copy.content()
    assert {name.rpartition(".")[2] for name in rebuilt} >= {"safetensors", "csv", "md", "tex", "svg", "png", "pdf"}
    assert differing(finished.content(), rebuilt) == set()


def test_another_seed_has_other_bytes(finished: Checkout) -> None:
    """The control: equal bytes above are no accident of runs that all end alike."""
    for file in ("encoder.safetensors", "history.csv"):
        contents = [path.read_bytes() for path in (finished.results / "runs").glob(f"*/{file}")]
        assert len(set(contents)) == len(contents) == RUNS
