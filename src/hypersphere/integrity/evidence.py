"""Evidence: one small JSON record per finished run, with all that is needed to judge it, and without its weights."""

import csv
import math
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from hypersphere import files
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Run
from hypersphere.declared.validation import PositiveInt, Strict, validate
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import check_evaluation, check_files


class Answer(Strict):
    """One number of one probe, in the measure's unit; empty for a run that diverged."""

    epoch: int
    protocol: str
    """Digest of the probe, its parameters and its layer."""
    measure: str
    target: str
    """The dataset that was probed."""
    reading: str
    """Which value of that measure: ``split=train``; empty if there is only one."""
    value: float | None
    n_test: int | None
    classes: int | None
    status: Literal["finished", "diverged"]


class Record(Strict):
    """The schema of ``evidence/*.json``."""

    schema_version: Literal[1] = 1
    name: str
    scale: str
    level: Literal["quick", "laptop", "paper"]
    run: Run
    status: Literal["finished", "diverged"]
    epochs: PositiveInt
    code: str
    data: str
    files: dict[str, str]
    device: dict[str, str]
    numerics: dict[str, Any]
    environment: dict[str, Any]
    seconds: float
    peak_memory_mb: int
    history: list[dict[str, float | None]]
    """None where a diverged run's loss or norm is not finite, because JSON has no such numbers."""
    evaluations: list[Answer]
    evaluated_by: dict[str, Any]
    """By protocol: its probe and layer, digest of its code, device, threads and environment, which may differ from
    training's."""


def pack(plan: Plan, run: Run) -> Path:
    """Write a finished, evaluated run's record and return its path.

    At the published scale the record goes to ``evidence/``. At any other it goes to the scale's results folder, so that
    no small run is taken for evidence.

    Raises:
        HypersphereError: the run or its evaluations are missing, or its files were altered.
    """
    folder = plan.run_folder(run.name)
    manifest = check_files(folder)
    copied = ("name", "status", "epochs", "code", "data", "files", "device", "numerics", "environment")
    record = {
        **{key: manifest[key] for key in copied},
        "scale": plan.config.scale_name,
        "level": plan.config.scale.level,
        "run": run.model_dump(mode="json"),
        "seconds": manifest["seconds"],
        "peak_memory_mb": manifest["peak_memory_mb"],
        "history": _history(folder / "history.csv"),
        **_evaluated(plan, run),
    }
    published = plan.config.scale_name == "paper"
    path = (plan.config.root / "evidence" if published else plan.config.results / "evidence") / f"{run.name}.json"
    validate(Record, record, path)
    files.write_json(path, record)
    return path


def read(path: Path) -> Record:
    """Parse a record, and check that its name is the name of its content.

    Raises:
        HypersphereError: missing, not JSON, not of the schema, or misnamed.
    """
    record = validate(Record, files.read_json(path), path)
    if record.name != record.run.name or path.stem != record.name:
        raise HypersphereError(f"{path}: name: the record's content is named {record.run.name}")
    return record


def _history(path: Path) -> list[dict[str, float | None]]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    return [{key: value if math.isfinite(value) else None for key, value in row.items()} for row in rows]


def _evaluated(plan: Plan, run: Run) -> dict[str, Any]:
    answers: list[dict[str, Any]] = []
    evaluated_by: dict[str, Any] = {}
    for digest in plan.asked[run.name]:
        path = plan.evaluation(run.name, digest)
        if not path.is_file():
            batch = plan.batch_of(run.name).id
            raise HypersphereError(f"{path}: the file is missing; `hypersphere evaluate --batch {batch}` makes it")
        manifest = check_evaluation(path)
        table = pd.read_csv(path, dtype={"n_test": "Int64", "classes": "Int64", "reading": "str", "protocol": "str"})
        rows = table.drop(columns="run").assign(reading=table["reading"].fillna("")).astype(object)
        answers += [
            {str(key): value for key, value in row.items()} for row in rows.where(rows.notna(), None).to_dict("records")
        ]
        evaluated_by[digest] = {key: manifest[key] for key in ("protocol", "code", "device", "threads", "environment")}
    return {"evaluations": answers, "evaluated_by": evaluated_by}
