"""Write evidence: pack a finished run into a record, and take in records that were made elsewhere."""

import csv
import math
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere import files
from hypersphere.declared import records
from hypersphere.declared.cells import on_pixels, raw_pixels
from hypersphere.declared.plan import Plan
from hypersphere.declared.records import Record
from hypersphere.declared.run import Run
from hypersphere.declared.validation import validate
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import check_evaluation, check_files


def pack(plan: Plan, run: Run) -> Path:
    """Write a finished, evaluated run's record and return its path.

    Records of the laptop, workstation and published scales go to ``evidence/<scale>/``. Those of other scales, and of
    scales with a changed number, go to the scale's results folder, so that they are not taken for evidence.

    Raises:
        HypersphereError: the run or its evaluations are missing, its files were altered, or the record that is there
            says something else of the same run, device and code.
    """
    folder = plan.run_folder(run.name)
    manifest = check_files(folder)
    copied = ("name", "status", "epochs", "code", "data", "files", "device", "numerics", "environment")
    content = {
        **{key: manifest[key] for key in copied},
        "scale": plan.config.scale_name,
        "level": plan.config.scale.level,
        "run": run.model_dump(mode="json"),
        "seconds": manifest["seconds"],
        "peak_memory_mb": manifest["peak_memory_mb"],
        "history": _history(folder / "history.csv"),
        **_evaluated(plan, run),
    }
    changed = plan.config.scale_name != plan.config.settings.scale
    kept = plan.config.scale.level != "quick" and not changed
    record = validate(Record, content, folder)
    return add(plan.config.evidence if kept else plan.config.results / records.FOLDER, record)


def add(folder: Path, record: Record) -> Path:
    """Write a record among those of ``folder``, or merge it with the one of its key, and return its path.

    Raises:
        HypersphereError: the two contradict one another.
    """
    path = folder / record.file_name
    if path.exists():
        record = records.merged(records.read(path), record, path)
    files.write_json(path, record.model_dump(mode="json"))
    return path


def take_in(plan: Plan, folder: Path) -> list[Path]:
    """Copy the records of a folder to ``evidence/<scale>/``: all of them, or none if one is wrong.

    Returns:
        The paths of the new or changed records.

    Raises:
        HypersphereError: there is none, one is malformed or of another scale, or contradicts one that is there.
    """
    found = [records.read(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise HypersphereError(f"{folder}: holds no record (*.json)")
    for record in found:
        if record.scale != plan.config.scale_name:
            raise HypersphereError(
                f"{folder / record.file_name}: scale: is {record.scale}, and records of {plan.config.scale_name} "
                f"are taken in; --set scale={record.scale} takes in those"
            )
        path = plan.config.evidence / record.file_name
        if path.exists():
            records.merged(records.read(path), record, path)
    return [add(plan.config.evidence, record) for record in found]


def _history(path: Path) -> list[dict[str, float | None]]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    return [{key: value if math.isfinite(value) else None for key, value in row.items()} for row in rows]


def _evaluated(plan: Plan, run: Run) -> dict[str, Any]:
    content: dict[str, Any] = {"evaluations": [], "pixels": [], "evaluated_by": {}}
    for digest, asked in plan.asked[run.name].items():
        path = plan.evaluation(run.name, digest)
        manifest, answers = _answers(path, f"hypersphere evaluate {run.name}")
        content["evaluations"] += answers
        by = {key: manifest[key] for key in ("protocol", "code", "device", "threads", "environment")}
        content["evaluated_by"][digest] = by
        if on_pixels(asked.protocol):
            for dataset in sorted({target for _, target in asked.at}):
                path = plan.evaluation(raw_pixels(dataset), digest)
                _, answers = _answers(path, f"hypersphere evaluate --pixels {dataset}")
                content["pixels"] += [one for one in answers if one["target"] == dataset]
    return content


def _answers(path: Path, makes: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The manifest of one file of evaluations, and its rows with None in empty fields.

    Raises:
        HypersphereError: it is missing or altered.
    """
    if not path.is_file():
        raise HypersphereError(f"{path}: the file is missing; `{makes}` makes it")
    manifest = check_evaluation(path)
    table = pd.read_csv(path, dtype={"n_test": "Int64", "classes": "Int64", "reading": "str", "protocol": "str"})
    rows = table.drop(columns="run").assign(reading=table["reading"].fillna("")).astype(object)
    rows = rows.where(rows.notna(), None)
    return manifest, [{str(key): value for key, value in row.items()} for row in rows.to_dict("records")]
