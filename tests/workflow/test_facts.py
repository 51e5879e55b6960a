"""What the workflow relies on in Snakemake and DVC: if one fails after an upgrade, think the workflow through again."""

import os
import sys
from pathlib import Path

import pytest
import yaml

from .conftest import Checkout
from .released import alone, dvc, rewrite

pytestmark = pytest.mark.tools


@pytest.fixture
def place(environment: dict[str, str], tmp_path: Path) -> Checkout:
    """An empty folder."""
    return Checkout(tmp_path, environment | alone(tmp_path / "home"))


RESUMABLE = """
rule resumable:
    output: 'declared.txt'
    threads: 8
    shell: 'ls > before.log; touch {output}; ls > after.log; echo {threads} > threads.log; kill -9 $$'
"""


def test_snakemake_deletes_an_output_before_its_job_and_when_it_is_killed_and_lowers_threads(
    place: Checkout, tmp_path: Path
) -> None:
    """What is not declared stays, before and after."""
    (tmp_path / "Snakefile").write_text(RESUMABLE)
    for name in ("declared.txt", "undeclared.txt"):
        (tmp_path / name).write_text("a state to resume from")
    place.snakemake("--cores", "1", "--forceall", status=1)
    before, after = (
        {*(tmp_path / f"{when}.log").read_text().split()} for when in ("before", "after")
    )
    assert {"declared.txt", "undeclared.txt"} & before == {"undeclared.txt"}
    assert {"declared.txt", "undeclared.txt"} <= after
    assert not (tmp_path / "declared.txt").exists()
    assert (tmp_path / "undeclared.txt").exists()
    assert (tmp_path / "threads.log").read_text().strip() == "1"


COPYING = "rule copying:\n    input: 'a.txt'\n    output: 'b.txt'\n    shell: 'cp a.txt b.txt'\n"


def test_snakemake_stops_at_an_input_from_the_future(place: Checkout, tmp_path: Path) -> None:
    """And removes what the job made, so that `command/snakemake_hooks.py` takes the check's place."""
    (tmp_path / "Snakefile").write_text(COPYING)
    (tmp_path / "a.txt").write_text("a")
    os.utime(tmp_path / "a.txt", (2**32, 2**32))
    done = place.snakemake("--cores", "1", status=1)
    assert "clock skew" in done.stdout + done.stderr
    assert not (tmp_path / "b.txt").exists()


GPU = """
rule all:
    input: 'a.txt', 'b.txt', 'c.txt'
rule train:
    output: '{name}.txt'
    resources: gpu=1
    priority: lambda wildcards: {'a': 0.1, 'b': 0.3, 'c': 0.2}[wildcards.name]
    shell: 'echo {wildcards.name} >> order.log; sleep 1; echo end >> order.log; touch {output}'
"""


def test_snakemake_counts_gpus_only_if_told_how_many_and_takes_jobs_by_priority(
    place: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "Snakefile").write_text(GPU)
    for options in ((), ("--resources", "gpu=1")):
        place.snakemake("--cores", "3", "--forceall", *options)
    order = (tmp_path / "order.log").read_text().split()
    assert set(order[:3]) == {"a", "b", "c"}
    assert order[6:] == ["b", "end", "c", "end", "a", "end"]


def test_dvc_deletes_what_does_not_persist_refuses_an_ignored_lock_and_hands_out_altered_bytes_unless_it_verifies(
    place: Checkout,
) -> None:
    for command in (("git", "init", "-q"), (sys.executable, "-m", "dvc", "init", "-q")):
        place.run(*command)
    outputs = [{name: {"persist": name == "kept.bin"}} for name in ("kept.bin", "lost.bin")]
    stage = {
        "cmd": "ls > seen.log; touch kept.bin lost.bin",
        "deps": ["source.txt"],
        "outs": outputs,
    }
    (place.root / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"all": stage}}))
    for source in ("1", "2"):
        (place.root / "source.txt").write_text(source)
        dvc(place, "repro")
    assert {"kept.bin", "lost.bin"} & {*(place.root / "seen.log").read_text().split()} == {
        "kept.bin"
    }

    # So .gitignore cannot keep a quick run's dvc.lock out of a commit.
    (place.root / ".gitignore").write_text("dvc.lock\n")
    ignored = place.run(sys.executable, "-m", "dvc", "status", status=1)
    assert "git-ignored" in ignored.stderr
    (place.root / ".gitignore").unlink()

    weights = place.root / "weights.bin"
    weights.write_bytes(b"weights")
    dvc(place, "add", "weights.bin")
    for verify in (True, False):
        remote = f"url = ../store\nverify = {verify}\n"
        (place.root / ".dvc" / "config").write_text(
            f"[core]\nremote = store\n['remote \"store\"']\n{remote}"
        )
        if verify:
            dvc(place, "push", "weights.bin")
            (stored,) = (p for p in (place.root / "store").rglob("*") if p.is_file())
        rewrite(stored, b"Weights")
        for path in (
            weights,
            *(p for p in (place.root / ".dvc" / "cache").rglob("*") if p.is_file()),
        ):
            path.unlink(missing_ok=True)
        place.run(sys.executable, "-m", "dvc", "pull", "weights.bin", status=int(verify))
    assert weights.read_bytes() == b"Weights"
    assert "up to date" in dvc(place, "status", "weights.bin.dvc")
