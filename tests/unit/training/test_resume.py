"""Resuming inside one process: at any step, from every part of the state, and never from another run's.

Other optimisers than SGD are in test_resume_optimisers.py; tests/resume/ does the same with real processes and signals.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8
from safetensors.torch import save_file
from torch import Tensor

from hypersphere.config.run import Run
from hypersphere.provenance import stop
from hypersphere.training import checkpoint, loop

from .conftest import IDENTITY, STEPS, Broken, drop, execute, result, rewrite

pytestmark = pytest.mark.heavy

Images = UInt8[np.ndarray, "n h w 3"]
MakeRun = Callable[..., Run]


class KilledError(Exception):
    """Stands for a kill: nothing catches it."""


def dying(after: int) -> Callable[..., Tensor]:
    """An optimiser step that fails instead of taking more than ``after`` steps."""
    step, count = loop._step, [0]

    def maybe(*arguments: Any) -> Tensor:
        count[0] += 1
        if count[0] > after:
            raise KilledError
        return step(*arguments)

    return maybe


@pytest.mark.parametrize(("after", "method"), [*((step, "simclr") for step in range(STEPS)), (3, "simsiam")])
def test_killed_at_any_step_and_resumed_gives_the_same_bytes(broken: Broken, after: int, method: str) -> None:
    whole, folder, resume = broken(after, method)
    assert not (folder / "encoder.safetensors").exists()
    outcome = resume()
    assert (outcome.status, outcome.epochs) == ("finished", 4)
    assert outcome.starts == ([0, after] if after else [0])  # before the first step there is no state
    assert result(folder) == whole
    assert not list(folder.rglob("*.part"))


def test_killed_again_and_again(broken: Broken) -> None:
    whole, folder, resume = broken(None)
    for after in (3, 1, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "_step", dying(after))
            with pytest.raises(KilledError):
                resume(save_every=0.0)
    before = checkpoint.read_progress(folder)
    outcome = resume()
    assert outcome.starts == [0, 3, 4, 6]
    assert result(folder) == whole
    # Time counts what all processes spent, though each had only a part of the run.
    rows = [line.split(",") for line in (folder / "timing.csv").read_text().splitlines()[1:]]
    assert len(rows) == 4
    spent = sum(row["seconds"] for row in before.timing) + before.seconds
    assert outcome.seconds == sum(float(seconds) for _, seconds in rows) >= round(spent, 3) > 0


def test_killed_between_an_epochs_last_step_and_its_end(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the step is an epoch's end, and its row is not yet in the history: no state may say so."""
    whole, folder, resume = broken(None)
    snapshot = loop._snapshot

    def dying_at_2(*arguments: Any) -> None:
        *_, progress = arguments
        if progress.epoch == 2:
            raise KilledError
        snapshot(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_snapshot", dying_at_2)
        with pytest.raises(KilledError):
            resume(save_every=0.0)
    assert resume().starts == [0, 3]  # the step before
    assert result(folder) == whole


def test_asked_to_stop_it_saves_the_state_first(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the next state would have been due in an hour."""
    whole, folder, resume = broken(None)
    request, step = stop.Request(), loop._step

    def asking(*arguments: Any) -> Tensor:
        request.number = 15
        return step(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_step", asking)
        with pytest.raises(stop.StoppedError, match=r"broken: stopped by SIGTERM after step 1") as caught:
            resume(request=request, save_every=3600.0)
    assert caught.value.status == 128 + 15  # as a shell reports a process that a signal ended
    assert resume().starts == [0, 1]
    assert result(folder) == whole


ALTERATIONS: dict[str, Callable[[dict[str, Tensor]], Any]] = {
    "a weight": lambda tensors: tensors["model.encoder.conv1.weight"].mul_(1.01),
    "a batch norm buffer": lambda tensors: tensors["model.encoder.bn1.running_mean"].add_(0.01),
    "a head's bias": lambda tensors: tensors["model.projector.0.bias"].add_(0.01),
    "one momentum": lambda tensors: tensors["optimiser.0.momentum_buffer"].mul_(1.5),
    "one momentum dropped": drop("optimiser.0."),
    "no momentum": drop("optimiser."),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_every_part_of_the_resume_state_matters(broken: Broken, name: str) -> None:
    """Controls of the tests above: a state altered by someone who can seal it gives other bytes."""
    whole, folder, resume = broken(5)
    rewrite(folder / checkpoint.RESUME, ALTERATIONS[name])
    assert resume().starts == [0, 5]
    assert result(folder)["encoder.safetensors"] != whole["encoder.safetensors"]


def test_the_partial_sums_of_an_epoch_matter(broken: Broken) -> None:
    """Likewise for the history: step 5 is the first of the third epoch's two."""
    whole, folder, resume = broken(5)
    progress, tensors = checkpoint._load_sealed(folder / checkpoint.RESUME)
    progress.sums = [0.0, 0.0]
    metadata = json.dumps(progress.__dict__)
    checkpoint._save_sealed(folder / checkpoint.RESUME, tensors, metadata)
    resume()
    assert result(folder)["encoder.safetensors"] == whole["encoder.safetensors"]
    assert result(folder)["history.csv"] != whole["history.csv"]


def test_sealing_a_state_anew_unaltered_is_harmless(broken: Broken) -> None:
    """Control of the controls."""
    whole, folder, resume = broken(5)
    rewrite(folder / checkpoint.RESUME, lambda tensors: None)
    assert resume().starts == [0, 5]
    assert result(folder) == whole


def reshape(tensors: dict[str, Tensor]) -> None:
    """The same bytes in the same order."""
    tensors["model.projector.0.bias"] = tensors["model.projector.0.bias"].reshape(2, 4)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "a weight altered": lambda path: rewrite(path, ALTERATIONS["a weight"], seal=False),
    "a tensor of another shape": lambda path: rewrite(path, reshape, seal=False),
    "a key dropped": lambda path: rewrite(path, drop("optimiser.0."), seal=False),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-10]),
    "empty": lambda path: path.write_bytes(b""),
    "not a state": lambda path: save_file({"x": torch.zeros(1)}, path),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_state_is_said_and_training_starts_over(
    broken: Broken, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    whole, folder, resume = broken(5)
    DAMAGE[name](folder / checkpoint.RESUME)
    assert resume().starts == [0]
    (said,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert f"{folder / checkpoint.RESUME}: the resume state is damaged" in said
    assert said.endswith("; starting over")
    assert result(folder) == whole


@pytest.mark.parametrize("part", IDENTITY)
def test_the_state_of_another_run_code_or_dataset_is_refused(
    broken: Broken, capsys: pytest.CaptureFixture[str], part: str
) -> None:
    whole, folder, resume = broken(5)
    assert resume(identity=IDENTITY | {part: "another"}).starts == [0]
    assert f"not resumed: it was saved at step 5 with another {part}; starting over" in capsys.readouterr().out
    assert result(folder) == whole


@pytest.mark.parametrize("harm", ["missing", "altered"])
@pytest.mark.parametrize("file", ["epoch-0002.safetensors", "epoch-0002.heads.safetensors"])
def test_a_snapshot_lost_on_the_way_is_seen(
    broken: Broken, capsys: pytest.CaptureFixture[str], file: str, harm: str
) -> None:
    """Step 5 is past the second epoch's snapshot, which going on would never write again."""
    whole, folder, resume = broken(5)
    snapshot = folder / "snapshots" / file
    if harm == "missing":
        snapshot.unlink()
    else:
        snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"\1")
    assert resume().starts == [0]
    assert f"{snapshot}: missing, or altered since" in capsys.readouterr().out
    assert result(folder) == whole


@pytest.mark.parametrize(
    ("after", "epoch", "good"), [(5, 1, False), (3, 1, False), (2, 1, False), (1, 1, True), (5, 2, True), (5, 3, True)]
)
def test_a_state_past_an_epoch_whose_snapshot_is_wanted_now_is_refused(
    broken: Broken, capsys: pytest.CaptureFixture[str], after: int, epoch: int, good: bool
) -> None:
    """Of epochs of two steps only the second's snapshot was wanted before; an epoch yet to come is no reason."""
    whole, folder, resume = broken(after)
    outcome = resume(snapshots=frozenset({0, epoch}))
    assert outcome.starts == ([0, after] if good else [0])
    path, lack = folder / checkpoint.RESUME, f"saved at step {after} without a snapshot of epoch {epoch}"
    assert (f"note: {path}: not resumed: {lack}; starting over" in capsys.readouterr().out) == (not good)
    assert {f"snapshots/epoch-{epoch:04d}{kind}.safetensors" for kind in ("", ".heads")} <= result(folder).keys()
    assert result(folder)["encoder.safetensors"] == whole["encoder.safetensors"]


@pytest.mark.parametrize("wanted", [frozenset(), frozenset({0}), frozenset({3})])
def test_a_snapshot_no_longer_wanted_stays_and_stays_listed(broken: Broken, wanted: frozenset[int]) -> None:
    whole, folder, resume = broken(5)
    outcome = resume(snapshots=wanted)
    assert outcome.starts == [0, 5]
    names = {f"snapshots/epoch-{epoch:04d}{kind}.safetensors" for epoch in {0, 2} | wanted for kind in ("", ".heads")}
    assert outcome.snapshots.keys() == names
    assert result(folder).keys() == {"encoder.safetensors", "heads.safetensors", "history.csv"} | names
    assert all(result(folder)[name] == content for name, content in whole.items())


@pytest.mark.parametrize("change", [{}, {"hidden": 9}], ids=["other names", "other shapes"])
def test_a_state_of_another_architecture_is_refused(
    broken: Broken, make_run: MakeRun, images: Images, capsys: pytest.CaptureFixture[str], change: dict[str, int]
) -> None:
    """The parts name the run, so that this takes a forger."""
    _, folder, _ = broken(5)
    other = make_run("simclr", method=change) if change else make_run("simsiam")
    assert execute(other, images, folder).starts == [0]
    assert "not those of the run's model" in capsys.readouterr().out
