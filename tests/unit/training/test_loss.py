"""From YAML to one function of embeddings: objective, regulariser, map to logits, and what the method gives beside."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.positive_scaling import positive_scaling
from hypersphere.objectives.tuplet import tuplet
from hypersphere.training.build import loss_of

from .conftest import MakeRun

GENERALISED = {"name": "generalised_info_nce", "negatives": "both_views"}
SCALED = {"name": "positive_scaling", "temperature": 0.25, "s": 3}


@pytest.fixture
def z() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))  # type: ignore[return-value]


def test_an_objective_is_given_its_map_to_logits(make_run: MakeRun, z: tuple[Tensor, Tensor]) -> None:
    run = make_run(objective=GENERALISED, logits=SCALED)

    def to_logits(cosines: Tensor, targets: Tensor) -> Tensor:
        return positive_scaling(cosines, targets, temperature=0.25, s=3)

    assert loss_of(run)(*z) == generalised_info_nce(*z, to_logits, negatives="both_views")


def test_what_the_method_gives_beside_goes_to_those_that_ask_for_it(
    make_run: MakeRun, z: tuple[Tensor, Tensor]
) -> None:
    """SimCLR gives labels: to the objective, and not to the regulariser."""
    run = make_run(objective={"name": "tuplet"}, regulariser={"name": "alignment", "weight": 2})
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    expected = tuplet(*z, labels) + alignment(*z, weight=2)
    assert loss_of(run)(*z, labels=labels, queue=None) == expected


SELF_DISTILLATION = {"name": "self_distillation", "student_temperature": 0.1, "teacher_temperature": 0.1}
MISFITS: dict[str, dict[str, Any]] = {
    "no logits": {"objective": GENERALISED},
    "logits too many": {"logits": SCALED},
    "objective": {"objective": SELF_DISTILLATION},
    "regulariser": {"regulariser": {"name": "momentum_contrast", "temperature": 0.1}},
    "unknown": {"regulariser": {"name": "distance_polarization", "wait": 1}},
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_one_sentence(make_run: MakeRun, name: str, approve: Callable[[object], None]) -> None:
    with pytest.raises(ValidationError) as caught:
        make_run(**MISFITS[name])
    for error in caught.value.errors():
        approve(f"{'.'.join(map(str, error['loc']))}: {error['msg']}")


def test_an_objective_alone_is_that_function_and_a_regulariser_is_added(
    make_run: MakeRun, z: tuple[Tensor, Tensor]
) -> None:
    alone = nt_xent(*z, temperature=0.5)
    assert loss_of(make_run())(*z) == alone
    both = loss_of(make_run(regulariser={"name": "distance_polarization", "weight": 2.0}))(*z)
    assert both == alone + distance_polarization(*z, weight=2.0)
    assert both != alone
