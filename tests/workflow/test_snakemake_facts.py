"""Behaviour of Snakemake that the workflow is built on, each by a tiny Snakefile (3 to 5: test_dvc_facts.py).

When one of these fails after an upgrade, the workflow has to be thought through again, not the test.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Checkout

pytestmark = pytest.mark.tools

Standalone = Callable[[str], Checkout]


def snakemake(place: Checkout, *options: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake, which must succeed."""
    done = place.snakemake(*options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_fact_2_an_output_is_deleted_before_its_job_and_when_it_is_killed_and_threads_are_lowered(
    standalone: Standalone, tmp_path: Path
) -> None:
    """What is not declared stays, before and after."""
    place = standalone(
        "rule resumable:\n    output: 'declared.txt'\n    threads: 8\n"
        "    shell: 'ls > before.log; touch {output}; ls > after.log; echo {threads} > threads.log; kill -9 $$'\n"
    )
    for name in ("declared.txt", "undeclared.txt"):
        (tmp_path / name).write_text("a state to resume from")
    done = place.snakemake("--cores", "1", "--forceall")
    assert done.returncode != 0
    before, after = ({*(tmp_path / f"{when}.log").read_text().split()} for when in ("before", "after"))
    assert {"declared.txt", "undeclared.txt"} & before == {"undeclared.txt"}
    assert {"declared.txt", "undeclared.txt"} <= after
    assert not (tmp_path / "declared.txt").exists()
    assert (tmp_path / "undeclared.txt").exists()
    assert (tmp_path / "threads.log").read_text().strip() == "1"


GPU = (
    "rule all:\n    input: 'a.txt', 'b.txt'\n"
    "rule train:\n"
    "    output: '{name}.txt'\n"
    "    resources: gpu=1\n"
    "    shell: 'echo start >> order.log; sleep 2; echo end >> order.log; touch {output}'\n"
)


def test_fact_6_gpu_limits_nothing_unless_it_is_counted(standalone: Standalone, tmp_path: Path) -> None:
    place = standalone(GPU)
    snakemake(place, "--cores", "2")
    snakemake(place, "--cores", "2", "--forceall", "--resources", "gpu=1")
    order = " ".join((tmp_path / "order.log").read_text().split())
    assert order == "start start end end start end start end"


def test_a_priority_may_be_a_function_of_the_job(standalone: Standalone, tmp_path: Path) -> None:
    """By which the most telling runs are trained first."""
    place = standalone(
        "rule all:\n    input: 'a.txt', 'b.txt', 'c.txt'\n"
        "rule make:\n    output: '{name}.txt'\n"
        "    priority: lambda wildcards: {'a': 0.1, 'b': 0.3, 'c': 0.2}[wildcards.name]\n"
        "    shell: 'echo {wildcards.name} >> order.log; touch {output}'\n"
    )
    snakemake(place, "--cores", "1")
    assert (tmp_path / "order.log").read_text().split() == ["b", "c", "a"]
