"""The measurements of an artifact's cells, from evaluations and histories, as tidy rows; and means over seeds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd

from hypersphere import files
from hypersphere.config import cells as config_cells
from hypersphere.config import coordinates, records
from hypersphere.config.artifacts import Measured
from hypersphere.config.cells import (
    CHANCE,
    CONTROL,
    PIXELS,
    UNTRAINED,
    Cell,
    control,
    on_pixels,
    raw_pixels,
)
from hypersphere.config.coordinates import Position
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.records import UNDEFINED, WITHOUT_VALUE, Measurement, Record
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import tables
from hypersphere.provenance.columns import CELL, PROBE, RUNS, SUMMARY
from hypersphere.provenance.manifest import check_evaluation, check_run
from hypersphere.provenance.tables import EVALUATION
from hypersphere.statistics import repeated
from hypersphere.statistics.corruption_errors import WHOLE, corruption_errors, mce
from hypersphere.statistics.verdicts import floor_of
from hypersphere.t_test import mean_interval, spread

CellValue = dict[Any, Any]
DIVERGED: CellValue = {"value": math.nan, "n_test": math.nan, "status": "diverged"}
NOT_DEFINED: CellValue = DIVERGED | {"status": UNDEFINED}
CellValues = dict[tuple[int, str, str, Position], CellValue]
"""The measured values of one run under one protocol, by epoch, target, measure and reading."""


class Measurer:
    """Looks up the measurements of cells, and reads each file once.

    A file that is missing, altered or lacks a cell's value is an error.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._evaluations: dict[tuple[str, str], CellValues] = {}
        """The values of each evaluation: by the name of its run, or of raw pixels, and by its protocol's digest."""
        self._histories: dict[str, pd.DataFrame] = {}
        """The numbers that training recorded, by run, and by epoch. A diverged run has none."""
        self.repeated: dict[str, str] = {}
        """The words on the repeated images of each probed dataset, by the dataset's name."""
        self._counted = (
            {} if plan.records is None else records.repeated_images(plan.config.evidence)
        )

    def rows(self, cells: Sequence[Cell], declared: Measured | None = None) -> list[dict[str, Any]]:
        """A measurement for each cell that can be measured, in the order of ``cells``.

        ``declared`` is the artifact of the cells. Measures that compare a cell with its baseline need it.
        """
        cell_at = {
            (cell.coordinates, cell.run.seed): cell for cell in filter(config_cells.is_made, cells)
        }
        rows = []
        for (point, seed), cell in cell_at.items():
            if MEASURES[cell.measure].of_baseline:
                assert declared is not None
                against = declared.compared_with(point) or point
                if (against, seed) not in cell_at:
                    where = f"{cell.paper}/{cell.artifact}: {cell.text}"
                    raise HypersphereError(f"{where} has no measured baseline to compare with")
                answer = self._value_against_baseline(cell, cell_at[against, seed])
            elif config_cells.is_probed(cell):
                answer = self._value(cell, cell.run.name, cell.epoch)
            else:
                answer = self._from_history(cell)
            row = self._columns(cell) | {"seed": seed, "run": cell.run.name}
            rows.append(row | {key: answer[key] for key in DIVERGED})
        return rows

    def controls(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """A row for chance and a row for raw pixels, for every dataset and reading of the cells. They have no seed."""
        rows: dict[Position, dict[str, Any]] = {}
        for cell in cells:
            if not config_cells.is_probed(cell) or not on_pixels(cell.how):
                continue
            pixels = raw_pixels(cell.target.name)
            if self.plan.records is not None:
                place = 0, *self._place(cell)
                if place not in self._answers_for(cell, pixels):
                    continue  # a record without raw pixels has a number all the same
            answer = self._value(cell, pixels, 0)
            columns = self._columns(cell) | {
                "method": CONTROL,
                "epoch": 0,
                "final": True,
                "seed": math.nan,
                "run": pixels,
                "n_test": answer["n_test"],
            }
            chance = MEASURES[cell.measure].chance(int(answer["classes"]))
            for variant, value, status in (
                (PIXELS, answer["value"], answer["status"]),
                (CHANCE, chance, "finished"),
            ):
                point = control(cell.coordinates, variant)
                if value is not None and point not in rows:
                    rows[point] = columns | {
                        "coordinates": point.text,
                        "setting": coordinates.setting(point),
                        "variant": variant,
                        "value": value,
                        "status": status,
                    }
        return list(rows.values())

    def _columns(self, cell: config_cells.MadeCell) -> dict[str, Any]:
        """The columns of a cell that no measurement decides."""
        return {
            "coordinates": cell.text,
            **{key: str(cell.coordinates.get(key, "")) for key in coordinates.IDENTITY},
            "setting": coordinates.setting(cell.coordinates),
            "measure": cell.measure,
            "measured_on": cell.run.dataset.name,
            "probed_on": cell.target.name,
            "epoch": cell.epoch,
            "final": cell.epoch == cell.run.schedule.epochs,
            "protocol": cell.protocol,
            "protocol_digest": cell.how.digest if cell.how else "",
        }

    def _from_history(self, cell: config_cells.MadeCell) -> CellValue:
        """The number that training recorded at the cell's epoch. A diverged run has none, not even an earlier one."""
        name = cell.run.name
        if name not in self._histories:
            self._histories[name] = self._history(name, cell.measure)
        history = self._histories[name]
        if history.empty:
            return DIVERGED
        value = float(history[cell.measure].get(cell.epoch, math.nan))  # the history has no epoch 0
        return DIVERGED if math.isinf(value) else DIVERGED | {"value": value, "status": "finished"}

    def _history(self, name: str, measure: str) -> pd.DataFrame:
        """The numbers that training recorded of a run by epoch, ``measure`` among them. A diverged run has none."""
        if self.plan.records is not None:
            record = self.plan.records[name][0]
            status = record.status
            history = pd.DataFrame(record.history, dtype="float64")
        else:
            status = check_run(self.plan, name, "history.csv")["status"]
            path = self.plan.run_folder(name) / "history.csv"
            columns = tables.numbers("epoch", measure, *pd.read_csv(path, nrows=0))
            history = tables.read(path, columns)
        history = history.set_index("epoch")
        return history if status != "diverged" else history.iloc[:0]

    def _value_against_baseline(
        self, cell: config_cells.MadeCell, baseline: config_cells.MadeCell
    ) -> CellValue:
        """The value of a measure that compares a cell with its baseline over the whole benchmark."""
        benchmarks = []
        for one in (cell, baseline):
            assert config_cells.is_probed(one)
            every = self._answers_for(one, one.run.name)
            answers = {
                (measure, reading): answer
                for (epoch, target, measure, reading), answer in every.items()
                if (epoch, target) == (one.epoch, one.target.name)
            }
            statuses = {answer["status"] for answer in answers.values()}
            if "diverged" in statuses:
                return DIVERGED
            if UNDEFINED in statuses:
                return NOT_DEFINED
            errors, n_test = corruption_errors(answers, coordinates.of_probe(one.coordinates))
            # Without one of them, the mean is of another benchmark.
            lacking = [place for place in WHOLE if place not in errors]
            if lacking and self.plan.records is None:
                name, severity = lacking[0]
                part = f"{name} at severity {severity}" if severity else "clean images"
                raise HypersphereError(
                    f"{one.run.name}: no corruption_error of {part} at epoch {one.epoch} on {one.target.name}; "
                    f"{one.measure} is of the whole benchmark"
                )
            if lacking:  # whoever made the record did not measure the whole benchmark
                return {"value": math.nan, "n_test": n_test, "status": "finished"}
            benchmarks.append((errors, n_test))
        (ours, n_test), (theirs, _) = benchmarks
        value = mce(ours, theirs, relative=cell.measure == "relative_mce")
        if math.isnan(value):
            return NOT_DEFINED
        return {"value": value, "n_test": n_test, "status": "finished"}

    def _place(self, cell: config_cells.ProbedCell) -> tuple[str, str, Position]:
        """Where an evaluation has a cell's value, at each of its epochs: target, measure and reading."""
        measure = cell.how.of_probe(cell.measure)
        return cell.target.name, measure, coordinates.of_probe(cell.coordinates)

    def _value(self, cell: config_cells.ProbedCell, subject: str, epoch: int) -> CellValue:
        """The value of a cell for a run, or for raw pixels."""
        target, measure, reading = self._place(cell)
        answers = self._answers_for(cell, subject)
        answer = answers.get((epoch, target, measure, reading))
        # A probe that found no number at all wrote one row for all readings.
        for_all = answers.get((epoch, target, measure, Position()))
        if answer is not None:
            return answer
        if for_all is not None and for_all["status"] in WITHOUT_VALUE:
            return for_all
        file = self.plan.evaluation_file(subject, cell.how.digest)
        name = f"{measure} {cell.reading}".strip()
        raise HypersphereError(f"{file}: no {name} of epoch {epoch} on {target}")

    def _answers_for(self, cell: config_cells.ProbedCell, subject: str) -> CellValues:
        """All values of a cell's run, or of raw pixels, under its protocol: from a file, or from a record."""
        place = subject, cell.how.digest
        if self.plan.records is not None:  # a run may have several records, by epoch and target
            return _by_place(subject, self._rows_of_record(cell, *place))
        if place not in self._evaluations:
            self._evaluations[place] = _by_place(subject, self._rows_of_file(*place))
        return self._evaluations[place]

    def _rows_of_file(self, subject: str, digest: str) -> list[CellValue]:
        path = self.plan.evaluation_file(subject, digest)
        for name, counts in files.mapping(check_evaluation(path).get("repeated")).items():
            self.repeated[name] = repeated.in_words(counts)
        return tables.rows(tables.read(path, EVALUATION))

    def _rows_of_record(
        self, cell: config_cells.ProbedCell, subject: str, digest: str
    ) -> list[CellValue]:
        assert self.plan.records is not None
        name, target = cell.run.name, cell.target
        record = records.measuring(self.plan.records, name, digest, cell.epoch, target.name)
        if record is None:
            where = f"{self.plan.config.evidence / 'measurements.csv'}: {name}"
            raise HypersphereError(f"{where}: no record has {cell.text} at epoch {cell.epoch}")
        self.repeated[target.name] = repeated.in_words(self._counted.get(target.folder))
        answers = record.answers(digest, of_pixels=subject == raw_pixels(target.name))
        return [_without_none(answer) for answer in answers]


def _without_none(answer: Measurement) -> CellValue:
    """An answer of a record in the form of a file, where a missing number is nan."""
    return {key: math.nan if value is None else value for key, value in answer}


def _by_place(subject: str, rows: Iterable[CellValue]) -> CellValues:
    answers: CellValues = {}
    for row in rows:
        reading = coordinates.parse(row["reading"], f"{subject}: reading")
        answers[int(row["epoch"]), row["target"], row["measure"], reading] = row
    return answers


FLOORS = (PIXELS, UNTRAINED, CHANCE)
"""The controls that a cell should be above, in the order in which they are named."""


def summary(
    table: pd.DataFrame, confidence: float, declared: Mapping[str, int], repeated: Mapping[str, str]
) -> pd.DataFrame:
    """summary.csv: means of ``table`` (measurements) over seeds.

    A run that diverged, or whose measure is undefined, is counted and is in no mean.

    n counts networks, by their seeds. Controls without a network (chance, pixels) are one number each, with n = 0.
    ``declared`` is the number of seeds that each cell should have; controls have none. ``repeated`` has the words on
    repeated images, by the probed dataset. The floor is the first control that a cell is not shown to be above: by the
    interval of its mean, or by its only run.
    """
    rows = []
    for cell, group in table.groupby("coordinates", sort=False):
        measured = group.dropna(subset="value")
        values = measured["value"].to_numpy(dtype=float)
        low, high = mean_interval(values, confidence)
        first = group.iloc[0]
        rows.append(
            {
                **first[[*CELL, *PROBE]],
                "mean": float(values.mean()) if len(values) else math.nan,
                "std": spread(values),
                "n": measured["seed"].nunique(),
                "low": low,
                "high": high,
                **{f"n_{status}": (group["status"] == status).sum() for status in WITHOUT_VALUE},
                "n_declared": declared.get(str(cell), pd.NA),
                "n_test": group["n_test"].max(),
                "floor": "",
                "repeated": repeated.get(first["probed_on"], ""),
            }
        )
    means = {row["coordinates"]: row["mean"] for row in rows}
    for row in rows:
        measure = MEASURES[row["measure"]]
        has_floor = measure.margin == "accuracy" and measure.better != "neither"
        if has_floor and row["method"] != CONTROL and row["n"] > 0:
            mean = row["mean"]
            interval = (mean, mean) if row["n"] == 1 else (row["low"], row["high"])
            row["floor"] = floor_of(row["coordinates"], interval, measure, means, FLOORS)
    whole = {"n_test": "Int64", "n_declared": "Int64"}
    return pd.DataFrame(rows, columns=list(SUMMARY)).astype(whole)


def runs(plan: Plan, names: Iterable[str]) -> pd.DataFrame:
    """runs.csv: device, library, code and data of each run, from its manifest. A run without a manifest has no row.

    If the numbers of a run come from several records, its row has the devices and precisions of all of them.
    """
    rows = []
    if plan.records is None:
        for name in sorted(set(names)):
            if (plan.run_folder(name) / MANIFEST).is_file():
                manifest = check_run(plan, name, "history.csv")
                rows.append(_row([manifest]) | {"alike": "", "records": 1})
    else:
        used = {}
        for name in sorted(set(names)):
            if name in plan.records:
                used[name] = _records_used(plan, name)
        trained_alike = records.alike(chain.from_iterable(used.values()))
        for name, several in used.items():
            row = _row([record.model_dump() for record in several])
            alike = trained_alike.get(name, "")
            rows.append(row | {"alike": alike, "records": len(plan.records[name])})
    return pd.DataFrame(rows, columns=list(RUNS))


def _records_used(plan: Plan, name: str) -> list[Record]:
    """The records from which the numbers of a run come: mostly its first."""
    assert plan.records is not None
    used = {}
    for digest, evaluation in plan.evaluations.get(name, {}).items():
        for epoch, target in sorted(evaluation.at):
            record = records.measuring(plan.records, name, digest, epoch, target)
            if record is not None:
                used[record.key] = record
    return list(used.values()) or [plan.records[name][0]]


def _row(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row of runs.csv, by the records or the manifest behind its numbers."""
    first = several[0]
    devices = [one["device"] for one in several]
    return {
        "run": first["name"],
        "status": first["status"],
        "epochs": first["epochs"],
        "device": "; ".join(dict.fromkeys(device["name"] for device in devices)),
        "threads": first["numerics"]["threads"],
        "torch": first["environment"]["packages"]["torch"],
        "code": first["code"],
        "data": first["data"],
        "kind": "; ".join(dict.fromkeys(device["type"] for device in devices)),
        "precision": "; ".join(dict.fromkeys(map(_precision, several))),
        "plan": first.get("plan", ""),
        "weights": first["files"].get("encoder.safetensors", "")[:16],
    }


def _precision(about: Mapping[str, Any]) -> str:
    """The precision of training: ``tf32`` where a GPU rounds the factors of convolutions in float32."""
    numerics = about["numerics"]
    named: str = numerics.get("precision", "float32")
    rounded = about["device"]["type"] != "cpu" and numerics.get("tf32_convolutions")
    return "tf32" if named == "float32" and rounded else named
