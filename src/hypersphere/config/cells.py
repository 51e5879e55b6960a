"""The cells of artifacts: the run of each number, its epoch, and how it is measured; and which of them records hold."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Measured, Paper, Protocol
from hypersphere.config.coordinates import Coordinates, Position
from hypersphere.config.measures import MEASURES
from hypersphere.config.records import FOLDER, WITHOUT_VALUE, Measurement, Record, Records
from hypersphere.config.resolve import Description, Layers, Resolved, resolve
from hypersphere.config.run import Dataset, Run
from hypersphere.config.study import BEST
from hypersphere.config.validation import not_one_of, validate
from hypersphere.errors import HypersphereError

CONTROL = "control"
"""The ``method`` of controls without training: chance, raw pixels, the untrained encoder."""
LEFT_OUT = "left out at this scale"
"""Why a scale does not make a cell, or a whole artifact, that it could make."""
THINNED = "left out at this scale: it measures only some values of each axis"
SHARED = "at this scale one number with"
"""How the reason of a cell begins whose number another cell shows; that cell follows."""
_SHARE = re.compile(r"([1-9][0-9]?|100)%")
"""An epoch as a share of the training: ``25%``."""
UNTRAINED, PIXELS, CHANCE = "untrained", "pixels", "chance"


@dataclass(frozen=True)
class Cell:
    """One number of an artifact for one seed: its published coordinates, and what is measured for it at this scale."""

    paper: str
    artifact: str
    coordinates: Position
    run: Run | None
    """None: its dataset has no replacement at this scale."""
    epoch: int
    """Finished epochs of the run at this scale."""
    target: Dataset | None
    """The probed dataset: that of the run, or another."""
    protocol: str
    """Its name in the paper."""
    how: Protocol | None
    """The protocol, with the scale's parameters; None: the history of training."""
    measure: str
    missing: str = ""
    """Why it cannot be measured, in words; empty if it can."""
    resolved: Resolved | None = field(default=None, repr=False, compare=False)
    """What describes its run, at this scale and in the document; None: it has none."""

    @cached_property
    def text(self) -> str:
        """The coordinates as text."""
        return self.coordinates.text

    @property
    def place(self) -> tuple[str, str, Position]:
        """The paper, artifact and coordinates that the cells of all its seeds share."""
        return self.paper, self.artifact, self.coordinates

    @cached_property
    def reading(self) -> str:
        """Which of a probe's values for the measure: ``split=train``; empty if there is only one."""
        return coordinates.of_probe(self.coordinates).text


class Cells:
    """Makes the cells of a scale's artifacts, and each distinct run once."""

    def __init__(self, config: cfg.Config) -> None:
        self.config = config
        self.protocols: dict[str, dict[str, Protocol]] = {paper: {} for paper in config.papers}
        """With the parameters that the scale replaces."""
        for paper, declared in config.papers.items():
            for name, protocol in declared.evaluations.items():
                probe, layers = config.probe_of(paper, name)
                parameters: dict[str, Any] = {}
                for replaced in layers:
                    parameters = {**parameters, **replaced.fields}
                    validate(
                        registry.schema("probes", probe),
                        parameters,
                        replaced.file,
                        replaced.section,
                    )
                changed = {**protocol.model_dump(), "probe": {"name": probe, **parameters}}
                self.protocols[paper][name] = Protocol.model_validate(changed)
        self.resolved: dict[tuple[str, Position], Resolved] = {}
        self.seeded: dict[tuple[str, int], Run] = {}

    def of(self, paper: Paper, name: str, artifact: Measured) -> list[Cell]:
        """The cells of one artifact: every point for every seed.

        At a scale that measures ``most_values`` of an axis these are the first that can be measured, the last, and
        others between them at even distances, and the baselines of these. Every other cell is marked as missing, once
        for all its seeds. What two cells turn out to share (``without_repeats``) is left out later, so that an axis may
        end with fewer values.
        """
        cells = []
        for point in artifact.points:
            seeds = seeds_of(self.config, paper, name, point).values
            cells += self._of_point(paper, name, artifact, point, seeds)
        most = self.config.most_values(paper.paper, name)
        if most is None:
            return cells
        measured = list(dict.fromkeys(cell.coordinates for cell in cells if not cell.missing))
        kept = measured
        for axis in artifact.axes.values():
            values = [
                one for one in axis if any(one.items() <= point.items() for point in measured)
            ]
            if len(values) > most and not any("measure" in one for one in values):
                chosen = [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]
                kept = [
                    point for point in kept if any(one.items() <= point.items() for one in chosen)
                ]
        stay = {*kept}
        stay |= {other for one, other in artifact.comparisons if one in stay}
        found: dict[tuple[Position, int], Cell] = {}
        for at, cell in enumerate(cells):
            if cell.missing or cell.coordinates in stay:
                found[cell.coordinates, at] = cell
            else:
                found.setdefault(
                    (cell.coordinates, -1), replace(cell, run=None, epoch=0, missing=THINNED)
                )
        return list(found.values())

    def _of_point(
        self, paper: Paper, name: str, artifact: Measured, point: Position, seeds: list[int]
    ) -> list[Cell]:
        """The cells of one point; one without a dataset, or that is left out, has neither run nor seeds."""
        own, other = str(point["dataset"]), str(point.get("target", point["dataset"]))
        for key, dataset in (("dataset", own), ("target", other)):
            if dataset not in self.config.datasets:
                raise self._wrong(
                    paper, name, f"{key}: {not_one_of(dataset, sorted(self.config.datasets))}"
                )
        try:
            protocol = paper.protocol(artifact, point)
        except ValueError as error:
            raise self._wrong(paper, name, error) from None
        how, measure = self.protocols[paper.paper].get(protocol), MEASURES[str(point["measure"])]
        transfer = how is not None and how.transfer
        # Only a measure that needs no fit, such as norms, keeps its name on another dataset.
        own_only = how is None or (measure.margin == "accuracy" and not measure.of_task)
        if transfer == (other == own) and (transfer or own_only):
            problem = (
                "needs another one than the dataset"
                if transfer
                else f"measures encoders of {own} on {own} only"
            )
            raise self._wrong(paper, name, f"target: {protocol} {problem}")
        used = {
            published: self.config.dataset_for(published, paper.paper) for published in (own, other)
        }
        cell = Cell(
            paper.paper, name, point, None, 0, used[other], protocol, how, str(point["measure"])
        )
        if artifact.leaves_out(point):  # a field that is not this arm's need not be one of its run
            return [replace(cell, missing=LEFT_OUT)]
        stand_in, epoch = used[own], 0
        resolved = self.resolved_of(paper, name, point, stand_in) if stand_in else None
        if resolved is not None:
            last, asked = resolved.run.schedule.epochs, point.get("epoch", resolved.epochs)
            if share := _SHARE.fullmatch(str(asked)):
                epoch = max(1, round(last * int(share[1]) / 100))
            elif isinstance(asked, int) and 0 <= asked <= resolved.epochs:
                epoch = round(last * asked / resolved.epochs)
            else:
                allowed = f"must be a whole number from 0 to {resolved.epochs} (given: {asked})"
                raise self._wrong(paper, name, f"epoch: {allowed}")
        cell = replace(cell, epoch=epoch, resolved=resolved)
        cell = replace(cell, missing=next(self._reasons(cell, artifact, used), ""))
        if resolved is None:
            return [cell]
        return [replace(cell, run=self._run(resolved, seed)) for seed in seeds]

    def _wrong(self, paper: Paper, name: str, problem: object) -> HypersphereError:
        """The error of a wrong cell, which names the file and section of its artifact."""
        return HypersphereError(
            f"{self.config.paper_file(paper.paper)}: {paper.section(name)}: {problem}"
        )

    def _run(self, resolved: Resolved, seed: int) -> Run:
        if (key := (resolved.run.name, seed)) not in self.seeded:
            self.seeded[key] = resolved.run.of_seed(seed)
        return self.seeded[key]

    def further(self, cells: Iterable[Cell], records: Records) -> list[Cell]:
        """Cells that tables have beside those declared: of the same numbers, for other recorded seeds of their runs.

        A study, or an artifact that lists its seeds, keeps to them. A seed on which a study tunes is never added, as a
        choice was made on it; one of an A/A arm only where the scale says that it counts.
        """
        plans = [study for paper in self.config.papers.values() for study in paper.studies.values()]
        apart = {seed for study in plans for seed in study.seeds.tuning}
        if not self.config.scale.seeds.again_counts:
            apart |= {seed for study in plans for seed in study.seeds.again}
        recorded = sorted({several[0].run.seed for several in records.values()} - apart)
        declared: dict[tuple[str, str, Position], list[Cell]] = {}
        for cell in cells:
            own = self.config.papers[cell.paper].measured[cell.artifact]
            if cell.run and not cell.missing and isinstance(own.seeds, str) and not own.seeds_of:
                declared.setdefault(cell.place, []).append(cell)
        found = []
        for first, *others in declared.values():
            assert first.resolved is not None
            seeds = {cell.run.seed for cell in (first, *others) if cell.run}
            for seed in recorded:
                run = self._run(first.resolved, seed)
                if seed not in seeds and run.name in records:
                    found.append(replace(first, run=run))
        return found

    def _reasons(
        self, cell: Cell, artifact: Measured, used: Mapping[str, Dataset | None]
    ) -> Iterator[str]:
        """Why this scale makes no cell of a point, whatever its seed."""
        point, resolved = cell.coordinates, cell.resolved
        if self.config.at_scale[cell.paper].leaves_out_cell(point):
            yield LEFT_OUT
        for published, dataset in used.items():
            if dataset is None:
                yield f"nothing stands for {published} at this scale"
            elif dataset.source is None:
                yield f"no loader for {dataset.name} yet"
        own, *others = used
        if others and used[own] == cell.target:
            yield f"one dataset stands for {own} and {others[0]} at this scale"
        if resolved is None:
            yield f"not selected yet: `hypersphere select {cell.paper}/{artifact.plan}` chooses its values"
            return
        if cell.epoch == 0 and point.get("epoch"):
            yield f"epoch {point['epoch']} is before the first of this scale"
        if not self.config.settings.evidence_only:  # what is recorded needs nothing here
            parts = list(resolved.run.components)
            parts += [("datasets", one.source.name) for one in used.values() if one and one.source]
            parts += [("probes", cell.how.probe.name)] if cell.how else []
            yield from filter(None, itertools.starmap(registry.unusable, parts))

    def resolved_of(
        self, paper: Paper, name: str, point: Coordinates, dataset: Dataset
    ) -> Resolved | None:
        """The run of a cell, with its arm's values for ``best``; None: these are missing."""
        descriptions = described(self.config, paper, name, point)
        if descriptions is None:
            return None
        values = {key: point[key] for key in coordinates.IDENTITY}
        for one in descriptions:
            values |= one.paths
        key = paper.paper, coordinates.ordered(values)
        # cells of several artifacts share what is resolved for the first of them
        if key not in self.resolved:
            self.resolved[key] = resolved(self.config, paper, point, descriptions, dataset)
        return self.resolved[key]


def resolved(
    config: cfg.Config,
    paper: Paper,
    point: Coordinates,
    descriptions: list[Description],
    dataset: Dataset,
) -> Resolved:
    """The run of a paper's cell, whose method another paper may lend."""
    lender = config.papers[paper.borrows.get(str(point["method"]), paper.paper)]
    identity = {key: point[key] for key in coordinates.IDENTITY}
    return resolve(config, lender, identity, descriptions, dataset)


def layers_of(config: cfg.Config, cell: Cell) -> Layers:
    """The layers of a cell's run, of which its own artifact is one."""
    assert cell.run is not None
    paper = config.papers[cell.paper]
    descriptions = described(config, paper, cell.artifact, cell.coordinates)
    assert descriptions is not None
    return resolved(config, paper, cell.coordinates, descriptions, cell.run.dataset).layers


def described(
    config: cfg.Config, paper: Paper, name: str, point: Coordinates
) -> list[Description] | None:
    """What describes the run of a cell: its artifact, and for ``best`` what was selected; None: nothing is yet."""
    file, study, paths = (
        config.paper_file(paper.paper),
        paper.measured[name].plan,
        coordinates.of_run(point),
    )
    given = {path: value for path, value in paths.items() if value != BEST}
    artifact = Description(file, paper.section(name), given)
    if given == paths:
        return [artifact]
    if study is None:
        raise HypersphereError(
            f"{file}: artifacts.{name}: {BEST} is for the artifacts of a study alone"
        )
    if not config.selected[paper.paper, study]:
        return None
    arm = paper.studies[study].arm(point)
    values = config.selected[paper.paper, study][arm]
    return [artifact, Description(config.selection_file(paper.paper, study), arm, values)]


class Listed(NamedTuple):
    """Seeds, and the file and section that list them."""

    values: list[int]
    file: Path
    section: str


def seeds_of(config: cfg.Config, paper: Paper, name: str, point: Position) -> Listed:
    """The seeds of one cell of an artifact."""
    artifact, file, section = (
        paper.measured[name],
        config.paper_file(paper.paper),
        paper.section(name),
    )
    variant = str(point["variant"])
    if variant in artifact.seeds_of:
        key = "seeds_of" if artifact.plan is None else "seeds"
        return Listed(artifact.seeds_of[variant], file, f"{section}.{key}")
    if not isinstance(artifact.seeds, str):
        return Listed(artifact.seeds, file, f"{section}.seeds")
    at_scale = config.at_scale[paper.paper].artifacts.get(name)
    which: str = (at_scale and at_scale.seeds) or artifact.seeds
    if (
        which == "sweeps"
        and config.scale.seeds.compared
        and coordinates.trained(point) in artifact.compared
    ):
        which = "compared"
    return Listed(getattr(config.scale.seeds, which), config.source("seeds"), f"seeds.{which}")


def without_repeats(cells: list[Cell]) -> list[Cell]:
    """Mark cells as missing where two different published numbers of a paper would show one measured number.

    If the scale makes one run or one epoch of two, the cell with the smaller rounding keeps the number, and the other
    cannot be measured.
    """
    numbers: dict[tuple[object, ...], list[tuple[float, tuple[object, ...], int]]] = {}
    for at, cell in enumerate(cells):
        resolved = cell.resolved
        if cell.run is None or cell.target is None or resolved is None:
            continue
        asked = cell.coordinates.get("epoch", resolved.epochs)
        share = _SHARE.fullmatch(str(asked))
        epoch = resolved.epochs * int(share[1]) / 100 if share else float(asked)
        rounded = abs(resolved.run.schedule.epochs * epoch / resolved.epochs - cell.epoch)
        number = resolved.published, epoch, cell.coordinates.get("target")
        key = (
            cell.paper,
            cell.run.name,
            cell.epoch,
            cell.target.name,
            cell.protocol,
            cell.measure,
            cell.reading,
        )
        numbers.setdefault(key, []).append((rounded, number, at))
    marked = list(cells)
    for several in numbers.values():
        _, kept, first = min(several, key=lambda one: one[0])
        for _, published, at in several:
            if not cells[at].missing and published != kept:
                marked[at] = replace(cells[at], missing=f"{SHARED} {cells[first].text}")
    return marked


def control(point: Coordinates, variant: str) -> Position:
    """The coordinates of the control (chance, pixels, untrained) of the cell at ``point``."""
    keys = ("dataset", "target", "by", "measure", *coordinates.of_probe(point))
    shared = {key: value for key, value in point.items() if key in keys}
    return coordinates.ordered({**shared, "method": CONTROL, "variant": variant})


def raw_pixels(dataset: str) -> str:
    """The name, in place of a run's, for measurements of a dataset's raw pixels: ``pixels-digits``."""
    return f"{PIXELS}-{dataset}"


def untrained(cells: list[Cell]) -> list[Cell]:
    """The untrained controls of an artifact, one for each dataset, target, value and seed.

    Each is epoch 0 of the run of the first row whose initial weights are not cut.
    """
    groups: dict[tuple[Position, str, str, str], list[Cell]] = {}
    for cell in cells:
        if (
            cell.run is None
            or cell.missing
            or cell.how is None
            or cell.run.initialisation is not None
        ):
            continue
        measure = MEASURES[cell.measure]
        # it is of two runs, or of none, and the untrained encoder is of one
        if measure.of_baseline or measure.of_data:
            continue
        point = control(cell.coordinates, UNTRAINED)
        key = point, cell.protocol, cell.run.dataset.name, str(cell.target and cell.target.name)
        one = replace(cell, coordinates=point, epoch=0)
        group = groups.setdefault(key, [])
        if not any(other.run is not None and other.run.seed == cell.run.seed for other in group):
            group.append(one)
    return [cell for group in groups.values() for cell in group]


def on_pixels(protocol: Protocol) -> bool:
    """Whether a protocol can measure raw pixels, without an encoder."""
    return bool(registry.read_constant("probes", protocol.probe.name, "PIXELS", False))


def mark(cells: Sequence[Cell], config: cfg.Config, records: Records) -> list[Cell]:
    """Mark each cell as missing that no record of its run measures by its protocol, as that is declared now.

    So is one whose measure compares it with a baseline of its seed that no record measures alike.
    """
    marked, folder = list(cells), f"{FOLDER}/{config.scale_name}"
    for at, cell in enumerate(cells):
        if cell.missing:
            continue
        assert cell.run is not None
        paper, of_run = config.papers[cell.paper], records.get(cell.run.name, ())
        plans = confirms(cell, config)
        if registry.artifact_kind(paper.measured[cell.artifact].draw).images:
            reason = "records of evidence hold no values of single images"
        elif not of_run:
            reason = f"no record of this run in {folder}"
        elif plans and not {*plans} & {*_source(of_run, cell).plans}:
            reason = f"the record in {folder} was made under another plan than {' or '.join(plans)}"
        elif cell.how is not None and not _measures(_rows(of_run, cell), cell):
            reason = (
                f"the records in {folder} were measured by another protocol, or at other epochs"
            )
        else:
            continue
        marked[at] = replace(cell, missing=reason)
    whole = {(*cell.place, cell.run.seed): cell for cell in marked if cell.run and not cell.missing}
    for at, cell in enumerate(marked):
        if cell.run is None or cell.missing or not MEASURES[cell.measure].of_baseline:
            continue
        point = (
            config.papers[cell.paper].measured[cell.artifact].compared_with(cell.coordinates)
            or cell.coordinates
        )
        baseline = whole.get((cell.paper, cell.artifact, coordinates.ordered(point), cell.run.seed))
        if baseline is None:
            marked[at] = replace(
                cell, missing=f"no record of its baseline of seed {cell.run.seed} in {folder}"
            )
            continue
        ours, theirs = _readings(cell, records), _readings(baseline, records)
        if ours != theirs and None not in (ours, theirs):
            reason = (
                f"the record in {folder} was measured at fewer readings than that of its baseline"
            )
            marked[at] = replace(cell, missing=reason)
    return marked


def _readings(cell: Cell, records: Records) -> set[tuple[str, Position]] | None:
    """The measures and readings behind a cell's number, without what they share (``augmentation=augmix``).

    None where they say that there is no number: the cell is not missing, but counted as such.
    """
    assert cell.run is not None
    own = coordinates.of_probe(cell.coordinates).items()
    rows = _rows(records[cell.run.name], cell)
    if any(one.status in WITHOUT_VALUE for one in rows):
        return None
    found = set()
    for one in rows:
        reading = coordinates.parse(one.reading, str(one)).items()
        if own <= reading:
            found.add((one.measure, coordinates.ordered(dict(reading - own))))
    return found


def recorded_controls(cells: Iterable[Cell], records: Records) -> list[Cell]:
    """The untrained controls that records measure; one that its own run lacks is that of another run of equal weights.

    An untrained encoder depends on the seed and on nothing that training reads, so the first record of the same
    encoder, heads, seed and dataset has its numbers too.
    """
    # most differ in the first
    start = attrgetter("seed", "kind", "encoder", "method", "initialisation", "dataset")
    every = [(record, start(record.run)) for of in records.values() for record in of]
    found = []
    for cell in cells:
        assert cell.run is not None
        own = start(cell.run)
        others = (record for record, other in every if other == own)
        for record in itertools.chain(records.get(cell.run.name, ()), others):
            if _measures(_rows([record], cell), cell):
                found.append(replace(cell, run=record.run))
                break
    return found


def _rows(several: Sequence[Record], cell: Cell) -> list[Measurement]:
    """What the first record that measures a cell's epoch and target under its protocol says of them."""
    assert cell.how is not None
    assert cell.target is not None
    digest, at = cell.how.digest, (cell.epoch, cell.target.name)
    found = (
        [one for one in record.answers(digest) if (one.epoch, one.target) == at]
        for record in several
    )
    return next(filter(None, found), [])


def _source(several: Sequence[Record], cell: Cell) -> Record:
    """The record of a run from which a cell's number comes: the first that measures it, or the first of all."""
    return next((one for one in several if cell.how is not None and _rows([one], cell)), several[0])


def _measures(rows: list[Measurement], cell: Cell) -> bool:
    """Whether there is a cell's number among them, or they say that there is none."""
    if MEASURES[cell.measure].of_baseline:
        return bool(rows)
    assert cell.how is not None
    measure = cell.how.of_probe(cell.measure)
    return any(one.says(measure, cell.reading) for one in rows)


def confirms(cell: Cell, config: cfg.Config) -> list[str]:
    """The study that a cell confirms, by what records name it (``Config.plans``); empty: none."""
    paper = config.papers[cell.paper]
    name = paper.measured[cell.artifact].plan
    if name is None or cell.run is None or cell.run.seed in paper.studies[name].seeds.tuning:
        return []
    return config.plans(cell.paper, name)
