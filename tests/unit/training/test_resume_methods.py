"""Every method resumes inside one process, to the same bytes, and everything that it carries from step to step counts.

tests/resume/ does the same to two methods with real processes and signals.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from torch import Tensor

from hypersphere.config.plan import Plan
from hypersphere.datasets import store
from hypersphere.training import checkpoint
from hypersphere.training.loop import Outcome
from hypersphere.training.trainers.image import training_images

from ...of_images import METHODS
from .conftest import execute, of_method, result, rewrite, unbroken

pytestmark = pytest.mark.heavy

CARRIED = {
    "byol": ("model.target.",),
    "cmc": (),
    "dino": ("model.target.", "model.centre", "model.frozen"),
    "instance_discrimination": ("model.bank",),
    "mocov2": ("model.queue", "model.target."),
    "mocov3": ("model.target.",),
    "simclr": (),
    "simsiam": (),
    "supervised": (),
    "swav": ("model.frozen",),
}
"""What a method carries from step to step beside its weights: how the names of those tensors begin."""
TRAINED = {"encoder", "projector", "predictor", "classifier", "prototypes", "lightness", "colour"}
"""The modules of all methods that an optimiser trains."""
STOPPED_AT = 5
"""A step in the middle, after which each method below has more than one step to go."""
# "model.frozen" says whether prototypes are frozen. They never are in these runs, so the tensor changes nothing.
ALTERED = [
    (method, prefix)
    for method in METHODS
    for prefix in ("model.encoder.", "optimiser.", *CARRIED[method])
    if prefix != "model.frozen"
]


@dataclass(frozen=True)
class Stopped:
    """A run that was killed: its folder, what an unbroken run leaves, and a way to train it to its end."""

    folder: Path
    whole: dict[str, bytes]
    resume: Callable[[], Outcome]

    @property
    def state(self) -> Path:
        """The resume state."""
        return self.folder / checkpoint.RESUME


@pytest.fixture
def stopped(methods_plan: Plan, kept: Path, tmp_path: Path) -> Callable[[str, int], Stopped]:
    """``stopped(method, step)``: the method's run, killed at the beginning of that step."""

    def stop(method: str, step: int) -> Stopped:
        run = of_method(methods_plan, method)
        images = training_images(store.open(methods_plan.data_folder(run.dataset)))
        unbroken_folder, folder = unbroken(run, images, kept), tmp_path / "stopped"
        shutil.copytree(unbroken_folder / str(step), folder)
        return Stopped(
            folder, result(unbroken_folder / "whole"), lambda: execute(run, images, folder, save_every=3600.0)
        )

    return stop


@pytest.mark.parametrize("step", [1, STOPPED_AT])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_resumes_to_the_same_bytes(stopped: Callable[[str, int], Stopped], method: str, step: int) -> None:
    run = stopped(method, step)
    assert not (run.folder / "encoder.safetensors").exists()
    outcome = run.resume()
    assert (outcome.status, outcome.starts) == ("finished", [0, step])
    assert result(run.folder) == run.whole


@pytest.mark.parametrize(("method", "prefix"), ALTERED)
def test_everything_a_method_carries_matters(stopped: Callable[[str, int], Stopped], method: str, prefix: str) -> None:
    """Controls of the test above: a state altered by someone who can seal it gives other bytes."""
    run = stopped(method, STOPPED_AT)
    altered = []

    def nudge(tensors: dict[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            if name.startswith(prefix) and tensor.is_floating_point():
                altered.append(name)
                tensors[name] = tensor * 1.01 + 0.01

    rewrite(run.state, nudge)
    assert altered
    assert run.resume().starts == [0, STOPPED_AT]
    assert result(run.folder)["encoder.safetensors"] != run.whole["encoder.safetensors"]
    assert result(run.folder)["history.csv"] != run.whole["history.csv"]


def test_the_list_of_what_methods_carry_names_every_method() -> None:
    assert CARRIED.keys() == set(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_the_list_of_what_a_method_carries_is_complete(stopped: Callable[[str, int], Stopped], method: str) -> None:
    """Every tensor of a state belongs to a trained module or to the optimiser, or is listed."""
    _, tensors = checkpoint._load_sealed(stopped(method, 1).state)
    others = [name for name in tensors if name.startswith("model.") and name.split(".")[1] not in TRAINED]
    assert [name for name in others if not name.startswith(CARRIED[method] or ("none",))] == []
    assert all(any(name.startswith(prefix) for name in others) for prefix in CARRIED[method])
