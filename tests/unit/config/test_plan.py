"""What all plans have in common, however they are configured: each run once, in one batch (plans.yaml has examples)."""

from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan, pack, split

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


@pytest.mark.parametrize("size", [1, 3, 100])
def test_batches_hold_every_run_once_and_no_more_than_they_may(planned: Planned, size: int) -> None:
    plan = planned(paper=THREE, scale={"runs_per_job": size})
    assert sorted(run.name for batch in plan.batches for run in batch.runs) == sorted(plan.runs)
    for batch in plan.batches:
        assert 1 <= len(batch.runs) <= size
        first = batch.runs[0]
        methods, datasets = {run.method.name for run in batch.runs}, {run.dataset.name for run in batch.runs}
        method = first.method.name if len(methods) == 1 else f"{len(methods)}methods"
        dataset = first.dataset.name if len(datasets) == 1 else f"{len(datasets)}datasets"
        assert batch.id.startswith(f"{method}-{dataset}-")
        assert all(plan.batch_of(run.name) is batch for run in batch.runs)
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    for paper, artifact in plan.made:  # it waits for no run but its own, unless runs of its paper fit into the same job
        own = {cell.run.name for cell in plan.artifacts[paper, artifact] if cell.run}
        shown = own if size < 100 else plan.runs
        assert sorted(run.name for batch in plan.batches_of(paper, artifact) for run in batch.runs) == sorted(shown)
    # by hand, for two seeds: of cats one shared run, and one more of simclr with two of simsiam (2 and 4 runs); of dogs
    # one shared, one more. All fit into a job of 100, and no two of these groups into one of 3.
    assert len(plan.batches) == (1 if size == 100 else sum(-(-runs // size) for runs in (2, 2, 4, 2, 2)))


def test_a_batch_is_named_by_its_runs(planned: Planned) -> None:
    def batches(**scale: Any) -> dict[str, list[str]]:
        return {batch.id: [run.name for run in batch.runs] for batch in planned(scale=scale).batches}

    before = batches()
    assert batches(threads=2, describe="other", resources={"mem_mb": 1, "runtime": 1, "gpu": 0}) == before
    assert not before.keys() & batches(seeds=[2, 3]).keys()


def runs(**of_method: int) -> list[Any]:
    """As much of runs as batches look at."""
    return [
        SimpleNamespace(name=f"{method}{seed}", method=SimpleNamespace(name=method), dataset=FIXED["dataset"])
        for method, number in of_method.items()
        for seed in range(number)
    ]


def methods(jobs: list[list[Any]]) -> list[str]:
    return ["+".join(sorted({run.method.name for run in job})) + str(len(job)) for job in jobs]


@pytest.mark.parametrize(
    ("given", "size", "expected"),
    [
        ({"a": 4}, 15, ["a4"]),
        ({"a": 6, "b": 4}, 6, ["a6", "b4"]),  # half of ten is five: b would make the first job larger
        ({"a": 2, "b": 2, "c": 2, "d": 2}, 15, ["a+b+c+d8"]),
        ({"a": 2, "b": 2, "c": 2, "d": 2}, 4, ["a+b4", "c+d4"]),
        ({"a": 31}, 15, ["a10", "a10", "a11"]),
        ({"a": 1, "b": 1}, 1, ["a1", "b1"]),
    ],
)
def test_small_methods_share_a_job_and_large_ones_have_several(
    given: dict[str, int], size: int, expected: list[str]
) -> None:
    """Expected by hand: methods and number of runs of each job, wherever the runs of a method stood."""
    for order in (runs(**given), sorted(runs(**given), key=lambda run: run.name[1:])):
        jobs = split(order, size)
        assert methods(jobs) == expected
        assert [run.method.name for job in jobs for run in job] == [run.method.name for run in runs(**given)]


def test_groups_of_a_paper_that_fit_share_a_job_and_stay_in_their_order() -> None:
    """Expected by hand: methods and number of runs of each job, of at most the number given."""
    groups = {("cats", "p/fig1"): runs(a=3), ("dogs", "p/table1"): runs(c=4), ("cats", "p/fig1 p/fig2"): runs(b=1)}
    expected = {8: ["a+b+c8"], 7: ["a+c7", "b1"], 6: ["a3", "b+c5"], 3: ["a3", "c2", "b+c3"]}
    assert {size: methods(pack(groups, size)) for size in expected} == expected
    for other in ("q/fig2", "p/fig2 q/fig2"):
        assert methods(pack({("cats", "p/fig1"): runs(a=3), ("cats", other): runs(b=1)}, 9)) == ["a3", "b1"]
