"""A snapshot taken off the list and removed: the pipeline has nothing to do, and its results verify."""

import pytest

from .conftest import Checkout, rules


@pytest.mark.long
def test_a_removed_snapshot_reruns_nothing_and_verifies(copy: Checkout) -> None:
    """The schedule is of two epochs: a figure asks for 0, 1 and 2, and then for 0 and 2."""
    copy.edit("config/papers/embedding_norms.yaml", "x: {epoch: [0, 250, 500]}", "x: {epoch: [0, 500]}")
    marks = {path: path.stat().st_mtime_ns for path in copy.results.glob("runs/*/manifest.json")}
    copy.make("--cores", "2")
    assert marks == {path: path.stat().st_mtime_ns for path in marks}  # nothing is trained
    assert copy.jobs() == []
    names = sorted(path.name for path in copy.results.glob("runs/sim*"))
    kept, removed = names[0], names[1:]
    done = copy.hypersphere("snapshots", *removed, "--remove", "1")
    assert done.returncode == 0, done.stderr
    assert len(list(copy.results.glob("runs/*/snapshots/epoch-0001.safetensors"))) == 1
    assert copy.jobs() == []
    done = copy.hypersphere("verify", "--rerun", kept, "--rerun", removed[0])
    assert done.returncode == 0, done.stdout + done.stderr
    next(copy.results.glob(f"runs/{removed[0]}/snapshots/epoch-0000.safetensors")).unlink()
    assert rules(copy.jobs())["pretrain"] == 1  # the control
