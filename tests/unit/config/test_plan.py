"""From cells to runs, batches and what is asked of each: each once, nothing borrowed, without torch."""

from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.cells import THINNED
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


@pytest.fixture
def plan(planned: Planned) -> Plan:
    """Three tables that share some of their runs."""
    return planned(paper=THREE)


@pytest.mark.parametrize("scale", sorted(SCALES - PLANNED))
def test_the_released_config_is_planned_at_every_other_scale(scale: str) -> None:
    plan = released(scale)
    assert plan.made
    assert sorted(run.name for batch in plan.batches for run in batch.runs) == sorted(plan.runs)


def test_a_run_that_several_cells_share_is_planned_once(plan: Plan) -> None:
    """By hand: four of cats (of which ``both`` shows one), two of dogs (one), two seeds each."""
    assert len([cell for cell in plan.cells if cell.artifact == "both"]) == 2 * 2
    assert len(plan.cells) == (4 + 2 + 2) * 2
    assert len(plan.runs) == (4 + 2) * 2
    assert plan.made == [("p", "cats"), ("p", "dogs"), ("p", "both")]
    assert {cell.run.name for cell in plan.cells if cell.run} == plan.runs.keys()
    assert all(run.name == name for name, run in plan.runs.items())


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


def test_artifacts_of_a_document_share_a_job_unless_they_are_asked_for(planned: Planned) -> None:
    together = {"artifacts_per_job": 2}
    cats, dogs, both = (("p", name) for name in ("cats", "dogs", "both"))
    assert planned(paper=THREE).drawn_together == {"p-cats": [cats], "p-dogs": [dogs], "p-both": [both]}
    assert planned(paper=THREE, scale=together).drawn_together == {"p-1": [cats], "p-2": [dogs, both]}
    only = planned(paper=THREE, scale=together, config={"only": ["p/dogs"]})
    assert only.drawn_together == {"p-cats": [cats], "p-dogs": [dogs], "p-both": [both]}
    whole = planned(paper=THREE, scale=together)
    assert (only.batches, only.config.results) == (whole.batches, whole.config.results)


def sweep(*temperatures: float) -> dict[str, Any]:
    """A sweep of the temperature on cats, compared with the temperature of 1."""
    rows = {"objective.temperature": list(temperatures)}
    fixed = {"method": "simclr", "variant": "baseline"}
    return table(rows=rows, columns={"dataset": "cats"}, fixed=fixed, baseline={"objective.temperature": 1.0})


def measured(plan: Plan) -> list[Any]:
    """The temperatures that are measured, once for each seed, in the order of the axis."""
    return [cell.coordinates["objective.temperature"] for cell in plan.cells if not cell.missing]


def test_of_a_long_axis_the_ends_and_what_lies_between_are_measured(planned: Planned) -> None:
    """By hand: of seven values the first, fourth and seventh; the second stays, because the others compare with it."""
    thin = planned(table=sweep(0.5, 1, 2, 3, 4, 5, 6), scale={"most_values": 3})
    assert measured(thin) == [0.5, 0.5, 1, 1, 3, 3, 6, 6]
    left = [cell for cell in thin.cells if cell.missing]
    assert [cell.coordinates["objective.temperature"] for cell in left] == [2, 4, 5]
    assert {(cell.missing, cell.run) for cell in left} == {(THINNED, None)}
    whole = planned(table=sweep(0.5, 1, 2, 3, 4, 5, 6), scale={"most_values": 3, "whole": ["p/table"]})
    assert len(measured(whole)) == 2 * 7
    assert measured(planned(table=sweep(0.5, 1, 2), scale={"most_values": 3})) == [0.5, 0.5, 1, 1, 2, 2]
    rows = [{"measure": ["knn_top1", "knn_top5"]}, {"measure": "norm", "by": "norms"}]  # such an axis stays whole
    of_measures = {"rows": rows, "columns": {"dataset": "cats"}, "fixed": {"method": "simclr", "variant": "cut"}}
    assert {cell.missing for cell in planned(table=of_measures, scale={"most_values": 2}).cells} == {""}


def test_values_that_cannot_be_measured_are_not_chosen(planned: Planned) -> None:
    """Nothing loads birds, the last of the axis; of the others the first and the last are measured."""
    sets = table(rows={"method.variant": "simclr.cut"}, columns={"dataset": ["cats", "dogs", "few_cats", "birds"]})
    plan = planned(table=sets, scale={"most_values": 2} | ONE_SEED)
    reasons = {cell.coordinates["dataset"]: cell.missing for cell in plan.cells}
    assert reasons == {"cats": "", "dogs": THINNED, "few_cats": "", "birds": "no loader for birds yet"}


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


def lost(plan: Plan) -> dict[Any, str]:
    return {cell.coordinates["epoch"]: cell.missing for cell in plan.cells}


HOT = {"method": "simclr", "variant": "hot"}


@pytest.mark.parametrize("order", [(0, 4, 6, 10), (10, 6, 4, 0)])
def test_the_epoch_that_loses_more_by_rounding_is_not_shown(planned: Planned, order: tuple[int, ...]) -> None:
    """At a tenth, by hand: 6 is 0.6, which is 10's number; 4 is 0.4, which is none after an epoch."""
    epochs = table(rows={"epoch": list(order)}, columns={"dataset": "cats"}, fixed=HOT)
    plan = planned(table=epochs, scale=ONE_SEED | {"epochs": 10})
    number = "at this scale one number with method=simclr;variant=hot;dataset=cats;epoch={};measure=knn_top1"
    assert lost(plan) == {0: "", 4: "epoch 4 is before the first of this scale", 6: number.format(10), 10: ""}
    assert set(lost(planned(table=epochs)).values()) == {""}  # the control: where there are enough


def test_two_runs_datasets_or_targets_that_a_scale_makes_one_are_not_both_shown(planned: Planned) -> None:
    """Nothing is rounded: the first keeps the number."""
    alike = table(rows={"method": "simclr", "variant": ["hot", "baseline", "cut"]}, columns={"dataset": "cats"})
    overrides = [{"when": {"method": "simclr"}, "set": {"objective": {"temperature": 0.2}}}]
    hot, baseline, cut = planned(table=alike, scale=ONE_SEED | {"overrides": overrides}).cells
    assert hot.missing == cut.missing == ""
    assert baseline.missing == f"at this scale one number with {hot.text}"
    assert baseline.run == hot.run
    one = planned(scale={"datasets": {"dogs": "cats"}})  # one dataset stands for two
    missing = {cell.coordinates["dataset"]: cell.missing.partition(" with ")[0] for cell in one.cells}
    assert missing == {"cats": "", "dogs": "at this scale one number"}
    assert len(one.runs) == 8
    away = table(rows=HOT, columns={"target": ["dogs", "birds"]}, fixed={"dataset": "cats"}, measure="transfer_top1")
    first, second = planned(table=away, scale=ONE_SEED | {"datasets": {"birds": "dogs"}}).cells
    assert (first.missing, second.missing) == ("", f"at this scale one number with {first.text}")


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


def test_what_is_told_apart_by_a_reading_or_a_protocol_is_two_numbers(planned: Planned) -> None:
    splits = table(rows={"split": ["train", "test"]}, columns={"epoch": 100}, measure="norm", by="norms", fixed=FIXED)
    plan = planned(
        paper={"artifacts.table": ..., "artifacts.splits": splits, "artifacts.history": splits | {"by": "history"}},
        scale=ONE_SEED,
    )
    assert [cell.missing for cell in plan.cells] == [""] * 4
    rows = [{"epoch": 10, "split": "test"}, {"epoch": 6, "split": "train"}]  # at a tenth, 6 is 10's number
    own = splits | {"rows": rows, "columns": {"dataset": "cats"}, "fixed": HOT}
    assert set(lost(planned(table=own, scale=ONE_SEED | {"epochs": 10})).values()) == {""}


def test_what_is_asked_of_each_run(planned: Planned) -> None:
    """By hand: two epochs on its own dataset, the control at epoch 0, and the transfer at the end."""
    baseline = {"method": "simclr", "variant": "baseline"}
    steps = table(rows=baseline, columns={"epoch": [40, 100]}, fixed={"dataset": "cats"})
    away = steps | {"columns": {"target": "dogs"}, "measure": "transfer_top1"}
    cut = table(rows={"method": "simclr", "variant": "cut"}, columns={"dataset": "cats"}, measure="norm", by="norms")
    loss = table(rows={"method": "simsiam", "variant": "cut"}, columns={"dataset": "cats"}, measure="loss")
    artifacts = dict(zip("abcd", (steps, away, cut, loss), strict=True))
    plan = planned(paper={"artifacts": artifacts}, scale=ONE_SEED | {"epochs": 10})
    knn, norms = (plan.protocols["p"][name].digest for name in ("knn", "norms"))
    named = {f"{run.method.name} {run.tag}": run for run in plan.runs.values()}
    found = {
        key: {digest: sorted(one.at) for digest, one in plan.asked[run.name].items()} for key, run in named.items()
    }
    assert found == {
        "simclr default": {knn: [(0, "cats"), (0, "dogs"), (4, "cats"), (10, "cats"), (10, "dogs")]},
        "simclr cut3": {norms: [(10, "cats")]},
        "simsiam cut3": {},
    }
    kept = {key: plan.kept_epochs(run) for key, run in named.items()}
    assert kept == {"simclr default": [0, 4, 10], "simclr cut3": [10], "simsiam cut3": []}
    pixels = plan.asked_of_pixels(plan.runs.values())  # and not norms, which raw pixels have none of
    assert {dataset: list(asked) for dataset, asked in pixels.items()} == {"cats": [knn], "dogs": [knn]}


def test_a_scale_replaces_parameters_of_probes_and_then_of_one_protocol(planned: Planned) -> None:
    found = [
        {name: one.probe.parameters for name, one in planned(scale=scale).protocols["p"].items()}
        for scale in ({"probes": {"knn": {"k": 5}}}, {"probes": {"knn": {"k": 5}}, "probes.p/transfer": {"k": 7}})
    ]
    others = {"knn": {"k": 5}, "norms": {}}
    assert found == [others | {"transfer": {"k": 5}}, others | {"transfer": {"k": 7}}]


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
