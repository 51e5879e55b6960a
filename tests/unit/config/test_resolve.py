"""From layers of YAML to one run: who has the last word, who is blamed, and how a scale shrinks."""

from itertools import combinations
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run

from ...fixtures import Planned, Project, Refused
from ...layers import merge

WHEN = {"method": "simclr", "dataset": "cats"}
ROWS = {"method.variant": ["simclr.cut"]}
# From the first word to the last: what it is called in a sentence, and where it stands.
LAYERS: dict[str, tuple[str, str]] = {
    "papers/p/paper.yaml: run": ("paper", "run"),
    "papers/p/paper.yaml: methods.simclr": ("paper", "methods.simclr"),
    "papers/p/paper.yaml: variants.cut": ("paper", "variants.cut"),
    "papers/p/paper.yaml: overrides.0": ("paper", "overrides.0"),
    "scales/small.yaml: overrides.0": ("scale", "overrides.0"),
    "scales/small.yaml: overrides.1": ("scale", "overrides.1"),
    "papers/p/paper.yaml: artifacts.table": ("table", ""),
}
SCALE_WHEN: list[dict[str, Any]] = [{}, {"paper": "p", "method": "simclr"}]


def saying(values: dict[str, Any], field: str = "optimiser.weight_decay") -> dict[str, Any]:
    """The project in which each of these layers sets the field."""
    outer, inner = field.split(".")
    table: dict[str, Any] = {"rows": ROWS, "columns": {"dataset": ["cats"]}, "measure": "knn_top1"}
    changes: dict[str, Any] = {"paper": {}, "scale": {}, "table": table}
    for layer, value in values.items():
        file, section = LAYERS[layer]
        if file == "table":
            table["fixed"] = {field: value}
        elif section == "overrides.0" and file == "paper":
            changes[file]["overrides"] = [{"when": WHEN, "set": {outer: {inner: value}}}]
        elif file == "scale":
            written = changes[file].setdefault("overrides", [{"when": when} for when in SCALE_WHEN])
            written[int(section[-1])]["set"] = {outer: {inner: value}}
        else:
            changes[file][f"{section}.{field}"] = value
    return changes


def only(plan: Plan) -> Run:
    (first, *others) = plan.runs.values()
    assert all(other.model_copy(update={"seed": first.seed}) == first for other in others)
    return first


def test_each_layer_speaks_over_all_before_it(planned: Planned) -> None:
    for (low, first), (high, second) in combinations(enumerate(LAYERS), 2):
        run = only(planned(**saying({second: high, first: low})))
        assert run.optimiser.weight_decay == high, (first, second)
    assert only(planned(**saying({}))).optimiser.weight_decay == 0


@pytest.mark.parametrize("layer", LAYERS)
def test_who_set_a_wrong_value_is_named(planned: Planned, refused: Refused, layer: str) -> None:
    """What a document says wrongly is said even where a scale replaces it."""
    later = {"scales/small.yaml: overrides.0": 1} if layer.startswith("papers/p/paper.yaml: run") else {}
    with refused():
        planned(**saying(later | {layer: -1}))


def test_layers_of_other_methods_variants_and_papers_say_nothing(planned: Planned) -> None:
    changes = saying({})
    for section in ("methods.simsiam", "variants.hot", "variants.baseline"):
        changes["paper"][f"{section}.optimiser.weight_decay"] = 1
    changes["paper"]["overrides"] = [
        {"when": when, "set": {"optimiser": {"weight_decay": 1}}}
        for when in ({"dataset": "dogs"}, {"method": "simclr", "variant": "hot"}, {"batch.size": 256})
    ]
    changes["scale"]["overrides"] = [{"when": {"method": "simsiam"}, "set": {"optimiser": {"weight_decay": 1}}}]
    assert only(planned(**changes)).optimiser.weight_decay == 0


def test_an_override_may_ask_for_a_path_of_an_axis(planned: Planned) -> None:
    """Norms paper, Table S2: each batch size its own rate. A component is given a parameter by its path."""
    changes = saying({})
    changes["paper"]["overrides"] = [{"when": {"batch.size": 512}, "set": {"optimiser": {"learning_rate": 0.1}}}]
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [256, 512], "initialisation.c": 9}
    runs = planned(**changes).runs.values()
    assert {(run.batch.size, run.optimiser.learning_rate) for run in runs} == {(256, 0.4), (512, 0.1)}
    assert {run.initialisation and run.initialisation.parameters["c"] for run in runs} == {9}


def test_the_command_line_overrides_an_axis(project: Project, refused: Refused) -> None:
    root = project(**saying({"papers/p/paper.yaml: artifacts.table": 0.2, "scales/small.yaml: overrides.0": 0.1}))
    own = {"overrides": [{"when": {"paper": "p"}, "set": {"optimiser": {"weight_decay": 0.5}}}]}
    assert only(planning.make(root, own)).optimiser.weight_decay == 0.5
    own["overrides"][0]["set"]["optimiser"]["weight_decay"] = -1
    with refused():
        planning.make(root, own)


def test_a_plan_says_who_set_each_field(planned: Planned) -> None:
    changes = saying({"scales/small.yaml: overrides.1": 0.1})
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [512]}
    changes["scale"] |= {"epochs": 10, "batch_divisor": 4}
    plan = planned(**changes)
    said = plan.explained(next(iter(plan.runs)))
    layers = {field: (value, where.rpartition("config/")[2]) for field, value, where in said}
    assert layers["dataset"][0] == "cats"
    assert (
        layers.items()
        >= {
            "optimiser.weight_decay": ("0.1", "scales/small.yaml: overrides.1"),
            "initialisation.c": ("3.0", "papers/p/paper.yaml: variants.cut"),
            "batch.size": ("128", "scales/small.yaml: batch_divisor"),
            "schedule.epochs": ("10", "scales/small.yaml: epochs"),
            "optimiser.momentum": ("0.9", "default"),
        }.items()
    )


@pytest.mark.parametrize(
    ("published", "scale", "expected"),
    [
        ([50, 100, 200], {}, [5, 10, 20]),
        ([1, 100], {}, [1, 10]),  # a tenth is one
        ([50, 100, 200], {"overrides": [{"when": {"paper": "p"}, "set": {"schedule": {"epochs": 20}}}]}, [10, 20, 40]),
    ],
)
def test_epochs_shrink_in_proportion(
    planned: Planned, published: list[int], scale: dict[str, Any], expected: list[int]
) -> None:
    """The document's 100 become 10; what is longer or shorter, as much so."""
    changes = saying({}) | {"scale": {"epochs": 10, **scale}}
    changes["table"]["columns"] = {"dataset": "cats", "schedule.epochs": published}
    assert sorted({run.schedule.epochs for run in planned(**changes).runs.values()}) == expected


def test_a_run_shrinks_in_all_that_the_scale_names(planned: Planned) -> None:
    """A variant's own schedule is its usual one; a cosine over 128 epochs of which 100 are trained stays as long."""
    shrinking = {"epochs": 10, "batch_divisor": 4, "learning_rate_factor": 0.5}
    for variant, horizon, expected in (({"variants.cut.schedule.epochs": 400}, None, 10), ({}, 128, 13)):
        changes = saying({"papers/p/paper.yaml: artifacts.table": 512}, "batch.size") | {"scale": dict(shrinking)}
        changes["paper"] = variant | ({"run.schedule.horizon": horizon} if horizon else {})
        run = only(planned(**changes))
        assert (run.schedule.epochs, run.schedule.horizon or 10) == (10, expected)
        assert (run.batch.size, run.batch.micro, run.optimiser.learning_rate) == (128, 32, 0.2)


def test_epochs_of_the_command_line_are_those_of_all_runs(project: Project) -> None:
    """The control: without them the scale's own number for one method counts for that method."""
    changes = saying({})
    changes["scale"]["epochs"] = 10
    changes["scale"]["overrides"] = [{"when": {"method": "simclr"}, "set": {"schedule": {"epochs": 30}}}]
    changes["table"]["rows"] = {"method.variant": ["simclr.baseline", "simsiam.baseline"]}
    root = project(**changes)
    for asked, expected in (({}, {"simclr": 30, "simsiam": 10}), ({"epochs": 2}, {"simclr": 2, "simsiam": 2})):
        runs = planning.make(root, asked).runs.values()
        assert {run.method.name: run.schedule.epochs for run in runs} == expected


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"p": 2}}, {"m": {"name": "x", "p": 2}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"name": "x", "q": 2}}, {"m": {"name": "x", "p": 1, "q": 2}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"name": "y", "q": 2}}, {"m": {"name": "y", "q": 2}}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ],
)
def test_merge(below: dict[str, Any], above: dict[str, Any], expected: dict[str, Any]) -> None:
    """By the rule: deep, but a component of another name replaces the one below whole."""
    before = repr((below, above))
    assert merge(below, above) == expected
    assert repr((below, above)) == before


SIZES = [64, 512]


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
        (  # the last has the last word, in place of the scale's four
            [{"when": {"method": "simclr"}, "divide": batches(n), "set": {"schedule": {"epochs": n}}} for n in (1, 2)],
            {64: (32, 2), 512: (256, 2)},
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
    [({"method": "simclr"}, {"convnet": 4, "vit": 8}), ({"variant": ["baseline", "attention"]}, {"convnet": 4})],
)
def test_no_scale_replaces_the_encoder_that_a_variant_names(
    planned: Planned, when: dict[str, Any], expected: dict[str, int]
) -> None:
    """Unless it says that it means this variant."""
    scale = overrides({"when": when, "set": {"encoder": {"name": "convnet", "width": 4}}})
    rows = {"method.variant": ["simclr.baseline", "simclr.attention"]}
    shown = {"rows": rows, "columns": {"dataset": "cats"}, "measure": "knn_top1"}
    vit = {"encoder": {"name": "vit", "image_size": 8, "patch": 4, "depth": 1, "width": 8, "heads": 1}}
    runs = planned(table=shown, scale=scale, paper={"variants.attention": vit}).runs.values()
    assert {run.encoder.name: run.encoder.parameters["width"] for run in runs} == expected


def test_a_number_of_a_component_is_divided_and_cells_are_left_out(planned: Planned) -> None:
    queues = table(overrides({"when": {"dataset": "cats"}, "divide": {"method.dim": 128}}), "method.dim", [128, 4096])
    dims = {c.coordinates["method.dim"]: c.run.method.parameters["dim"] for c in planned(**queues).cells if c.run}
    assert dims == {128: 1, 4096: 32}
    plan = planned(**table(overrides({"when": {"batch.size": 512}, "leaves_out": True})))
    missing = {cell.coordinates["batch.size"]: cell.missing for cell in plan.cells}
    assert missing == {64: "", 512: "left out at this scale"}
    assert {run.batch.size for run in plan.runs.values()} == {16}


def test_a_paper_has_stand_ins_of_its_own(planned: Planned) -> None:
    plan = planned(**table({"datasets": {"cats": "dogs", "p/cats": "few_cats"}}))
    assert {run.dataset.name for run in plan.runs.values()} == {"few_cats"}
    other = plan.config.used("cats", "another")
    assert getattr(other, "name", None) == "dogs"


def test_a_table_takes_the_seeds_of_sweeps(planned: Planned) -> None:
    seeds = {"seeds": {"tables": [0, 1, 2], "sweeps": [5]}}
    assert {run.seed for run in planned(**table(seeds)).runs.values()} == {0, 1, 2}
    assert {run.seed for run in planned(**table({**seeds, "swept": ["p/table"]})).runs.values()} == {5}
