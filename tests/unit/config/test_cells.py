"""The cells of a table or figure: which run each number is of, at which epoch, on what, and what cannot be measured."""

from typing import Any

from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan

from ...fixtures import Planned

ROWS = {"method": ["simclr", "simsiam"], "variant": ["baseline", "cut"]}
SIMCLR = {"method": "simclr", "variant": "baseline", "dataset": "cats"}
ONE_SEED = {"seeds": [0]}


def texts(cells: list[Cell] | tuple[Cell, ...]) -> list[str]:
    return [cell.text for cell in cells]


def lines(**fields: Any) -> dict[str, Any]:
    return {"draw": "lines", "lines": {"method": ["simclr"]}, "measure": "knn_top1", **fields}


def test_a_table_has_a_cell_for_each_row_column_and_seed(planned: Planned) -> None:
    plan = planned()
    expected = [
        (f"method={method};variant={variant};dataset={dataset};measure=knn_top1", seed)
        for method in ("simclr", "simsiam")
        for variant in ("baseline", "cut")
        for dataset in ("cats", "dogs")
        for seed in (0, 1)
    ]
    assert [(cell.text, cell.run.seed) for cell in plan.cells if cell.run] == expected
    for cell in plan.cells:
        assert cell.run is not None
        assert cell.run.method.name == cell.coordinates["method"]
        assert cell.run.dataset.name == cell.coordinates["dataset"]
        assert (cell.run.initialisation is not None) == (cell.coordinates["variant"] == "cut")
        assert (cell.epoch, cell.final, cell.target, cell.missing) == (100, True, cell.run.dataset, "")
        assert (cell.paper, cell.artifact, cell.protocol, cell.measure) == ("p", "table", "knn", "knn_top1")


def test_a_sweep_sets_fields_of_the_run_and_takes_the_sweeps_seeds(planned: Planned) -> None:
    """A grid is every pair of two fields."""
    figure = lines(x={"objective.temperature": [0.1, 0.5, 1]}, fixed={"variant": "baseline", "dataset": "cats"})
    grid = {"draw": "grid", "rows": {"objective.temperature": [0.1, 0.5]}, "columns": {"batch.size": [256, 512]}}
    of_grid = [(0.1, 256, 0), (0.1, 512, 0), (0.5, 256, 0), (0.5, 512, 0)]
    for table, expected in (
        (figure, [(0.1, 256, 0), (0.5, 256, 0), (1, 256, 0)]),
        (grid | {"fixed": SIMCLR, "measure": "knn_top1"}, of_grid),
    ):
        plan = planned(table=table | {"seeds": "sweeps"})
        runs = [cell.run for cell in plan.cells if cell.run]
        assert [(run.objective.parameters["temperature"], run.batch.size, run.seed) for run in runs] == expected
    assert texts(plan.cells)[0] == (
        "method=simclr;variant=baseline;dataset=cats;batch.size=256;objective.temperature=0.1;measure=knn_top1"
    )


def test_epochs_as_columns_are_readings_of_one_run(planned: Planned) -> None:
    """Published epochs; at a tenth of them, a tenth."""
    table = {"rows": {"method": ["simclr"]}, "columns": {"epoch": [0, 40, 80, 100]}}
    table |= {"fixed": {"variant": "baseline", "dataset": "cats"}, "measure": "knn_top1"}
    for epochs, expected in (("published", [0, 40, 80, 100]), (10, [0, 4, 8, 10])):
        plan = planned(table=table, scale=ONE_SEED | {"epochs": epochs})
        assert [(cell.epoch, cell.final) for cell in plan.cells] == [(one, one == expected[-1]) for one in expected]
        assert [cell.coordinates["epoch"] for cell in plan.cells] == [0, 40, 80, 100]
        assert len(plan.runs) == 1
    figure = lines(x={"epoch": [100]}, lines={"schedule.epochs": [100, 200]}, fixed=SIMCLR)
    plan = planned(table=figure, scale=ONE_SEED | {"epochs": 10})  # half of 200 is half of 20, where 100 are 10
    assert [(cell.run.schedule.epochs, cell.epoch, cell.final) for cell in plan.cells if cell.run] == [
        (10, 10, True),
        (20, 10, False),
    ]


def test_transfer_looks_at_another_dataset(planned: Planned) -> None:
    columns = [{"dataset": "cats", "target": "dogs"}, {"dataset": "dogs", "target": "cats"}]
    plan = planned(table={"rows": ROWS, "columns": columns, "measure": "transfer_top1"}, scale=ONE_SEED)
    found = {(c.run.dataset.name, c.target.name, c.protocol, c.missing) for c in plan.cells if c.run and c.target}
    assert found == {("cats", "dogs", "transfer", ""), ("dogs", "cats", "transfer", "")}
    assert plan.datasets.keys() == {"cats", "dogs"}
    lost = planned(table={"rows": ROWS, "columns": {"dataset": "cats", "target": "birds"}, "measure": "transfer_top1"})
    assert {cell.missing for cell in lost.cells} == {"no loader for birds yet"}


def test_norms_fit_nothing_and_look_at_any_dataset(planned: Planned) -> None:
    """Norms paper, Fig. 3: of the dataset trained on and of another, under one name and by one protocol."""
    columns = {"dataset": "cats", "target": ["cats", "dogs"], "split": "train"}
    plan = planned(table=table_of() | {"columns": columns, "measure": "norm", "by": "norms"}, scale=ONE_SEED)
    found = {(c.coordinates["target"], c.target.name, c.protocol, c.reading, c.missing) for c in plan.cells if c.target}
    assert found == {(name, name, "norms", "split=train", "") for name in ("cats", "dogs")}


def table_of(*datasets: str, **fields: Any) -> dict[str, Any]:
    return {"rows": ROWS, "columns": {"dataset": list(datasets)}, "measure": "knn_top1", **fields}


def why(plan: Plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for cell in plan.cells:
        found.setdefault(str(cell.coordinates["dataset"]), set()).add(cell.missing)
    return found


def test_a_dataset_without_a_loader_is_planned_and_not_trained(planned: Planned) -> None:
    plan = planned(table=table_of("cats", "birds"))
    assert why(plan) == {"cats": {""}, "birds": {"no loader for birds yet"}}
    assert {run.dataset.name for run in plan.runs.values()} == {"cats"}
    assert len([cell for cell in plan.cells if cell.missing]) == 4 * 2  # for each seed, its run can be named
    assert plan.datasets.keys() == {"cats"}
    stood_for = planned(table=table_of("birds"), scale={"datasets": {"birds": "few_cats"}})
    assert {cell.coordinates["dataset"] for cell in stood_for.cells} == {"birds"}
    assert {run.dataset.name for run in stood_for.runs.values()} == {"few_cats"}


def test_a_dataset_that_nothing_stands_for_is_not_measured(planned: Planned) -> None:
    plan = planned(scale={"datasets": {"dogs": None}})
    assert why(plan) == {"cats": {""}, "dogs": {"nothing stands for dogs at this scale"}}
    assert all(cell.run is None for cell in plan.cells if cell.missing)
    assert plan.datasets.keys() == {"cats"}


def test_a_transfer_onto_the_dataset_itself_is_not_measured(planned: Planned) -> None:
    """One stand-in for both: what a probe gives there is no transfer."""
    table = table_of() | {"columns": {"dataset": "cats", "target": "dogs"}, "measure": "transfer_top1"}
    plan = planned(table=table, scale={"datasets": {"cats": "few_cats", "dogs": "few_cats"}})
    assert why(plan) == {"cats": {"one dataset stands for cats and dogs at this scale"}}
    assert plan.runs == {}


def test_what_is_missing_or_left_out_is_not_run(planned: Planned) -> None:
    assert planned(table=table_of("cats")).cells
    assert planned(table=table_of("cats", missing="text runs")).cells == ()
    assert planned(scale={"leaves_out": ["p/table"]}).cells == ()


def controls(plan: Plan) -> list[Cell]:
    (found,) = plan.controls.values()
    return found


def test_the_untrained_control_is_the_first_rows_run_at_epoch_0(planned: Planned) -> None:
    """One for each dataset and seed: every row of a table has the same one."""
    plan = planned()
    found = [(cell.text, cell.run.seed) for cell in controls(plan) if cell.run]
    assert found == [
        (f"method=control;variant=untrained;dataset={dataset};measure=knn_top1", seed)
        for dataset in ("cats", "dogs")
        for seed in (0, 1)
    ]
    assert {(c.run.method.name, c.run.initialisation, c.epoch) for c in controls(plan) if c.run} == {
        ("simclr", None, 0)
    }


def test_runs_whose_initial_weights_are_cut_are_no_control(planned: Planned) -> None:
    plan = planned(table=table_of("cats", rows={"method": "simsiam", "variant": ["cut", "baseline"]}))
    assert [cell.run.initialisation for cell in controls(plan) if cell.run] == [None, None]
    for none in ({"rows": {"method": "simsiam", "variant": "cut"}}, {"measure": "loss"}):
        assert controls(planned(table=table_of("cats", **none))) == []
    assert controls(planned(table=table_of("birds"))) == []


def test_epochs_share_a_control_and_readings_do_not(planned: Planned) -> None:
    x = {"epoch": [50, 100], "split": ["train", "test"]}
    plan = planned(table=lines(x=x, fixed={"variant": "baseline", "dataset": "cats"}, measure="norm", by="norms"))
    expected = [
        f"method=control;variant=untrained;dataset=cats;split={split};measure=norm"
        for split in ("train", "test")
        for _ in range(2)
    ]
    assert texts(controls(plan)) == expected
