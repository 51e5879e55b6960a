"""``hypersphere runs``: the runs that a paper has at a scale, as tables that people read before anything is trained.

They lie in the paper's folder. ``runs/<scale>.csv`` has a row for each run, whatever its seed, and a column for each
field in which two of them differ. ``runs/<scale>.yaml`` has the fields that all of them share, and each dataset whole.
Both follow from the plan alone, so that a diff of them shows what a change of a paper or a scale does to runs.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config import coordinates, registry
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan, leaves
from hypersphere.config.run import Run

FOLDER = "runs"
"""The folder of a paper's folder that holds them."""
HEAD = ("method", "variant", "dataset", "images", "seeds")
"""The first columns: how the paper calls a run, on which dataset it is trained at this scale, and its seeds."""
Fields = dict[str, Any]
"""Fields of a run by path, without those that are null."""


@dataclass(frozen=True)
class RunsAlike:
    """Runs that differ in nothing but their seed, by the words of their paper."""

    method: str
    variant: str
    dataset: str
    """As published; the runs have the one that stands for it."""
    run: Run
    """The run of any seed."""
    names: dict[int, str] = field(default_factory=dict)
    """The names of the runs by seed."""

    @property
    def head(self) -> tuple[str, ...]:
        """The cells of the first columns."""
        return self.method, self.variant, self.dataset, self.run.dataset.name, ranges(self.names)

    @cached_property
    def fields(self) -> Fields:
        """The fields of the runs but seed and dataset."""
        tree = self.run.model_dump(mode="json", exclude={"seed", "dataset"})
        return {".".join(path): value for path, value in leaves(tree) if value is not None}


def ranges(numbers: Iterable[int]) -> str:
    """``0-4 10``: whole numbers in order, those without a gap together."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return " ".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in found)


def is_made(cell: Cell) -> bool:
    """Whether the scale makes a cell, on a machine that has all programs."""
    if cell.run is None:
        return False
    needed: list[tuple[registry.Named, str]] = [*cell.run.components]
    if cell.how is not None:
        needed.append(("probes", cell.how.probe.name))
    return not cell.missing or cell.missing in {registry.unusable(*part) for part in needed}


def rows(plan: Plan, paper: str) -> list[RunsAlike]:
    """The runs of a paper by method, variant and dataset; those of one such name as its artifacts show them."""
    found: dict[tuple[str, ...], RunsAlike] = {}
    for cell in plan.cells:
        if cell.paper != paper or cell.run is None or cell.resolved is None or not is_made(cell):
            continue
        method, variant, dataset = (str(cell.coordinates[key]) for key in coordinates.IDENTITY)
        run = cell.resolved.run
        row = found.setdefault(
            (method, variant, dataset, run.name), RunsAlike(method, variant, dataset, run)
        )
        row.names[cell.run.seed] = cell.run.name
    return sorted(found.values(), key=lambda row: (row.method, row.variant, row.dataset))


def shared(listed: list[RunsAlike]) -> Fields:
    """The fields that have one value in all rows."""
    first, *others = listed
    return {
        path: value
        for path, value in first.fields.items()
        if all(row.fields.get(path) == value for row in others)
    }


def as_csv(listed: list[RunsAlike]) -> str:
    """A line for each row, with the fields that differ.

    An empty cell is a field that is null or of a part that the run lacks, or a parameter that has its default.
    """
    same, order = shared(listed), [*Run.model_fields]
    differing = dict.fromkeys(path for row in listed for path in row.fields if path not in same)
    paths = sorted(differing, key=lambda path: order.index(path.partition(".")[0]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*HEAD, *paths])
    for row in listed:
        writer.writerow([*row.head, *(text_of(row.fields.get(path)) for path in paths)])
    return text.getvalue()


def text_of(value: Any) -> str:
    """A field's value in a cell."""
    if value is None or isinstance(value, str):
        return value or ""
    return files.canonical_json(value)


def as_yaml(listed: list[RunsAlike]) -> str:
    """What all rows share, and every dataset that they are trained on."""
    used = {row.run.dataset.name: row.run.dataset for row in listed}
    datasets: Mapping[str, Any] = {
        name: one.model_dump(mode="json", exclude_defaults=True, exclude={"name"})
        for name, one in sorted(used.items())
    }
    return files.as_yaml({"all runs": coordinates.nested(shared(listed)), "images": datasets})


def tables(plan: Plan) -> dict[Path, str]:
    """The text of each file, of every paper that has runs at the plan's scale."""
    found = {}
    for paper, folder in plan.config.folders.items():
        if listed := rows(plan, paper):
            place = folder / FOLDER / plan.config.scale_name
            found[place.with_name(f"{place.name}.csv")] = as_csv(listed)
            found[place.with_name(f"{place.name}.yaml")] = as_yaml(listed)
    return found


def build(plan: Plan) -> None:
    """Write them."""
    for path, text in tables(plan).items():
        files.write_text(path, text)
        print(path)
