"""A batch of runs: one manifest, one lock and one fate each, also where a run or the machine fails.

A GPU's errors are raised where it would raise them, in a step, with the words that torch gives them. That memory is
short is also brought about for real, in a process that may have no more than it has. The runs are of 8 steps.
"""

import json
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from filelock import FileLock

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance import digests, state
from hypersphere.provenance.manifest import check_files, check_run
from hypersphere.training import device as devices
from hypersphere.training import loop
from hypersphere.training import pretrain as training
from hypersphere.training.pretrain import pretrain, pretrain_batch
from hypersphere.training.weights import snapshot_names

from ...broken_off import contents, failing
from ...harm import flip
from .conftest import Stopped, keeping

pytestmark = pytest.mark.heavy


@pytest.fixture
def folders(tiny_plan: Plan, runs: list[Run]) -> list[Path]:
    return [tiny_plan.run_folder(run.name) for run in runs]


def done(folders: list[Path]) -> list[bool]:
    return [(folder / "manifest.json").exists() for folder in folders]


def steps(folder: Path) -> list[int]:
    return list(check_files(folder / MANIFEST)["started_at_steps"])


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
    assert all(files.sha256(folder / name) == sha256 for name, sha256 in manifest["files"].items())
    assert manifest["device"] == {"type": "cpu", "name": "cpu"}
    assert manifest["numerics"]["threads"] == 1
    assert manifest["environment"]["packages"]["torch"] == torch.__version__.partition("+")[0]
    assert Run.model_validate(yaml.safe_load((folder / "run.yaml").read_text())) == run
    assert (folder / "timing.csv").read_text().startswith("epoch,seconds\n1,")


def test_damaged_data_lose_the_proof_that_they_are_well(tiny_plan: Plan, runs: list[Run], refused: Any) -> None:
    """Their manifest is an output of a rule: Snakemake prepares again what it finds missing."""
    folder = tiny_plan.data_folder(runs[0].dataset)
    next(folder / name for name in sorted(store.read_manifest(folder)["files"])).unlink()
    with refused():
        pretrain(tiny_plan, runs[:1])
    assert not (folder / store.MANIFEST).exists()


def test_a_flipped_byte_or_a_lost_file_is_named_and_trained_again(
    tiny_plan: Plan, runs: list[Run], capsys: pytest.CaptureFixture[str], refused: Any
) -> None:
    pretrain(tiny_plan, runs[:1])
    folder = tiny_plan.run_folder(runs[0].name)
    before = contents(folder)
    for number, name in enumerate([*check_files(folder / MANIFEST)["files"], "manifest.json"]):
        (flip if number % 2 else Path.unlink)(folder / name)
        with refused() if name != "manifest.json" else pytest.raises(HypersphereError):
            check_run(tiny_plan, folder.name)
        capsys.readouterr()
        pretrain(tiny_plan, runs[:1])
        assert name == "manifest.json" or f"training again: {folder / name}" in capsys.readouterr().out
        assert contents(folder) == before


def test_a_run_that_another_process_trains_is_left_alone(
    tiny_plan: Plan, runs: list[Run], folders: list[Path], monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    monkeypatch.setattr(state, "LOCK_SECONDS", 0.2)
    folders[0].mkdir(parents=True)
    with FileLock(folders[0] / ".lock"):
        with refused():
            pretrain(tiny_plan, runs[:2])
        assert done(folders[:2]) == [False, True]
    pretrain(tiny_plan, runs[:1])
    assert done(folders[:2]) == [True, True]


@pytest.mark.parametrize("error", [RuntimeError("out of\nmemory"), HypersphereError("a sentence")])
def test_a_run_that_fails_loses_only_itself(
    tiny_plan: Plan, runs: list[Run], folders: list[Path], monkeypatch: pytest.MonkeyPatch, refused: Any, error: Any
) -> None:
    """In its first step: the run before it has taken its eight."""
    train, batch = loop.train, tiny_plan.batches[0]
    with failing(error, 8), refused():
        pretrain_batch(tiny_plan, batch)
    assert done(folders) == [True, False, True]
    assert not tiny_plan.marker(batch).exists()

    monkeypatch.setattr(loop, "train", lambda run, *a: train(run, *a) if run == runs[1] else pytest.fail("twice"))
    pretrain_batch(tiny_plan, batch)
    named = files.read_sealed(tiny_plan.marker(batch))["manifests"]
    assert named.keys() == {f"runs/{run.name}/manifest.json" for run in runs}


def test_bytes_do_not_depend_on_the_batch(tiny_plan: Plan, runs: list[Run], folders: list[Path]) -> None:
    pretrain(tiny_plan, runs)
    together = [contents(folder) for folder in folders]
    for folder in folders:
        (folder / "manifest.json").unlink()
    for run in reversed(runs):
        pretrain(tiny_plan, [run])
    assert [contents(folder) for folder in folders] == together


def test_a_diverged_run_has_a_manifest_that_says_so(tiny_plan: Plan, runs: list[Run]) -> None:
    run = runs[0].model_copy(update={"optimiser": runs[0].optimiser.model_copy(update={"learning_rate": 1e30})})
    pretrain(tiny_plan, [run])
    folder = tiny_plan.run_folder(run.name)
    manifest = check_files(folder / MANIFEST)
    assert manifest["status"] == "diverged"
    assert {"encoder.safetensors", "heads.safetensors", "history.csv"} <= manifest["files"].keys()
    assert 1 <= manifest["epochs"] < 4
    history = (folder / "history.csv").read_text().splitlines()
    assert len(history) == 1 + manifest["epochs"]
    assert {"nan", "inf"} & {*history[-1].split(",")}


# The machine fails

GONE = "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously reported"


@pytest.mark.parametrize(
    ("error", "lost", "begun"),
    [(torch.cuda.OutOfMemoryError("CUDA out of memory."), 1, [0, 1, 2]), (RuntimeError(GONE), 0, [0])],
    ids=["short of memory, one run is lost for now", "when the device fails, no other is begun"],
)
def test_what_the_machine_fails_is_a_sentence_and_goes_on_from_its_last_state(
    tiny_plan: Plan,
    runs: list[Run],
    folders: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    approve: Any,
    stopped: Stopped,
    error: Exception,
    lost: int,
    begun: list[int],
) -> None:
    freed: list[torch.device] = []
    monkeypatch.setattr(devices, "free", freed.append)
    with failing(error, 1 + 6 if lost else 1), pytest.raises(HypersphereError) as caught:
        pretrain_batch(tiny_plan, tiny_plan.batches[0], save_every=0.0)
    approve(caught.value)
    assert caught.value.status == 2
    assert freed == [torch.device("cpu")]
    assert "Traceback" not in capsys.readouterr().err
    assert not tiny_plan.marker(tiny_plan.batches[0]).exists()
    assert [folder.exists() for folder in folders] == [number in begun for number in range(3)]
    assert done(folders) == [number in begun and number != lost for number in range(3)]
    pretrain_batch(tiny_plan, tiny_plan.batches[0])
    assert [steps(folder) for folder in folders] == ([[0, 6], [0, 5], [0]] if lost else [[0, 6, 7], [0], [0]])
    assert contents(folders[0]) == stopped.whole


def test_what_else_goes_wrong_has_a_traceback_and_the_others_are_tried(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], refused: Any
) -> None:
    """The control of both."""
    tried: list[str] = []

    def train(run: Run, *arguments: Any) -> Any:
        tried.append(run.name)
        raise RuntimeError(f"a defect\nof {run.name}")

    monkeypatch.setattr(loop, "train", train)
    with refused():
        pretrain(tiny_plan, runs)
    assert tried == [run.name for run in runs]
    assert capsys.readouterr().err.count("Traceback") == 3


def test_a_failed_assert_ends_the_batch_and_has_a_traceback(
    tiny_plan: Plan, runs: list[Run], capsys: pytest.CaptureFixture[str], refused: Any
) -> None:
    """In the first step of the only run: nothing is left that was not begun, and nothing is saved."""
    with failing(RuntimeError("CUDA error: device-side assert triggered"), 0), refused():
        pretrain(tiny_plan, runs[:1])
    assert "device-side assert triggered" in capsys.readouterr().err


class Held:
    """Stands for a tensor of a run."""


@pytest.mark.parametrize("error", [MemoryError(), HypersphereError("a sentence")], ids=repr)
def test_what_a_run_held_is_let_go_before_the_next_one_is_tried(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An error refers to the frames it came through, and they to all that was in them."""
    held: list[weakref.ref[Held]] = []

    def train(run: Run, *arguments: Any) -> Any:
        assert [reference() for reference in held] == [None] * len(held)
        tensor = Held()
        held.append(weakref.ref(tensor))
        try:
            raise OSError("whose context is kept, too")
        except OSError:
            raise type(error)(*error.args) from None

    monkeypatch.setattr(loop, "train", train)
    monkeypatch.setattr(devices, "free", lambda device: None)  # which collects garbage
    with pytest.raises(HypersphereError):
        pretrain(tiny_plan, runs)
    assert len(held) == 3


SHORT = """
import resource, sys
from pathlib import Path
from hypersphere.command import cli
from hypersphere.training import loop

step, count = loop._step, [0]
MORE = 8 * 2**20

def with_no_more(*arguments):
    count[0] += 1
    if count[0] == 3:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE, resource.RLIM_INFINITY))
    return step(*arguments)

loop._step = with_no_more
sys.exit(cli.main(sys.argv[1:]))
"""
WIDE = {"batch_divisor": 4, "epochs": 4, "overrides": [{"set": {"encoder": {"name": "resnet8", "width": 24}}}]}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process's memory is limited by Linux")
def test_a_process_that_may_have_no_more_memory_says_so_and_another_goes_on(tiny_root: Path) -> None:
    plan = planning.make(tiny_root, WIDE)
    run = next(iter(plan.runs.values()))
    store.prepare(run.dataset, tiny_root / "data", None)
    settings = [f"--set={key}={value}" for key, value in WIDE.items()]
    # Otherwise the allocator keeps what was freed, and has no need to ask the system for more.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SHORT, "pretrain", run.name, "--save-every", "0", *settings]
    process = subprocess.run(command, cwd=tiny_root, env=environment, capture_output=True, text=True)
    said = process.stderr.strip().splitlines()
    assert said[-1].startswith(f"hypersphere: {run.name}: out of memory on cpu at step 3, "), said
    assert "Traceback" not in process.stderr
    assert process.returncode == 2
    pretrain(plan, [run])
    assert steps(plan.run_folder(run.name)) == [0, 2]


# What a run has of snapshots counts, and no change of what the plan asks for loses one.

ENDS = ("encoder.safetensors", "heads.safetensors", "history.csv")


def epochs(folder: Path) -> list[int]:
    """Those that the manifest lists, each with its encoder and heads, there and unaltered; and no other is."""
    names = {name for name in check_files(folder / MANIFEST)["files"] if name.startswith("snapshots/")}
    assert {path.relative_to(folder).as_posix() for path in folder.glob("snapshots/*")} == names
    found = sorted({int(re.findall(r"\d+", name)[0]) for name in names})
    assert names == set(files_of(*found))
    return found


def files_of(*epochs: int) -> list[str]:
    """Both of each snapshot, as the contract calls them."""
    ends = (".safetensors", ".heads.safetensors")
    return [f"snapshots/epoch-{epoch:04d}{end}" for epoch in epochs for end in ends]


@pytest.fixture
def made(tiny_plan: Plan) -> Plan:
    """Two finished runs with snapshots of epochs 0, 1 and 2, of which the plan asks for 0 and 2."""
    for run in tiny_plan.batches[0].runs[:2]:
        folder = tiny_plan.run_folder(run.name)
        names = [*ENDS, *files_of(0, 1, 2)]
        for name in names:
            files.write_text(folder / name, f"{name} of {run.name}")
        listed = {name: files.sha256(folder / name) for name in names}
        about = {"status": "finished", "epochs": 4, "code": "a", "data": "b", "files": listed}
        files.write_sealed(folder / "manifest.json", about)
    return tiny_plan


def test_a_run_without_heads_or_encoder_of_an_epoch_that_is_wanted_is_not_finished(made: Plan, runs: list[Run]) -> None:
    for run, file in zip(runs, files_of(2), strict=False):
        folder = made.run_folder(run.name)
        assert training.finished(folder, "a", "b", [0, 2])
        manifest = files.read_sealed(folder / MANIFEST)
        del manifest["files"][file]
        files.write_sealed(folder / "manifest.json", manifest)
        assert not training.finished(folder, "a", "b", [0, 2])
        assert training.finished(folder, "a", "b", [0, 1])  # the control


def test_without_a_readable_manifest_what_lies_there_counts(made: Plan, runs: list[Run]) -> None:
    folder = made.run_folder(runs[0].name)
    files.write_text(folder / "snapshots" / ".epoch-0003.safetensors.0123abcd.part", "half")
    files.write_text(folder / snapshot_names(3)[0], "stale")
    assert training.snapshots(folder) == {0, 1, 2}
    manifest = (folder / "manifest.json").read_text()
    for harm in (manifest.replace('"a"', '"c"'), manifest[:-9], None):
        (folder / "manifest.json").unlink()
        if harm is not None:
            (folder / "manifest.json").write_text(harm)
        assert training.snapshots(folder) == {0, 1, 2, 3}
        (folder / "manifest.json").touch()
    assert training.snapshots(folder / "nothing") == set()


def test_a_shorter_list_removes_nothing_and_trains_nothing(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    assert epochs(folder) == [0, 2]
    monkeypatch.setattr(loop, "train", lambda *arguments: pytest.fail("trained again"))
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert contents(folder) == before
    with pytest.raises(pytest.fail.Exception, match="trained again"):  # the control
        training.pretrain(keeping(tiny_plan, 1), runs[:1])


def test_a_longer_list_is_trained_again_and_what_it_no_longer_asks_for_is_made_again(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 1 is new, 0 and 2 are off the list: the same run, in the same folder. Then its code changes too."""
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    files.write_text(folder / snapshot_names(3)[0], "left over")
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    new = {name: content for name, content in contents(folder).items() if name not in before}
    assert new.keys() == {*files_of(1)}
    assert contents(folder) == before | new
    (folder / "manifest.json").unlink()  # without it, what lies there counts
    monkeypatch.setattr(digests, "run_digest", lambda run: "other")
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    assert contents(folder) == before | new


def test_what_a_result_never_had_is_not_made(tiny_plan: Plan, runs: list[Run]) -> None:
    """The control of the test above; and what a caller asks for beside the list is."""
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1]
    training.pretrain(keeping(tiny_plan, 1), runs[:1], also=[3])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1, 3]
