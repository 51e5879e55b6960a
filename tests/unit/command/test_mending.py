"""What is lost is made again at the start of a rebuild, and by nothing that runs no jobs on this machine."""

import pytest

from hypersphere.command.mending import runs_jobs_here


@pytest.mark.parametrize("options", ["", "--cores all", "--config scale=smoke", "results/quick/claims.csv -c 2"])
def test_a_rebuild_runs_jobs_here(options: str) -> None:
    assert runs_jobs_here(["snakemake", *options.split()])


@pytest.mark.parametrize(
    "options",
    [
        "--lint",
        "--report=a.html",
        "--touch --forceall",
        "--unlock",
        "--executor slurm",
        "--workflow-profile=profiles/slurm",
    ],
)
def test_other_calls_do_not(options: str) -> None:
    assert not runs_jobs_here(["snakemake", *options.split()])
