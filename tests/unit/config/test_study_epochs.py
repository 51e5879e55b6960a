"""A study of untrained and trained encoders: its arms differ in their epoch alone, and nothing is tuned."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.config.plan import Plan

STUDY: dict[str, Any] = {
    "question": "Does training help?",
    "title": "Trained and untrained",
    "arms": [
        {"method": ["simclr"], "variant": "baseline", "dataset": name, "epoch": [0, "100%"]}
        for name in ("cats", "dogs")
    ],
    "measure": "knn_top1",
    "by": "knn",
    "checks": [{"measure": "norm", "by": "norms", "split": "test", "target": ["cats", "dogs"]}],
    "left_out": [{"dataset": "cats", "target": "cats"}, {"dataset": "dogs", "target": "dogs"}],
    "seeds": {"confirmation": [0, 1, 2]},
    "test": "paired",
    "margin": 1,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "small",
}


def changed(**changes: Any) -> dict[str, Any]:
    return {"studies.training": copy.deepcopy(STUDY) | changes}


def test_each_trained_encoder_is_compared_with_its_own_start(planned: Callable[..., Plan]) -> None:
    """Paired by seed: both arms are epochs of one run, so that three seeds on two sets are six runs."""
    plan = planned(paper=changed())
    artifact = plan.config.papers["p"].measured["training"]
    assert [(a["dataset"], a["epoch"], b["epoch"]) for a, b in artifact.comparisons] == [
        ("cats", "100%", 0),
        ("dogs", "100%", 0),
    ]
    assert artifact.test == "paired"
    cells = plan.artifacts["p", "training"]
    assert {(cell.epoch, cell.run.seed) for cell in cells if cell.run} >= {(0, 0), (100, 0), (0, 2), (100, 2)}
    assert len({cell.run.name for cell in cells if cell.run}) == 6
    assert not any(cell.missing for cell in cells)
    assert not {"training_tuning", "training_printed", "training_curves"} & plan.config.papers["p"].measured.keys()


def test_checks_that_mean_nothing_are_left_out(planned: Callable[..., Plan]) -> None:
    cells = [
        cell for cell in planned(paper=changed()).artifacts["p", "training_checks"] if "target" in cell.coordinates
    ]
    made = {(cell.coordinates["dataset"], cell.coordinates["target"]) for cell in cells if not cell.missing}
    assert made == {("cats", "dogs"), ("dogs", "cats")}
    assert {cell.missing for cell in cells} == {"", "left out at this scale"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"arms": [{"method": "simclr", "variant": ["baseline", "cut"], "dataset": "cats"}]},
            "arms.0.variant: lists no 'again', so that the study has no A/A control there",
        ),
        (
            {"seeds": {"confirmation": [0], "again": [1]}},
            "seeds.again: seeds and an arm 'again' belong together; one is given without the other",
        ),
        (
            {"seeds": {"confirmation": [0], "tuning": [1]}},
            "seeds.tuning: seeds and a tuned field belong together; one is given without the other",
        ),
        (
            {"tuned": {"optimiser.learning_rate.times": [0.1, 1]}},
            "seeds.tuning: seeds and a tuned field belong together; one is given without the other",
        ),
    ],
)
def test_what_is_left_without_its_counterpart_is_a_sentence(
    refused: Callable[..., str], changes: dict[str, Any], sentence: str
) -> None:
    assert sentence in refused(paper=changed(**changes))
