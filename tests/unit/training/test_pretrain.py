"""A batch of runs: one manifest, one lock and one fate each."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance import digests, state
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import loop
from hypersphere.training.pretrain import pretrain, pretrain_batch

from .conftest import contents

pytestmark = pytest.mark.heavy


def test_manifest_describes_the_run(tiny_plan: Plan, runs: list[Run]) -> None:
    run = runs[0]
    pretrain(tiny_plan, [run])
    folder = tiny_plan.run_folder(run.name)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["name"] == run.name == folder.name
    assert Run.model_validate(manifest["run"]) == run
    assert (manifest["status"], manifest["epochs"], manifest["started_at_steps"]) == ("finished", 4, [0])
    assert manifest["code"] == digests.run_digest(run)
    assert manifest["data"] == store.open(tiny_plan.data_folder(run.dataset)).digest
    kept = {f"snapshots/epoch-000{epoch}{end}" for epoch in (0, 2) for end in (".safetensors", ".heads.safetensors")}
    assert manifest["files"].keys() == {"encoder.safetensors", "heads.safetensors", "history.csv"} | kept
    for name, sha256 in manifest["files"].items():
        assert files.sha256(folder / name) == sha256
    assert manifest["device"] == {"type": "cpu", "name": "cpu"}
    assert manifest["numerics"]["threads"] == 1
    assert manifest["environment"]["packages"]["torch"] == torch.__version__.partition("+")[0]
    assert Run.model_validate(yaml.safe_load((folder / "run.yaml").read_text())) == run
    assert (folder / "timing.csv").read_text().startswith("epoch,seconds\n1,")


def test_damaged_data_lose_the_proof_that_they_are_well(tiny_plan: Plan, runs: list[Run]) -> None:
    """Their manifest is an output of a rule: Snakemake prepares again what it finds missing."""
    folder = tiny_plan.data_folder(runs[0].dataset)
    lost = next(folder / name for name in sorted(store.read_manifest(folder)["files"]))
    lost.unlink()
    with pytest.raises(HypersphereError, match=re.escape(f"{lost}: ")):
        pretrain(tiny_plan, runs[:1])
    assert not (folder / store.MANIFEST).exists()


def flip(path: Path) -> None:
    """One bit near the end."""
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [flip, Path.unlink])
def test_a_flipped_byte_or_a_lost_file_is_named_and_trained_again(
    tiny_plan: Plan, runs: list[Run], capsys: pytest.CaptureFixture[str], harm: Callable[[Path], object]
) -> None:
    pretrain(tiny_plan, runs[:1])
    folder = tiny_plan.run_folder(runs[0].name)
    before = contents(folder)
    for name in [*check_files(folder)["files"], "manifest.json"]:
        harm(folder / name)
        with pytest.raises(HypersphereError, match=re.escape(f"{folder / name}: ")):
            check_files(folder)
        capsys.readouterr()
        pretrain(tiny_plan, runs[:1])
        assert name == "manifest.json" or f"training again: {folder / name}" in capsys.readouterr().out
        assert contents(folder) == before


def test_other_code_trains_again(tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    pretrain(tiny_plan, runs[:1])
    monkeypatch.setattr(digests, "run_digest", lambda run: "other")
    pretrain(tiny_plan, runs[:1])
    assert read_manifest(tiny_plan.run_folder(runs[0].name))["code"] == "other"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process holds the lock at ``path``."""
    code = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire();"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            process.stdin.close()
            process.wait(timeout=10)


def test_a_run_that_another_process_trains_is_left_alone(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.2)
    folder = tiny_plan.run_folder(runs[0].name)
    folder.mkdir(parents=True)
    with held(folder / ".lock"):
        with pytest.raises(HypersphereError, match="another process is training this run"):
            pretrain(tiny_plan, runs[:2])
        assert not (folder / "manifest.json").exists()
    assert (tiny_plan.run_folder(runs[1].name) / "manifest.json").exists()
    pretrain(tiny_plan, runs[:1])
    assert (folder / "manifest.json").exists()


@pytest.mark.parametrize("error", [RuntimeError("out of\nmemory"), HypersphereError("a sentence")])
def test_a_run_that_fails_loses_only_itself(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    train, batch = loop.train, tiny_plan.batches[0]

    def failing(run: Run, *arguments: Any) -> Any:
        if run == runs[1]:
            raise error
        return train(run, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", failing)
        with pytest.raises(HypersphereError) as caught:
            pretrain_batch(tiny_plan, batch)
    assert runs[1].name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert runs[0].name not in str(caught.value)
    done = [(tiny_plan.run_folder(run.name) / "manifest.json").exists() for run in runs]
    assert done == [True, False, True]
    assert not tiny_plan.marker(batch).exists()

    monkeypatch.setattr(loop, "train", lambda run, *a: train(run, *a) if run == runs[1] else pytest.fail("twice"))
    pretrain_batch(tiny_plan, batch)
    named = files.read_sealed(tiny_plan.marker(batch))["manifests"]
    assert named.keys() == {f"runs/{run.name}/manifest.json" for run in runs}


def test_bytes_do_not_depend_on_the_batch(tiny_plan: Plan, runs: list[Run]) -> None:
    pretrain(tiny_plan, runs)
    together = {run.name: contents(tiny_plan.run_folder(run.name)) for run in runs}
    for run in runs:
        (tiny_plan.run_folder(run.name) / "manifest.json").unlink()
    for run in reversed(runs):
        pretrain(tiny_plan, [run])
    assert {run.name: contents(tiny_plan.run_folder(run.name)) for run in runs} == together


def test_a_diverged_run_has_a_manifest_that_says_so(tiny_plan: Plan, runs: list[Run]) -> None:
    run = runs[0].model_copy(update={"optimiser": runs[0].optimiser.model_copy(update={"learning_rate": 1e30})})
    pretrain(tiny_plan, [run])
    manifest = check_files(tiny_plan.run_folder(run.name))
    assert manifest["status"] == "diverged"
    assert {"encoder.safetensors", "heads.safetensors"} <= manifest["files"].keys()
    assert 1 <= manifest["epochs"] < 4
