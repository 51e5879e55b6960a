"""``hypersphere runs``: the runs that a paper has at a scale, as tables that people read before anything is trained.

They lie in the paper's folder. ``runs/<scale>.csv`` has a row for each run, whatever its seed, and a column for each
field in which two of them differ. ``runs/<scale>.yaml`` has the fields that all of them share, and each dataset whole.
Both follow from the plan alone, so that a diff of them shows what a change of a paper or a scale does to runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

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
    """The published dataset; the runs may have another, which stands for it."""
    run: Run
    """The run of any seed."""
    names: dict[int, str] = field(default_factory=dict)
    """The names of the runs by seed."""

    @property
    def head(self) -> tuple[str, ...]:
        """The cells of the first columns."""
        images = self.run.dataset.name
        return self.method, self.variant, self.dataset, images, ranges(self.names)

    @cached_property
    def fields(self) -> Fields:
        """The fields of the runs but seed and dataset."""
        tree = self.run.model_dump(mode="json", exclude={"seed", "dataset"})
        return {".".join(path): value for path, value in leaves(tree) if value is not None}


def ranges(numbers: Iterable[int]) -> str:
    """``0-4 10``: whole numbers in order, those without a gap together."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    ends = [dict.fromkeys((part[0], part[-1])) for part in parts]
    return " ".join("-".join(map(str, end)) for end in ends)


def is_made(cell: Cell, run: Run) -> bool:
    """Whether the scale makes a cell, on a machine that has all programs."""
    needed: list[tuple[registry.Named, str]] = [*run.components]
    if cell.how is not None:
        needed.append(("probes", cell.how.probe.name))
    of_this_machine = [registry.unusable(*part) for part in needed]
    return not cell.missing or cell.missing in of_this_machine


def rows(plan: Plan, paper: str) -> list[RunsAlike]:
    """The runs of a paper by method, variant and dataset; those of one such name as its artifacts show them."""
    found: dict[tuple[str, ...], RunsAlike] = {}
    for cell in plan.cells:
        if cell.paper != paper or cell.run is None or cell.resolved is None:
            continue
        if is_made(cell, cell.run):
            method, variant, dataset = (str(cell.coordinates[key]) for key in coordinates.IDENTITY)
            run = cell.resolved.run
            alike = RunsAlike(method, variant, dataset, run)
            row = found.setdefault((method, variant, dataset, run.name), alike)
            row.names[cell.run.seed] = cell.run.name
    return sorted(found.values(), key=attrgetter("method", "variant", "dataset"))


def shared_fields(listed: list[RunsAlike]) -> Fields:
    """The fields that have one value in all rows."""
    same = dict(listed[0].fields)
    for row in listed:
        for path in [*same]:
            if row.fields.get(path) != same[path]:
                del same[path]
    return same


def as_csv(listed: list[RunsAlike]) -> str:
    """A line for each row, with the fields that differ.

    An empty cell is a field that is null or of a part that the run lacks, or a parameter that has its default.
    """
    fields = pd.DataFrame([row.fields for row in listed], dtype=object)
    differing = fields.drop(columns=[*shared_fields(listed)])
    order = [*Run.model_fields]
    paths = sorted(map(str, differing), key=lambda path: order.index(path.partition(".")[0]))
    heads = pd.DataFrame([row.head for row in listed], columns=[*HEAD])
    cells = differing[paths].map(text_of, na_action="ignore")
    table = pd.concat([heads, cells], axis=1)
    return table.to_csv(index=False, lineterminator="\n")


def text_of(value: Any) -> str:
    """A field's value in a cell."""
    return value if isinstance(value, str) else files.canonical_json(value)


def as_yaml(listed: list[RunsAlike]) -> str:
    """What all rows share, and every dataset that they are trained on."""
    datasets: dict[str, Any] = {}
    for row in sorted(listed, key=lambda row: row.run.dataset.name):
        dataset = row.run.dataset
        fields = dataset.model_dump(mode="json", exclude_defaults=True, exclude={"name"})
        datasets[dataset.name] = fields
    fields = coordinates.nest(shared_fields(listed))
    return files.as_yaml({"all runs": fields, "images": datasets})


def tables(plan: Plan) -> dict[Path, str]:
    """The text of each file, of every paper that has runs at the plan's scale."""
    texts = {}
    scale = plan.config.scale_name
    for paper, folder in plan.config.folders.items():
        listed = rows(plan, paper)
        if listed:
            place = folder / FOLDER
            texts[place / f"{scale}.csv"] = as_csv(listed)
            texts[place / f"{scale}.yaml"] = as_yaml(listed)
    return texts


def build(plan: Plan) -> None:
    """Write them."""
    for path, text in tables(plan).items():
        files.write_text(path, text)
        print(path)
