"""From layers of YAML to one run: who has the last word, and who is blamed."""

from itertools import combinations
from typing import Any

import pytest

from ...fixtures import Planned, Refused
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


def test_each_layer_speaks_over_all_before_it(planned: Planned) -> None:
    for (low, first), (high, second) in combinations(enumerate(LAYERS), 2):
        runs = [*planned(**saying({second: high, first: low})).runs.values()]
        assert runs[0].optimiser.weight_decay == high, (first, second)
        assert all(run.model_copy(update={"seed": runs[0].seed}) == runs[0] for run in runs)
    assert {run.optimiser.weight_decay for run in planned(**saying({})).runs.values()} == {0}


@pytest.mark.parametrize("layer", LAYERS)
def test_who_set_a_wrong_value_is_named(planned: Planned, refused: Refused, layer: str) -> None:
    """What a document says wrongly is said even where a scale replaces it."""
    later = {"scales/small.yaml: overrides.0": 1} if layer.startswith("papers/p/paper.yaml: run") else {}
    with refused():
        planned(**saying(later | {layer: -1}))


def test_a_plan_says_who_set_each_field(planned: Planned) -> None:
    changes = saying({"scales/small.yaml: overrides.1": 0.1})
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [512]}
    changes["scale"] |= {"epochs": 10, "batch_divisor": 4}
    plan = planned(**changes)
    said = plan.explained(next(iter(plan.runs)))
    layers = {field: (value, where.rpartition("config/")[2]) for field, value, where in said}
    expected = {
        "dataset": ("cats", "scales/small.yaml: datasets"),
        "optimiser.weight_decay": ("0.1", "scales/small.yaml: overrides.1"),
        "initialisation.c": ("3.0", "papers/p/paper.yaml: variants.cut"),
        "batch.size": ("128", "scales/small.yaml: batch_divisor"),
        "schedule.epochs": ("10", "scales/small.yaml: epochs"),
        "optimiser.momentum": ("0.9", "default"),
    }
    assert {field: layers[field] for field in expected} == expected


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
