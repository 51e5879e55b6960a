"""Whole plans as text: cells, controls and comparisons, runs and who set what in them, batches, jobs and data."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.cells import LEFT_OUT, Cell, confirms
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run

from ...fixtures import Approve, Project

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
        last = cell.run is not None and cell.epoch == cell.run.schedule.epochs
        epoch = f"{'last ' if last else ''}epoch {cell.epoch}"
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
    studies = {confirms(cell, plan.config.papers["p"]) for cell in plan.cells if cell.run and cell.run.name == run.name}
    study = [f"plan {named.rpartition('=')[0]}" for named in sorted(studies - {""})]
    return "; ".join([*fields, f"kept {listed(plan.kept_epochs(run))}", *study])


def written(plan: Plan) -> Iterator[str]:
    """The lines of a plan; of one with a study its cells, comparisons and runs alone."""
    numbers, studies = numbered(plan), plan.config.papers["p"].studies
    for (paper, artifact), cells in plan.artifacts.items():
        shown = [*cells, *plan.controls[paper, artifact]]
        if studies:
            shown = [cell for cell in cells if cell.missing != LEFT_OUT]
        yield from (f"{artifact}: {line}" for line in of_cells(shown, numbers))
        declared = plan.config.papers[paper].measured[artifact]
        for point, other in declared.comparisons:
            changed = {key: value for key, value in other.items() if point.get(key) != value}
            yield f"{artifact}: {text(point)} against {text(changed)}, {declared.test}"
    yield from dict.fromkeys(f"{numbers[run.name]}: {of_run(plan, run)}" for run in plan.runs.values())
    if studies:
        return
    for batch in plan.batches:
        yield f"batch {batch.id[:-9]}: {listed(f'{numbers[run.name]}/{run.seed}' for run in batch.runs)}"
    for job, artifacts in plan.drawn_together.items():
        yield f"job {job}: {listed(map('/'.join, artifacts))}"
    pixels = {name: len(asked) for name, asked in plan.asked_of_pixels(plan.runs.values()).items()}
    yield f"data: {listed(plan.datasets)}; protocols of raw pixels {pixels}"


def check_batches(plan: Plan) -> None:
    """Each run is in one batch of its own name, and an artifact waits for the batches of its runs alone."""
    assert sorted(run.name for batch in plan.batches for run in batch.runs) == sorted(plan.runs)
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    assert all(plan.batch_of[run.name] is batch for batch in plan.batches for run in batch.runs)
    for key in plan.made:
        waits = [{run.name for run in batch.runs} for batch in plan.batches_of(*key)]
        assert plan.runs_of(*key).keys() <= set().union(*waits)
        assert all(names & plan.runs_of(*key).keys() for names in waits)


@pytest.mark.parametrize("name", PLANS)
def test_plan(project: Project, approve: Approve, name: str) -> None:
    changes = dict(PLANS[name])
    command, texts = changes.pop("command", {}), changes.pop("files", {})
    root = project(**changes)
    for file, content in texts.items():
        files.write_text(root / "config" / file, content)
    plan = planning.make(root, command)
    for line in written(plan):
        approve(line)
    check_batches(plan)


@pytest.mark.parametrize(("size", "jobs"), [(1, [1] * 12), (3, [2, 2, 3, 3, 2]), (4, [4, 4, 4]), (100, [12])])
def test_batches_hold_no_more_runs_than_they_may(project: Project, size: int, jobs: list[int]) -> None:
    """Numbers of runs by hand, for two seeds: of cats one shared run of SimCLR, one more, two of SimSiam; two of dogs.

    One of SimSiam's four runs, which no job of three has room for, shares a job with those of dogs.
    """
    shared = PLANS["a run that several cells share is planned once"]
    plan = planning.make(project(**shared, scale={"runs_per_job": size}))
    assert [len(batch.runs) for batch in plan.batches] == jobs
    check_batches(plan)
