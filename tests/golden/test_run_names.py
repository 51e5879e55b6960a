"""Names of runs and defaults never change, or published results would lose theirs; and the tables of runs are current.

run_names.csv pins the names of a scale's runs by a digest. What a change did to runs is seen in the tables that
`make runs` writes, papers/<paper>/runs/<scale>.csv: read their difference, then pin the names, and new defaults:

    python -m tests.golden.test_run_names --write
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hypersphere import files
from hypersphere.command import runs
from hypersphere.command.runs import RunsAlike
from hypersphere.config import recipe, registry
from hypersphere.config import run as spec

from .released import ROOT, released

pytestmark = pytest.mark.pythons

NAMES = Path(__file__).with_name("run_names.csv")
DEFAULTS = Path(__file__).with_name("defaults.json")
SCALES = ("laptop", "paper", "quick", "smoke", "workstation")
WRITTEN = ("laptop", "paper", "quick")
"""The scales whose runs `make runs` lists."""
MODELS: tuple[type[BaseModel], ...] = (
    spec.Imbalance,
    spec.Dataset,
    recipe.Views,
    recipe.Optimiser,
    recipe.Schedule,
    recipe.Batch,
    spec.Run,
)


def listed(scale: str) -> list[RunsAlike]:
    """The runs of a scale's plan by paper, those that this machine cannot train, too."""
    plan = released(scale)
    return [row for paper in plan.config.papers for row in runs.rows(plan, paper)]


def names(rows: list[RunsAlike]) -> list[str]:
    """The names of their runs, each once."""
    return sorted({name for row in rows for name in row.names.values()})


def pinned() -> dict[str, tuple[int, str]]:
    """By scale how many names there are, and their digest."""
    with NAMES.open(newline="") as handle:
        return {row["scale"]: (int(row["runs"]), row["digest"]) for row in csv.DictReader(handle)}


def defaults() -> dict[str, dict[str, Any]]:
    """Every default that a name is taken against: of the specification's models, and of the components."""
    models = {model.__name__: model for model in MODELS}
    for kind in registry.KINDS:
        for name in registry.names(kind):
            models[f"{kind}.{name}"] = registry.schema(kind, name)
    found = {}
    for name, model in models.items():
        fields = {
            k: field.default for k, field in model.model_fields.items() if not field.is_required()
        }
        found[name] = json.loads(json.dumps(fields))
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_the_runs_of_a_scale_have_the_pinned_names(scale: str) -> None:
    """If the table of the scale's runs is current, and this fails, then runs of the same content have other names."""
    found = names(listed(scale))
    assert (len(found), files.digest(found)) == pinned()[scale], (
        "python -m tests.golden.test_run_names --write"
    )


def test_a_name_says_what_its_run_is() -> None:
    """The control: one number of one field changed is another name."""
    for row in listed("quick"):
        run = row.run
        rate = run.optimiser.learning_rate * 1.0001
        other = run.model_copy(
            update={"optimiser": run.optimiser.model_copy(update={"learning_rate": rate})}
        )
        assert spec.Run.model_validate(other.model_dump()).name != run.name


def test_the_tables_of_runs_are_current() -> None:
    """After a change of a paper or a scale: ``make runs``, and read what changed. There are no others."""
    plans = [released(scale) for scale in WRITTEN]
    expected = {path: text for plan in plans for path, text in runs.tables(plan).items()}
    folders = plans[0].config.folders.values()
    there = {
        path: path.read_text(encoding="utf-8")
        for folder in folders
        for path in (folder / runs.FOLDER).glob("*")
    }
    stale = [
        path for path in expected.keys() | there.keys() if expected.get(path) != there.get(path)
    ]
    assert sorted(path.relative_to(ROOT).as_posix() for path in stale) == []


def test_no_default_changes() -> None:
    """A new field or component may come (then pin it); what is pinned stays."""
    known = json.loads(DEFAULTS.read_text())
    current = defaults()
    for name, fields in known.items():
        assert {key: current[name].get(key, "gone") for key in fields} == fields, name
    unpinned = {
        f"{name}.{key}"
        for name, fields in current.items()
        for key in fields
        if key not in known.get(name, {})
    }
    assert not unpinned, "new defaults: python -m tests.golden.test_run_names --write"


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_a_new_optional_field_renames_nothing(scale: str) -> None:
    """Fields that releases to come may add, at the top and deeper."""

    class LaterViews(spec.Views):
        blur: float = 0.0

    class LaterRun(spec.Run):
        views: LaterViews
        queue: int | None = None
        teacher: spec.Objective | None = None

    for run in released(scale).runs.values():
        assert LaterRun.model_validate(run.model_dump()).name == run.name
    assert LaterRun.model_validate(run.model_dump() | {"queue": 1}).name != run.name  # control


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    with NAMES.open("w", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("scale", "runs", "digest"))
        for scale in SCALES:
            found = names(listed(scale))
            writer.writerow((scale, len(found), files.digest(found)))
    known: dict[str, dict[str, Any]] = json.loads(DEFAULTS.read_text())
    kept = {name: {**fields, **known.get(name, {})} for name, fields in defaults().items()}
    DEFAULTS.write_text(json.dumps({**known, **kept}, indent=1, sort_keys=True) + "\n", newline="")
