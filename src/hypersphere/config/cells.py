"""The cells of artifacts: the run of each number, its epoch, and how it is measured."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import HISTORY, Measured, Paper, Protocol
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.resolve import Resolved, resolve, shrinking
from hypersphere.config.run import Dataset, Run
from hypersphere.config.study import BEST
from hypersphere.config.validation import not_one_of
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
    coordinates: Mapping[str, Scalar]
    run: Run | None
    """None: its dataset has no replacement at this scale."""
    epoch: int
    """Finished epochs of the run at this scale."""
    target: Dataset | None
    """The probed dataset: that of the run, or another."""
    protocol: str
    """Its name in the paper."""
    measure: str
    missing: str = ""
    """Why it cannot be measured, in words; empty if it can."""

    @cached_property
    def text(self) -> str:
        """The coordinates as text."""
        return coordinates.text(self.coordinates)

    @cached_property
    def reading(self) -> str:
        """Which of a probe's values for the measure: ``split=train``; empty if there is only one."""
        return coordinates.text(coordinates.of_probe(self.coordinates))

    @property
    def final(self) -> bool:
        """Whether it is measured at the end of training."""
        return self.run is not None and self.epoch == self.run.schedule.epochs


@dataclass
class Cells:
    """Makes the cells of a scale's artifacts, and each distinct run once."""

    config: cfg.Config
    resolved: dict[tuple[str, str], Resolved] = field(default_factory=dict)
    seeded: dict[tuple[str, int], Run] = field(default_factory=dict)

    def of(self, paper: Paper, name: str, artifact: Measured) -> list[Cell]:
        """The cells of one artifact: every point for every seed."""
        where = f"{self.config.paper_file(paper.paper)}: artifacts.{name}"
        points = artifact.points
        for key, dataset in ((key, point[key]) for point in points for key in ("dataset", "target") if key in point):
            if dataset not in self.config.datasets:
                raise HypersphereError(f"{where}: {key}: {not_one_of(str(dataset), sorted(self.config.datasets))}")
        swept = f"{paper.paper}/{name}" in self.config.scale.swept
        of_all = artifact.seeds
        if isinstance(of_all, str):
            of_all = getattr(self.config.scale.seeds, "sweeps" if swept else of_all)
        cells = []
        for point in points:
            seeds = artifact.seeds_of.get(str(point["variant"]), of_all)
            cells += self._cells(paper, name, artifact, point, seeds, where)
        most = None if f"{paper.paper}/{name}" in self.config.scale.whole else self.config.scale.most_values
        return thinned(cells, artifact, most) if most else cells

    def _cells(
        self, paper: Paper, name: str, artifact: Measured, point: dict[str, Scalar], seeds: list[int], where: str
    ) -> list[Cell]:
        """The cells of one point; one without a dataset, or that is left out, has neither run nor seeds."""
        try:
            protocol = paper.protocol(artifact, point)
        except ValueError as error:
            raise HypersphereError(f"{where}: {error}") from None
        measure = str(point["measure"])
        cell = Cell(paper.paper, name, point, None, 0, self._target(point, protocol, paper, where), protocol, measure)
        if artifact.leaves_out(point):  # a field that is not this arm's need not be one of its run
            return [replace(cell, missing=LEFT_OUT)]
        missing, resolved = self._missing(point, paper.paper), self._resolve(paper, name, point)
        if resolved is None:
            select = f"hypersphere select {paper.paper}/{paper.measured[name].plan}"
            missing = missing or f"not selected yet: `{select}` chooses its values"
            return [replace(cell, missing=missing)]
        epoch = self._epoch(point, resolved, where)
        if epoch == 0 and point.get("epoch"):
            missing = missing or f"epoch {point['epoch']} is before the first of this scale"
        if not missing and not self.config.settings.evidence_only:  # what is recorded needs nothing here
            parts = list(resolved.run.components)
            datasets = (resolved.run.dataset, cell.target)
            parts += [("datasets", one.source.name) for one in datasets if one and one.source]
            parts += [("probes", paper.evaluations[protocol].probe.name)] if protocol != HISTORY else []
            missing = next(filter(None, itertools.starmap(registry.unusable, parts)), "")
        cells = []
        for seed in seeds:
            if (key := (resolved.run.name, seed)) not in self.seeded:
                fields = {field: getattr(resolved.run, field) for field in resolved.run.model_fields_set}
                self.seeded[key] = Run.model_construct(**{**fields, "seed": seed})
            cells.append(replace(cell, run=self.seeded[key], epoch=epoch, missing=missing))
        return cells

    def resolved_of(self, cell: Cell) -> Resolved | None:
        """What describes a cell's run, at this scale and in the document; None: it has none."""
        return self._resolve(self.config.papers[cell.paper], cell.artifact, cell.coordinates)

    def _resolve(self, paper: Paper, name: str, point: Mapping[str, Scalar]) -> Resolved | None:
        """The run of a cell, with its arm's values for ``best``; None: these, or a dataset, are missing."""
        dataset = self.config.used(str(point["dataset"]), paper.paper)
        if dataset is None:
            return None
        identity, paths = {key: point[key] for key in coordinates.IDENTITY}, coordinates.of_run(point)
        if BEST in paths.values():
            study = paper.measured[name].plan
            if study is None:
                file = self.config.paper_file(paper.paper)
                raise HypersphereError(f"{file}: artifacts.{name}: {BEST} is for the artifacts of a study alone")
            chosen = self.config.selected[paper.paper, study]
            if not chosen:
                return None
            given = {key: value for key, value in paths.items() if value != BEST}
            paths = {**given, **chosen[paper.studies[study].arm(point)]}
        key = paper.paper, coordinates.text({**identity, **paths})
        if key not in self.resolved:
            source = self.config.papers[paper.borrows.get(str(point["method"]), paper.paper)]
            where = f"artifacts.{name}" if source is paper else f"{paper.paper}/{name}"
            self.resolved[key] = resolve(self.config, source, identity, paths, dataset, where)
        return self.resolved[key]

    def _epoch(self, point: dict[str, Scalar], resolved: Resolved, where: str) -> int:
        """The epoch at this scale that stands for the published one."""
        last, epoch = resolved.run.schedule.epochs, point.get("epoch", resolved.epochs)
        if share := _SHARE.fullmatch(str(epoch)):
            return max(1, round(last * int(share[1]) / 100))
        if not isinstance(epoch, int) or not 0 <= epoch <= resolved.epochs:
            raise HypersphereError(
                f"{where}: epoch: must be a whole number from 0 to {resolved.epochs} (given: {epoch})"
            )
        return round(last * epoch / resolved.epochs)

    def _target(self, point: dict[str, Scalar], protocol: str, paper: Paper, where: str) -> Dataset | None:
        own, other = str(point["dataset"]), str(point.get("target", point["dataset"]))
        transfer = protocol != HISTORY and paper.evaluations[protocol].transfer
        # Only a measure that needs no fit, such as norms, keeps its name on another dataset.
        measure = MEASURES[str(point["measure"])]
        own_only = protocol == HISTORY or (measure.margin == "accuracy" and not measure.of_task)
        if transfer == (other == own) and (transfer or own_only):
            problem = "needs another one than the dataset" if transfer else f"measures encoders of {own} on {own} only"
            raise HypersphereError(f"{where}: target: {protocol} {problem}")
        return self.config.used(other, paper.paper)

    def _missing(self, point: dict[str, Scalar], paper: str) -> str:
        """Why this scale makes no cell of a point, whatever its run."""
        if any(one.leaves_out for _, _, one in shrinking(self.config, paper, point)):
            return LEFT_OUT
        own, other = str(point["dataset"]), str(point.get("target", point["dataset"]))
        used = {published: self.config.used(published, paper) for published in (own, other)}
        for published, dataset in used.items():
            if dataset is None:
                return f"nothing stands for {published} at this scale"
            if dataset.source is None:
                return f"no loader for {dataset.name} yet"
        if own != other and used[own] == used[other]:
            return f"one dataset stands for {own} and {other} at this scale"
        return ""


def thinned(cells: list[Cell], artifact: Measured, most: int) -> list[Cell]:
    """Keeps the cells with ``most`` values of each axis, and the baselines of these.

    Of the values of an axis that can be measured they are the first, the last, and others between them at even
    distances; an axis of measures stays whole. Every other cell is marked as missing, once for all its seeds. What two
    cells turn out to share (``without_repeats``) is left out later, so that an axis may end with fewer values.
    """
    measured = {cell.text: cell.coordinates for cell in cells if not cell.missing}
    kept = list(measured.values())
    for axis in artifact.axes.values():
        values = [one for one in axis if any(one.items() <= point.items() for point in measured.values())]
        if len(values) > most and not any("measure" in one for one in values):
            chosen = [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]
            kept = [point for point in kept if any(one.items() <= point.items() for one in chosen)]
    kept += [other for one, other in artifact.comparisons if one in kept]
    stay = {coordinates.text(point) for point in kept}
    found: dict[tuple[str, int], Cell] = {}
    for at, cell in enumerate(cells):
        if cell.missing or cell.text in stay:
            found[cell.text, at] = cell
        else:
            found.setdefault((cell.text, -1), replace(cell, run=None, epoch=0, missing=THINNED))
    return list(found.values())


def without_repeats(cells: list[Cell], maker: Cells) -> list[Cell]:
    """Mark cells as missing where two different published numbers of a paper would show one measured number.

    If the scale makes one run or one epoch of two, the cell with the smaller rounding keeps the number, and the other
    cannot be measured.
    """
    numbers: dict[tuple[object, ...], list[tuple[float, tuple[object, ...], int]]] = {}
    for at, cell in enumerate(cells):
        if cell.run is None or cell.target is None:
            continue
        resolved = maker.resolved_of(cell)
        assert resolved is not None
        asked = cell.coordinates.get("epoch", resolved.epochs)
        share = _SHARE.fullmatch(str(asked))
        epoch = resolved.epochs * int(share[1]) / 100 if share else float(asked)
        rounded = abs(resolved.run.schedule.epochs * epoch / resolved.epochs - cell.epoch)
        number = resolved.published, epoch, cell.coordinates.get("target")
        key = cell.paper, cell.run.name, cell.epoch, cell.target.name, cell.protocol, cell.measure, cell.reading
        numbers.setdefault(key, []).append((rounded, number, at))
    marked = list(cells)
    for several in numbers.values():
        _, kept, first = min(several, key=lambda one: one[0])
        for _, published, at in several:
            if not cells[at].missing and published != kept:
                marked[at] = replace(cells[at], missing=f"{SHARED} {cells[first].text}")
    return marked


def control(point: Coordinates, variant: str) -> dict[str, Scalar]:
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
    groups: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.run is None or cell.missing or cell.protocol == HISTORY or cell.run.initialisation is not None:
            continue
        measure = MEASURES[cell.measure]
        if measure.of_baseline or measure.of_data:  # it is of two runs, or of none, and the untrained encoder is of one
            continue
        point = control(cell.coordinates, UNTRAINED)
        key = coordinates.text(point), cell.protocol, cell.run.dataset.name, str(cell.target and cell.target.name)
        one = Cell(cell.paper, cell.artifact, point, cell.run, 0, cell.target, cell.protocol, cell.measure)
        group = groups.setdefault(key, [])
        if not any(other.run is not None and other.run.seed == cell.run.seed for other in group):
            group.append(one)
    return [cell for group in groups.values() for cell in group]


def on_pixels(protocol: Protocol) -> bool:
    """Whether a protocol can measure raw pixels, without an encoder."""
    return bool(registry.read_constant("probes", protocol.probe.name, "PIXELS", False))
