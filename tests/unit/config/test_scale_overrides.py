"""What a scale replaces in some runs of one paper: fields, divisors, datasets, and cells that it leaves out."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.config.plan import Plan

Planned = Callable[..., Plan]
Refused = Callable[..., str]

SIZES = [64, 512]
QUEUES = [128, 4096]


def table(scale: dict[str, Any], path: str = "batch.size", values: list[int] = SIZES) -> dict[str, Any]:
    """A project with one row and a column for each value of a field."""
    axes = {"rows": {"method.variant": "simclr.baseline"}, "columns": {"dataset": "cats", path: values}}
    return {"table": {**axes, "measure": "knn_top1"}, "scale": scale, "paper": {"run.batch.micro": 16}}


def overrides(*given: dict[str, Any]) -> dict[str, Any]:
    return {"batch_divisor": 4, "overrides": [one | {"when": {"paper": "p"} | one["when"]} for one in given]}


def batches(divisor: int) -> dict[str, int]:
    return {"batch.size": divisor, "batch.micro": divisor}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], {64: (16, 100), 512: (128, 100)}),
        ([{"when": {"batch.size": 512}, "set": {"schedule": {"epochs": 7}}}], {64: (16, 100), 512: (128, 7)}),
        ([{"when": {"batch.size": 512}, "divide": batches(2)}], {64: (16, 100), 512: (256, 100)}),
        (
            [{"when": {"method": "simclr"}, "divide": batches(8)}],
            {64: (8, 100), 512: (64, 100)},  # in place of the scale's four
        ),
        (
            [{"when": {"method": "simclr"}, "divide": batches(n), "set": {"schedule": {"epochs": n}}} for n in (1, 2)],
            {64: (32, 2), 512: (256, 2)},  # the last has the last word
        ),
        ([{"when": {"dataset": "dogs"}, "divide": batches(1)}], {64: (16, 100), 512: (128, 100)}),
    ],
)
def test_runs_that_match_shrink_otherwise(
    planned: Planned, given: list[dict[str, Any]], expected: dict[int, tuple[int, int]]
) -> None:
    """By hand: size and epochs of the run for each published size."""
    changes = table(overrides(*given))
    changes["table"]["columns"] = [{"dataset": "cats", "batch.size": n, "batch.micro": n} for n in SIZES]
    cells = planned(**changes).cells
    found = {cell.coordinates["batch.size"]: cell.run for cell in cells}
    assert {size: run and (run.batch.size, run.schedule.epochs) for size, run in found.items()} == expected


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"method": "simclr"}, {("convnet", 4), ("vit", 8)}),
        ({"variant": ["baseline", "attention"]}, {("convnet", 4)}),
    ],
)
def test_no_scale_replaces_the_encoder_that_a_variant_names(
    planned: Planned, when: dict[str, Any], expected: set[tuple[str, int]]
) -> None:
    """Unless it says that it means this variant."""
    scale = overrides({"when": when, "set": {"encoder": {"name": "convnet", "width": 4}}})
    rows = {"method.variant": ["simclr.baseline", "simclr.attention"]}
    shown = {"rows": rows, "columns": {"dataset": "cats"}, "measure": "knn_top1"}
    vit = {"encoder": {"name": "vit", "image_size": 8, "patch": 4, "depth": 1, "width": 8, "heads": 1}}
    runs = planned(table=shown, scale=scale, paper={"variants.attention": vit}).runs.values()
    assert {(run.encoder.name, run.encoder.parameters["width"]) for run in runs} == expected


def test_a_number_of_a_component_is_divided(planned: Planned, refused: Refused) -> None:
    given = {"when": {"dataset": "cats"}, "divide": {"method.dim": 128}}
    cells = planned(**table(overrides(given), "method.dim", QUEUES)).cells
    dims = {cell.coordinates["method.dim"]: cell.run.method.parameters["dim"] for cell in cells if cell.run}
    assert dims == {128: 1, 4096: 32}
    given["divide"] = {"method.dim": 129}
    said = refused(**table(overrides(given), "method.dim", QUEUES))
    assert said.startswith("scales/small.yaml: overrides.0.divide.method.dim: input should be greater than 0")


@pytest.mark.parametrize("path", ["method.queue", "method.name", "queue", "batch", "method.dim.x"])
def test_what_is_no_number_is_not_divided(refused: Refused, path: str) -> None:
    given = {"when": {"method": "simclr"}, "divide": {path: 2}}
    expected = f"scales/small.yaml: overrides.0.divide: {path} is no whole number of such a run"
    assert refused(**table(overrides(given))) == expected


@pytest.mark.parametrize(
    ("key", "name"), [("method", "simcrl"), ("variant", "hott"), ("dataset", "cat"), ("paper", "q")]
)
def test_an_override_that_can_match_nothing_is_said(refused: Refused, key: str, name: str) -> None:
    said = refused(**table(overrides({"when": {key: name}, "leaves_out": True})))
    assert said.startswith(f"scales/small.yaml: overrides.0.when.{key}: '{name}' is not one of ")


def test_cells_are_left_out(planned: Planned) -> None:
    plan = planned(**table(overrides({"when": {"batch.size": 512}, "leaves_out": True})))
    assert {cell.coordinates["batch.size"]: cell.missing for cell in plan.cells} == {
        64: "",
        512: "left out at this scale",
    }
    assert {run.batch.size for run in plan.runs.values()} == {16}


def test_a_table_takes_the_seeds_of_sweeps(planned: Planned, refused: Refused) -> None:
    seeds = {"seeds": {"tables": [0, 1, 2], "sweeps": [5]}}
    assert {run.seed for run in planned(**table(seeds)).runs.values()} == {0, 1, 2}
    assert {run.seed for run in planned(**table({**seeds, "swept": ["p/table"]})).runs.values()} == {5}
    assert refused(**table({"swept": ["p/tabel"]})).startswith("scales/small.yaml: swept: 'p/tabel' is not one of ")


def test_a_paper_has_stand_ins_of_its_own(planned: Planned, refused: Refused) -> None:
    scale = {"datasets": {"cats": "dogs", "p/cats": "few_cats"}}
    plan = planned(**table(scale))
    assert {run.dataset.name for run in plan.runs.values()} == {"few_cats"}
    other = plan.config.used("cats", "another")
    assert other is not None
    assert other.name == "dogs"
    for key, value, wrong in (("p/cats", "fewer_cats", "p/cats: 'fewer_cats'"), ("q/cats", "cats", " 'q'")):
        said = refused(**table({"datasets": {key: value}}))
        assert said.startswith(f"scales/small.yaml: datasets{'.' if wrong[0] == 'p' else ':'}{wrong} is not one of ")
