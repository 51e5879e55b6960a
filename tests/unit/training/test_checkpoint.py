"""Resume states on disk that are refused. That they are read back to the bit is in test_resume.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from torch import Tensor

from hypersphere.config.run import Run
from hypersphere.methods.base import Method
from hypersphere.training import checkpoint, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import Progress

from ...broken_off import drop, rewrite
from .conftest import OPTIMISERS, MakeRun

Change = Callable[[dict[str, Tensor]], Any]


def built(run: Run) -> tuple[Method, torch.optim.Optimizer]:
    """As training begins it, in the layout that it uses."""
    method = build_method(run)
    method.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return method, optimisation.build(method, run.optimiser)


def step(method: Method, optimiser: torch.optim.Optimizer) -> None:
    """Two of three parameters get a gradient."""
    for i, parameter in enumerate(method.parameters()):
        parameter.grad = None if i % 3 == 1 else torch.ones_like(parameter)
    optimisation.set_rate(optimiser, 0.1, 1.0)
    optimiser.step()


@pytest.mark.parametrize("error", [OSError(12, "Cannot allocate memory"), SafetensorError("Cannot allocate memory")])
def test_a_state_that_there_is_no_memory_for_is_not_called_damaged(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def short(path: Path) -> None:
        raise error

    method, optimiser = built(make_run())
    checkpoint.save_state(tmp_path, method, optimiser, Progress({}))
    monkeypatch.setattr(checkpoint, "load_file", short)
    with pytest.raises(type(error)):
        checkpoint.load_state(tmp_path, {}, (), *built(make_run()))


def renamed(old: str, new: str) -> Change:
    """Call the tensors whose names hold ``old`` otherwise."""

    def change(tensors: dict[str, Tensor]) -> None:
        for name in [name for name in tensors if old in name]:
            tensors[name.replace(old, new)] = tensors.pop(name)

    return change


MISFITS: dict[str, tuple[str, Change]] = {
    "a parameter that there is not": ("adam", renamed("optimiser.0.", "optimiser.99.")),
    "a number below 0": ("adam", renamed("optimiser.0.", "optimiser.-1.")),
    "no number": ("sgd", renamed("optimiser.0.", "optimiser.first.")),
    "one of a parameter's tensors alone": ("adam", drop("optimiser.0.exp_avg_sq")),
    "no count": ("adamw", drop("optimiser.0.step")),
    "one tensor too many": ("sgd", lambda tensors: tensors.update({"optimiser.0.exp_avg": torch.zeros(2, 3, 3, 3)})),
    "another optimiser's": ("lars", renamed("momentum_buffer", "exp_avg")),
    "another shape": ("sgd", lambda tensors: tensors.update({"optimiser.0.momentum_buffer": torch.zeros(3)})),
    "a count for each weight": ("adam", lambda tensors: tensors.update({"optimiser.0.step": torch.ones(2, 3, 3, 3)})),
    "another width": ("sgd", lambda tensors: tensors.update({"model.projector.0.bias": torch.zeros(9)})),
    "another architecture": ("sgd", drop("model.projector.0.bias")),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_state_of_another_model_or_optimiser_is_refused_and_restores_nothing(
    make_run: MakeRun, tmp_path: Path, name: str, refused: Any
) -> None:
    """The parts name the run, so that this takes a forger."""
    optimiser_name, change = MISFITS[name]
    run = make_run(optimiser=OPTIMISERS[optimiser_name])
    method, optimiser = built(run)
    step(method, optimiser)
    checkpoint.save_state(tmp_path, method, optimiser, Progress({}))
    rewrite(tmp_path / checkpoint.RESUME, change)
    other, fresh = built(run)
    before = {name: value.clone() for name, value in other.state_dict().items()}
    with refused():
        checkpoint.load_state(tmp_path, {}, (), other, fresh)
    assert all(torch.equal(value, before[name]) for name, value in other.state_dict().items())
    assert not fresh.state
