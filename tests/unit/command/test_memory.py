"""Runs that a card does not hold are named, with the parts that would make them fit."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.command import cost, rehearse
from hypersphere.command.memory import GB, findings
from hypersphere.config.plan import Plan
from hypersphere.datasets.training_sizes import stated
from hypersphere.training.memory import needed

from ...fixtures import Planned, Refused
from .test_cost import TABLE

BATCH = {"size": 256, "micro": 64}
WIDE = {"run.encoder.width": 2048, "run.batch": BATCH, "variants.hot": {}, "artifacts.table": TABLE}
VIT = {"name": "vit", "image_size": 32, "patch": 8, "depth": 1, "width": 8, "heads": 2}


@pytest.fixture
def planned_runs(planned: Planned) -> Callable[..., Plan]:
    """``planned_runs({"run.batch": …})``: runs of digits of 12 pixels, which differ in their seed alone."""
    return lambda paper=None: planned(paper=WIDE | (paper or {}))


def gigabytes(plan: Plan, parts: int) -> float:
    """What its first run needs in so many parts, and a byte."""
    run = next(iter(plan.runs.values()))
    size = stated(run.dataset)
    assert size is not None
    return (needed(run, size).with_parts(parts) + 1) / GB


def test_a_run_that_does_not_fit_is_named_with_the_parts_that_do(
    planned_runs: Callable[..., Plan],
) -> None:
    plan, texts = planned_runs(), []
    for room in (gigabytes(plan, 1), gigabytes(plan, 4), gigabytes(plan, 32) / 2):
        found = list(findings(plan, room))
        assert [len(one.misfits) for one in found] == (
            [0] if room == gigabytes(plan, 1) else [len(plan.runs), 0]
        )
        texts.append(found[0].text)
    fits, four, none = texts
    assert "16.5 GB" in fits
    for text in (four, none):
        assert text.startswith(f"{next(iter(plan.runs))} and 1 run like it: ")
    assert "batch.parts=4 " in four
    assert "no number of batch.parts" in none
    parted = planned_runs({"run.batch": BATCH | {"parts": 4}})
    assert [one.misfits for one in findings(parted, gigabytes(plan, 4))] == [()]


def test_a_slot_of_a_card_has_its_share_of_the_memory(planned: Planned) -> None:
    """Two runs share a card of twice the room that one needs, and three do not."""
    for slots, misfits in ((2, 0), (3, 2)):
        plan = planned(paper=WIDE, config={"runs_per_gpu": slots})
        first, *_ = findings(plan, 2 * gigabytes(plan, 1))
        assert len(first.misfits) == misfits
    assert "GB, one of 3 slots of a card; " in first.text


def test_what_is_not_counted_is_named(planned: Planned) -> None:
    """A set of unknown size; an encoder that refuses the images of its set."""
    unknown = {"dogs": {"source": {"name": "folder", "path": "mine", "size": 32}}}
    first, *_ = findings(planned(datasets=unknown), 1.0)
    assert "8 runs: the size of dogs is " in first.text
    two = [one.text for one in findings(planned(paper={"run.encoder": VIT}), 1.0)]
    assert len(two) == 2
    for method, text in zip(("simclr", "simsiam"), two, strict=True):
        assert f"8 runs: {method} with vit: encoder: vit: image_size " in text


def test_cost_says_it_after_its_table(planned_runs: Callable[..., Plan]) -> None:
    """And without the option says what it said."""
    plan = planned_runs()
    before, after = (
        list(cost.lines(cost.Cost(plan))),
        list(cost.lines(cost.Cost(plan), gigabytes=80)),
    )
    assert after[: len(before)] == before
    assert after[len(before) :] == ["", *(one.text for one in findings(plan, 80))]


def test_a_rehearsal_fails_by_runs_that_do_not_fit(
    planned_runs: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    plan = planned_runs()
    monkeypatch.setattr(rehearse, "ProcessPoolExecutor", Steps)
    assert "memory" in list(rehearse.lines(plan, 80))[-1]
    assert not any("memory" in line for line in rehearse.lines(plan))
    with refused("rehearse"):
        list(rehearse.lines(plan, gigabytes(plan, 4)))


class Steps:
    """Stands in for processes: every step is taken."""

    def __init__(self, **_: Any) -> None: ...

    def submit(self, *_: Any) -> "Steps":
        return self

    def result(self) -> str:
        return ""

    def shutdown(self, **_: Any) -> None: ...
