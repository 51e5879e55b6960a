"""Whole plans as text: cells, controls and comparisons, runs and who set what in them, batches, jobs and data."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import plan as planning
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run

from ...fixtures import Approve, Project
from .conftest import whole

PLANS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("plans.yaml").read_text(encoding="utf-8"))
del PLANS["parts"]
USUAL = {"run", "methods.simclr", "methods.simsiam", "default", "datasets", "seeds"}
"""What sets most fields of a run; these are not written."""


def listed(words: Iterable[object]) -> str:
    return ", ".join(map(str, words))


def numbered(plan: Plan) -> dict[str, str]:
    """A name for each run of a plan, without its seed and digest: ``simclr1``."""
    runs = [cell.run for cell in plan.cells if cell.run]
    alike = list(dict.fromkeys(run.model_dump_json(exclude={"seed"}) for run in runs))
    return {run.name: f"{run.method.name}{alike.index(run.model_dump_json(exclude={'seed'})) + 1}" for run in runs}


def of_cells(cells: list[Cell], numbers: dict[str, str]) -> Iterator[str]:
    """A line for each cell, of all its seeds."""

    def line(cell: Cell) -> str:
        run = f"{numbers[cell.run.name]} of {cell.run.dataset.name}" if cell.run else "no run"
        epoch = f"{'last ' if cell.final else ''}epoch {cell.epoch}"
        how = f"{run}, {epoch}, on {cell.target and cell.target.name} by {cell.protocol}"
        return f"{cell.text}: {cell.missing or how}"

    for said, same in groupby(cells, key=line):
        seeds = [cell.run.seed for cell in same if cell.run]
        yield f"{said}, seeds {listed(seeds)}" if seeds else said


def of_run(plan: Plan, run: Run) -> str:
    """What is special in a run, and what is asked of it."""
    said = ((path, value, where.rpartition(": ")[2]) for path, value, where in plan.explained(run.name))
    fields = [f"{path}={value} ({where})" for path, value, where in said if where not in USUAL]
    for one in plan.asked[run.name].values():
        assert one.protocol.probe is not None
        places = listed(f"{epoch} {dataset}" for epoch, dataset in sorted(one.at))
        fields.append(f"{one.protocol.probe.name}({text(one.protocol.probe.parameters)}) at {places}")
    return "; ".join([*fields, f"kept {listed(plan.kept_epochs(run))}"])


def written(plan: Plan) -> Iterator[str]:
    """The lines of a plan."""
    numbers = numbered(plan)
    for (paper, artifact), cells in plan.artifacts.items():
        yield from (f"{artifact}: {line}" for line in of_cells(cells, numbers))
        yield from (f"{artifact}: {line}" for line in of_cells(plan.controls[paper, artifact], numbers))
        declared = plan.config.papers[paper].measured[artifact]
        for point, other in declared.comparisons:
            changed = {key: value for key, value in other.items() if point.get(key) != value}
            yield f"{artifact}: {text(point)} against {text(changed)}, {declared.test}"
    yield from dict.fromkeys(f"{numbers[run.name]}: {of_run(plan, run)}" for run in plan.runs.values())
    for batch in plan.batches:
        yield f"batch {batch.id[:-9]}: {listed(f'{numbers[run.name]}/{run.seed}' for run in batch.runs)}"
    for job, artifacts in plan.drawn_together.items():
        yield f"job {job}: {listed(map('/'.join, artifacts))}"
    pixels = {name: len(asked) for name, asked in plan.asked_of_pixels(plan.runs.values()).items()}
    yield f"data: {listed(plan.datasets)}; protocols of raw pixels {pixels}"


@pytest.mark.parametrize("name", PLANS)
def test_plan(project: Project, approve: Approve, name: str) -> None:
    changes = whole(PLANS[name])
    command = changes.pop("command", {})
    for line in written(planning.make(project(**changes), command)):
        approve(line)
