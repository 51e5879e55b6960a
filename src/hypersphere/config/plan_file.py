"""The plan file, logs/<scale>/plan.jsonl: the plan of a DAG, which its jobs read in place of making it again.

A job reads config/ all the same, and takes the file only if that is what the plan was made from: the same settings, the
same files with the same bytes, the same code and the same Python. Otherwise it makes the plan itself, so that a stale
or damaged file costs seconds and decides nothing. A plan from records is not written, because reading the records is
most of the work.
"""

import hashlib
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import Position
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.run import CHECKED, Run
from hypersphere.errors import HypersphereError


def path(config: Config) -> Path:
    """Where the plan of these settings is written: with the logs, because no result depends on it."""
    return config.root / "logs" / config.results.name / "plan.jsonl"


def write(plan: Plan) -> None:
    """Write a plan for the jobs of its DAG, in two lines: what it was made from, with a seal, and its content.

    All keys keep their order, because the words in a run's name follow it.
    """
    if plan.records is None:
        content = json.dumps(_content(plan), separators=(",", ":"), allow_nan=False)
        about = {"seal": _seal(content), "made_from": _made_from(plan.config)}
        files.write_text(path(plan.config), f"{json.dumps(about)}\n{content}\n")


def load(config: Config) -> Plan:
    """The plan in the file if it fits, or, with a note of why not, one that is made anew."""
    if config.settings.evidence_only:
        return planning.of(config)
    try:
        about, content = _read(path(config))
        if about.get("seal") != _seal(content):
            raise HypersphereError(f"{path(config)}: was altered since it was written")
        if about.get("made_from") != _made_from(config):
            raise HypersphereError(f"{path(config)}: is of other settings, files or code")
        return _plan(config, json.loads(content))
    except HypersphereError as error:
        print(f"note: {error}; the plan is made again", file=sys.stderr, flush=True)
        return planning.of(config)


def _read(file: Path) -> tuple[dict[str, Any], str]:
    """The first line of a plan file, which says what is in the second, and the second."""
    first, _, content = files.read_text(file).partition("\n")
    try:
        return files.mapping(json.loads(first)), content.removesuffix("\n")
    except ValueError:
        raise HypersphereError(f"{file}: is not a plan file") from None


def _seal(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _made_from(config: Config) -> dict[str, Any]:
    """All that decides a plan: settings, files, and the code of this and every other installed package of ours."""
    code: list[str] = []
    read = {str(file): digest for file, digest in config.read.items()}
    for package in registry.packages():
        sources = sorted(package.folder.rglob("*.py"))
        code += [package.missing, *map(files.sha256, sources)]
        for source in sources:
            # a process reads the source of a component once, whoever asks first
            read.pop(str(source), None)
    return {
        "settings": files.canonical_json(config.overrides),
        "files": read,
        "code": files.digest(code),
        "python": sys.executable,
    }


def _row(cell: Cell) -> list[Any]:
    """What the cells of all seeds of a point share."""
    run = cell.resolved.run.name if cell.run and cell.resolved else None
    point, target = [*cell.coordinates.items()], cell.target and cell.target.name
    return [
        cell.paper,
        cell.artifact,
        point,
        run,
        cell.epoch,
        target,
        cell.protocol,
        cell.measure,
        cell.missing,
    ]


def _content(plan: Plan) -> dict[str, Any]:
    """A plan in JSON: protocols, runs without their seeds, and rows of cells with the seeds of each."""
    rows = []
    for row, cells in groupby(plan.cells, key=_row):
        seeds = [cell.run.seed for cell in cells if cell.run]
        rows.append([*row, seeds])
    runs: dict[str, Any] = {}
    for cell in plan.cells:
        run = cell.resolved.run if cell.run and cell.resolved else None
        if run is not None and run.name not in runs:
            fields = run.model_dump(mode="json", exclude={"dataset"}, exclude_defaults=True)
            runs[run.name] = {**fields, "dataset": run.dataset.name}
    protocols: dict[str, Any] = {}
    for paper, declared in plan.protocols.items():
        protocols[paper] = {
            name: protocol.model_dump(mode="json") for name, protocol in declared.items()
        }
    return {"protocols": protocols, "runs": runs, "cells": rows}


def _plan(config: Config, content: dict[str, Any]) -> Plan:
    """The plan of a file that fits. Its runs and protocols were checked before they were written."""
    protocols: dict[str, dict[str, Protocol]] = {paper: {} for paper in content["protocols"]}
    for paper, declared in content["protocols"].items():
        for name, fields in declared.items():
            protocols[paper][name] = Protocol.model_validate(fields, context=CHECKED)
    described = {}
    for name, fields in content["runs"].items():
        dataset = config.datasets[fields["dataset"]]
        described[name] = Run.model_validate({**fields, "dataset": dataset}, context=CHECKED)
    runs: dict[tuple[str, int], Run] = {}
    cells = []
    for paper, artifact, point, name, epoch, probed, protocol, measure, missing, seeds in content[
        "cells"
    ]:
        target, how = config.datasets.get(probed), protocols[paper].get(protocol)
        coordinates = Position(point)
        for seed in seeds or [None]:
            run = None
            if seed is not None:
                run = runs[name, seed] = runs.get((name, seed)) or described[name].of_seed(seed)
            cells.append(
                Cell(
                    paper,
                    artifact,
                    coordinates,
                    run,
                    epoch,
                    target,
                    protocol,
                    how,
                    measure,
                    missing,
                )
            )
    return Plan(config, tuple(cells), protocols)
