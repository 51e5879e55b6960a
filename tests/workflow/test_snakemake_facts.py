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
    done = place.snakemake(*options, settings=())
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_fact_1_imported_code_is_not_seen_and_a_digest_in_params_is(standalone: Standalone, tmp_path: Path) -> None:
    place = standalone(
        "import sys; sys.path.insert(0, '.')\n"
        "import helper\n"
        "rule blind:\n    output: 'blind.txt'\n    run: open(output[0], 'w').write(str(helper.VALUE))\n"
        "rule told:\n    output: 'told.txt'\n    params: code=helper.VALUE\n"
        "    shell: 'echo {params.code} > {output}'\n"
        "rule both:\n    default_target: True\n    input: 'blind.txt', 'told.txt'\n"
    )
    (tmp_path / "helper.py").write_text("VALUE = 1\n")
    snakemake(place, "--cores", "1")
    (tmp_path / "helper.py").write_text("VALUE = 22\n")
    outputs = {job.output for job in place.jobs(settings=())}
    assert outputs == {"told.txt"}


def test_fact_2_a_killed_job_loses_its_output_and_keeps_what_it_did_not_declare(
    standalone: Standalone, tmp_path: Path
) -> None:
    place = standalone(
        "rule resumable:\n    output: 'declared.txt'\n"
        "    shell: 'touch {output} undeclared.txt; ls > list.log; kill -9 $$'\n"
    )
    done = place.snakemake("--cores", "1", settings=())
    assert done.returncode != 0
    assert {"declared.txt", "undeclared.txt"} <= set((tmp_path / "list.log").read_text().split())
    assert not (tmp_path / "declared.txt").exists()
    assert (tmp_path / "undeclared.txt").exists()


def test_fact_2_a_declared_output_is_deleted_before_its_job_starts(standalone: Standalone, tmp_path: Path) -> None:
    place = standalone("rule again:\n    output: 'declared.txt'\n    shell: 'ls > listing.log; touch {output}'\n")
    (tmp_path / "declared.txt").write_text("a state to resume from")
    (tmp_path / "undeclared.txt").write_text("a state to resume from")
    snakemake(place, "--cores", "1", "--forceall")
    listed = (tmp_path / "listing.log").read_text().split()
    assert "undeclared.txt" in listed
    assert "declared.txt" not in listed


def test_fact_2_snakemake_lowers_threads_to_the_cores_it_has(standalone: Standalone, tmp_path: Path) -> None:
    place = standalone(
        "rule many:\n    output: 'threads.txt'\n    threads: 8\n    shell: 'echo {threads} > {output}'\n"
    )
    snakemake(place, "--cores", "1")
    assert (tmp_path / "threads.txt").read_text().strip() == "1"


GPU = (
    "rule all:\n    input: 'a.txt', 'b.txt'\n"
    "rule train:\n"
    "    output: '{name}.txt'\n"
    "    resources: gpu=1\n"
    "    shell: 'echo start >> order.log; sleep 2; echo end >> order.log; touch {output}'\n"
)


@pytest.mark.parametrize(
    ("options", "order"),
    [((), "start start end end"), (("--resources", "gpu=1"), "start end start end")],
    ids=["gpu not counted", "gpu counted"],
)
def test_fact_6_gpu_limits_nothing_unless_it_is_counted(
    standalone: Standalone, tmp_path: Path, options: tuple[str, ...], order: str
) -> None:
    snakemake(standalone(GPU), "--cores", "2", *options)
    assert (tmp_path / "order.log").read_text().split() == order.split()


@pytest.mark.parametrize("own_target", [False, True])
def test_fact_7_a_snakefile_that_only_includes_another_does_nothing(
    standalone: Standalone, tmp_path: Path, own_target: bool
) -> None:
    target = "rule all:\n    default_target: True\n    input: rules.inner.input\n" if own_target else ""
    (tmp_path / "inner.smk").write_text(
        "rule inner:\n    default_target: True\n    input: 'made.txt'\n"
        "rule make:\n    output: 'made.txt'\n    shell: 'touch {output}'\n"
    )
    snakemake(standalone(f"include: 'inner.smk'\n{target}"), "--cores", "1")
    assert (tmp_path / "made.txt").exists() == own_target


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
