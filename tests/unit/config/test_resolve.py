"""From layers of YAML to one run: who has the last word, and who is blamed.

test_who_set_what.py compares what is said of the released runs with what their files hold.
"""

from itertools import combinations
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

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
    "papers/p/scales/small.yaml: overrides.0": ("at_scale", "overrides.0"),
    "papers/p/paper.yaml: artifacts.table": ("table", ""),
}


WHEN_OF: dict[str, dict[str, Any]] = {"scale": {}, "at_scale": {"method": "simclr"}}


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
        elif file in ("scale", "at_scale"):
            changes[file] = {"overrides": [{"when": WHEN_OF[file], "set": {outer: {inner: value}}}]}
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
    later = (
        {"scales/small.yaml: overrides.0": 1}
        if layer.startswith("papers/p/paper.yaml: run")
        else {}
    )
    folder = "config/" if layer.startswith("scales/") else ""
    with refused(f"{folder}{layer}.optimiser.weight_decay"):
        planned(**saying(later | {layer: -1}))


def test_a_plan_says_who_set_each_field(planned: Planned) -> None:
    changes = saying({"papers/p/scales/small.yaml: overrides.0": 0.1})
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [512]}
    changes["scale"] |= {"epochs": 10, "batch_divisor": 4}
    plan = planned(**changes)
    said = plan.explain(next(iter(plan.runs)))
    layers = {field: (value, where.rpartition("config/")[2]) for field, value, where in said}
    expected = {
        "dataset": ("cats", "papers/p/paper.yaml: artifacts.table"),
        "seed": ("0", "scales/small.yaml: seeds.tables"),
        "optimiser.weight_decay": ("0.1", "papers/p/scales/small.yaml: overrides.0"),
        "initialisation.c": ("3.0", "papers/p/paper.yaml: variants.cut"),
        "batch.size": ("128", "scales/small.yaml: batch_divisor (divided by 4)"),
        "schedule.epochs": ("10", "scales/small.yaml: epochs"),
        "optimiser.momentum": ("0.9", "default"),
    }
    assert {field: layers[field] for field in expected} == expected


def who(plan: Plan, field: str) -> str:
    """The layer that is named for a field of a plan's first run, without its folder."""
    rows = plan.explain(next(iter(plan.runs)))
    return next(where.rpartition("config/")[2] for path, _, where in rows if path == field)


def test_what_a_later_layer_drops_is_blamed_for_nothing(planned: Planned) -> None:
    """A component of another name drops the parameters below it, and so does null."""
    below: dict[str, Any] = {
        "run.optimiser": {"learning_rate": 0.4, "weight_decay": 0.0, "momentum": 0.5},
        "run.regulariser": {
            "name": "distance_polarization",
            "weight": 0.2,
            "lower": 0.1,
            "upper": 0.5,
        },
    }
    adam = {
        "optimiser": {"name": "adamw", "learning_rate": 0.1, "weight_decay": 0.0},
        "regulariser": None,
    }
    plan = planned(paper={**below, "overrides": [{"when": {"method": "simclr"}, "set": adam}]})
    assert who(plan, "optimiser.momentum") == "default"
    assert (
        who(plan, "optimiser.name")
        == who(plan, "regulariser")
        == "papers/p/paper.yaml: overrides.0"
    )


WEAK: dict[str, Any] = {"flip": 0.0}
STRONGER: dict[str, Any] = {"brightness": 0.9}
CUT: dict[str, Any] = {"name": "cut_initialisation", "c": 5}


@pytest.mark.parametrize(
    ("field", "in_paper", "in_overrides", "expected"),
    [
        # a field of a part that is there, and of one that the paper switches off or never had
        ("views_b", {"run.views_b": WEAK}, STRONGER, {"flip": 0.0, "brightness": 0.9}),
        ("views_b", {"run.views_b": WEAK, "variants.baseline.views_b": None}, STRONGER, None),
        ("views_b", {}, STRONGER, None),
        # what has a name is whole
        ("initialisation", {"run.initialisation": None}, CUT, CUT),
        ("initialisation", {}, CUT, CUT),
        ("initialisation", {"run.initialisation": None}, {"c": 5}, None),
    ],
)
@pytest.mark.parametrize("place", ["scale", "command line"])
def test_a_scale_changes_the_parts_that_a_run_has_and_only_a_name_adds_one(
    project: Project,
    place: str,
    field: str,
    in_paper: dict[str, Any],
    in_overrides: dict[str, Any],
    expected: Any,
) -> None:
    overrides = {"overrides": [{"set": {field: in_overrides}}]}
    table = {
        "rows": {"method.variant": ["simclr.baseline"]},
        "columns": {"dataset": ["cats"]},
        "measure": "knn_top1",
    }
    root = project(table=table, paper=in_paper, scale=overrides if place == "scale" else {})
    plan = planning.make(root, {} if place == "scale" else overrides)
    found = (
        next(iter(plan.runs.values())).model_dump(exclude_defaults=True)[field]
        if expected
        else None
    )
    assert found == expected
    assert all((getattr(run, field) is None) == (expected is None) for run in plan.runs.values())


def test_the_paper_itself_adds_and_removes_parts(planned: Planned) -> None:
    """Its overrides are of the same file, and a coordinate of an artifact says what is trained."""
    for changes in (
        {
            "run.views_b": None,
            "overrides": [{"when": {"method": "simclr"}, "set": {"views_b": WEAK}}],
        },
        {"run.views_b": None, "artifacts.table.fixed": {"views_b.flip": 0.0}},
    ):
        run = next(
            iter(planned(paper={"artifacts.table.rows.method": "simclr", **changes}).runs.values())
        )
        assert run.views_b is not None
        assert run.views_b.flip == 0


PRINTED = 0.1234567890123
"""More digits than any document prints."""


@pytest.mark.parametrize(
    ("factor", "expected"), [(1, PRINTED), (0.1, 0.01234567890123), (10, 1.234567890123)]
)
def test_a_factor_shifts_the_printed_digits_and_changes_none(
    planned: Planned, factor: float, expected: float
) -> None:
    """The expected numbers are the printed one, written with its point elsewhere."""
    table = {"rows": ROWS, "columns": {"dataset": ["cats"]}, "measure": "knn_top1"}
    plan = planned(
        table=table | {"fixed": {"optimiser.learning_rate.times": factor}},
        paper={"run.optimiser.learning_rate": PRINTED},
    )
    assert {run.optimiser.learning_rate for run in plan.runs.values()} == {expected}
    if factor == 1:
        plain = planned(table=table, paper={"run.optimiser.learning_rate": PRINTED})
        assert plan.runs.keys() == plain.runs.keys()


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"p": 2}}, {"m": {"name": "x", "p": 2}}),
        (
            {"m": {"name": "x", "p": 1}},
            {"m": {"name": "x", "q": 2}},
            {"m": {"name": "x", "p": 1, "q": 2}},
        ),
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
