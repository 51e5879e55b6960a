"""Evaluations and histories as tidy rows, joined to the cells of one artifact; and their means over seeds."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.declared import coordinates, registry
from hypersphere.declared.artifacts import HISTORY
from hypersphere.declared.cells import CHANCE, CONTROL, PIXELS, Cell, control, on_pixels, raw_pixels
from hypersphere.declared.measures import MEASURES
from hypersphere.declared.plan import MANIFEST, Plan, table_name
from hypersphere.errors import HypersphereError
from hypersphere.integrity import tables
from hypersphere.integrity.manifest import check_evaluation, check_run, read_manifest
from hypersphere.integrity.tables import EVALUATION
from hypersphere.means import mean_interval, spread

CELL = ["coordinates", "method", "variant", "dataset", "setting", "measure", "measured_on", "probed_on"]
PROBE = ["epoch", "final", "protocol", "protocol_digest"]
MEASUREMENTS = [*CELL, *PROBE, "seed", "run", "value", "n_test", "status"]
SUMMARY = [*CELL, *PROBE, "mean", "std", "n", "low", "high", "n_diverged", "n_test"]
RUNS = ["run", "status", "epochs", "device", "threads", "torch", "code", "data"]
DISTRIBUTION = ["coordinates", "seed", "run", "quantile", "value"]
QUANTILES = np.linspace(0, 1, 101)
"""At which the distribution over images is kept."""
Answer = dict[str, Any]
Answers = dict[tuple[int, str, str, str], Answer]
"""What a protocol says of one run, by epoch, target, measure and reading."""


class Measurer:
    """Looks up what was measured for cells, each file read once.

    Raises:
        HypersphereError: a file is missing, altered, or does not hold what a cell asks for.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._answers: dict[tuple[str, str], Answers] = {}
        self._histories: dict[str, pd.DataFrame] = {}

    def rows(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """A measurement for each cell that can be measured, in their order."""
        return [self._row(cell) for cell in cells if cell.run is not None and not cell.missing]

    def _row(self, cell: Cell) -> dict[str, Any]:
        assert cell.run is not None
        answer = self._from_history(cell) if cell.protocol == HISTORY else self._from_probe(cell, cell.run.name)
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
            manifest = check_run(self.plan, name, "history.csv")
            rows = tables.read(self.plan.run_folder(name) / "history.csv", ("epoch", cell.measure))
            self._histories[name] = rows.assign(diverged=manifest["status"] == "diverged")
        history = self._histories[name]
        row = history[history["epoch"] == cell.epoch]
        value = float(row[cell.measure].iloc[0]) if len(row) else math.nan
        diverged = bool(len(history) and history["diverged"].iloc[0]) or math.isinf(value)
        # Nothing is written down of epoch 0; whatever was on the way to divergence, a diverged run has no value.
        status = "diverged" if diverged else "finished"
        return {"value": math.nan if diverged else value, "n_test": math.nan, "status": status}

    def _from_probe(self, cell: Cell, subject: str) -> Answer:
        found = self._found(cell, subject, cell.epoch)
        return {key: found[key] for key in ("value", "n_test", "status")}

    def _found(self, cell: Cell, subject: str, epoch: int) -> Answer:
        """What a cell's protocol says of a run, or of raw pixels.

        Raises:
            HypersphereError: it says nothing of the cell's reading at this epoch.
        """
        assert cell.target is not None
        digest = self.plan.protocols[cell.paper][cell.protocol].digest
        answers, measure, target = self.answers(subject, digest), self.probes_measure(cell), cell.target.name
        found, whole = (answers.get((epoch, target, measure, reading)) for reading in (cell.reading, ""))
        if found is None and whole is not None and whole["status"] == "diverged":  # then of all readings
            found = whole
        if found is None:
            what = " ".join(filter(None, (measure, cell.reading)))
            raise HypersphereError(f"{self.plan.evaluation(subject, digest)}: no {what} of epoch {epoch} on {target}")
        return found

    def probes_measure(self, cell: Cell) -> str:
        """What the probe itself calls a cell's measure: ``linear_top1`` where a transfer calls it ``transfer_top1``."""
        protocol = self.plan.protocols[cell.paper][cell.protocol]
        assert protocol.probe is not None
        given = registry.constant("probes", protocol.probe.name, "MEASURES", ())
        return str(dict(zip(protocol.measures, given, strict=True))[cell.measure])

    def answers(self, subject: str, digest: str) -> Answers:
        """All that a protocol says of a run, or of a dataset's raw pixels (``pixels-<dataset>``)."""
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

    def controls(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Chance and raw pixels for every dataset and value that the cells have; one number each, without a seed."""
        rows: dict[str, dict[str, Any]] = {}
        for cell in cells:
            if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
                continue
            protocol = self.plan.protocols[cell.paper][cell.protocol]
            if not on_pixels(protocol):
                continue
            subject = raw_pixels(cell.target.name)
            found = self._found(cell, subject, 0)
            chance = MEASURES[cell.measure].chance(int(found["classes"]))
            for variant, value in ((PIXELS, found["value"]), (CHANCE, chance)):
                one = self._control(cell, variant)
                if value is not None:
                    known = {"run": subject, "value": value, "n_test": found["n_test"], "status": "finished"}
                    rows.setdefault(one["coordinates"], one | known)
        return list(rows.values())

    def _control(self, cell: Cell, variant: str) -> dict[str, Any]:
        point = control(cell.coordinates, variant)
        known = {
            "coordinates": coordinates.text(point),
            "method": CONTROL,
            "variant": variant,
            "epoch": 0,
            "final": True,
        }
        return self._described(cell) | known | {"setting": coordinates.setting(point), "seed": math.nan}


def measurements(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """measurements.csv. Accuracies in points."""
    table = pd.DataFrame(list(rows), columns=MEASUREMENTS)
    numbers = {"seed": "Int64", "epoch": "int64", "n_test": "Int64", "value": "float64", "final": "bool"}
    return table.astype(numbers)


def stack(rows: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Tables one below the other, without those that are empty."""
    full = [table for table in rows if len(table)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=list(columns))


def summary(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """summary.csv: ``table`` (measurements) over seeds; diverged runs are left out of means and counted.

    n counts networks, by their seeds: controls that have none (chance, pixels) are one number each, with n = 0.
    """
    rows = []
    for _, group in table.groupby("coordinates", sort=False):
        values = group["value"].dropna().to_numpy(dtype=float)
        low, high = mean_interval(values, confidence)
        first = group.iloc[0]
        rows.append(
            {key: first[key] for key in [*CELL, *PROBE]}
            | {"mean": float(values.mean()) if len(values) else math.nan, "std": spread(values)}
            | {"n": int(group.loc[group["value"].notna(), "seed"].nunique()), "low": low, "high": high}
            | {"n_diverged": int((group["status"] == "diverged").sum()), "n_test": group["n_test"].max()}
        )
    return pd.DataFrame(rows, columns=SUMMARY).astype({"n_test": "Int64"})


def distribution(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Quantiles over images of what a probe says of each, for every cell and seed; in the measure's unit.

    ``measured`` holds the cells' measurements: of a run that diverged there are no quantiles.

    Raises:
        HypersphereError: a file is missing or altered, or a probe says nothing of single images.
    """
    rows: list[dict[str, Any]] = []
    diverged = set(measured.loc[measured["status"] == "diverged", ["coordinates", "run"]].itertuples(index=False))
    for cell in cells:
        if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
            continue
        if (cell.text, cell.run.name) in diverged:
            continue
        path = plan.evaluation(cell.run.name, plan.protocols[cell.paper][cell.protocol].digest)
        own = table_name(path, (cell.epoch, cell.target.name))
        if own.name not in check_evaluation(path)["files"]:
            raise HypersphereError(f"{own}: the probe of {cell.protocol} says nothing of single images")
        table = pd.read_csv(own)
        for key, value in coordinates.of_probe(cell.coordinates).items():
            table = table[table[key] == value]
        for quantile, value in zip(QUANTILES, np.quantile(table[cell.measure], QUANTILES), strict=True):
            rows.append(
                {"coordinates": cell.text, "seed": cell.run.seed, "run": cell.run.name, "quantile": quantile}
                | {"value": value}
            )
    return pd.DataFrame(rows, columns=DISTRIBUTION)


def runs(plan: Plan, names: Iterable[str]) -> pd.DataFrame:
    """runs.csv: what each run was made by and of, from its manifest. A run with no manifest yet has no row."""
    rows = []
    for name in sorted(set(names)):
        path = plan.run_folder(name) / MANIFEST
        if not path.is_file():
            continue
        found = read_manifest(path.parent)
        row = {key: found[key] for key in ("status", "epochs", "code", "data")}
        row |= {"run": name, "device": found["device"]["name"], "threads": found["numerics"]["threads"]}
        rows.append(row | {"torch": found["environment"]["packages"]["torch"]})
    return pd.DataFrame(rows, columns=RUNS)
