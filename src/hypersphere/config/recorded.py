"""Cells that records of evidence measure: the others cannot be measured without training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hypersphere.config import coordinates, registry
from hypersphere.config.artifacts import HISTORY, Paper, Protocol
from hypersphere.config.cells import Cell
from hypersphere.config.measures import MEASURES
from hypersphere.config.records import FOLDER, Answer, Record, Records
from hypersphere.config.run import Run

Protocols = Mapping[str, Mapping[str, Protocol]]


def mark(
    cells: Sequence[Cell], papers: Mapping[str, Paper], protocols: Protocols, records: Records, scale: str
) -> list[Cell]:
    """Mark each cell as missing that no record of its run measures by its protocol, as that is declared now.

    So is one whose measure compares it with a baseline of its seed that no record measures alike.
    """
    cells = [
        replace(cell, missing=reason)
        if not cell.missing and (reason := _reason(cell, papers[cell.paper], protocols, records, scale))
        else cell
        for cell in cells
    ]
    whole = {
        (cell.paper, cell.artifact, cell.text, cell.run.seed): cell for cell in cells if cell.run and not cell.missing
    }
    marked = []
    for cell in cells:
        reason = ""
        if cell.run and not cell.missing and MEASURES[cell.measure].of_baseline:
            point = papers[cell.paper].measured[cell.artifact].compared_with(cell.coordinates) or cell.coordinates
            baseline = whole.get((cell.paper, cell.artifact, coordinates.text(point), cell.run.seed))
            if baseline is None:
                reason = f"no record of its baseline of seed {cell.run.seed} in {FOLDER}/{scale}"
            elif _readings(cell, protocols, records) != _readings(baseline, protocols, records):
                reason = f"the record in {FOLDER}/{scale} was measured at fewer readings than that of its baseline"
        marked.append(replace(cell, missing=reason) if reason else cell)
    return marked


def _readings(cell: Cell, protocols: Protocols, records: Records) -> set[tuple[str, str]]:
    """The measures and readings behind a cell's number, without what they share (``augmentation=augmix``)."""
    assert cell.run is not None
    own = set(filter(None, cell.reading.split(";")))
    rows = next(filter(None, (_rows(record, cell, protocols) for record in records[cell.run.name])))
    read = [(one.measure, set(one.reading.split(";"))) for one in rows if one.status == "finished"]
    return {(measure, ";".join(sorted(reading - own))) for measure, reading in read if own <= reading}


def controls(cells: Iterable[Cell], protocols: Protocols, records: Records) -> list[Cell]:
    """The untrained controls that records measure; one that its own run lacks is that of another run of equal weights.

    An untrained encoder depends on the seed and on nothing that training reads, so the first record of the same
    encoder, heads, seed and dataset has its numbers too.
    """

    def start(run: Run) -> tuple[Any, ...]:
        return run.kind, run.encoder, run.method, run.initialisation, run.dataset, run.seed

    every = [(record, start(record.run)) for of in records.values() for record in of]
    found = []
    for cell in cells:
        assert cell.run is not None
        own = start(cell.run)
        others = (record for record, other in every if other == own)
        for record in chain(records.get(cell.run.name, ()), others):
            if _measures(_rows(record, cell, protocols), cell, protocols):
                found.append(replace(cell, run=record.run))
                break
    return found


def _reason(cell: Cell, paper: Paper, protocols: Protocols, records: Records, scale: str) -> str:
    """Why no record gives a cell's number; empty if one does."""
    if cell.run is None or cell.target is None:
        return ""
    if registry.artifact_kind(paper.measured[cell.artifact].draw).images:
        return "records of evidence hold no values of single images"
    of_run = records.get(cell.run.name, ())
    if not of_run:
        return f"no record of this run in {FOLDER}/{scale}"
    if (plan := confirms(cell, paper)) and not any(plan in one.plan.split(";") for one in of_run):
        return f"the record in {FOLDER}/{scale} was made under another plan than {plan}"
    if cell.protocol == HISTORY:
        return ""
    rows = next(filter(None, (_rows(record, cell, protocols) for record in of_run)), [])
    if _measures(rows, cell, protocols):
        return ""
    return f"the records in {FOLDER}/{scale} were measured by another protocol, or at other epochs"


def confirms(cell: Cell, paper: Paper) -> str:
    """The study that a cell confirms, with the digest of its plan: ``ours/step_size=1a2b3c4d``; empty: none."""
    name = paper.measured[cell.artifact].plan
    if name is None or cell.run is None or cell.run.seed in paper.studies[name].seeds.tuning:
        return ""
    return f"{paper.paper}/{name}={paper.studies[name].digest}"


def _rows(record: Record, cell: Cell, protocols: Protocols) -> list[Answer]:
    """What a record says of a cell's epoch and target under its protocol."""
    answers = record.answers(protocols[cell.paper][cell.protocol].digest)
    return [one for one in answers if cell.target and (one.epoch, one.target) == (cell.epoch, cell.target.name)]


def _measures(rows: list[Answer], cell: Cell, protocols: Protocols) -> bool:
    """Whether there is a cell's number among them, or they say that the run diverged."""
    if MEASURES[cell.measure].of_baseline or any(one.status == "diverged" for one in rows):
        return bool(rows)
    asked = protocols[cell.paper][cell.protocol].of_probe(cell.measure), cell.reading
    return any((one.measure, one.reading) == asked for one in rows)


def measuring(records: Records, run: str, protocol: str, epoch: int, target: str) -> Record | None:
    """The record that measures a run so: the first, so that replicates of one seed count once."""
    return next((record for record in records.get(run, ()) if record.measured(protocol, epoch, target)), None)
