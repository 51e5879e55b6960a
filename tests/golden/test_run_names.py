"""Names of runs and defaults never change, or published results would lose theirs.

New runs may come. To pin them, and new defaults, beside those that are pinned:

    python tests/golden/test_run_names.py --write
"""

import csv
import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hypersphere.config import plan, recipe, registry
from hypersphere.config import run as spec

ROOT = Path(__file__).resolve().parents[2]
NAMES = Path(__file__).with_name("run_names.csv")
DEFAULTS = Path(__file__).with_name("defaults.json")
SCALES = ("paper", "quick", "smoke", "workstation")
"""Records carry the names of the others' runs."""
MODELS: tuple[type[BaseModel], ...] = (
    spec.Imbalance,
    spec.Dataset,
    recipe.Views,
    recipe.Optimiser,
    recipe.Schedule,
    recipe.Batch,
    spec.Run,
)


def pinned_names() -> dict[str, list[str]]:
    """By scale, in the order in which they were pinned."""
    names: dict[str, list[str]] = {scale: [] for scale in SCALES}
    with NAMES.open(newline="") as handle:
        for row in csv.DictReader(handle):
            names[row["scale"]].append(row["run"])
    return names


@cache
def planned_runs(scale: str) -> Mapping[str, spec.Run]:
    """The runs of a scale's plan, by name; of quick with every value and seed that it ever had."""
    every = {"most_values": 1000, "seeds": {"tables": [0, 1, 2], "sweeps": [0]}} if scale == "quick" else {}
    return plan.make(ROOT, {"scale": scale, **every}).runs


def defaults() -> dict[str, dict[str, Any]]:
    """Every default that a name is taken against: of the specification's models, and of the components."""
    models = {model.__name__: model for model in MODELS}
    for kind in registry.KINDS:
        for name in registry.names(kind):
            models[f"{kind}.{name}"] = registry.schema(kind, name)
    found = {}
    for name, model in models.items():
        fields = {k: field.default for k, field in model.model_fields.items() if not field.is_required()}
        found[name] = json.loads(json.dumps(fields))
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_every_pinned_run_is_planned_under_its_name(scale: str) -> None:
    pinned, planned = pinned_names()[scale], planned_runs(scale)
    assert len(set(pinned)) == len(pinned) > 0
    assert [name for name in pinned if name not in planned] == []


def test_a_pinned_name_says_what_its_run_is() -> None:
    """The control: one number of one field changed is another name, which is not pinned."""
    pinned = pinned_names()["quick"]
    for run in plan.make(ROOT, {"scale": "quick", "learning_rate_factor": 1.0001}).runs.values():
        assert run.name not in pinned


def test_no_default_changes() -> None:
    """A new field or component may come (then pin it); what is pinned stays."""
    pinned = json.loads(DEFAULTS.read_text())
    current = defaults()
    for name, fields in pinned.items():
        assert {key: current[name].get(key, "gone") for key in fields} == fields, name
    unpinned = {
        f"{name}.{key}" for name, fields in current.items() for key in fields if key not in pinned.get(name, {})
    }
    assert not unpinned, "new defaults: python tests/golden/test_run_names.py --write"


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_a_new_optional_field_renames_nothing(scale: str) -> None:
    """Fields that releases to come may add, at the top and deeper."""

    class LaterViews(spec.Views):
        blur: float = 0.0

    class LaterRun(spec.Run):
        views: LaterViews
        queue: int | None = None
        teacher: spec.Objective | None = None

    runs = planned_runs(scale)
    for name, run in runs.items():
        assert LaterRun.model_validate(run.model_dump()).name == name
    run = next(iter(runs.values()))
    assert LaterRun.model_validate(run.model_dump() | {"queue": 1}).name != run.name  # control


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    names = pinned_names()  # nothing that is pinned is taken out
    for scale, known in names.items():
        known += [name for name in planned_runs(scale) if name not in set(known)]
    with NAMES.open("w", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerows([("scale", "run"), *((scale, name) for scale, known in names.items() for name in known)])
    pinned: dict[str, dict[str, Any]] = json.loads(DEFAULTS.read_text())
    kept = {name: {**fields, **pinned.get(name, {})} for name, fields in defaults().items()}
    DEFAULTS.write_text(json.dumps({**pinned, **kept}, indent=1, sort_keys=True) + "\n", newline="")
