"""Tidy rows from evaluations and histories, for the cells of one artifact; and their means over seeds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from hypersphere import files
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
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.records import UNDEFINED, WITHOUT_VALUE, Record
from hypersphere.errors import HypersphereError
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
    """Looks up the measurements of cells. Each file is read once; one that is missing, altered or lacks a cell's value
    is an error.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._answers: dict[tuple[str, str], CellValues] = {}
        self._histories: dict[str, tuple[pd.DataFrame, bool]] = {}
        """By run: what training recorded, by epoch, and whether the run diverged."""
        self.repeated: dict[str, str] = {}
        """By the probed dataset: what is said of its repeated images."""
        self._counted = {} if plan.records is None else records.counted(plan.config.evidence)

    def rows(self, cells: Sequence[Cell], declared: Measured | None = None) -> list[dict[str, Any]]:
        """A measurement for each cell that can be measured, in the order of ``cells``.

        ``declared`` is the artifact that they are of, for measures that compare a cell with its baseline.
        """
        measured = {
            (cell.coordinates, cell.run.seed): cell
            for cell in cells
            if cell.run and not cell.missing
        }
        rows = []
        for cell in cells:
            if cell.run is None or cell.missing:
                continue
            if MEASURES[cell.measure].of_baseline:
                assert declared is not None
                point = declared.compared_with(cell.coordinates)
                baseline = cell if point is None else measured.get((point, cell.run.seed))
                if baseline is None:
                    where = f"{cell.paper}/{cell.artifact}: {cell.text}"
                    raise HypersphereError(f"{where} has no measured baseline to compare with")
                answer = self._compared(cell, baseline)
            elif cell.how is None:
                answer = self._from_history(cell)
            else:
                answer = self._measured(cell, cell.run.name, cell.epoch)
            row = self._described(cell) | {"seed": cell.run.seed, "run": cell.run.name}
            rows.append(row | {key: answer[key] for key in DIVERGED})
        return rows

    def controls(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Chance and raw pixels for every dataset and reading of the cells: one number each, without a seed."""
        rows: dict[Position, dict[str, Any]] = {}
        for cell in cells:
            if cell.run is None or cell.target is None or cell.missing or cell.how is None:
                continue
            subject = raw_pixels(cell.target.name)
            if not on_pixels(cell.how):
                continue
            place = (
                0,
                cell.target.name,
                cell.how.of_probe(cell.measure),
                coordinates.of_probe(cell.coordinates),
            )
            if self.plan.records is not None and place not in self._answers_for(cell, subject):
                continue  # a record without raw pixels has a number all the same
            answer = self._measured(cell, subject, 0)
            chance = MEASURES[cell.measure].chance(int(answer["classes"]))
            for variant, value, status in (
                (PIXELS, answer["value"], answer["status"]),
                (CHANCE, chance, "finished"),
            ):
                point = control(cell.coordinates, variant)
                if value is not None and point not in rows:
                    rows[point] = {
                        **self._described(cell),
                        **{"coordinates": point.text, "setting": coordinates.setting(point)},
                        **{
                            "method": CONTROL,
                            "variant": variant,
                            "epoch": 0,
                            "final": True,
                            "seed": math.nan,
                        },
                        **{
                            "run": subject,
                            "value": value,
                            "n_test": answer["n_test"],
                            "status": status,
                        },
                    }
        return list(rows.values())

    def _described(self, cell: Cell) -> dict[str, Any]:
        """The columns of a cell that no measurement decides."""
        return {
            "coordinates": cell.text,
            **{key: str(cell.coordinates.get(key, "")) for key in coordinates.IDENTITY},
            "setting": coordinates.setting(cell.coordinates),
            "measure": cell.measure,
            "measured_on": cell.run.dataset.name if cell.run else "",
            "probed_on": cell.target.name if cell.target else "",
            "epoch": cell.epoch,
            "final": cell.run is not None and cell.epoch == cell.run.schedule.epochs,
            "protocol": cell.protocol,
            "protocol_digest": "" if cell.how is None else cell.how.digest,
        }

    def _from_history(self, cell: Cell) -> CellValue:
        """What training recorded at the cell's epoch. A diverged run has no value, not even from before it diverged."""
        assert cell.run is not None
        name = cell.run.name
        if name not in self._histories:
            if self.plan.records is not None:
                record = self.plan.records[name][0]
                history, status = pd.DataFrame(record.history, dtype="float64"), record.status
            else:
                status = check_run(self.plan, name, "history.csv")["status"]
                path = self.plan.run_folder(name) / "history.csv"
                history = tables.read(
                    path, tables.numbers("epoch", cell.measure, *pd.read_csv(path, nrows=0))
                )
            self._histories[name] = history.set_index("epoch"), status == "diverged"
        history, diverged = self._histories[name]
        value = float(history[cell.measure].get(cell.epoch, math.nan))  # the history has no epoch 0
        return (
            DIVERGED
            if diverged or math.isinf(value)
            else DIVERGED | {"value": value, "status": "finished"}
        )

    def _compared(self, cell: Cell, baseline: Cell) -> CellValue:
        """A measure that compares a cell with its baseline by the whole benchmark; both must have a value."""
        found = []
        for one in (cell, baseline):
            assert one.run is not None
            assert one.target is not None
            at = one.epoch, one.target.name
            answers = {
                key[2:]: row
                for key, row in self._answers_for(one, one.run.name).items()
                if key[:2] == at
            }
            statuses = {row["status"] for row in answers.values()}
            if "diverged" in statuses:
                return DIVERGED
            if UNDEFINED in statuses:
                return NOT_DEFINED
            found.append(corruption_errors(answers, coordinates.of_probe(one.coordinates)))
            # the rest has another mean
            lacks = [place for place in WHOLE if place not in found[-1][0]]
            if lacks and self.plan.records is None:
                name, severity = lacks[0]
                part = f"{name} at severity {severity}" if severity else "clean images"
                raise HypersphereError(
                    f"{one.run.name}: no corruption_error of {part} at epoch {one.epoch} on {at[1]}; "
                    f"{one.measure} is of the whole benchmark"
                )
        (ours, n_test), (theirs, _) = found
        # where a record that another made lacks a part of it: nothing was measured
        value = math.nan
        if len(ours) == len(theirs) == len(WHOLE):
            value = mce(ours, theirs, relative=cell.measure == "relative_mce")
            if math.isnan(value):
                return NOT_DEFINED
        return {"value": value, "n_test": n_test, "status": "finished"}

    def _measured(self, cell: Cell, subject: str, epoch: int) -> CellValue:
        """The value of a cell for a run, or for raw pixels."""
        assert cell.target is not None
        assert cell.how is not None
        target, measure = cell.target.name, cell.how.of_probe(cell.measure)
        answers = self._answers_for(cell, subject)
        readings = coordinates.of_probe(cell.coordinates), Position()
        answer, for_all = (answers.get((epoch, target, measure, reading)) for reading in readings)
        if answer is None and for_all is not None and for_all["status"] in WITHOUT_VALUE:
            answer = for_all  # one row for all readings
        if answer is None:
            name = " ".join(filter(None, (measure, cell.reading)))
            file = self.plan.evaluation_file(subject, cell.how.digest)
            raise HypersphereError(f"{file}: no {name} of epoch {epoch} on {target}")
        return answer

    def _answers_for(self, cell: Cell, subject: str) -> CellValues:
        """All values of a cell's run, or of raw pixels, under its protocol: of a file, or of the record that has it."""
        assert cell.how is not None
        digest = cell.how.digest
        if (subject, digest) in self._answers:
            return self._answers[subject, digest]
        if self.plan.records is None:
            path = self.plan.evaluation_file(subject, digest)
            counted = files.mapping(check_evaluation(path).get("repeated"))
            self.repeated |= {name: repeated.in_words(counts) for name, counts in counted.items()}
            rows = tables.rows(tables.read(path, EVALUATION))
        else:
            assert cell.run is not None
            assert cell.target is not None
            record = records.measuring(
                self.plan.records, cell.run.name, digest, cell.epoch, cell.target.name
            )
            if record is None:
                where = f"{self.plan.config.evidence / 'measurements.csv'}: {cell.run.name}"
                raise HypersphereError(f"{where}: no record has {cell.text} at epoch {cell.epoch}")
            self.repeated[cell.target.name] = repeated.in_words(
                self._counted.get(cell.target.folder)
            )
            found = record.answers(digest, subject == raw_pixels(cell.target.name))
            rows = [
                {key: math.nan if one is None else one for key, one in answer.model_dump().items()}
                for answer in found
            ]
        answers = {}
        for row in rows:
            reading = coordinates.parse(row["reading"], f"{subject}: reading")
            answers[int(row["epoch"]), row["target"], row["measure"], reading] = row
        if self.plan.records is None:  # a run may have several records, by epoch and target
            self._answers[subject, digest] = answers
        return answers


FLOORS = (PIXELS, UNTRAINED, CHANCE)
"""The controls that a cell should be above, in the order in which they are named."""


def summary(
    table: pd.DataFrame, confidence: float, declared: Mapping[str, int], repeated: Mapping[str, str]
) -> pd.DataFrame:
    """summary.csv: means of ``table`` (measurements) over seeds.

    Runs that diverged, and finished ones of which the measure is undefined, are counted, and are in no mean.

    n counts networks, by their seeds. Controls without a network (chance, pixels) are one number each, with n = 0.
    ``declared`` is the number of seeds that each cell should have; controls have none. ``repeated`` is what is said of
    repeated images, by the probed dataset. The floor is the first control
    that a cell is not shown to be above: by the interval of its mean, or by its only run.
    """
    rows = []
    for cell, group in table.groupby("coordinates", sort=False):
        values = group["value"].dropna().to_numpy(dtype=float)
        low, high = mean_interval(values, confidence)
        first = group.iloc[0]
        rows.append(
            {key: first[key] for key in [*CELL, *PROBE]}
            | {"mean": float(values.mean()) if len(values) else math.nan, "std": spread(values)}
            | {
                "n": int(group.loc[group["value"].notna(), "seed"].nunique()),
                "low": low,
                "high": high,
            }
            | {f"n_{status}": int((group["status"] == status).sum()) for status in WITHOUT_VALUE}
            | {
                "n_test": group["n_test"].max(),
                "n_declared": declared.get(str(cell), pd.NA),
                "floor": "",
            }
            | {"repeated": repeated.get(first["probed_on"], "")}
        )
    means = {row["coordinates"]: row["mean"] for row in rows}
    for row in rows:
        measure, mean = MEASURES[row["measure"]], row["mean"]
        has_floor = measure.margin == "accuracy" and measure.better != "neither"
        if has_floor and row["method"] != CONTROL and not math.isnan(mean):
            interval = (mean, mean) if row["n"] == 1 else (row["low"], row["high"])
            row["floor"] = floor_of(row["coordinates"], interval, measure, means, FLOORS)
    return pd.DataFrame(rows, columns=list(SUMMARY)).astype(
        {"n_test": "Int64", "n_declared": "Int64"}
    )


def runs(plan: Plan, names: Iterable[str]) -> pd.DataFrame:
    """runs.csv: device, library, code and data of each run, from its manifest. A run without a manifest has no row.

    Where the numbers of a run come from several records, it has the devices and precisions of all.
    """
    names, rows = sorted(set(names)), list[dict[str, Any]]()
    if plan.records is not None:
        used = {name: _used(plan, name) for name in names if name in plan.records}
        trained_alike = records.alike(record for several in used.values() for record in several)
        for name, several in used.items():
            known = {"alike": trained_alike.get(name, ""), "records": len(plan.records[name])}
            rows.append(_about([record.model_dump() for record in several]) | known)
    else:
        made = [name for name in names if (plan.run_folder(name) / MANIFEST).is_file()]
        rows += [
            _about([check_run(plan, name, "history.csv")]) | {"alike": "", "records": 1}
            for name in made
        ]
    return pd.DataFrame(rows, columns=list(RUNS))


def _used(plan: Plan, name: str) -> list[Record]:
    """The records from which the numbers of a run come: mostly its first."""
    assert plan.records is not None
    places = [
        (digest, *at)
        for digest, asked in plan.evaluations.get(name, {}).items()
        for at in sorted(asked.at)
    ]
    found = [records.measuring(plan.records, name, *place) for place in places]
    return list({one.key: one for one in found if one}.values()) or [plan.records[name][0]]


def _about(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row of runs.csv, by the records or the manifest behind its numbers."""
    first = several[0]
    return {
        **{key: first[key] for key in ("status", "epochs", "code", "data")},
        **{
            "run": first["name"],
            "threads": first["numerics"]["threads"],
            "plan": first.get("plan", ""),
        },
        "device": "; ".join(dict.fromkeys(one["device"]["name"] for one in several)),
        "kind": "; ".join(dict.fromkeys(one["device"]["type"] for one in several)),
        "precision": "; ".join(dict.fromkeys(map(_precision, several))),
        "torch": first["environment"]["packages"]["torch"],
        "weights": first["files"].get("encoder.safetensors", "")[:16],
    }


def _precision(about: Mapping[str, Any]) -> str:
    """That of training: ``tf32`` where a GPU rounds the factors of convolutions in float32."""
    numerics = about["numerics"]
    named: str = numerics.get("precision", "float32")
    rounded = about["device"]["type"] != "cpu" and numerics.get("tf32_convolutions")
    return "tf32" if named == "float32" and rounded else named
