"""Cells that records of evidence measure: the others cannot be measured without training."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from hypersphere.declared import kinds
from hypersphere.declared.artifacts import HISTORY, Paper, Protocol
from hypersphere.declared.cells import Cell
from hypersphere.declared.records import FOLDER, Record, Records
from hypersphere.declared.run import Run

Protocols = Mapping[str, Mapping[str, Protocol]]


def mark(
    cells: Iterable[Cell], papers: Mapping[str, Paper], protocols: Protocols, records: Records, scale: str
) -> list[Cell]:
    """Mark each cell as missing that no record of its run measures by its protocol, as that is declared now."""
    return [
        replace(cell, missing=reason)
        if not cell.missing and (reason := _reason(cell, papers[cell.paper], protocols, records, scale))
        else cell
        for cell in cells
    ]


def controls(cells: Iterable[Cell], protocols: Protocols, records: Records) -> list[Cell]:
    """The untrained controls that records measure; one that its own run lacks is that of another run of equal weights.

    An untrained encoder depends on the seed and on nothing that training reads, so the first record of the same
    encoder, heads, seed and dataset has its numbers too.
    """
    found = []
    for cell in cells:
        assert cell.run is not None
        assert cell.target is not None
        digest, start = protocols[cell.paper][cell.protocol].digest, _start(cell.run)
        own = records.get(cell.run.name, ())
        for record in chain(own, (other for of in records.values() for other in of if _start(other.run) == start)):
            if record.measured(digest, cell.epoch, cell.target.name):
                found.append(replace(cell, run=record.run))
                break
    return found


def _start(run: Run) -> tuple[Any, ...]:
    """What decides a run's weights before any training."""
    return run.kind, run.encoder, run.method, run.initialisation, run.dataset, run.seed


def _reason(cell: Cell, paper: Paper, protocols: Protocols, records: Records, scale: str) -> str:
    if cell.run is None or cell.target is None:
        return ""
    if kinds.kind(paper.measured[cell.artifact].draw).images:
        return "records of evidence hold no values of single images"
    if cell.run.name not in records:
        return f"no record of this run in {FOLDER}/{scale}"
    if cell.protocol == HISTORY:
        return ""
    digest = protocols[cell.paper][cell.protocol].digest
    if measuring(records, cell.run.name, digest, cell.epoch, cell.target.name) is None:
        return f"the records in {FOLDER}/{scale} were measured by another protocol, or at other epochs"
    return ""


def measuring(records: Records, run: str, protocol: str, epoch: int, target: str) -> Record | None:
    """The record that measures a run so: the first, so that replicates of one seed count once."""
    return next((record for record in records.get(run, ()) if record.measured(protocol, epoch, target)), None)
