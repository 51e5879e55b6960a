"""Names of runs and defaults never change, or published results would lose theirs.

After a deliberate change to config/ (new runs, never new names for old ones), write the files anew:

    python tests/golden/test_run_names.py --write
"""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hypersphere.declared import plan, recipe, registry
from hypersphere.declared import run as spec

ROOT = Path(__file__).resolve().parents[2]
NAMES = Path(__file__).with_name("run_names.csv")
DEFAULTS = Path(__file__).with_name("defaults.json")
SCALES = tuple(sorted(path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")))
COLUMNS = ("scale", "paper", "method", "variant", "dataset", "measured_on", "seed", "run")
MODELS: tuple[type[BaseModel], ...] = (
    spec.Imbalance,
    spec.Dataset,
    recipe.Views,
    recipe.Optimiser,
    recipe.Schedule,
    recipe.Batch,
    spec.Run,
)


def planned() -> str:
    """Every cell of every scale's plan, as csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for scale in SCALES:
        for cell in plan.make(ROOT, {"scale": scale}).cells:
            writer.writerow({"scale": scale, **cell.key})
    return text.getvalue()


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


def test_every_planned_run_has_its_pinned_name() -> None:
    assert planned().splitlines() == NAMES.read_text().splitlines()


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

    runs = plan.make(ROOT, {"scale": scale}).runs
    for name, run in runs.items():
        assert LaterRun.model_validate(run.model_dump()).name == name
    run = next(iter(runs.values()))
    assert LaterRun.model_validate(run.model_dump() | {"queue": 1}).name != run.name  # control


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    NAMES.write_text(planned(), newline="")
    DEFAULTS.write_text(json.dumps(defaults(), indent=1, sort_keys=True) + "\n", newline="")
