"""Evaluations and histories, one tidy row each, joined to the cells of the papers; and their means over seeds."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from hypersphere.declared.plan import MANIFEST, Plan
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import read_manifest

CELL = ["paper", "method", "variant", "dataset", "measured_on"]
KEY = [*CELL, "seed", "run"]
PROBE = ["epoch", "final", "metric", "probed_on"]
MEASUREMENTS = [*KEY, *PROBE, "value", "n_test", "status"]
SUMMARY = [*CELL, *PROBE, "mean", "std", "n", "low", "high", "n_diverged", "n_test"]
HISTORY = [*KEY, "epoch", "loss", "norm", "learning_rate"]
RUNS = ["run", "status", "epochs", "device", "threads", "torch", "code", "data"]

EVALUATION = ["run", *PROBE, "value", "n_test", "status"]
TYPES = {"seed": "Int64", "epoch": "int64", "final": "bool", "n_test": "Int64"} | dict.fromkeys(
    ["value", "loss", "norm", "learning_rate"], "float64"
)
TEXT = ["run", "metric", "probed_on", "status", *CELL, "id", "reading", "counterexample", "verdict"]

PIXELS = "pixels"
"""The `run` of a control measured on raw pixels, without an encoder."""
CLASSES = "classes"
"""A pixels row of this metric holds the number of classes of its dataset; it is no measurement."""


def read(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV that must have ``columns``; an empty field is a missing number, and nothing else is.

    Raises:
        HypersphereError: a sentence naming the file, and the column that is missing or malformed.
    """
    try:
        header = pd.read_csv(path, nrows=0).columns
        missing = [column for column in columns if column not in header]
        if missing:
            raise HypersphereError(f"{path}: column {missing[0]} is missing; expected: {', '.join(columns)}")
        types = {c: t for c, t in (TYPES | dict.fromkeys(TEXT, "str")).items() if c in columns}
        frame = pd.read_csv(path, usecols=list(columns), dtype=types, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except (ValueError, pd.errors.ParserError) as error:
        raise HypersphereError(f"{path}: not a table as expected ({error})") from None
    return frame[list(columns)]


def evaluations(paths: Iterable[Path]) -> pd.DataFrame:
    """Every row of the evaluations files, controls included, each probe of a run once.

    Raises:
        HypersphereError: a file is missing or malformed, or two rows give one probe different values.
    """
    tables = [read(path, EVALUATION) for path in sorted(paths)]
    rows = _stack(tables, EVALUATION).drop_duplicates()
    # A probe repeated on one encoder adds nothing to n; two answers from one encoder are an error upstream.
    twice = rows[rows.duplicated(["run", "epoch", "metric", "probed_on"])]
    if len(twice):
        one = twice.iloc[0]
        where = f"{one['metric']} of run {one['run']} at epoch {one['epoch']} on {one['probed_on']}"
        raise HypersphereError(f"evaluations: {where} is given twice, with different values")
    return rows


def cells(plan: Plan) -> pd.DataFrame:
    """The key columns of every cell; a run that serves several cells has a row for each."""
    return pd.DataFrame([cell.key for cell in plan.cells], columns=KEY).astype({"seed": "Int64"})


def history(plan: Plan) -> pd.DataFrame:
    """Loss, mean embedding norm and learning rate by cell and epoch. A run with no history yet has no rows."""
    numbers = ["epoch", "loss", "norm", "learning_rate"]
    tables = []
    for name in sorted(plan.runs):
        path = plan.run_folder(name) / "history.csv"
        if path.is_file():
            tables.append(read(path, numbers).assign(run=name))
    rows = cells(plan).merge(_stack(tables, ["run", *numbers]), on="run")
    return _sorted(rows, HISTORY)


def runs(plan: Plan) -> pd.DataFrame:
    """runs.csv: what each run was made by and of, from its manifest. A run with no manifest yet has no row."""
    rows = []
    for name in sorted(plan.runs):
        path = plan.run_folder(name) / MANIFEST
        if not path.is_file():
            continue
        found = read_manifest(path.parent)
        row = {key: found[key] for key in ("status", "epochs", "code", "data")}
        row |= {"run": name, "device": found["device"]["name"], "threads": found["numerics"]["threads"]}
        rows.append(row | {"torch": found["environment"]["packages"]["torch"]})
    return pd.DataFrame(rows, columns=RUNS)


def measurements(plan: Plan, probes: pd.DataFrame, histories: pd.DataFrame) -> pd.DataFrame:
    """measurements.csv: probes (`evaluations`), norms (from `history`) and controls. Accuracies in points."""
    probed = cells(plan).merge(probes, on="run")
    diverged = set(probes.loc[probes["status"] == "diverged", "run"])
    rows = _stack([probed, _norms(histories, diverged), controls(probed, probes)], MEASUREMENTS)
    # Whatever was recorded on the way to divergence, a diverged run has no value.
    rows["value"] = rows["value"].where(rows["status"] == "finished")
    return _sorted(rows, MEASUREMENTS)


def _norms(histories: pd.DataFrame, diverged: set[str]) -> pd.DataFrame:
    """The embedding norm per epoch as a measurement, so that curves read one table."""
    bad = histories["run"].isin(diverged) | ~np.isfinite(histories["norm"])
    return histories[[*KEY, "epoch"]].assign(
        final=histories["epoch"] == histories.groupby("run")["epoch"].transform("max"),
        metric="norm",
        probed_on=histories["measured_on"],
        value=histories["norm"],
        n_test=pd.Series(pd.NA, index=histories.index, dtype="Int64"),
        status=np.where(bad, "diverged", "finished"),
    )


def controls(probed: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """Chance, raw pixels and the untrained encoder, for every dataset, metric and probe that the runs have.

    All are final: epoch 0 is the only epoch that a control has. ``probed`` is in the order of the papers' rows.
    """
    targets = probed[["paper", "dataset", "measured_on", "metric", "probed_on"]].drop_duplicates()
    pixels = probes[(probes["run"] == PIXELS) & (probes["status"] == "finished")]
    classes = pixels[pixels["metric"] == CLASSES].set_index("probed_on")["value"]
    # A transfer probe is compared with the pixels of the dataset that it transfers to: join on probed_on.
    raw = targets.merge(pixels, on=["metric", "probed_on"]).assign(variant=PIXELS)
    guess = targets[targets["metric"].str.endswith("_top1") & targets["probed_on"].isin(classes.index)]
    guess = guess.assign(variant="chance", run="chance", value=100 / guess["probed_on"].map(classes))
    untrained = _untrained(probed).assign(variant="untrained")
    rows = [table.assign(method="control", epoch=0, final=True, status="finished") for table in (raw, guess, untrained)]
    return _stack(rows, MEASUREMENTS)


def _untrained(probed: pd.DataFrame) -> pd.DataFrame:
    """One epoch-0 row per seed: methods share their encoder's initialisation, so the first method speaks for all."""
    start = (probed["epoch"] == 0) & ~probed["final"].astype(bool)
    rows = probed[start & (probed["variant"] == "default") & (probed["status"] == "finished")]
    once = ["paper", "dataset", "measured_on", "seed", "metric", "probed_on"]
    return rows.drop_duplicates(once)


def is_constant(values: np.ndarray) -> bool:
    """Whether values agree but for rounding: then their spread says nothing about the error."""
    return len(values) == 0 or float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.abs(values).max()))


def spread(values: np.ndarray) -> float:
    """Standard deviation with n-1, in the values' unit; exactly 0 for equal values, nan for fewer than two."""
    if len(values) < 2:
        return float("nan")
    return 0.0 if is_constant(values) else float(np.std(values, ddof=1))


def mean_interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """The t interval of a mean, in the values' unit; nan where n < 2 or nothing varies."""
    if not spread(values) > 0:
        return float("nan"), float("nan")
    low, high = stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    return float(low), float(high)


def summary(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """summary.csv: ``table`` (measurements) over seeds; diverged runs are left out of means and counted.

    n counts networks, by their seeds: controls that have none (chance, pixels) are one number each, with n = 0.
    """
    by = [*CELL, "final", "metric", "probed_on"]
    # A run that diverged early ends at another epoch: it belongs to the end of its cell all the same.
    last = table.groupby(by)["epoch"].transform("max")
    table = table.assign(epoch=table["epoch"].where(~table["final"].astype(bool), last))
    rows = []
    for key, group in table.groupby([*CELL, *PROBE], sort=True):
        values = group["value"].dropna().to_numpy(dtype=float)
        low, high = mean_interval(values, confidence)
        rows.append(
            dict(zip([*CELL, *PROBE], key, strict=True))
            | {"mean": float(values.mean()) if len(values) else float("nan"), "std": spread(values)}
            | {"n": int(group.loc[group["value"].notna(), "seed"].nunique()), "low": low, "high": high}
            | {"n_diverged": int((group["status"] == "diverged").sum()), "n_test": group["n_test"].max()}
        )
    return pd.DataFrame(rows, columns=SUMMARY).astype({"n_test": "Int64"})


def _stack(tables: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """Rows of all tables, with the columns asked for in their fixed types."""
    types = {column: kind for column, kind in TYPES.items() if column in columns}
    full = [table.reindex(columns=columns) for table in tables if len(table)]
    if not full:
        return pd.DataFrame({c: pd.Series(dtype=types.get(c, "object")) for c in columns})
    # Through object, because an absent column is one of missing numbers in whatever type the others have.
    joined = pd.concat([table.astype(object) for table in full], ignore_index=True)
    return joined.astype(types)


def _sorted(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    by = [column for column in [*KEY, "metric", "probed_on", "epoch"] if column in columns]
    return rows[columns].sort_values(by, kind="stable", ignore_index=True)
