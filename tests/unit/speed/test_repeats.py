"""Equal bytes are seen where they are, and missed where they are not."""

from collections.abc import Collection

import pytest
import torch
from torch import Tensor

from hypersphere.datasets.training_sizes import stated
from hypersphere.speed import repeats
from hypersphere.speed.trial import Trial
from hypersphere.training.checkpoint import Checkpointer
from hypersphere.training.trainers.image import Views

from ...golden.released import released

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def trial() -> Trial:
    run = next(iter(released("quick").runs_of("margins", "table4").values()))
    batch = run.batch.model_copy(update={"size": 8, "micro": 4})
    size = stated(run.dataset)
    assert size is not None
    return Trial(run.model_copy(update={"batch": batch}), size, steps=2)


def test_a_run_repeats_and_resumes_to_equal_bytes(trial: Trial) -> None:
    assert repeats.of(trial, CPU, "float32") == (True, True)


def test_views_of_unkeyed_draws_do_not_repeat(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Views.views

    def unkeyed(views: Views, index: Tensor) -> Tensor:
        return made(views, index) + torch.rand(()) / 2

    monkeypatch.setattr(Views, "views", unkeyed)
    assert repeats.of(trial, CPU, "float32") == (False, False)


def test_a_run_that_starts_over_has_not_resumed(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although it ends with equal bytes."""

    def nothing(checkpointer: Checkpointer, snapshots: Collection[int]) -> bool:
        return False

    monkeypatch.setattr(Checkpointer, "load", nothing)
    assert repeats.of(trial, CPU, "float32") == (True, False)
