"""Which recorded runs a table shows beside those of its own seeds, in a project with a study of the table's runs."""

from collections import defaultdict
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere.config.cells import Cell, Cells
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run

from ...fixtures import Planned

DECLARED, MORE, TUNING, AGAIN = {0, 1}, {2, 7}, {100, 101}, {10, 11}
ARMS = {"method": "simclr", "dataset": "cats", "variant": ["baseline", "cut", "again"]}
STUDY: dict[str, Any] = {
    **{
        "question": "?",
        "title": "A study",
        "measure": "knn_top1",
        "margin": 1.0,
        "hours": 1,
        "scale": "small",
    },
    **{"arms": [ARMS], "tuned": {"optimiser.learning_rate.times": [0.1, 1, 10]}},
    "seeds": {"tuning": [*TUNING], "confirmation": [0, 1, 2], "again": [*AGAIN]},
    "answers": {"yes": "a", "no": "b", "unclear": "c", "numbers": {"yes": {"ahead": [1, 1]}}},
}
TABLE = {
    "rows": {"method": "simclr", "variant": ["baseline", "cut"]},
    "columns": {"dataset": "cats"},
}


def studied(planned: Planned, again_counts: bool = False, **table: Any) -> Plan:
    seeds = {"tables": [*DECLARED], "sweeps": [0], "again_counts": again_counts}
    paper = {"studies": {"s": STUDY}, "variants.again": {}}
    return planned(
        table={**TABLE, "measure": "knn_top1", **table}, paper=paper, scale={"seeds": seeds}
    )


def recorded(plan: Plan, seeds: Collection[int]) -> dict[str, Any]:
    """A record of each of the table's runs with each of these seeds."""
    contents = [run.model_dump() for run in plan.runs_of("p", "table").values()]
    runs = [Run.model_validate(content | {"seed": seed}) for content in contents for seed in seeds]
    return {run.name: (SimpleNamespace(run=run),) for run in runs}


def further(plan: Plan, seeds: Collection[int]) -> list[Cell]:
    return Cells(plan.config).further(plan.cells, recorded(plan, seeds))


@pytest.mark.parametrize(("again_counts", "counted"), [(False, MORE), (True, MORE | AGAIN)])
def test_every_recorded_seed_counts_but_those_of_choices_and_of_a_a_arms(
    planned: Planned, again_counts: bool, counted: set[int]
) -> None:
    """Each other seed once a cell, whatever is recorded of the declared ones; the study has those of its plan alone."""
    plan = studied(planned, again_counts)
    found = further(plan, DECLARED | MORE | TUNING | AGAIN)
    assert {cell.artifact for cell in found} == {"table"}
    assert sorted((cell.text, cell.run.seed) for cell in found if cell.run) == sorted(
        (text, seed)
        for text in {cell.text for cell in plan.artifacts["p", "table"]}
        for seed in counted
    )
    own = {cell.text: cell.run for cell in plan.artifacts["p", "table"]}
    for cell in found:
        assert cell.run
        assert cell.run.model_dump(exclude={"seed"}) == own[cell.text].model_dump(exclude={"seed"})


def test_a_further_record_takes_no_run_away(planned: Planned) -> None:
    plan, before = studied(planned), set()
    for seeds in (set(), {7}, {7, 2}, {7, 2, 0}, {7, 2, 0, 100}):
        now = {(cell.text, cell.run.name) for cell in further(plan, seeds) if cell.run}
        assert before <= now
        before = now


@pytest.mark.parametrize(
    "own", [{"seeds": [0, 1]}, {"seeds_of": {"cut": [0, 1]}}], ids=["all", "of a variant"]
)
def test_a_table_that_lists_its_seeds_keeps_to_them(planned: Planned, own: dict[str, Any]) -> None:
    assert further(studied(planned, again_counts=True, **own), MORE | AGAIN) == []
    assert further(studied(planned, again_counts=True), MORE | AGAIN)


def test_runs_that_a_sweep_compares_have_seeds_of_their_own_and_so_have_all_readings_of_them(
    planned: Planned,
) -> None:
    sweep = {
        "rows": {
            "method": "simclr",
            "variant": "cut",
            "dataset": "cats",
            "optimiser.learning_rate": [0.1, 0.2, 0.3],
        },
        "columns": {"epoch": [1, 2]},
        "also": [
            {
                "of": {"optimiser.learning_rate": 0.2, "epoch": 2},
                "against": {"optimiser.learning_rate": 0.1},
            }
        ],
        "seeds": "sweeps",
    }
    for compared, expected in (({"compared": [0, 1, 2]}, {0, 1, 2}), ({}, {0})):
        plan = planned(
            table=sweep | {"measure": "knn_top1"},
            scale={"seeds": {"tables": [0, 1], "sweeps": [0], **compared}},
        )
        found = defaultdict(set)
        for cell in plan.artifacts["p", "table"]:
            assert cell.run
            found[cell.coordinates["optimiser.learning_rate"], cell.coordinates["epoch"]].add(
                cell.run.seed
            )
        assert found == {
            (rate, epoch): expected if rate < 0.3 else {0}
            for rate in (0.1, 0.2, 0.3)
            for epoch in (1, 2)
        }
