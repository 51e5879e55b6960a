"""Cells that records of evidence measure: the others cannot be measured without training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hypersphere.config import coordinates, registry
from hypersphere.config.artifacts import HISTORY, Paper, Protocol
from hypersphere.config.cells import Cell
from hypersphere.config.measures import MEASURES
from hypersphere.config.records import FOLDER, Record, Records
from hypersphere.config.run import Run

Protocols = Mapping[str, Mapping[str, Protocol]]


def mark(
    cells: Sequence[Cell], papers: Mapping[str, Paper], protocols: Protocols, records: Records, scale: str
) -> list[Cell]:
    """Mark each cell as missing that no record of its run measures by its protocol, as that is declared now.

    So is one whose measure compares it with a baseline of its seed that no record measures alike.
    """
    reasons = [cell.missing or _reason(cell, papers[cell.paper], protocols, records, scale) for cell in cells]
    whole = {
        (cell.paper, cell.artifact, cell.text, cell.run.seed): cell
        for cell, reason in zip(cells, reasons, strict=True)
        if cell.run and not reason
    }
    marked = []
    for cell, reason in zip(cells, reasons, strict=True):
        if not reason and MEASURES[cell.measure].of_baseline and cell.run is not None:
            point = papers[cell.paper].measured[cell.artifact].compared_with(cell.coordinates)
            text = cell.text if point is None else coordinates.text(point)
            baseline = whole.get((cell.paper, cell.artifact, text, cell.run.seed))
            if baseline is None:
                reason = f"no record of its baseline of seed {cell.run.seed} in {FOLDER}/{scale}"
            elif _readings(cell, protocols, records) != _readings(baseline, protocols, records):
                reason = f"the record in {FOLDER}/{scale} was measured at fewer readings than that of its baseline"
        marked.append(replace(cell, missing=reason) if reason != cell.missing else cell)
    return marked


def _readings(cell: Cell, protocols: Protocols, records: Records) -> set[tuple[str, str]]:
    """The measures and readings behind a cell's number, without what they share (``augmentation=augmix``)."""
    found = _record(cell, protocols, records)
    assert found is not None
    assert cell.target is not None
    own = set(filter(None, cell.reading.split(";")))
    read = [
        (one.measure, set(one.reading.split(";")))
        for one in found.answers(protocols[cell.paper][cell.protocol].digest)
        if (one.epoch, one.target, one.status) == (cell.epoch, cell.target.name, "finished")
    ]
    return {(measure, ";".join(sorted(reading - own))) for measure, reading in read if own <= reading}


def controls(cells: Iterable[Cell], protocols: Protocols, records: Records) -> list[Cell]:
    """The untrained controls that records measure; one that its own run lacks is that of another run of equal weights.

    An untrained encoder depends on the seed and on nothing that training reads, so the first record of the same
    encoder, heads, seed and dataset has its numbers too.
    """
    found = []
    for cell in cells:
        assert cell.run is not None
        start = _start(cell.run)
        own = records.get(cell.run.name, ())
        for record in chain(own, (other for of in records.values() for other in of if _start(other.run) == start)):
            if _answers(record, cell, protocols):
                found.append(replace(cell, run=record.run))
                break
    return found


def _start(run: Run) -> tuple[Any, ...]:
    """What decides a run's weights before any training."""
    return run.kind, run.encoder, run.method, run.initialisation, run.dataset, run.seed


def _reason(cell: Cell, paper: Paper, protocols: Protocols, records: Records, scale: str) -> str:
    if cell.run is None or cell.target is None:
        return ""
    if registry.artifact_kind(paper.measured[cell.artifact].draw).images:
        return "records of evidence hold no values of single images"
    if cell.run.name not in records:
        return f"no record of this run in {FOLDER}/{scale}"
    if (plan := confirms(cell, paper)) and not any(plan in one.plan.split(";") for one in records[cell.run.name]):
        return f"the record in {FOLDER}/{scale} was made under another plan than {plan}"
    if cell.protocol == HISTORY:
        return ""
    if _record(cell, protocols, records) is None:
        return f"the records in {FOLDER}/{scale} were measured by another protocol, or at other epochs"
    return ""


def confirms(cell: Cell, paper: Paper) -> str:
    """The study that a cell confirms, with the digest of its plan: ``ours/step_size=1a2b3c4d``; empty: none."""
    name = paper.measured[cell.artifact].plan
    if name is None or cell.run is None or cell.run.seed in paper.studies[name].seeds.tuning:
        return ""
    return f"{paper.paper}/{name}={paper.studies[name].digest}"


def _record(cell: Cell, protocols: Protocols, records: Records) -> Record | None:
    """The record that a cell's number is read from."""
    assert cell.run is not None
    assert cell.target is not None
    digest = protocols[cell.paper][cell.protocol].digest
    found = measuring(records, cell.run.name, digest, cell.epoch, cell.target.name)
    return found if found and _answers(found, cell, protocols) else None


def _answers(record: Record, cell: Cell, protocols: Protocols) -> bool:
    """Whether a record has a cell's number, or says that the run diverged."""
    assert cell.target is not None
    protocol = protocols[cell.paper][cell.protocol]
    rows = [one for one in record.answers(protocol.digest) if (one.epoch, one.target) == (cell.epoch, cell.target.name)]
    if MEASURES[cell.measure].of_baseline or any(one.status == "diverged" for one in rows):
        return bool(rows)
    return any((one.measure, one.reading) == (protocol.of_probe(cell.measure), cell.reading) for one in rows)


def measuring(records: Records, run: str, protocol: str, epoch: int, target: str) -> Record | None:
    """The record that measures a run so: the first, so that replicates of one seed count once."""
    return next((record for record in records.get(run, ()) if record.measured(protocol, epoch, target)), None)
