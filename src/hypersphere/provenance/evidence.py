"""Write evidence: pack a finished run into a record, and take in records that were made elsewhere."""

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.cells import on_pixels, raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.config.records import Record, Row, WrongError
from hypersphere.config.run import Run
from hypersphere.config.validation import not_one_of, validate
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_evaluation, check_files

ONCE = ("status", "epochs", "level", "data", "files", "history")
"""What two records of one key must share. The first's times, plan and number of cores stay."""


def pack(plan: Plan, run: Run) -> Path:
    """Add a finished, evaluated run's record to the tables of its scale, and return their folder.

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
        "plan": plan.plans_of(run),
        "seconds": manifest["seconds"],
        "peak_memory_mb": manifest["peak_memory_mb"],
        "history": _history(folder / "history.csv"),
        **_evaluated(plan, run),
    }
    record = validate(Record, content, folder)
    try:
        record.check()
    except WrongError as error:
        raise HypersphereError(f"{folder}: {error}") from None
    target = folder_of(plan)
    add(target, [record], plan)
    return target


def folder_of(plan: Plan) -> Path:
    """Where records of the plan's scale go: ``evidence/<scale>/`` for the laptop, workstation and published scales.

    Those of other scales, and of scales with a changed number, go to the scale's results folder, so that they are not
    taken for evidence.
    """
    changed = plan.config.scale_name != plan.config.settings.scale
    kept = plan.config.scale.level != "quick" and not changed
    return plan.config.evidence if kept else plan.config.results / records.FOLDER


def add(folder: Path, new: Sequence[Record], plan: Plan) -> list[Record]:
    """Add the rows of records to the tables of ``folder``, those that are not there yet: all of them, or none.

    Returns:
        The records of which rows were added.

    Raises:
        HypersphereError: a record contradicts one that is there; the sentence names the table, the run and the field.
    """
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        files.sweep(folder)
        _forget_half_added(folder)
        scale = plan.config.scale_name
        there = {one.key: one for one in records.read_folder(folder, scale, plan.config.expected)}
        tables = records.read_tables(folder)
        known = {name: {row[records.TABLES[name][0]] for row in tables[name]} for name in ("environments", "protocols")}
        added: dict[str, list[Row]] = {name: [] for name in records.TABLES}
        changed = []
        for record in new:
            made = records.rows(record)
            if record.key in there:
                made = _missing(folder, there[record.key], record, made)
            if not made["runs"] and not made["measurements"]:
                continue
            changed.append(record)
            for name, keys in known.items():
                first = records.TABLES[name][0]
                made[name] = [row for row in made[name] if row[first] not in keys]
                keys |= {row[first] for row in made[name]}
            for name, rows in made.items():
                added[name] += rows
        records.check_together(folder, [*there.values(), *new], plan.config.expected)
        if changed:
            _append(folder, added)
        return changed


def _missing(folder: Path, old: Record, new: Record, made: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Of a record whose key is there, the rows of answers that are not.

    Raises:
        HypersphereError: the two contradict one another.
    """
    for field in ONCE:
        if getattr(old, field) != getattr(new, field):
            table = "history" if field == "history" else "runs"
            raise HypersphereError(
                f"{folder / table}.csv: {new.name}: {field}: differs from the record that is there, "
                f"though both have the key {new.key}"
            )
    answers = []
    for of, before, after in (("run", old.evaluations, new.evaluations), ("pixels", old.pixels, new.pixels)):
        there = {one.place: one for one in before}
        for one in after:
            known = there.get(one.place)
            if known is None:
                answers.append((of, one))
                continue
            for field in ("value", "n_test", "classes", "status"):
                if getattr(known, field) != getattr(one, field):
                    raise HypersphereError(
                        f"{folder / 'measurements.csv'}: {new.name}: {field}: {one}: is {getattr(known, field)} in the "
                        f"record that is there (given: {getattr(one, field)}), though both have the key {new.key}"
                    )
    used = {one.by for _, one in answers}
    return made | {
        "runs": [],
        "history": [],
        "measurements": records.measurement_rows(new.key, answers) if answers else [],
        "protocols": [row for row in made["protocols"] if row["by"] in used],
        "environments": made["environments"] if used else [],
    }


def _append(folder: Path, added: dict[str, list[Row]]) -> None:
    """Add rows at the ends of tables. Until all are there, a journal says where the tables ended before."""
    paths = {name: folder / f"{name}.csv" for name in records.TABLES}
    sizes = {name: path.stat().st_size if path.exists() else 0 for name, path in paths.items()}
    journal = folder / records.JOURNAL
    files.write_json(journal, sizes)
    try:
        for name, path in paths.items():
            with files.writing(path), path.open("ab") as handle:
                handle.write(_as_csv(records.TABLES[name], added[name], head=not sizes[name]))
                handle.flush()
                os.fsync(handle.fileno())
    except BaseException:
        _forget_half_added(folder)
        raise
    journal.unlink()


def _forget_half_added(folder: Path) -> None:
    """Cut the tables where they ended before rows that a killed process left half-added. Call it under the lock."""
    journal = folder / records.JOURNAL
    if not journal.exists():
        return
    for name, size in files.mapping(files.read_json(journal)).items():
        path = folder / f"{name}.csv"
        if name in records.TABLES and path.exists() and path.stat().st_size > size:
            os.truncate(path, size)
    journal.unlink()


def _as_csv(columns: Sequence[str], rows: Iterable[Row], head: bool) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    if head:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def take_in(plan: Plan, folder: Path) -> list[Record]:
    """Add the records of a folder to ``evidence/<scale>/``: all of them, or none if one is wrong.

    Returns:
        The new or changed records.

    Raises:
        HypersphereError: there is none, one is malformed, of another scale, or of a protocol or dataset that the config
            does not declare, or one contradicts one that is there.
    """
    if not (folder / "runs.csv").exists() and not (folder / "runs.csv").is_symlink():
        raise HypersphereError(f"{folder}: holds no records ({', '.join(f'{name}.csv' for name in records.TABLES)})")
    scale = plan.config.scale_name
    found = records.read_folder(folder, scale, plan.config.expected)
    protocols = {one.digest for of in plan.protocols.values() for one in of.values()}
    for record in found:
        where = f"{folder / 'measurements.csv'}: {record.name}"
        if record.run.dataset != plan.config.datasets.get(record.run.dataset.name):
            raise HypersphereError(
                f"{folder / 'runs.csv'}: {record.name}: run: dataset: config/datasets.yaml declares no such "
                f"{record.run.dataset.name}"
            )
        for answer in (*record.evaluations, *record.pixels):
            if answer.protocol not in protocols:
                raise HypersphereError(f"{where}: protocol: {answer}: the config declares no {answer.protocol}")
            if answer.target not in plan.config.datasets:
                raise HypersphereError(f"{where}: target: {not_one_of(answer.target, plan.config.datasets)}")
    return add(plan.config.evidence, found, plan)


def _history(path: Path) -> list[dict[str, float | None]]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    return [{key: value if math.isfinite(value) else None for key, value in row.items()} for row in rows]


def _evaluated(plan: Plan, run: Run) -> dict[str, Any]:
    content: dict[str, Any] = {"evaluations": [], "pixels": [], "evaluated_by": {}}
    for digest, asked in plan.asked[run.name].items():
        path = plan.evaluation(run.name, digest)
        manifest, answers = _answers(path, f"hypersphere evaluate {run.name}")
        content["evaluations"] += _by(content["evaluated_by"], manifest, answers)
        if on_pixels(asked.protocol):
            for dataset in sorted({target for _, target in asked.at}):
                path = plan.evaluation(raw_pixels(dataset), digest)
                manifest, answers = _answers(path, f"hypersphere evaluate --pixels {dataset}")
                here = [one for one in answers if one["target"] == dataset]
                content["pixels"] += _by(content["evaluated_by"], manifest, here)
    return content


def _by(known: dict[str, Any], manifest: dict[str, Any], answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers with the digest of how they were measured, which is added to those that are ``known``."""
    about = {key: manifest[key] for key in ("protocol", "code", "device", "threads", "environment")}
    digest = files.digest(about, 8)
    known[digest] = about
    return [one | {"by": digest} for one in answers]


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
