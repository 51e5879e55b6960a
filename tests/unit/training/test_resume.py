"""Resuming inside one process: every method and optimiser, at any step, from every part of the state, and no other's.

tests/resume/ does the same with real processes and signals.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from hypersphere.config.plan import Plan
from hypersphere.file_names import RESUME
from hypersphere.provenance import stop
from hypersphere.training import checkpoint, loop
from hypersphere.training.weights import snapshot_names

from ...broken_off import KilledError, add_one, before_steps, contents, drop, failing, rewrite
from ...harm import flip, truncate
from ...of_images import METHODS
from .conftest import IDENTITY, OPTIMISERS, STEPS, Broken, break_off, of_method

pytestmark = pytest.mark.heavy


WITHOUT_MOMENTUM = {"momentum": 0.0, "nesterov": False}
OF_OPTIMISERS: list[tuple[str, dict[str, Any]]] = [
    *(("simclr", OPTIMISERS[name]) for name in ("adam", "adamw", "lars")),
    ("simclr", WITHOUT_MOMENTUM),
    ("simsiam", {}),
    ("simsiam", OPTIMISERS["adamw"]),
]
"""Without momentum SGD remembers nothing; SimSiam's predictor, at a constant rate, has groups of its own."""


@pytest.mark.parametrize(
    ("after", "method", "optimiser"),
    [
        *((after, "simclr", {}) for after in range(STEPS)),
        *((4, *one) for one in OF_OPTIMISERS),
    ],
)
def test_killed_at_any_step_with_any_optimiser_it_goes_on_to_the_same_bytes(
    broken: Broken, after: int, method: str, optimiser: dict[str, Any]
) -> None:
    whole, folder, resume = broken(after, method, optimiser=optimiser)
    assert not (folder / "encoder.safetensors").exists()
    if after:  # before the first step there is no state
        _, tensors = checkpoint.read(folder)
        assert any(name.startswith("optimiser.") for name in tensors) == (
            optimiser != WITHOUT_MOMENTUM
        )
    outcome = resume()
    assert (outcome.status, outcome.epochs) == ("finished", 4)
    assert outcome.starts == ([0, after] if after else [0])
    assert contents(folder) == whole
    assert not list(folder.rglob("*.part"))


def test_killed_again_and_again(broken: Broken) -> None:
    whole, folder, resume = broken(None)
    for after in (3, 1, 2):
        with failing(KilledError(), after), pytest.raises(KilledError):
            resume(save_every=0.0)
    before, _ = checkpoint.read(folder)
    outcome = resume()
    assert outcome.starts == [0, 3, 4, 6]
    assert contents(folder) == whole
    # Time counts what all processes spent, though each had only a part of the run.
    rows = [line.split(",") for line in (folder / "timing.csv").read_text().splitlines()[1:]]
    assert len(rows) == 4
    spent = sum(row["seconds"] for row in before.timing) + before.seconds
    assert sum(float(seconds) for _, seconds in rows) >= round(spent, 3) > 0


def test_killed_between_an_epochs_last_step_and_its_end(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the step is an epoch's end, and its row is not yet in the history: no state may say so."""
    whole, folder, resume = broken(None)
    snapshot = loop._snapshot

    def dying_at_2(*arguments: Any) -> None:
        *_, progress = arguments
        if progress.epochs == 2:
            raise KilledError
        snapshot(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_snapshot", dying_at_2)
        with pytest.raises(KilledError):
            resume(save_every=0.0)
    assert resume().starts == [0, 3]  # the step before
    assert contents(folder) == whole


def test_asked_to_stop_it_saves_the_state_first(broken: Broken, names: Any) -> None:
    """Although the next state is due in an hour."""
    whole, folder, resume = broken(None)
    request = stop.Request()
    with (
        before_steps(lambda number: setattr(request, "number", 15)),
        pytest.raises(stop.StoppedError) as caught,
    ):
        resume(request=request)
    names(caught.value, folder)
    assert caught.value.status == 128 + 15  # as a shell reports a process that a signal ended
    assert resume().starts == [0, 1]
    assert contents(folder) == whole


# Every part of a state matters: one altered by someone who can seal it gives other bytes

Change = Callable[[dict[str, Tensor]], Any]


def grow(name: str) -> Change:
    """By half."""
    return lambda tensors: tensors[name].mul_(1.5)


ADAM = ("step", "exp_avg", "exp_avg_sq")
REMEMBERED = {
    "sgd": ("momentum_buffer",),
    "adam": ADAM,
    "adamw": ADAM,
    "lars": ("momentum_buffer",),
}
ALTERATIONS: dict[str, tuple[str, Change]] = {
    "a weight": ("sgd", grow("model.encoder.conv1.weight")),
    "a batch norm buffer": (
        "sgd",
        lambda tensors: tensors["model.encoder.bn1.running_mean"].add_(0.01),
    ),
    "a head's bias": ("sgd", grow("model.projector.0.bias")),
    "one momentum dropped": ("sgd", drop("optimiser.0.")),
    "no momentum": ("sgd", drop("optimiser.")),
    "nothing": ("sgd", lambda tensors: None),
    "the sums of an epoch": ("sgd", lambda tensors: None),
    **{
        f"{name}'s {key}": (name, grow(f"optimiser.0.{key}"))
        for name, keys in REMEMBERED.items()
        for key in keys
    },
}
"""By name, the optimiser, and what is done to the state's tensors."""


@pytest.mark.parametrize("name", ALTERATIONS)
def test_every_part_of_the_resume_state_matters(broken: Broken, name: str) -> None:
    """But sealing it anew as it is changes nothing. Step 5 is the first of the third epoch's two: its partial sums
    matter for the history alone."""
    optimiser, change = ALTERATIONS[name]
    whole, folder, resume = broken(5, optimiser=OPTIMISERS[optimiser])
    rewrite(
        folder / RESUME, change, **({"sums": [0.0, 0.0]} if name == "the sums of an epoch" else {})
    )
    assert resume().starts == [0, 5]
    found = contents(folder)
    changed = {file for file in found.keys() | whole.keys() if found.get(file) != whole.get(file)}
    few: dict[str, set[str]] = {"nothing": set(), "the sums of an epoch": {"history.csv"}}
    assert changed == few[name] if name in few else "encoder.safetensors" in changed


# What is not gone on from is said


def reshape(name: str) -> Change:
    """The same bytes in the same order."""
    return lambda tensors: tensors.update({name: tensors[name].reshape(2, -1)})


def altered(change: Change, seal: bool = True) -> tuple[str, Callable[[Path], Any]]:
    return RESUME, lambda path: rewrite(path, change, seal)


def unreadable(path: Path) -> None:
    """It is there, opened by anybody, and not to be read as a file is."""
    path.unlink()
    path.symlink_to("/proc/self/mem")


SNAPSHOT, HEADS = snapshot_names(2)
REFUSED: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a weight altered": altered(grow("model.encoder.conv1.weight"), seal=False),
    "truncated": (RESUME, truncate),
    "not a state": (RESUME, lambda path: save_file({"x": torch.zeros(1)}, path)),
    "sealed with a tensor of another shape": altered(reshape("model.projector.0.bias")),
    "sealed with a moment of another shape": altered(reshape("optimiser.0.momentum_buffer")),
    "sealed without a weight": altered(drop("model.projector.0.bias")),
    "sealed with a moment of no parameter": altered(
        lambda tensors: tensors.update({"optimiser.999.step": torch.zeros(())})
    ),
    "unreadable": (RESUME, unreadable),
    "a snapshot lost": (SNAPSHOT, Path.unlink),
    "heads altered": (HEADS, flip),
} | dict.fromkeys(IDENTITY, (RESUME, lambda path: None))
"""By name, what is done to which file; or which part of the identity is another."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_state_that_is_damaged_or_of_another_run_is_said_and_training_starts_over(
    broken: Broken, capsys: pytest.CaptureFixture[str], names: Any, name: str
) -> None:
    """Step 5 is past the second epoch's snapshot, which going on would never write again."""
    whole, folder, resume = broken(5)
    file, harm = REFUSED[name]
    harm(folder / file)
    other = {"identity": IDENTITY | {name: "another"}} if name in IDENTITY else {}
    assert resume(**other).starts == [0]
    (said,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    names(said, "note", folder / file)
    assert contents(folder) == whole


def test_a_state_that_there_is_no_memory_for_is_not_called_damaged(
    broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, resume = broken(5)
    for error in (OSError(12, "Cannot allocate memory"), SafetensorError("Cannot allocate memory")):
        monkeypatch.setattr(checkpoint, "load_file", Mock(side_effect=error))
        with pytest.raises(type(error)):
            resume()


@pytest.mark.parametrize(
    ("after", "wanted", "listed"),
    [
        (5, {1}, None),
        (3, {1}, None),
        (2, {1}, None),
        (1, {1}, {0, 1}),
        (5, {3}, {0, 2, 3}),
        (5, set(), {0, 2}),
    ],
)
def test_a_snapshot_no_longer_wanted_stays_and_a_state_past_one_that_is_wanted_now_is_refused(
    broken: Broken,
    capsys: pytest.CaptureFixture[str],
    after: int,
    wanted: set[int],
    listed: set[int] | None,
) -> None:
    """Of epochs of two steps the second's snapshot and the untrained one were wanted; ``listed`` None: it is refused.

    An epoch yet to come is no reason.
    """
    whole, folder, resume = broken(after)
    outcome = resume(snapshots=frozenset(wanted))
    assert outcome.starts == ([0] if listed is None else [0, after])
    assert ("note: " in capsys.readouterr().out) == (listed is None)
    names = {
        name for epoch in (wanted if listed is None else listed) for name in snapshot_names(epoch)
    }
    assert outcome.snapshots.keys() == names
    found = contents(folder)
    assert found.keys() == {"encoder.safetensors", "heads.safetensors", "history.csv"} | names
    assert all(found[name] == whole[name] for name in found.keys() & whole.keys())


# Every method

CARRIED: dict[str, tuple[str, ...]] = dict.fromkeys(METHODS, ()) | {
    "byol": ("model.target.",),
    "dino": ("model.target.", "model.centre"),
    "instance_discrimination": ("model.bank",),
    "mocov2": ("model.queue", "model.target."),
    "mocov3": ("model.target.",),
}
"""What a method carries from step to step beside its weights: how the names of those tensors begin."""
TRAINED = {"encoder", "projector", "predictor", "classifier", "prototypes", "lightness", "colour"}
"""The modules of all methods that an optimiser trains."""
MIDDLE = 5
"""A step after which each method below has more than one step to go."""
ALTERED = [
    (method, prefix)
    for method in METHODS
    for prefix in ("model.encoder.", "optimiser.", *CARRIED[method])
]


@pytest.fixture
def stopped(methods_plan: Plan, kept: Path, tmp_path: Path) -> Broken:
    """``stopped(step, method)``: as ``broken``, a method's run on prepared images."""
    return lambda step, method: break_off(
        step, *of_method(methods_plan, method), kept, tmp_path / str(step)
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_resumes_to_the_same_bytes(stopped: Broken, method: str) -> None:
    """Every tensor of a state belongs to a trained module or to the optimiser, or is listed."""
    for step in (1, MIDDLE):
        whole, folder, resume = stopped(step, method)
        names = [name for name in checkpoint.read(folder)[1] if name.startswith("model.")]
        others = [name for name in names if name.split(".")[1] not in TRAINED]
        assert [name for name in others if not name.startswith(CARRIED[method])] == []
        assert all(any(name.startswith(prefix) for name in others) for prefix in CARRIED[method])
        outcome = resume()
        assert (outcome.status, outcome.starts) == ("finished", [0, step])
        assert contents(folder) == whole


@pytest.mark.parametrize(("method", "prefix"), ALTERED)
def test_everything_a_method_carries_matters(stopped: Broken, method: str, prefix: str) -> None:
    whole, folder, resume = stopped(MIDDLE, method)
    rewrite(folder / RESUME, add_one(prefix))
    assert resume().starts == [0, MIDDLE]
    assert contents(folder)["encoder.safetensors"] != whole["encoder.safetensors"]
    assert contents(folder)["history.csv"] != whole["history.csv"]
