"""From layers of YAML to one run: who has the last word, who is blamed, and how a scale shrinks."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError

from ...layers import merge

Planned = Callable[..., Plan]
Refused = Callable[..., str]

WHEN = {"method": "simclr", "dataset": "cats"}
ROWS = {"method.variant": ["simclr.cut"]}
# From the first word to the last: what it is called in a sentence, and where it stands.
LAYERS: dict[str, tuple[str, str]] = {
    "papers/p.yaml: run": ("paper", "run"),
    "papers/p.yaml: methods.simclr": ("paper", "methods.simclr"),
    "papers/p.yaml: variants.cut": ("paper", "variants.cut"),
    "papers/p.yaml: overrides.0": ("paper", "overrides.0"),
    "scales/small.yaml: overrides.0": ("scale", "overrides.0"),
    "scales/small.yaml: overrides.1": ("scale", "overrides.1"),
    "papers/p.yaml: artifacts.table": ("table", ""),
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
    """The one run but for its seed."""
    (first, *others) = plan.runs.values()
    assert all(other.model_copy(update={"seed": first.seed}) == first for other in others)
    return first


def test_each_layer_speaks_over_all_before_it(planned: Planned) -> None:
    for (low, first), (high, second) in combinations(enumerate(LAYERS), 2):
        run = only(planned(**saying({second: high, first: low})))
        assert run.optimiser.weight_decay == high, (first, second)
    assert only(planned(**saying({}))).optimiser.weight_decay == 0


@pytest.mark.parametrize("layer", LAYERS)
def test_who_set_a_wrong_value_is_named(refused: Refused, layer: str) -> None:
    said = refused(**saying({layer: -1}))
    assert said == f"{layer}.optimiser.weight_decay: input should be greater than or equal to 0 (given: -1)"


def test_the_last_who_set_it_is_named(refused: Refused) -> None:
    said = refused(**saying({"papers/p.yaml: run": 1, "papers/p.yaml: variants.cut": -1}))
    assert said.startswith("papers/p.yaml: variants.cut.optimiser.weight_decay: ")


def test_what_a_document_says_wrongly_is_said_even_where_a_scale_replaces_it(refused: Refused) -> None:
    said = refused(**saying({"papers/p.yaml: run": -1, "scales/small.yaml: overrides.0": 1}))
    assert said.startswith("papers/p.yaml: run.optimiser.weight_decay: ")


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


# Overrides


def overridden(*overrides: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return saying({}) | {"paper": {"overrides": [{"when": when, "set": fields} for when, fields in overrides]}}


@pytest.mark.parametrize("turned", [False, True])
def test_the_last_override_has_the_last_word(planned: Planned, turned: bool) -> None:
    both = [({"method": "simclr"}, {"views": {"hue": 0.1, "flip": 0}}), (WHEN, {"views": {"hue": 0.3}})]
    views = only(planned(**overridden(*(reversed(both) if turned else both)))).views
    assert (views.hue, views.flip) == (0.1 if turned else 0.3, 0)


def test_the_command_line_overrides_an_axis(project: Callable[..., Path]) -> None:
    root = project(**saying({"papers/p.yaml: artifacts.table": 0.2, "scales/small.yaml: overrides.0": 0.1}))
    own = {"overrides": [{"when": {"paper": "p"}, "set": {"optimiser": {"weight_decay": 0.5}}}]}
    assert only(planning.make(root, own)).optimiser.weight_decay == 0.5
    own["overrides"][0]["set"]["optimiser"]["weight_decay"] = -1
    with pytest.raises(HypersphereError, match=r"^command line: overrides\.0\.optimiser\.weight_decay: "):
        planning.make(root, own)


def test_a_plan_says_who_set_each_field(planned: Planned) -> None:
    changes = saying({"scales/small.yaml: overrides.1": 0.1})
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [512]}
    changes["scale"] |= {"epochs": 10, "batch_divisor": 4}
    plan = planned(**changes)
    layers = {field: (value, said.rpartition("/")[2]) for field, value, said in plan.explained(next(iter(plan.runs)))}
    assert layers["optimiser.weight_decay"] == ("0.1", "small.yaml: overrides.1")
    assert layers["optimiser.learning_rate"] == ("0.4", "p.yaml: run")
    assert layers["objective.temperature"] == ("0.5", "p.yaml: methods.simclr")
    assert layers["initialisation.c"] == ("3.0", "p.yaml: variants.cut")
    assert layers["batch.size"] == ("128", "small.yaml: batch_divisor")
    assert layers["schedule.epochs"] == ("10", "small.yaml: epochs")
    assert layers["optimiser.momentum"] == ("0.9", "default")
    assert layers["dataset"][0] == "cats"


def test_an_override_may_ask_for_a_path_of_an_axis(planned: Planned) -> None:
    """Norms paper, Table S2: each batch size its own rate."""
    changes = overridden(({"batch.size": 512}, {"optimiser": {"learning_rate": 0.1}}))
    changes["table"]["columns"] = {"dataset": "cats", "batch.size": [256, 512]}
    rates = {run.batch.size: run.optimiser.learning_rate for run in planned(**changes).runs.values()}
    assert rates == {256: 0.4, 512: 0.1}


# Coordinates


@pytest.mark.parametrize("path", ["batch_size", "batches.size", "seed", "dataset.name", "dataset.source", "device"])
def test_a_key_of_an_axis_that_is_no_field_is_said(refused: Refused, path: str) -> None:
    changes = saying({})
    changes["table"]["fixed"] = {path: 3}
    expected = (
        f"papers/p.yaml: artifacts.table: '{path}' is no field of a run and none of method, variant, dataset, epoch"
    )
    assert refused(**changes).startswith(expected)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("batch.sise", "artifacts.table.batch.sise: unknown; did you mean size? Allowed: size, micro"),
        ("objective.margin", "artifacts.table.objective.margin: unknown; nt_xent takes temp"),
        ("batch", "artifacts.table.batch: input should be a valid dictionary"),
    ],
)
def test_a_path_that_leads_nowhere_is_said(refused: Refused, path: str, words: str) -> None:
    changes = saying({})
    changes["table"]["fixed"] = {path: 3}
    assert refused(**changes).startswith(f"papers/p.yaml: {words}")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"method.variant": "byol.cut"}, "methods: 'byol' is not one of simclr, simsiam"),
        ({"method.variant": "simclr.cut9"}, "variants: 'cut9' is not one of baseline, cut, hot; did you mean cut?"),
    ],
)
def test_a_coordinate_that_no_run_has_is_said(refused: Refused, rows: dict[str, Any], words: str) -> None:
    changes = saying({})
    changes["table"]["rows"] = rows
    assert refused(**changes) == f"papers/p.yaml: {words}"


def test_a_component_is_given_a_parameter_by_its_path(planned: Planned) -> None:
    run = only(planned(**saying({"papers/p.yaml: artifacts.table": 9}, "initialisation.c")))
    assert run.initialisation is not None
    assert (run.initialisation.name, run.initialisation.parameters) == ("cut_initialisation", {"c": 9})


# Scales


def test_epochs_shrink_in_proportion(planned: Planned) -> None:
    """The document's 100 become 10; what is longer or shorter, as much so."""
    changes = saying({})
    changes["table"]["columns"] = {"dataset": "cats", "schedule.epochs": [50, 100, 200]}
    changes["scale"]["epochs"] = 10
    assert sorted({run.schedule.epochs for run in planned(**changes).runs.values()}) == [5, 10, 20]
    changes["table"]["columns"] = {"dataset": "cats", "schedule.epochs": [1, 100]}
    assert sorted({run.schedule.epochs for run in planned(**changes).runs.values()}) == [1, 10]  # a tenth is one
    changes["table"]["columns"] = {"dataset": "cats", "schedule.epochs": [50, 100, 200]}
    changes["scale"]["overrides"] = [{"when": {"paper": "p"}, "set": {"schedule": {"epochs": 20}}}]
    assert sorted({run.schedule.epochs for run in planned(**changes).runs.values()}) == [10, 20, 40]


def test_epochs_of_the_command_line_are_those_of_all_runs(project: Callable[..., Path]) -> None:
    """The control: without them the scale's own number for one method counts for that method."""
    changes = saying({})
    changes["scale"]["epochs"] = 10
    changes["scale"]["overrides"] = [{"when": {"method": "simclr"}, "set": {"schedule": {"epochs": 30}}}]
    changes["table"]["rows"] = {"method.variant": ["simclr.baseline", "simsiam.baseline"]}
    root = project(**changes)
    found = {
        epochs: {run.method.name: run.schedule.epochs for run in planning.make(root, asked).runs.values()}
        for epochs, asked in ((None, {}), (2, {"epochs": 2}))
    }
    assert found == {None: {"simclr": 30, "simsiam": 10}, 2: {"simclr": 2, "simsiam": 2}}


@pytest.mark.parametrize("value", [0, "many", 2.5, True])
def test_a_scales_epochs_for_some_runs_are_a_number(refused: Refused, value: Any) -> None:
    changes = saying({})
    changes["scale"]["overrides"] = [{"set": {"schedule": {"epochs": value}}}]
    assert refused(**changes).startswith("scales/small.yaml: overrides.0.schedule.epochs: ")


def test_a_variants_own_epochs_shrink_as_the_documents(planned: Planned) -> None:
    """A schedule of the document's own is its usual one, whatever its length."""
    changes = saying({})
    changes["paper"]["variants.cut.schedule.epochs"] = 400
    changes["scale"]["epochs"] = 10
    assert only(planned(**changes)).schedule.epochs == 10


def test_a_schedule_longer_than_training_stays_so(planned: Planned) -> None:
    """A cosine over 128 epochs of which 100 are trained, at ten epochs: by hand, 12.8 is 13."""
    changes = saying({})
    changes["paper"]["run.schedule.horizon"] = 128
    changes["scale"]["epochs"] = 10
    schedule = only(planned(**changes)).schedule
    assert (schedule.epochs, schedule.horizon) == (10, 13)


def test_batches_are_divided_and_rates_multiplied(planned: Planned) -> None:
    changes = saying({"papers/p.yaml: artifacts.table": 512}, "batch.size")
    changes["scale"] |= {"batch_divisor": 4, "learning_rate_factor": 0.5}
    run = only(planned(**changes))
    assert (run.batch.size, run.batch.micro) == (128, 32)
    assert run.optimiser.learning_rate == 0.2


def test_as_published_nothing_changes(planned: Planned) -> None:
    run = only(planned(**saying({})))
    assert (run.schedule.epochs, run.batch.size, run.batch.micro, run.optimiser.learning_rate) == (100, 256, 128, 0.4)
    assert run.dataset.name == "cats"


def test_a_batch_that_is_divided_away_is_said(refused: Refused) -> None:
    changes = saying({})
    changes["scale"]["batch_divisor"] = 500
    assert "batch.size: input should be greater than 0" in refused(**changes)


@pytest.mark.parametrize("value", [..., "many", None, [], 0, float("nan"), float("inf")])
@pytest.mark.parametrize("epochs", [10, "published"])
def test_a_document_without_a_number_of_epochs_is_said(refused: Refused, value: Any, epochs: Any) -> None:
    changes = saying({})
    changes["paper"]["run.schedule.epochs"] = value
    changes["scale"]["epochs"] = epochs
    said = refused(**changes)
    assert said.startswith("papers/p.yaml: ")
    assert "epochs" in said


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
