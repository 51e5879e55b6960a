"""Write results/<scale>/statistics/: all that tables, figures, claims, scorecard and paper read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from hypersphere import files
from hypersphere.declared import rules
from hypersphere.declared.plan import Plan
from hypersphere.integrity.manifest import check_evaluation, check_run, tidy_manifest
from hypersphere.statistics import effects, gather


def build(plan: Plan, evaluations: Sequence[Path] | None = None) -> None:
    """Write measurements.csv, summary.csv, history.csv, effects.csv and runs.csv (columns: docs/results.md).

    ``evaluations`` are the files of the batches and of the pixel controls, in any order; those of the plan if None.

    Raises:
        HypersphereError: a file is missing, altered or not as expected; nothing has been written.
    """
    if evaluations is None:
        evaluations = _checked(plan)
    judged_by = rules.load(plan.config.root)
    histories = gather.history(plan)
    measured = gather.measurements(plan, gather.evaluations(evaluations), histories)
    tables = {
        "measurements": (measured, gather.MEASUREMENTS),
        "summary": (gather.summary(measured, judged_by.confidence), gather.SUMMARY),
        "history": (histories, gather.HISTORY),
        "effects": (effects.effects(measured, plan.config.papers, judged_by), effects.COLUMNS),
        "runs": (gather.runs(plan), gather.RUNS),
    }
    write(plan.config.results / "statistics", tables)


def _checked(plan: Plan) -> list[Path]:
    """The plan's evaluation files; they and the histories are as the jobs that made them wrote them."""
    for run in plan.runs:
        check_run(plan, run, "history.csv")
    paths = plan.evaluation_files
    for path in paths:
        check_evaluation(path)
    return paths


def write(folder: Path, tables: Mapping[str, tuple[pd.DataFrame, Sequence[str]]]) -> None:
    """Write tidy tables by their names, each with its columns, and then the manifest that lists their checksums."""
    paths = [_write(folder / f"{name}.csv", table, columns) for name, (table, columns) in tables.items()]
    files.write_sealed(tidy_manifest(paths[0]), {"files": {path.name: files.sha256(path) for path in paths}})


def _write(path: Path, table: pd.DataFrame, columns: Sequence[str]) -> Path:
    """Ten significant digits; a missing or infinite number is an empty field."""
    table = table[list(columns)].copy()
    for column in table.select_dtypes("float"):
        # + 0.0 turns -0.0 into 0.0, which would otherwise be two spellings of one number.
        table[column] = table[column].replace([np.inf, -np.inf], np.nan) + 0.0
    files.write_text(path, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
    return path
