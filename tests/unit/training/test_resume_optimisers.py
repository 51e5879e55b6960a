"""Resuming with every optimiser: what it remembers of each parameter is in the state, counts, and is checked."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.training import checkpoint

from .conftest import OPTIMISERS, Broken, drop, result, rewrite

pytestmark = pytest.mark.heavy

Change = Callable[[dict[str, Tensor]], Any]
KEYS = {name: ("step", "exp_avg", "exp_avg_sq") for name in ("adam", "adamw")} | {"lars": ("momentum_buffer",)}
"""Beside SGD, which test_resume.py is about."""
STRAY = 99


@pytest.mark.parametrize("optimiser", KEYS)
@pytest.mark.parametrize("after", [1, 4])
def test_every_optimiser_goes_on_to_the_same_bytes(broken: Broken, optimiser: str, after: int) -> None:
    whole, folder, resume = broken(after, optimiser=OPTIMISERS[optimiser])
    assert resume().starts == [0, after]
    assert result(folder) == whole


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_without_momentum_remembers_nothing(broken: Broken, momentum: float) -> None:
    whole, folder, resume = broken(5, optimiser={"momentum": momentum, "nesterov": False})
    _, tensors = checkpoint._load_sealed(folder / checkpoint.RESUME)
    assert any(name.startswith("optimiser.") for name in tensors) == (momentum > 0)
    assert resume().starts == [0, 5]
    assert result(folder) == whole


@pytest.mark.parametrize(("optimiser", "key"), [(name, key) for name, keys in KEYS.items() for key in keys])
def test_every_tensor_an_optimiser_remembers_matters(broken: Broken, optimiser: str, key: str) -> None:
    """Controls of the tests above."""
    whole, folder, resume = broken(5, optimiser=OPTIMISERS[optimiser])
    rewrite(folder / checkpoint.RESUME, lambda tensors: tensors[f"optimiser.0.{key}"].mul_(1.5))
    assert resume().starts == [0, 5]
    assert result(folder)["encoder.safetensors"] != whole["encoder.safetensors"]


@pytest.mark.parametrize("beginning", ["optimiser.0.", "optimiser."])
@pytest.mark.parametrize("optimiser", KEYS)
def test_a_parameter_whose_tensors_are_gone_goes_on_otherwise(broken: Broken, optimiser: str, beginning: str) -> None:
    """Likewise; it passes for one that had no gradient yet."""
    whole, folder, resume = broken(5, optimiser=OPTIMISERS[optimiser])
    rewrite(folder / checkpoint.RESUME, drop(beginning))
    assert resume().starts == [0, 5]
    assert result(folder)["encoder.safetensors"] != whole["encoder.safetensors"]


def renamed(old: str, new: str) -> Change:
    """For ``rewrite``: call the tensors whose names hold ``old`` otherwise."""

    def change(tensors: dict[str, Tensor]) -> None:
        for name in [name for name in tensors if old in name]:
            tensors[name.replace(old, new)] = tensors.pop(name)

    return change


MISFITS: dict[str, tuple[str, Change]] = {
    "a parameter that there is not": ("adam", renamed("optimiser.0.", f"optimiser.{STRAY}.")),
    "a number below 0": ("adam", renamed("optimiser.0.", "optimiser.-1.")),
    "no number": ("sgd", renamed("optimiser.0.", "optimiser.first.")),
    "one of a parameter's tensors alone": ("adam", drop("optimiser.0.exp_avg_sq")),
    "no count": ("adamw", drop("optimiser.0.step")),
    "one tensor too many": ("sgd", lambda tensors: tensors.update({"optimiser.0.exp_avg": torch.zeros(2, 3, 3, 3)})),
    "another optimiser's": ("lars", renamed("momentum_buffer", "exp_avg")),
    "another parameter's shape": (
        "sgd",
        lambda tensors: tensors.update({"optimiser.0.momentum_buffer": torch.zeros(3)}),
    ),
    "a count for each weight": ("adam", lambda tensors: tensors.update({"optimiser.0.step": torch.ones(2, 3, 3, 3)})),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_state_of_another_optimiser_is_refused(broken: Broken, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The parts name the run, so that this takes a forger; training starts over, and ends with the right bytes."""
    optimiser, change = MISFITS[name]
    whole, folder, resume = broken(5, optimiser=OPTIMISERS[optimiser])
    rewrite(folder / checkpoint.RESUME, change)
    assert resume().starts == [0]
    sentence = f"{folder / checkpoint.RESUME}: not resumed: "
    assert f"note: {sentence}" in capsys.readouterr().out
    assert result(folder) == whole


@pytest.mark.parametrize("after", [1, 4])
def test_four_groups_go_on_to_the_same_bytes(broken: Broken, after: int) -> None:
    """SimSiam's predictor at a constant rate, with and without decay, beside the rest: tensors are told by number."""
    whole, folder, resume = broken(after, "simsiam", optimiser=OPTIMISERS["adamw"])
    resume()
    assert result(folder) == whole
