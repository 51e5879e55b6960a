"""Tidy rows from evaluations and histories, for the cells of one artifact; and their means over seeds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from hypersphere.config import coordinates, recorded
from hypersphere.config.artifacts import HISTORY, Measured
from hypersphere.config.cells import CHANCE, CONTROL, PIXELS, UNTRAINED, Cell, control, on_pixels, raw_pixels
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_evaluation, check_run, read_manifest
from hypersphere.provenance.tables import EVALUATION
from hypersphere.statistics.corruption_errors import CorruptionErrors, corruption_errors, mce, relative_mce
from hypersphere.statistics.verdicts import level_with
from hypersphere.t_test import mean_interval, spread

CELL = columns.CELL
PROBE = columns.PROBE
MEASUREMENTS = columns.MEASUREMENTS
SUMMARY = columns.SUMMARY
RUNS = columns.RUNS
Answer = dict[str, Any]
Answers = dict[tuple[int, str, str, str], Answer]
"""The measured values of one run under one protocol, by epoch, target, measure and reading."""


class Measurer:
    """Look up the measurements of cells. Each file is read once.

    Raises:
        HypersphereError: a file is missing, altered, or lacks the value of a cell.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._answers: dict[tuple[str, str], Answers] = {}
        self._histories: dict[str, pd.DataFrame] = {}

    def rows(self, cells: Sequence[Cell], declared: Measured | None = None) -> list[dict[str, Any]]:
        """A measurement for each cell that can be measured, in the order of ``cells``.

        ``declared`` is the artifact that they are of, for measures that compare a cell with its baseline.
        """
        measured = [cell for cell in cells if cell.run is not None and not cell.missing]
        baselines = {(cell.text, cell.run.seed): cell for cell in measured if cell.run} if declared else {}
        return [self._row(cell, self._baseline(cell, declared, baselines)) for cell in measured]

    def _baseline(self, cell: Cell, declared: Measured | None, cells: Mapping[tuple[str, int], Cell]) -> Cell | None:
        """The cell of the same seed with which a cell's measure compares it; None: its measure compares nothing."""
        if not MEASURES[cell.measure].of_baseline:
            return None
        assert declared is not None
        assert cell.run is not None
        point = declared.compared_with(cell.coordinates)
        found = cell if point is None else cells.get((coordinates.text(point), cell.run.seed))
        if found is None:
            raise HypersphereError(
                f"{cell.paper}/{cell.artifact}: {cell.text} has no measured baseline to compare with"
            )
        return found

    def _row(self, cell: Cell, baseline: Cell | None) -> dict[str, Any]:
        assert cell.run is not None
        if baseline is not None:
            answer = self._compared(cell, baseline)
        elif cell.protocol == HISTORY:
            answer = self._from_history(cell)
        else:
            answer = self._from_probe(cell, cell.run.name)
        return self._described(cell) | {"seed": cell.run.seed, "run": cell.run.name} | answer

    def _described(self, cell: Cell) -> dict[str, Any]:
        measured_on = cell.run.dataset.name if cell.run else ""
        identity = {key: str(cell.coordinates.get(key, "")) for key in coordinates.IDENTITY}
        digest = "" if cell.protocol == HISTORY else self.plan.protocols[cell.paper][cell.protocol].digest
        return {
            "coordinates": cell.text,
            **identity,
            "setting": coordinates.setting(cell.coordinates),
            "measure": cell.measure,
            "measured_on": measured_on,
            "probed_on": cell.target.name if cell.target else "",
            "epoch": cell.epoch,
            "final": cell.final,
            "protocol": cell.protocol,
            "protocol_digest": digest,
        }

    def _from_history(self, cell: Cell) -> Answer:
        assert cell.run is not None
        name = cell.run.name
        if name not in self._histories:
            self._histories[name] = self._history(name, cell.measure)
        history = self._histories[name]
        row = history[history["epoch"] == cell.epoch]
        value = float(row[cell.measure].iloc[0]) if len(row) else math.nan
        diverged = bool(len(history) and history["diverged"].iloc[0]) or math.isinf(value)
        # The history has no epoch 0. A diverged run has no value, not even from before it diverged.
        status = "diverged" if diverged else "finished"
        return {"value": math.nan if diverged else value, "n_test": math.nan, "status": status}

    def _history(self, run: str, measure: str) -> pd.DataFrame:
        """The values that training recorded, and whether the run diverged."""
        if self.plan.records is not None:
            record = self.plan.records[run][0]
            return pd.DataFrame(record.history, dtype="float64").assign(diverged=record.status == "diverged")
        manifest = check_run(self.plan, run, "history.csv")
        rows = tables.read(self.plan.run_folder(run) / "history.csv", tables.numbers("epoch", measure), others="number")
        return rows.assign(diverged=manifest["status"] == "diverged")

    def _from_probe(self, cell: Cell, subject: str) -> Answer:
        answer = self._measured(cell, subject, cell.epoch)
        return {key: answer[key] for key in ("value", "n_test", "status")}

    def _compared(self, cell: Cell, baseline: Cell) -> Answer:
        """A measure that compares a cell with its baseline; diverged if one of the two runs did."""
        ours, theirs = (self._corruption_errors(one) for one in (cell, baseline))
        if ours is None or theirs is None:
            return {"value": math.nan, "n_test": math.nan, "status": "diverged"}
        if ours.lacks or theirs.lacks:  # a record that another made: nothing was measured
            return {"value": math.nan, "n_test": ours.n_test, "status": "finished"}
        value = (
            mce(ours.errors, theirs.errors)
            if cell.measure == "mce"
            else relative_mce(ours.errors, ours.clean, theirs.errors, theirs.clean)
        )
        return {"value": value, "n_test": ours.n_test, "status": "finished"}

    def _corruption_errors(self, cell: Cell) -> CorruptionErrors | None:
        assert cell.run is not None
        assert cell.target is not None
        at = cell.epoch, cell.target.name
        found = self._answers_for(cell, cell.run.name)
        answers = {key[2:]: row for key, row in found.items() if key[:2] == at}
        errors = corruption_errors(answers, coordinates.of_probe(cell.coordinates))
        if errors is not None and errors.lacks and self.plan.records is None:
            raise HypersphereError(
                f"{cell.run.name}: no corruption_error of {errors.lacks} at epoch {cell.epoch} on {cell.target.name}; "
                f"{cell.measure} is of the whole benchmark"
            )
        return errors

    def _measured(self, cell: Cell, subject: str, epoch: int) -> Answer:
        """The value of a cell for a run, or for raw pixels.

        Raises:
            HypersphereError: the evaluation has no value of the cell's reading at this epoch.
        """
        assert cell.target is not None
        measure, target = self.probes_measure(cell), cell.target.name
        answers = self._answers_for(cell, subject)
        answer, for_all = (answers.get((epoch, target, measure, reading)) for reading in (cell.reading, ""))
        if answer is None and for_all is not None and for_all["status"] == "diverged":
            answer = for_all  # a diverged run has one row for all readings
        if answer is None:
            name = " ".join(filter(None, (measure, cell.reading)))
            digest = self.plan.protocols[cell.paper][cell.protocol].digest
            raise HypersphereError(f"{self.plan.evaluation(subject, digest)}: no {name} of epoch {epoch} on {target}")
        return answer

    def _answers_for(self, cell: Cell, subject: str) -> Answers:
        """All values of a cell's run, or of raw pixels, under the cell's protocol: of files, or of records."""
        assert cell.target is not None
        digest = self.plan.protocols[cell.paper][cell.protocol].digest
        if self.plan.records is None:
            return self.answers(subject, digest)
        return self._recorded(cell, digest, subject == raw_pixels(cell.target.name))

    def probes_measure(self, cell: Cell) -> str:
        """The probe's own name of a cell's measure: ``linear_top1`` where a transfer calls it ``transfer_top1``."""
        return self.plan.protocols[cell.paper][cell.protocol].of_probe(cell.measure)

    def answers(self, subject: str, digest: str) -> Answers:
        """All values of a run, or of a dataset's raw pixels (``pixels-<dataset>``), under one protocol."""
        if (subject, digest) not in self._answers:
            path = self.plan.evaluation(subject, digest)
            check_evaluation(path)
            rows = tables.read(path, EVALUATION).to_dict("records")
            self._answers[subject, digest] = {
                (int(row["epoch"]), str(row["target"]), str(row["measure"]), str(row["reading"])): {
                    str(key): value for key, value in row.items()
                }
                for row in rows
            }
        return self._answers[subject, digest]

    def _recorded(self, cell: Cell, digest: str, of_pixels: bool) -> Answers:
        """All values under one protocol in the record that measures a cell: of its run, or of raw pixels."""
        assert self.plan.records is not None
        assert cell.run is not None
        assert cell.target is not None
        record = recorded.measuring(self.plan.records, cell.run.name, digest, cell.epoch, cell.target.name)
        if record is None:
            where = f"{self.plan.config.evidence / 'measurements.csv'}: {cell.run.name}"
            raise HypersphereError(f"{where}: no record has {cell.text} at epoch {cell.epoch}")
        rows = (answer.model_dump() for answer in record.answers(digest, of_pixels))
        return {
            (row["epoch"], row["target"], row["measure"], row["reading"]): row
            | {name: math.nan if row[name] is None else row[name] for name in ("value", "n_test", "classes")}
            for row in rows
        }

    def controls(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Chance and raw pixels for every dataset and reading of the cells: one number each, without a seed."""
        rows: dict[str, dict[str, Any]] = {}
        for cell in cells:
            if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
                continue
            protocol = self.plan.protocols[cell.paper][cell.protocol]
            if not on_pixels(protocol):
                continue
            subject = raw_pixels(cell.target.name)
            place = (0, cell.target.name, self.probes_measure(cell), cell.reading)
            if self.plan.records is not None and place not in self._answers_for(cell, subject):
                continue  # a record without raw pixels has a number all the same
            answer = self._measured(cell, subject, 0)
            chance = MEASURES[cell.measure].chance(int(answer["classes"]))
            for variant, value in ((PIXELS, answer["value"]), (CHANCE, chance)):
                row = self._control(cell, variant)
                if value is not None:
                    columns = {"run": subject, "value": value, "n_test": answer["n_test"], "status": "finished"}
                    rows.setdefault(row["coordinates"], row | columns)
        return list(rows.values())

    def _control(self, cell: Cell, variant: str) -> dict[str, Any]:
        point = control(cell.coordinates, variant)
        columns = {
            "coordinates": coordinates.text(point),
            "method": CONTROL,
            "variant": variant,
            "epoch": 0,
            "final": True,
        }
        return self._described(cell) | columns | {"setting": coordinates.setting(point), "seed": math.nan}


def measurements(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """measurements.csv; accuracies in points."""
    table = pd.DataFrame(list(rows), columns=list(MEASUREMENTS))
    numbers = {"seed": "Int64", "epoch": "int64", "n_test": "Int64", "value": "float64", "final": "bool"}
    return table.astype(numbers)


def stack(rows: Sequence[pd.DataFrame], columns: tables.Columns) -> pd.DataFrame:
    """Tables one below the other, without empty ones."""
    full = [table for table in rows if len(table)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=list(columns))


def summary(table: pd.DataFrame, confidence: float, declared: Mapping[str, int]) -> pd.DataFrame:
    """summary.csv: means of ``table`` (measurements) over seeds. Diverged runs are counted, and are in no mean.

    n counts networks, by their seeds. Controls without a network (chance, pixels) are one number each, with n = 0.
    ``declared`` is the number of seeds that each cell should have; controls have none.
    """
    rows = []
    for cell, group in table.groupby("coordinates", sort=False):
        values = group["value"].dropna().to_numpy(dtype=float)
        low, high = mean_interval(values, confidence)
        first = group.iloc[0]
        rows.append(
            {key: first[key] for key in [*CELL, *PROBE]}
            | {"mean": float(values.mean()) if len(values) else math.nan, "std": spread(values)}
            | {"n": int(group.loc[group["value"].notna(), "seed"].nunique()), "low": low, "high": high}
            | {"n_diverged": int((group["status"] == "diverged").sum()), "n_test": group["n_test"].max()}
            | {"n_declared": declared.get(str(cell), pd.NA)}
        )
    return pd.DataFrame(rows, columns=list(SUMMARY)).astype({"n_test": "Int64", "n_declared": "Int64"})


LEVELS = {PIXELS: "at the level of raw pixels", UNTRAINED: "at the level of its untrained encoder"}


def levels(summaries: pd.DataFrame) -> dict[str, str]:
    """Which control an accuracy is level with, in words, by coordinates; cells above their controls are not listed.

    The 95 % interval of its mean, or its only run, does not lie above the control's mean. From such a cell no direction
    is read.
    """
    means: dict[str, float] = dict(zip(summaries["coordinates"], summaries["mean"], strict=True))
    found: dict[str, str] = {}
    for row in summaries.to_dict("records"):
        cell, measure, mean = str(row["coordinates"]), MEASURES[str(row["measure"])], row["mean"]
        accuracy = measure.margin == "accuracy" and measure.better == "higher"
        if row["method"] != CONTROL and accuracy and not math.isnan(mean):
            interval = (mean, mean) if math.isnan(row["low"]) else (row["low"], row["high"])
            if level := level_with(cell, interval, measure, means, LEVELS):
                found[cell] = LEVELS[level]
    return found


def runs(plan: Plan, names: Iterable[str]) -> pd.DataFrame:
    """runs.csv: device, library, code and data of each run, from its manifest. A run without a manifest has no row."""
    rows = []
    if plan.records is not None:
        named = [record for name in sorted(set(names)) for record in plan.records.get(name, ())[:1]]
        return pd.DataFrame([_run_row(record.model_dump()) for record in named], columns=list(RUNS))
    for name in sorted(set(names)):
        path = plan.run_folder(name) / MANIFEST
        if not path.is_file():
            continue
        rows.append(_run_row(read_manifest(path.parent)))
    return pd.DataFrame(rows, columns=list(RUNS))


def _run_row(about: dict[str, Any]) -> dict[str, Any]:
    """A row of runs.csv from a run's manifest or record."""
    row = {key: about[key] for key in ("status", "epochs", "code", "data")}
    row |= {"run": about["name"], "device": about["device"]["name"], "threads": about["numerics"]["threads"]}
    row |= {
        "kind": about["device"]["type"],
        "precision": about["numerics"].get("precision", "float32"),
        "plan": about.get("plan", ""),
    }
    return row | {"torch": about["environment"]["packages"]["torch"]}
