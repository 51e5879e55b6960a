"""From cells to runs, batches and what is asked of each: each once, nothing borrowed, without torch."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

Planned = Callable[..., Plan]
ROOT = Path(__file__).resolve().parents[3]
SCALES = sorted(path.stem for path in (ROOT / "config" / "scales").glob("*.yaml"))
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


@pytest.mark.parametrize("scale", SCALES)
def test_the_released_config_is_planned_at_every_scale(scale: str) -> None:
    plan = planning.make(ROOT, {"scale": scale})
    assert plan.runs
    assert plan.made
    batched = [run.name for batch in plan.batches for run in batch.runs]
    assert sorted(batched) == sorted(plan.runs)


def test_a_run_that_several_cells_share_is_planned_once(plan: Plan) -> None:
    """By hand: four of cats (of which ``both`` shows one), two of dogs (one), two seeds each."""
    assert len([cell for cell in plan.cells if cell.artifact == "both"]) == 2 * 2
    assert len(plan.cells) == (4 + 2 + 2) * 2
    assert len(plan.runs) == (4 + 2) * 2
    assert plan.made == [("p", "cats"), ("p", "dogs"), ("p", "both")]
    assert {cell.run.name for cell in plan.cells if cell.run} == plan.runs.keys()
    assert all(run.name == name for name, run in plan.runs.items())


def test_two_papers_of_one_run_train_it_once(project: Callable[..., Path]) -> None:
    root = project()
    file = root / "config" / "papers" / "p.yaml"
    file.with_name("q.yaml").write_text(file.read_text().replace("paper: p\n", "paper: q\n"))
    plan = planning.make(root)
    assert len(plan.cells) == 2 * 16
    assert len(plan.runs) == 16
    assert {cell.missing for cell in plan.cells} == {""}


def test_every_run_name_says_its_seed(plan: Plan) -> None:
    assert {run.seed for run in plan.runs.values()} == {0, 1}
    for cell in plan.cells:
        assert cell.run is not None
        assert cell.run.name == type(cell.run).model_validate(cell.run.model_dump()).name


# No number is borrowed


def lost(plan: Plan) -> dict[Any, str]:
    """Why cells are missing, by their epoch."""
    return {cell.coordinates["epoch"]: cell.missing for cell in plan.cells}


def epochs(*published: int) -> dict[str, Any]:
    return table(
        rows={"epoch": list(published)}, columns={"dataset": "cats"}, fixed={"method": "simclr", "variant": "hot"}
    )


@pytest.mark.parametrize("order", [(0, 4, 6, 10), (10, 6, 4, 0)])
def test_the_epoch_that_loses_more_by_rounding_is_not_shown(planned: Planned, order: tuple[int, ...]) -> None:
    """At a tenth, by hand: 6 is 0.6, which is 10's number; 4 is 0.4, which is none after an epoch."""
    plan = planned(table=epochs(*order), scale=ONE_SEED | {"epochs": 10})
    number = "at this scale one number with method=simclr;variant=hot;dataset=cats;epoch={};measure=knn_top1"
    assert lost(plan) == {0: "", 4: "epoch 4 is before the first of this scale", 6: number.format(10), 10: ""}


def test_every_epoch_is_shown_where_there_are_enough(planned: Planned) -> None:
    assert set(lost(planned(table=epochs(0, 4, 6, 10))).values()) == {""}


def test_two_runs_that_a_scale_makes_one_are_not_both_shown(planned: Planned) -> None:
    """Nothing is rounded: the first keeps the number."""
    rows = {"method": "simclr", "variant": ["hot", "baseline", "cut"]}
    plan = planned(
        table=table(rows=rows, columns={"dataset": "cats"}),
        scale=ONE_SEED | {"overrides": [{"when": {"method": "simclr"}, "set": {"objective": {"temperature": 0.2}}}]},
    )
    hot, baseline, cut = plan.cells
    assert hot.missing == cut.missing == ""
    assert baseline.missing == f"at this scale one number with {hot.text}"
    assert baseline.run == hot.run
    assert len(plan.runs) == 2


def test_two_datasets_that_one_stands_for_are_not_both_shown(planned: Planned) -> None:
    plan = planned(scale={"datasets": {"dogs": "cats"}})
    missing = {cell.coordinates["dataset"]: cell.missing.partition(" with ")[0] for cell in plan.cells}
    assert missing == {"cats": "", "dogs": "at this scale one number"}
    assert len(plan.runs) == 8


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


def test_an_epoch_borrows_nothing_from_another_split(planned: Planned) -> None:
    """At a tenth, 6 is 10's number, of one split; of two, each has its own."""
    rows = [{"epoch": 10, "split": "test"}, {"epoch": 6, "split": "train"}]
    norms = table(rows=rows, columns={"dataset": "cats"}, measure="norm", by="norms")
    norms |= {"fixed": {"method": "simclr", "variant": "hot"}}
    assert set(lost(planned(table=norms, scale=ONE_SEED | {"epochs": 10})).values()) == {""}


def test_two_targets_that_one_dataset_stands_for_are_not_both_shown(planned: Planned) -> None:
    away = table(rows={"method": "simclr", "variant": "hot"}, columns={"target": ["dogs", "birds"]})
    away |= {"fixed": {"dataset": "cats"}, "measure": "transfer_top1"}
    first, second = planned(table=away, scale=ONE_SEED | {"datasets": {"birds": "dogs"}}).cells
    assert first.missing == ""
    assert second.missing == f"at this scale one number with {first.text}"


# What is asked of a run


def test_what_is_asked_of_each_run(planned: Planned) -> None:
    """By hand: two epochs on its own dataset, the control at epoch 0, and the transfer at the end."""
    steps = table(
        rows={"method": "simclr", "variant": "baseline"}, columns={"epoch": [40, 100]}, fixed={"dataset": "cats"}
    )
    away = steps | {"columns": {"target": "dogs"}, "measure": "transfer_top1"}
    cut = table(rows={"method": "simclr", "variant": "cut"}, columns={"dataset": "cats"}, measure="norm", by="norms")
    loss = table(rows={"method": "simsiam", "variant": "cut"}, columns={"dataset": "cats"}, measure="loss")
    paper = {"artifacts.table": ...} | {
        f"artifacts.{n}": a for n, a in zip("abcd", (steps, away, cut, loss), strict=True)
    }
    plan = planned(paper=paper, scale=ONE_SEED | {"epochs": 10})
    knn, norms = (plan.protocols["p"][name].digest for name in ("knn", "norms"))
    found = {
        (run.method.name, run.tag): {digest: sorted(one.at) for digest, one in plan.asked[name].items()}
        for name, run in plan.runs.items()
    }
    assert found == {
        ("simclr", "default"): {knn: [(0, "cats"), (0, "dogs"), (4, "cats"), (10, "cats"), (10, "dogs")]},
        ("simclr", "cut3"): {norms: [(10, "cats")]},
        ("simsiam", "cut3"): {},
    }
    kept = {(run.method.name, run.tag): plan.kept_epochs(run) for run in plan.runs.values()}
    assert kept == {("simclr", "default"): [0, 4, 10], ("simclr", "cut3"): [10], ("simsiam", "cut3"): []}
    pixels = {dataset: list(asked) for dataset, asked in plan.asked_of_pixels.items()}
    assert pixels == {"cats": [knn], "dogs": [knn]}  # and not norms, which raw pixels have none of
    assert [plan.pixels_of("p", name) for name in "abcd"] == [["cats"], ["dogs"], [], []]


def test_the_same_protocol_under_two_names_is_asked_once(planned: Planned) -> None:
    paper = {"evaluations.again": {"like": "knn"}, "artifacts.table": ...}
    paper |= {f"artifacts.{name}": BOTH | {"by": name} for name in ("knn", "again")}
    plan = planned(paper=paper)
    assert {len(asked) for asked in plan.asked.values()} == {1}
    assert {cell.missing for cell in plan.cells} == {""}


def test_a_papers_protocol_changes_no_other_papers(project: Callable[..., Path]) -> None:
    root = project()
    file = root / "config" / "papers" / "p.yaml"
    text = file.read_text().replace("paper: p\n", "paper: q\n").replace("k: 200", "k: 5")
    file.with_name("q.yaml").write_text(text)
    plan = planning.make(root)
    probes = {name: protocols["knn"].probe for name, protocols in plan.protocols.items()}
    assert {name: probe and probe.parameters for name, probe in probes.items()} == {"p": {}, "q": {"k": 5}}
    trained = [asked for asked in plan.asked.values() if asked]
    assert {len(asked) for asked in trained} == {2}


def test_a_scale_replaces_parameters_of_probes(planned: Planned) -> None:
    plan = planned(scale={"probes": {"knn": {"k": 5}}})
    protocols = plan.protocols["p"]
    assert {name: one.probe and one.probe.parameters for name, one in protocols.items()} == {
        "knn": {"k": 5},
        "transfer": {"k": 5},
        "norms": {},
        "later": None,
    }
    assert protocols["transfer"].transfer


def test_a_scale_replaces_parameters_of_one_protocol(planned: Planned) -> None:
    """After those of the probe."""
    own = {"probes": {"knn": {"k": 5}}, "probes.p/transfer": {"k": 7}}
    protocols = planned(scale=own).protocols["p"]
    assert [protocols[name].probe.parameters for name in ("knn", "transfer")] == [{"k": 5}, {"k": 7}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"knnn": {"k": 5}}, "probes.p: 'knnn' is not one of"),
        ({"knn": {"kk": 5}}, "probes.p/knn.kk: unknown"),
    ],
)
def test_a_wrong_parameter_of_a_scales_protocol_is_said(
    refused: Callable[..., str], given: dict[str, Any], said: str
) -> None:
    assert refused(scale={"probes": {f"p/{name}": value for name, value in given.items()}}).startswith(
        f"scales/small.yaml: {said}"
    )


def test_a_wrong_parameter_of_a_scales_probe_is_said(refused: Callable[..., str]) -> None:
    said = refused(scale={"probes": {"knn": {"k": 0}}})
    assert said.startswith("scales/small.yaml: probes.knn")
    assert "greater than 0" in said


# Plans


def test_lookups(plan: Plan) -> None:
    batch = plan.batches[0]
    assert plan.batch(batch.id) is batch
    name = batch.runs[0].name
    assert plan.run(name) == batch.runs[0]
    with pytest.raises(HypersphereError, match="no batch 'x' at scale small"):
        plan.batch("x")
    with pytest.raises(HypersphereError, match="no run 'x' at scale small"):
        plan.run("x")


def test_what_only_asks_for_changes_no_batch(planned: Planned, plan: Plan) -> None:
    some = planned(paper=THREE, config={"only": ["p/cats"]})
    assert some.batches == plan.batches
    assert some.config.results == plan.config.results


def test_planning_imports_no_torch() -> None:
    """Snakemake plans often, and torch takes seconds."""
    code = (
        "import sys; from pathlib import Path; import hypersphere.config.plan as planning;"
        "plan = planning.make(Path(sys.argv[1]));"
        "plan.batches, plan.asked, plan.asked_of_pixels, [plan.outputs(*key) for key in plan.made];"
        "sys.exit('torch' in sys.modules or 'torchvision' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
