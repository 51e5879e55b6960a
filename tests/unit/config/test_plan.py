"""What all plans have in common, however they are configured: each run once, in one batch (plans.yaml has examples)."""

from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

from ...fixtures import Planned, Project
from ...golden.released import ROOT, released

SCALES = {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")}
PLANNED = {"paper", "quick", "smoke", "workstation", "laptop1"}
"""Scales of which golden/test_run_names.py plans every run."""
ONE_SEED = {"seeds": [0]}
FIXED = {"method": "simclr", "variant": "baseline", "dataset": "cats"}


def table(**fields: Any) -> dict[str, Any]:
    return {"draw": "table", "title": "A table", "measure": "knn_top1", **fields}


CATS = table(rows={"method": ["simclr", "simsiam"], "variant": ["baseline", "cut"]}, columns={"dataset": "cats"})
DOGS = table(rows={"method": "simclr", "variant": ["baseline", "hot"]}, columns={"dataset": "dogs"})
BOTH = table(rows={"method": "simclr", "variant": "baseline"}, columns={"dataset": ["cats", "dogs"]})
THREE = {"artifacts.table": ..., "artifacts.cats": CATS, "artifacts.dogs": DOGS, "artifacts.both": BOTH}


@pytest.mark.parametrize("scale", sorted(SCALES - PLANNED))
def test_the_released_config_is_planned_at_every_other_scale(scale: str) -> None:
    plan = released(scale)
    assert plan.made
    assert sorted(run.name for batch in plan.batches for run in batch.runs) == sorted(plan.runs)


@pytest.mark.parametrize(("k", "asked"), [(200, 1), (5, 2)])
def test_two_papers_of_one_run_train_it_once_and_each_has_its_protocol(project: Project, k: int, asked: int) -> None:
    root = project()
    text = (root / "config/papers/p/paper.yaml").read_text().replace("paper: p\n", "paper: q\n")
    files.write_text(root / "config/papers/q/paper.yaml", text.replace("k: 200", f"k: {k}"))
    plan = planning.make(root)
    assert len(plan.cells) == 2 * 16
    assert len(plan.runs) == 16
    assert {cell.missing for cell in plan.cells} == {""}
    assert {len(protocols) for protocols in plan.asked.values() if protocols} == {asked}


PARTS = ("method", "objective", "logits", "gradient", "regulariser", "initialisation", "encoder", "optimiser")


def exercised(plan: Plan) -> set[tuple[str, ...]]:
    """What making a plan's artifacts exercises: kinds, probes, measures, datasets, and the parts of runs."""
    found: set[tuple[str, ...]] = set()
    for paper, name in plan.made:
        found.add(("draw", paper, name))
        for cell in plan.artifacts[paper, name]:
            if cell.run is not None and not cell.missing:
                found |= {("measure", cell.measure), ("probe", paper, cell.protocol), ("kind", cell.run.kind)}
                found |= {(part, one.name) for part in PARTS if (one := getattr(cell.run, part)) is not None}
                found |= {("dataset", one.source.name) for one in (cell.run.dataset, cell.target) if one and one.source}
    return found


def test_quick_exercises_all_that_it_would_with_every_value() -> None:
    quick, every = released("quick"), planning.make(ROOT, {"most_values": 1000})
    assert exercised(quick) == exercised(every)
    assert len(quick.runs) < len(every.runs) / 2


@pytest.mark.parametrize("epoch", [{}, {"epoch": 100}])
@pytest.mark.parametrize(
    ("again", "field"),
    [
        ({"variant": "baseline"}, {"objective.temperature": 1}),  # where the variant writes 1.0
        ({"variant": "baseline"}, {"objective.temperature": 1.0, "optimiser.momentum": 0.9}),  # a default written out
        ({"variant": "hot"}, {"schedule.epochs": 100}),
    ],
)
@pytest.mark.parametrize("shrunk", ["published", 10])
def test_one_thing_described_twice_is_shown_twice(
    planned: Planned, again: dict[str, Any], field: dict[str, Any], epoch: dict[str, Any], shrunk: Any
) -> None:
    columns = {"method": "simclr", "dataset": "cats"}
    one = table(rows={"variant": "hot"}, columns=columns)
    two = table(rows=again | field | epoch, columns=columns)
    paper = {"artifacts.table": ..., "artifacts.one": one, "artifacts.two": two}
    plan = planned(paper=paper, scale=ONE_SEED | {"epochs": shrunk})
    assert [cell.missing for cell in plan.cells] == ["", ""]
    assert len(plan.runs) == 1


@pytest.mark.parametrize(("size", "jobs"), [(1, [1] * 12), (3, [2, 2, 3, 3, 2]), (4, [4, 4, 4]), (100, [12])])
def test_batches_hold_every_run_once_and_no_more_than_they_may(planned: Planned, size: int, jobs: list[int]) -> None:
    """Numbers of runs by hand, for two seeds: of cats one shared run of SimCLR, one more, two of SimSiam; two of dogs.

    One of SimSiam's four runs, which no job of three has room for, shares a job with those of dogs.
    """
    plan = planned(paper=THREE, scale={"runs_per_job": size})
    assert [len(batch.runs) for batch in plan.batches] == jobs
    assert sorted(run.name for batch in plan.batches for run in batch.runs) == sorted(plan.runs)
    for batch in plan.batches:
        first = batch.runs[0]
        methods, datasets = {run.method.name for run in batch.runs}, {run.dataset.name for run in batch.runs}
        method = first.method.name if len(methods) == 1 else f"{len(methods)}methods"
        dataset = first.dataset.name if len(datasets) == 1 else f"{len(datasets)}datasets"
        assert batch.id.startswith(f"{method}-{dataset}-")
        assert all(plan.batch_of[run.name] is batch for run in batch.runs)
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    for paper, artifact in plan.made:  # it waits for its own runs, and for those that share a job with them
        own = {cell.run.name for cell in plan.artifacts[paper, artifact] if cell.run}
        waits = [{run.name for run in batch.runs} for batch in plan.batches_of(paper, artifact)]
        assert own <= set().union(*waits)
        assert all(names & own for names in waits)


def test_a_job_has_runs_of_the_same_papers_alone(project: Project) -> None:
    root = project(scale={"runs_per_job": 100})
    other = yaml.safe_load((root / "config/papers/p/paper.yaml").read_text()) | {"paper": "q"}
    other["artifacts"]["table"]["rows"] = {"method": ["simclr"], "variant": ["baseline", "hot"]}
    files.write_text(root / "config/papers/q/paper.yaml", yaml.safe_dump(other))
    plan = planning.make(root)
    shown = {run: "".join(paper for paper in "pq" if run in plan.runs_of(paper, "table")) for run in plan.runs}
    assert [{shown[run.name] for run in batch.runs} for batch in plan.batches] == [{"pq"}, {"p"}, {"q"}]


def test_a_batch_is_named_by_its_runs(planned: Planned) -> None:
    def batches(**scale: Any) -> dict[str, list[str]]:
        return {batch.id: [run.name for run in batch.runs] for batch in planned(scale=scale).batches}

    before = batches()
    assert batches(threads=2, describe="other", resources={"mem_mb": 1, "runtime": 1, "gpu": 0}) == before
    assert not before.keys() & batches(seeds=[2, 3]).keys()
