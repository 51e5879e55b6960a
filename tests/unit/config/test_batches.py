"""Jobs: each run in exactly one batch, named by its runs, and none that an artifact waits for without need."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.config.plan import Plan

Planned = Callable[..., Plan]


def table(**fields: Any) -> dict[str, Any]:
    return {"draw": "table", "title": "A table", "measure": "knn_top1", **fields}


CATS = table(rows={"method": ["simclr", "simsiam"], "variant": ["baseline", "cut"]}, columns={"dataset": "cats"})
DOGS = table(rows={"method": "simclr", "variant": ["baseline", "hot"]}, columns={"dataset": "dogs"})
BOTH = table(rows={"method": "simclr", "variant": "baseline"}, columns={"dataset": ["cats", "dogs"]})
THREE = {"artifacts.table": ..., "artifacts.cats": CATS, "artifacts.dogs": DOGS, "artifacts.both": BOTH}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_batches_hold_every_run_once_and_no_more_than_they_may(planned: Planned, size: int) -> None:
    plan = planned(paper=THREE, scale={"runs_per_job": size})
    batched = [run.name for batch in plan.batches for run in batch.runs]
    assert sorted(batched) == sorted(plan.runs)
    for batch in plan.batches:
        assert 1 <= len(batch.runs) <= size
        methods, (dataset,) = {run.method.name for run in batch.runs}, {run.dataset.name for run in batch.runs}
        assert batch.id.startswith(f"{methods.pop() if len(methods) == 1 else f'{len(methods)}methods'}-{dataset}-")
        assert all(plan.batch_of(run.name) is batch for run in batch.runs)
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    # by hand, for two seeds: of cats one shared run, and one more of simclr with two of simsiam (2 and 4 runs); of dogs
    # one shared, one more. With 100 to a job all are few, and those of a dataset share one.
    assert len(plan.batches) == (2 if size == 100 else sum(-(-runs // size) for runs in (2, 2, 4, 2, 2)))


def test_an_artifact_of_few_runs_waits_for_others_of_its_dataset_and_for_no_more(planned: Planned) -> None:
    plan = planned(paper=THREE, scale={"runs_per_job": 100})
    trained = {run.name for batch in plan.batches_of("p", "cats") for run in batch.runs}
    assert trained == {name for name, run in plan.runs.items() if run.dataset.name == "cats"}


@pytest.mark.parametrize("size", [1, 3])
def test_an_artifact_waits_for_no_run_but_its_own(planned: Planned, size: int) -> None:
    plan = planned(paper=THREE, scale={"runs_per_job": size})
    for paper, artifact in plan.made:
        shown = {cell.run.name for cell in plan.artifacts[paper, artifact] if cell.run}
        trained = [run.name for batch in plan.batches_of(paper, artifact) for run in batch.runs]
        assert sorted(trained) == sorted(shown)


def test_an_artifact_that_shows_nothing_needs_no_batch(planned: Planned) -> None:
    plan = planned(table=table(rows={"method": "simclr", "variant": "cut"}, columns={"dataset": "birds"}))
    assert plan.made == []
    assert plan.batches == ()
    assert plan.batches_of("p", "table") == []


def test_a_batch_is_named_by_its_runs(planned: Planned) -> None:
    def batches(**scale: Any) -> dict[str, list[str]]:
        return {batch.id: [run.name for run in batch.runs] for batch in planned(scale=scale).batches}

    before = batches()
    assert batches(threads=2, describe="other", resources={"mem_mb": 1, "runtime": 1, "gpu": 0}) == before
    assert not before.keys() & batches(seeds=[2, 3]).keys()
