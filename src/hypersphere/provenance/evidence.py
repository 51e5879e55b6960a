"""Write evidence: pack a finished run into a record, and take in records that were made elsewhere."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.cells import confirms, on_pixels, raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.config.records import Measurement, Record, TextRow
from hypersphere.config.run import Run
from hypersphere.config.validation import not_one_of, validate
from hypersphere.errors import HypersphereError
from hypersphere.provenance import tables as tidy
from hypersphere.provenance.manifest import check_evaluation, check_run

ONCE = ("status", "epochs", "level", "data", "files", "history")
"""What two records of one key must share. The first's times, plan and number of cores stay."""


def pack(plan: Plan, run: Run) -> Path:
    """Add a finished, evaluated run's record to the tables of its scale, and return their folder (``folder_of``).

    With it go the answers of raw pixels to the same protocols.
    """
    folder, config = plan.run_folder(run.name), plan.config
    manifest = check_run(plan, run.name)
    copied = (
        "name",
        "status",
        "epochs",
        "code",
        "data",
        "files",
        "device",
        "numerics",
        "environment",
    )
    content: dict[str, Any] = {key: manifest[key] for key in (*copied, "seconds", "peak_memory_mb")}
    content |= {
        "scale": config.scale_name,
        "level": config.scale.level,
        "run": run.model_dump(mode="json"),
    }
    with (folder / "history.csv").open(encoding="utf-8", newline="") as handle:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    history = [
        {key: value if math.isfinite(value) else None for key, value in row.items()} for row in rows
    ]
    measured_by: dict[str, Any] = {}
    counted: dict[str, Any] = {}
    data: dict[str, str] = {}
    """By the name of a dataset: how many of its images are repeated, and its digest."""

    def answers(subject: str, digest: str) -> list[dict[str, Any]]:
        """The rows of one file of evaluations, each with the digest of how it was measured."""
        path = plan.evaluation_file(subject, digest)
        manifest = check_evaluation(path)
        about = {
            key: manifest[key] for key in ("protocol", "code", "device", "threads", "environment")
        }
        by = files.digest(about, 8)
        measured_by[by] = about
        counted.update(
            {name: counts for name, counts in manifest.get("repeated", {}).items() if counts}
        )
        data.update(manifest["data"])
        table = pd.read_csv(
            path, dtype={"n_test": "Int64", "classes": "Int64", "reading": "str", "protocol": "str"}
        )
        rows = (
            table.drop(columns="run")
            .assign(reading=table["reading"].fillna(""), by=by)
            .astype(object)
        )
        return tidy.rows(rows.where(rows.notna(), None))

    evaluations, pixels = [], []
    for digest, asked in plan.evaluations[run.name].items():
        evaluations += answers(run.name, digest)
        for dataset in (
            sorted({target for _, target in asked.at}) if on_pixels(asked.protocol) else ()
        ):
            pixels += [
                row for row in answers(raw_pixels(dataset), digest) if row["target"] == dataset
            ]
    shown = [cell for cell in plan.cells if cell.run is not None and cell.run.name == run.name]
    confirmed = {plans[0] for cell in shown if (plans := confirms(cell, config))}
    content |= {
        "plan": ";".join(sorted(confirmed)),
        "history": history,
        "evaluated_by": measured_by,
    }
    record = validate(Record, content | {"evaluations": evaluations, "pixels": pixels}, folder)
    target = folder_of(plan)
    record.check(target)
    add(
        target,
        [record],
        plan,
        [_dataset(plan, name, data[name], counted[name]) for name in sorted(counted)],
    )
    return target


def _dataset(plan: Plan, name: str, data: str, counts: dict[str, Any]) -> TextRow:
    return {
        "dataset": plan.datasets[name].folder,
        "data": data,
        "counts": files.canonical_json(counts),
    }


def folder_of(plan: Plan) -> Path:
    """Where records of the plan's scale go: ``evidence/<scale>/`` for the laptop, workstation and published scales.

    Those of other scales, and of scales with a changed number, go to the scale's results folder, so that they are not
    taken for evidence.
    """
    changed = plan.config.scale_name != plan.config.settings.scale
    kept = plan.config.scale.level != "quick" and not changed
    return plan.config.evidence if kept else plan.config.results / records.FOLDER


def add(
    folder: Path, new: Sequence[Record], plan: Plan, datasets: Sequence[TextRow] = ()
) -> list[Record]:
    """Add the rows of records to the tables of ``folder``, those that are not there yet: all of them, or none.

    With them go the rows of their ``datasets``.

    One process at a time adds rows; the others wait for its lock. A table is replaced whole, the runs last, so that a
    reader never meets a run without the rest of it. A record that contradicts one that is there is refused by a
    sentence that names the table, the run and the field. Returns the records of which rows were added.
    """
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        files.sweep(folder)
        of_scale = plan.config.scale_name, plan.config.scale.level
        there = {one.key: one for one in records.read_folder(folder, *of_scale, writing=True)}
        tables = records.read_tables(folder, writing=True)
        changed = []
        known = {row["dataset"]: row for row in tables["datasets"]}
        for row in datasets:
            for field in ("data", "counts"):
                if known.setdefault(row["dataset"], row)[field] != row[field]:
                    where = f"{folder / 'datasets.csv'}: {row['dataset']}"
                    raise HypersphereError(f"{where}: {field}: differs from the row that is there")
        added = [row for row in known.values() if row not in tables["datasets"]]
        tables["datasets"] += added
        for record in new:
            old = there.get(record.key)
            rows = _missing(folder, old, record) if old else records.rows(record)
            if rows["runs"] or rows["measurements"]:
                changed.append(record)
                for name in rows:
                    tables[name] += rows[name]
        records.check_together(folder, [*there.values(), *new], plan.config.scale.level)
        for name, columns in records.TABLES.items() if changed or added else ():
            # A machine is there once, in whatever order the file before had its columns.
            distinct = dict.fromkeys(
                tuple(row[column] for column in columns) for row in tables[name]
            )
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows([columns, *distinct])
            files.write_text(folder / f"{name}.csv", text.getvalue())
        return changed


def _missing(folder: Path, old: Record, new: Record) -> dict[str, list[TextRow]]:
    """The rows of a record that its key does not have yet: new answers, and how they were measured."""

    def check(table: str, field: str, before: object, after: object, of: str = "") -> None:
        if before != after:
            raise HypersphereError(
                f"{folder / table}.csv: {new.name}: {field}: {of}differs from the record that is there, "
                f"though both have the key {new.key}"
            )

    for field in ONCE:
        check(
            "history" if field == "history" else "runs",
            field,
            getattr(old, field),
            getattr(new, field),
        )
    left: dict[str, list[Measurement]] = {}
    for of in ("evaluations", "pixels"):
        there: dict[Any, Measurement] = {one.place: one for one in getattr(old, of)}
        left[of] = [one for one in getattr(new, of) if one.place not in there]
        for one in getattr(new, of):
            for field in ("value", "n_test", "classes", "status") if one.place in there else ():
                was, now = getattr(there[one.place], field), getattr(one, field)
                check("measurements", field, was, now, f"{one} ({was} there, {now} given) ")
    used = {one.by for of in left.values() for one in of}
    measured_by = {by: how for by, how in new.evaluated_by.items() if by in used}
    rows = records.rows(new.model_copy(update={**left, "evaluated_by": measured_by, "history": []}))
    return {**rows, "runs": []}


def take_in(plan: Plan, folder: Path) -> list[Record]:
    """Add the records of a folder to ``evidence/<scale>/``: all of them, or none if one is wrong.

    Each must be of this scale, and of what the config declares (``undeclared``). Returns the new or changed.
    """
    if not (folder / "runs.csv").exists() and not (folder / "runs.csv").is_symlink():
        raise HypersphereError(
            f"{folder}: holds no records ({', '.join(f'{name}.csv' for name in records.TABLES)})"
        )
    found = records.read_folder(folder, plan.config.scale_name, plan.config.scale.level)
    for fault in undeclared(plan, found, folder):
        raise HypersphereError(fault)
    return add(plan.config.evidence, found, plan, records.read_tables(folder)["datasets"])


def undeclared(plan: Plan, found: Iterable[Record], folder: Path) -> Iterator[str]:
    """What records of a folder say that the config does not declare: a sentence of each such record.

    Nothing counts it. Where records are read it may be of an earlier config, and stays; it is not taken in.
    """
    datasets, studies = plan.config.datasets, defaultdict[str, set[str]](set)
    protocols = {one.digest for of in plan.protocols.values() for one in of.values()}
    runs = set[str]()
    for cell in plan.cells:
        if cell.run is not None:
            runs.add(_but_its_seed(cell.run))
            studies[cell.run.name] |= {*confirms(cell, plan.config)}
    for record in found:
        of_run, dataset = f"{folder / 'runs.csv'}: {record.name}", record.run.dataset
        strange = sorted({*record.plans} - studies[record.name])
        measured = list(_undeclared_answers(record, protocols, datasets))
        if dataset != datasets.get(dataset.name):
            yield f"{of_run}: run: dataset: config/datasets.yaml declares no such {dataset.name}"
        elif _but_its_seed(record.run) not in runs:
            yield f"{of_run}: run: no artifact of scale {plan.config.scale_name} asks for it"
        elif strange:
            yield f"{of_run}: plan: no study has this run under {strange[0]}"
        elif measured:
            yield f"{folder / 'measurements.csv'}: {record.name}: {measured[0]}"


def _but_its_seed(run: Run) -> str:
    """What says which run it is: a record may be of another seed than those that the scale lists."""
    return run.model_dump_json(exclude={"seed"})


def _undeclared_answers(
    record: Record, protocols: Collection[str], datasets: Collection[str]
) -> Iterator[str]:
    for answer in (*record.evaluations, *record.pixels):
        if answer.protocol not in protocols:
            yield f"protocol: {answer}: the config declares no {answer.protocol}"
        elif answer.target not in datasets:
            yield f"target: {not_one_of(answer.target, datasets)}"
