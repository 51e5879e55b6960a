"""The cells of artifacts: the run of each number, its epoch, and how it is measured; and which of them records hold."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Measured, Paper, Protocol
from hypersphere.config.coordinates import Coordinates, Position, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.records import FOLDER, WITHOUT_VALUE, Measurement, Record, Records
from hypersphere.config.resolve import Description, Layers, Resolved, describe, resolve
from hypersphere.config.run import Dataset, Run
from hypersphere.config.study import BEST
from hypersphere.config.validation import check_name, validate
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
UNTRAINED = "untrained"
PIXELS = "pixels"
CHANCE = "chance"


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


class MadeCell(Cell):
    """A cell that is measured: it has a run and a dataset."""

    run: Run
    target: Dataset


def is_made(cell: Cell) -> TypeGuard[MadeCell]:
    """Whether a cell is measured."""
    return not cell.missing


class ProbedCell(MadeCell):
    """A cell that a probe measures, and not training itself."""

    how: Protocol


def is_probed(cell: Cell) -> TypeGuard[ProbedCell]:
    """Whether a cell is measured, by a probe."""
    return is_made(cell) and cell.how is not None


class Cells:
    """Makes the cells of a scale's artifacts, and each distinct run once."""

    def __init__(self, config: cfg.Config) -> None:
        self.config = config
        self.protocols: dict[str, dict[str, Protocol]] = {}
        """The protocols of each paper by name, with the parameters that the scale replaces."""
        for paper, declared in config.papers.items():
            self.protocols[paper] = {
                name: _at_scale(config, paper, name) for name in declared.evaluations
            }
        self.resolved: dict[tuple[str, Position, Position], Resolved] = {}
        self.seeded: dict[tuple[str, int], Run] = {}

    def of(self, paper: Paper, name: str, artifact: Measured) -> list[Cell]:
        """The cells of one artifact: every point for every seed.

        At a scale that measures ``most_values`` of an axis these are the first that can be measured, the last, and
        others between them at even distances, and the baselines of these. Every other cell is marked as missing, once
        for all its seeds. What two cells turn out to share (``without_repeats``) is left out later, so that an axis may
        end with fewer values.
        """
        several = [self._of_point(paper, name, artifact, point) for point in artifact.points]
        points = [cell.coordinates for cell in several if not cell.missing]
        most = self.config.most_values(paper.paper, name)
        if most is not None:
            points = _thin(artifact, points, most)
        measured = {*points}
        measured |= {baseline for point, baseline in artifact.comparisons if point in measured}
        cells = []
        for cell in several:
            if cell.resolved is None:
                cells.append(cell)
            elif cell.missing or cell.coordinates in measured:
                for seed in seeds_of(self.config, paper, name, cell.coordinates).values:
                    cells.append(replace(cell, run=self._run(cell.resolved, seed)))
            else:
                cells.append(replace(cell, epoch=0, missing=THINNED))
        return cells

    def _of_point(self, paper: Paper, name: str, artifact: Measured, point: Position) -> Cell:
        """The cell of one point, without a seed's run; one that is left out, or has no dataset, is resolved to none."""
        own = str(point["dataset"])
        other = str(point.get("target", own))
        file = self.config.paper_file(paper.paper)
        section = paper.section(name)
        where = f"{file}: {section}"
        for key, dataset in (("dataset", own), ("target", other)):
            check_name(dataset, self.config.datasets, f"{where}: {key}")
        try:
            protocol = paper.protocol(artifact, point)
        except ValueError as error:
            raise HypersphereError(f"{where}: {error}") from None
        how = self.protocols[paper.paper].get(protocol)
        if problem := _why_misplaced(how, point, own, other):
            raise HypersphereError(f"{where}: target: {protocol} {problem}")
        used = {one: self.config.dataset_for(one, paper.paper) for one in (own, other)}
        measure = str(point["measure"])
        cell = Cell(paper.paper, name, point, None, 0, used[other], protocol, how, measure)
        if artifact.leaves_out(point):  # a field that is not this arm's need not be one of its run
            return replace(cell, missing=LEFT_OUT)
        stand_in = used[own]
        if stand_in is not None:
            resolved = self.resolved_of(paper, name, point, stand_in)
            epoch = _epoch(resolved, point, where) if resolved else 0
            cell = replace(cell, epoch=epoch, resolved=resolved)
        return replace(cell, missing=next(self._reasons(cell, artifact, used), ""))

    def _run(self, resolved: Resolved, seed: int) -> Run:
        key = resolved.run.name, seed
        if key not in self.seeded:
            self.seeded[key] = resolved.run.of_seed(seed)
        return self.seeded[key]

    def further(self, cells: Iterable[Cell], records: Records) -> list[Cell]:
        """Cells that tables have beside those declared: of the same numbers, for other recorded seeds of their runs.

        A study, or an artifact that lists its seeds, keeps to them. A seed on which a study tunes is never added, as a
        choice was made on it; one of an A/A arm only where the scale says that it counts.
        """
        config = self.config
        apart = set[int]()
        for paper in config.papers.values():
            for study in paper.studies.values():
                apart.update(study.seeds.tuning)
                if not config.scale.seeds.again_counts:
                    apart.update(study.seeds.again)
        recorded = {several[0].run.seed for several in records.values()} - apart
        declared: dict[tuple[str, str, Position], list[MadeCell]] = defaultdict(list)
        for cell in filter(is_made, cells):
            artifact = config.papers[cell.paper].measured[cell.artifact]
            if isinstance(artifact.seeds, str) and not artifact.seeds_of:
                declared[cell.place].append(cell)
        more: list[Cell] = []
        for of_seeds in declared.values():
            first = of_seeds[0]
            assert first.resolved is not None
            for seed in sorted(recorded - {cell.run.seed for cell in of_seeds}):
                run = self._run(first.resolved, seed)
                if run.name in records:
                    more.append(replace(first, run=run))
        return more

    def _reasons(
        self, cell: Cell, artifact: Measured, used: Mapping[str, Dataset | None]
    ) -> Iterator[str]:
        """Why this scale makes no cell of a point, whatever its seed."""
        point = cell.coordinates
        resolved = cell.resolved
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
            if cell.how:
                parts.append(("probes", cell.how.probe.name))
            for dataset in used.values():
                if dataset and dataset.source:
                    parts.append(("datasets", dataset.source.name))
            yield from filter(None, itertools.starmap(registry.unusable, parts))

    def resolved_of(
        self, paper: Paper, name: str, point: Coordinates, dataset: Dataset
    ) -> Resolved | None:
        """The run of a cell, with its arm's values for ``best``; None: these are missing."""
        descriptions = descriptions_of(self.config, paper, name, point)
        if descriptions is None:
            return None
        values: dict[str, Scalar] = {key: point[key] for key in coordinates.IDENTITY}
        factors: dict[str, Scalar] = {}
        for one in descriptions:
            values |= one.values
            factors |= one.factors
        key = paper.paper, coordinates.in_order(values), coordinates.in_order(factors)
        # cells of several artifacts share what is resolved for the first of them
        if key not in self.resolved:
            self.resolved[key] = resolve_cell(self.config, paper, point, descriptions, dataset)
        return self.resolved[key]


def _at_scale(config: cfg.Config, paper: str, evaluation: str) -> Protocol:
    """The protocol of a paper's evaluation, with the parameters that the scale replaces."""
    probe, layers = config.probe_of(paper, evaluation)
    parameters: dict[str, Any] = {}
    for layer in layers:
        parameters |= layer.fields
        validate(registry.schema("probes", probe), parameters, layer.file, layer.section)
    declared = config.papers[paper].evaluations[evaluation].model_dump()
    return Protocol.model_validate({**declared, "probe": {"name": probe, **parameters}})


def _thin(artifact: Measured, points: list[Position], most: int) -> list[Position]:
    """The points with at most so many values of each axis, from the first to the last at even distances."""
    left = points
    for axis in artifact.axes.values():
        if any("measure" in value for value in axis):
            continue
        values = [value for value in axis if _with_value(points, value)]
        last = len(values) - 1
        if last >= most:
            spread = [values[round(at * last / (most - 1))] for at in range(most)]
            left = list(itertools.chain.from_iterable(_with_value(left, value) for value in spread))
    return left


def _with_value(points: list[Position], value: dict[str, Scalar]) -> list[Position]:
    """The points that have a value of an axis."""
    return [point for point in points if value.items() <= point.items()]


def _why_misplaced(how: Protocol | None, point: Position, own: str, other: str) -> str:
    """Why a protocol does not measure encoders of one dataset on the other; empty if it does."""
    if how is not None and how.transfer:
        return "needs another one than the dataset" if other == own else ""
    measure = MEASURES[str(point["measure"])]
    # only a measure that needs no fit, such as norms, keeps its name on another dataset
    anywhere = how is not None and (measure.margin != "accuracy" or measure.of_task)
    if other == own or anywhere:
        return ""
    return f"measures encoders of {own} on {own} only"


def _published_epoch(resolved: Resolved, point: Position) -> float:
    """The epochs of the published schedule after which a cell is measured."""
    epoch = point.get("epoch", resolved.epochs)
    if share := _SHARE.fullmatch(str(epoch)):
        return resolved.epochs * int(share[1]) / 100
    return float(epoch)


def _epoch(resolved: Resolved, point: Position, where: str) -> int:
    """The finished epochs of a run at this scale after which a cell is measured."""
    published = point.get("epoch", resolved.epochs)
    share = _SHARE.fullmatch(str(published))
    if not share and not (isinstance(published, int) and 0 <= published <= resolved.epochs):
        raise HypersphereError(
            f"{where}: epoch: must be a whole number from 0 to {resolved.epochs} (given: {published})"
        )
    epoch = _published_epoch(resolved, point) * resolved.run.schedule.epochs / resolved.epochs
    return max(1 if share else 0, round(epoch))


def resolve_cell(
    config: cfg.Config,
    paper: Paper,
    point: Coordinates,
    descriptions: list[Description],
    dataset: Dataset,
) -> Resolved:
    """The run of a paper's cell, whose method another paper may lend."""
    lender = paper.borrows.get(str(point["method"]), paper.paper)
    identity = {key: point[key] for key in coordinates.IDENTITY}
    return resolve(config, config.papers[lender], identity, descriptions, dataset)


def layers_of(config: cfg.Config, cell: Cell) -> Layers:
    """The layers of a cell's run, of which its own artifact is one."""
    assert cell.run is not None
    paper = config.papers[cell.paper]
    descriptions = descriptions_of(config, paper, cell.artifact, cell.coordinates)
    assert descriptions is not None
    return resolve_cell(config, paper, cell.coordinates, descriptions, cell.run.dataset).layers


def descriptions_of(
    config: cfg.Config, paper: Paper, name: str, point: Coordinates
) -> list[Description] | None:
    """What describes the run of a cell: its artifact, and for ``best`` what was selected; None: nothing is yet."""
    file = config.paper_file(paper.paper)
    study = paper.measured[name].plan
    paths = coordinates.of_run(point)
    own = {path: value for path, value in paths.items() if value != BEST}
    artifact = describe(file, paper.section(name), own)
    if own == paths:
        return [artifact]
    if study is None:
        raise HypersphereError(
            f"{file}: artifacts.{name}: {BEST} is for the artifacts of a study alone"
        )
    selected = config.selected[paper.paper, study]
    if not selected:
        return None
    arm = paper.studies[study].arm(point)
    selection = config.selection_file(paper.paper, study)
    return [artifact, describe(selection, arm, selected[arm])]


class Listed(NamedTuple):
    """Seeds, and the file and section that list them."""

    values: list[int]
    file: Path
    section: str


def seeds_of(config: cfg.Config, paper: Paper, name: str, point: Position) -> Listed:
    """The seeds of one cell of an artifact."""
    artifact = paper.measured[name]
    own = artifact.seeds_of.get(str(point["variant"]), artifact.seeds)
    if not isinstance(own, str):
        section = f"{paper.section(name)}.seeds"
        return Listed(own, config.paper_file(paper.paper), section)
    seeds = config.scale.seeds
    at_scale = config.at_scale[paper.paper]
    which: str = at_scale.of_artifact(name).seeds or own
    is_compared = coordinates.without_readings(point) in artifact.compared
    if which == "sweeps" and seeds.compared and is_compared:
        which = "compared"
    return Listed(getattr(seeds, which), config.source("seeds"), f"seeds.{which}")


def without_repeats(cells: list[Cell]) -> list[Cell]:
    """Mark cells as missing where two different published numbers of a paper would show one measured number.

    If the scale makes one run or one epoch of two, the cell with the smaller rounding keeps the number, and the other
    cannot be measured.
    """
    of_number: dict[object, list[tuple[float, object, int]]] = defaultdict(list)
    for at, cell in enumerate(cells):
        resolved = cell.resolved
        target = cell.target
        if cell.run is None or target is None or resolved is None:
            continue
        epoch = _published_epoch(resolved, cell.coordinates)
        rounded = abs(resolved.run.schedule.epochs * epoch / resolved.epochs - cell.epoch)
        number = resolved.published, epoch, cell.coordinates.get("target")
        run = cell.paper, cell.run.name, cell.epoch, target.name
        how = cell.protocol, cell.measure, cell.reading
        of_number[run, how].append((rounded, number, at))
    marked = list(cells)
    for several in of_number.values():
        _, nearest, first = min(several, key=itemgetter(0))
        reason = f"{SHARED} {cells[first].text}"
        for _, published, at in several:
            if not cells[at].missing and published != nearest:
                marked[at] = replace(cells[at], missing=reason)
    return marked


def control(point: Coordinates, variant: str) -> Position:
    """The coordinates of the control (chance, pixels, untrained) of the cell at ``point``."""
    keys = ("dataset", "target", "by", "measure", *coordinates.of_probe(point))
    shared = {key: value for key, value in point.items() if key in keys}
    return coordinates.in_order({**shared, "method": CONTROL, "variant": variant})


def raw_pixels(dataset: str) -> str:
    """The name, in place of a run's, for measurements of a dataset's raw pixels: ``pixels-digits``."""
    return f"{PIXELS}-{dataset}"


def untrained_controls(cells: list[Cell]) -> list[Cell]:
    """The untrained controls of an artifact, one for each dataset, target, value and seed.

    Each is epoch 0 of the run of the first row whose initial weights are not cut.
    """
    groups: dict[tuple[Position, str, str, str], dict[int, Cell]] = defaultdict(dict)
    for cell in filter(is_made, cells):
        measure = MEASURES[cell.measure]
        # such a measure is of two runs, or of none, and the untrained encoder is of one
        of_one_run = cell.how is not None and not measure.of_baseline and not measure.of_data
        if of_one_run and cell.run.initialisation is None:
            point = control(cell.coordinates, UNTRAINED)
            group = groups[point, cell.protocol, cell.run.dataset.name, cell.target.name]
            group.setdefault(cell.run.seed, replace(cell, coordinates=point, epoch=0))
    return list(itertools.chain.from_iterable(group.values() for group in groups.values()))


def on_pixels(protocol: Protocol) -> bool:
    """Whether a protocol can measure raw pixels, without an encoder."""
    return bool(registry.read_constant("probes", protocol.probe.name, "PIXELS", False))


def mark(cells: Sequence[Cell], config: cfg.Config, records: Records) -> list[Cell]:
    """Mark each cell as missing that no record of its run measures by its protocol, as that is declared now.

    So is one whose measure compares it with a baseline of its seed that no record measures alike.
    """
    folder = f"{FOLDER}/{config.scale_name}"
    marked: list[Cell] = []
    for cell in cells:
        reason = _why_unrecorded(cell, config, records, folder) if is_made(cell) else ""
        marked.append(replace(cell, missing=reason) if reason else cell)
    whole = {(*cell.place, cell.run.seed): cell for cell in filter(is_made, marked)}
    for at, cell in enumerate(marked):
        if not is_made(cell) or not MEASURES[cell.measure].of_baseline:
            continue
        artifact = config.papers[cell.paper].measured[cell.artifact]
        point = artifact.compared_with(cell.coordinates) or cell.coordinates
        baseline = whole.get((cell.paper, cell.artifact, point, cell.run.seed))
        if baseline is None:
            reason = f"no record of its baseline of seed {cell.run.seed} in {folder}"
        elif _fewer_readings(cell, baseline, records):
            reason = (
                f"the record in {folder} was measured at fewer readings than that of its baseline"
            )
        else:
            continue
        marked[at] = replace(cell, missing=reason)
    return marked


def _why_unrecorded(cell: MadeCell, config: cfg.Config, records: Records, folder: str) -> str:
    """Why no record gives a cell's number; empty if one does."""
    artifact = config.papers[cell.paper].measured[cell.artifact]
    if registry.artifact_kind(artifact.draw).images:
        return "records of evidence hold no values of single images"
    of_run = records.get(cell.run.name)
    if not of_run:
        return f"no record of this run in {folder}"
    record, rows = _answer(of_run, cell)
    plans = confirms(cell, config)
    if plans and not {*plans} & {*record.plans}:
        return f"the record in {folder} was made under another plan than {' or '.join(plans)}"
    if cell.how is not None and not _measures(rows, cell):
        return f"the records in {folder} were measured by another protocol, or at other epochs"
    return ""


def _fewer_readings(cell: MadeCell, baseline: MadeCell, records: Records) -> bool:
    """Whether a record measures a cell at other readings than its baseline, and both have a number."""
    ours = _readings(cell, records)
    theirs = _readings(baseline, records)
    return ours != theirs and None not in (ours, theirs)


def _readings(cell: MadeCell, records: Records) -> set[tuple[str, Position]] | None:
    """The measures and readings behind a cell's number, without what they share (``augmentation=augmix``).

    None where they say that there is no number: the cell is not missing, but counted as such.
    """
    own = coordinates.of_probe(cell.coordinates).items()
    _, rows = _answer(records[cell.run.name], cell)
    if any(one.status in WITHOUT_VALUE for one in rows):
        return None
    readings = set()
    for one in rows:
        reading = coordinates.parse(one.reading, str(one)).items()
        if own <= reading:
            further = coordinates.in_order(dict(reading - own))
            readings.add((one.measure, further))
    return readings


def recorded_controls(cells: Iterable[Cell], records: Records) -> list[Cell]:
    """The untrained controls that records measure; one that its own run lacks is that of another run of equal weights.

    An untrained encoder depends on the seed and on nothing that training reads, so the first record of the same
    encoder, heads, seed and dataset has its numbers too.
    """
    start = attrgetter("seed", "kind", "encoder", "method", "initialisation", "dataset")
    alike: dict[object, list[Record]] = defaultdict(list)
    for record in itertools.chain.from_iterable(records.values()):
        alike[start(record.run)].append(record)
    controls: list[Cell] = []
    for cell in filter(is_made, cells):
        own = records.get(cell.run.name, ())
        for record in (*own, *alike[start(cell.run)]):
            _, rows = _answer([record], cell)
            if _measures(rows, cell):
                controls.append(replace(cell, run=record.run))
                break
    return controls


def _answer(several: Sequence[Record], cell: MadeCell) -> tuple[Record, list[Measurement]]:
    """The first record that measures a cell's epoch and target under its protocol, and what it says of them.

    If no record measures it: the first record of all, and nothing.
    """
    if cell.how is not None:
        at = cell.epoch, cell.target.name
        for record in several:
            answers = record.answers(cell.how.digest)
            if rows := [one for one in answers if (one.epoch, one.target) == at]:
                return record, rows
    return several[0], []


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
    if name is None or cell.run is None:
        return []
    if cell.run.seed in paper.studies[name].seeds.tuning:
        return []
    return config.plans(cell.paper, name)
