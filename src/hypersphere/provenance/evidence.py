"""Write evidence: pack a finished run into a record, and take in records that were made elsewhere."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from filelock import FileLock

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.cells import confirms, on_pixels, raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.config.records import How, Measurement, Record, TextRow
from hypersphere.config.run import Run
from hypersphere.config.validation import not_one_of, read_table, validate
from hypersphere.errors import HypersphereError
from hypersphere.provenance import datapackage
from hypersphere.provenance.manifest import check_evaluation, check_run
from hypersphere.provenance.tables import EVALUATION

OF_RECORD = ("status", "epochs", "level", "data", "files", "history")
"""The fields in which two records of one key must agree. Times, plan and number of cores stay as they came first."""
OF_PLACE = ("value", "n_test", "classes", "status")
"""The fields in which two answers at one place must agree."""


def pack(plan: Plan, run: Run) -> Path:
    """Add a finished, evaluated run's record to the tables of its scale, and return their folder (``folder_of``).

    With it go the answers of raw pixels to the same protocols.
    """
    manifest = check_run(plan, run.name)
    answers = _Answers(plan)
    evaluations: list[TextRow] = []
    pixels: list[TextRow] = []
    for digest, asked in plan.evaluations[run.name].items():
        evaluations += answers.read(run.name, digest)
        if on_pixels(asked.protocol):
            for dataset in sorted({target for _, target in asked.at}):
                measured = answers.read(raw_pixels(dataset), digest)
                pixels += [row for row in measured if row["target"] == dataset]
    content = {field: manifest[field] for field in Record.model_fields if field in manifest}
    content |= {
        "scale": plan.config.scale_name,
        "level": plan.config.scale.level,
        "run": run.model_dump(mode="json"),
        "plan": ";".join(_confirmed_studies(plan, run)),
        "history": _history(plan.run_folder(run.name)),
        "evaluations": evaluations,
        "pixels": pixels,
        "evaluated_by": answers.evaluated_by,
    }
    record = validate(Record, content, plan.run_folder(run.name))
    target = folder_of(plan)
    record.check(target)
    datasets = [answers.datasets[name] for name in sorted(answers.datasets)]
    add(target, [record], plan, datasets)
    return target


class _Answers:
    """Reads the answers of probes from their files, and collects what the manifests say of their making."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.evaluated_by: dict[str, Any] = {}
        """The ways in which the answers were measured, each by its digest."""
        self.datasets: dict[str, TextRow] = {}
        """The row of datasets.csv of each dataset whose repeated images were counted, by its name."""

    def read(self, subject: str, protocol: str) -> list[TextRow]:
        """The answers of a run, or of raw pixels, by one protocol, as text."""
        path = self.plan.evaluation_file(subject, protocol)
        manifest = check_evaluation(path)
        how = {field: manifest[field] for field in How.model_fields}
        by = files.digest(how, 8)
        self.evaluated_by[by] = how
        for name, counts in manifest.get("repeated", {}).items():
            if counts:
                self.datasets[name] = {
                    "dataset": self.plan.datasets[name].folder,
                    "data": manifest["data"][name],
                    "counts": files.canonical_json(counts),
                }
        fields = [field for field in EVALUATION if field != "run"]
        rows = read_table(path, EVALUATION)
        return [{**{field: row[field] for field in fields}, "by": by} for row in rows]


def _history(folder: Path) -> list[dict[str, str | None]]:
    """The rows of a run's history.csv as text; a number that is not finite is None."""
    rows = []
    text = io.StringIO(files.read_text(folder / "history.csv"), newline="")
    for row in csv.DictReader(text):
        finite = [field for field in row if math.isfinite(float(row[field]))]
        rows.append(dict.fromkeys(row) | {field: row[field] for field in finite})
    return rows


def _confirmed_studies(plan: Plan, run: Run) -> list[str]:
    """The studies that a run confirms, each with its plan's digest, sorted."""
    named = set()
    for cell in plan.cells:
        if cell.run is not None and cell.run.name == run.name:
            # The first name of a study has the digest of its present plan.
            named.update(confirms(cell, plan.config)[:1])
    return sorted(named)


def folder_of(plan: Plan) -> Path:
    """Where records of the plan's scale go: ``evidence/<scale>/`` for the laptop, workstation and published scales.

    Records of other scales, and of scales with a changed number, go to the scale's results folder, so that nobody takes
    them for evidence.
    """
    changed = plan.config.scale_name != plan.config.settings.scale
    if plan.config.scale.level == "quick" or changed:
        return plan.config.results / records.FOLDER
    return plan.config.evidence


def add(
    folder: Path, new: Sequence[Record], plan: Plan, datasets: Sequence[TextRow] = ()
) -> list[Record]:
    """Add new records, with the rows of their ``datasets``, to the tables of ``folder``: all of them, or none.

    Rows that are there already are not added again.

    One process at a time adds rows; the others wait for its lock. A table is replaced whole, the runs last, so that a
    reader never meets a run without the rest of it. A record that contradicts one that is there is refused by a
    sentence that names the table, the run and the field. Returns the records of which rows were added.
    """
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        files.sweep(folder)
        scale, level = plan.config.scale_name, plan.config.scale.level
        there = {one.key: one for one in records.read_folder(folder, scale, level, writing=True)}
        tables = records.read_tables(folder, writing=True)
        counted = _not_there(folder, tables["datasets"], datasets)
        tables["datasets"] += counted
        changed = []
        for record in new:
            old = there.get(record.key)
            rows = _missing(folder, old, record) if old else records.rows(record)
            if rows["runs"] or rows["measurements"]:
                changed.append(record)
                for name in rows:
                    tables[name] += rows[name]
        records.check_together(folder, [*there.values(), *new])
        if changed or counted:
            _write(folder, tables)
            files.write_json(folder / datapackage.FILE, datapackage.of_records(scale))
        return changed


def _write(folder: Path, tables: Mapping[str, list[TextRow]]) -> None:
    """Write all tables. Each row is there once, although several records name one machine."""
    for name, columns in records.TABLES.items():
        # In the order of our columns, whatever the file had before.
        distinct = dict.fromkeys(map(itemgetter(*columns), tables[name]))
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([columns, *distinct])
        files.write_text(folder / f"{name}.csv", text.getvalue())


def _not_there(folder: Path, there: list[TextRow], given: Iterable[TextRow]) -> list[TextRow]:
    """The given rows of datasets that a folder lacks. A row that differs from the folder's row is refused."""
    known = {row["dataset"]: row for row in there}
    for row in given:
        old = known.setdefault(row["dataset"], row)
        for field in ("data", "counts"):
            if old[field] != row[field]:
                where = f"{folder / 'datasets.csv'}: {row['dataset']}"
                raise HypersphereError(f"{where}: {field}: differs from the row that is there")
    return [row for row in known.values() if row not in there]


def _missing(folder: Path, old: Record, new: Record) -> dict[str, list[TextRow]]:
    """The rows that a record adds to an older one of its key: new answers, and how they were measured."""
    for table, contradiction in _contradictions(old, new):
        raise HypersphereError(
            f"{folder / table}.csv: {new.name}: {contradiction} differs from the record that is there, "
            f"though both have the key {new.key}"
        )
    evaluations = _at_new_places(old.evaluations, new.evaluations)
    pixels = _at_new_places(old.pixels, new.pixels)
    used = {one.by for one in (*evaluations, *pixels)}
    further = {
        "evaluations": evaluations,
        "pixels": pixels,
        "evaluated_by": {by: how for by, how in new.evaluated_by.items() if by in used},
        "history": [],
    }
    rows = records.rows(new.model_copy(update=further))
    return {**rows, "runs": []}


def _at_new_places(old: Iterable[Measurement], new: Iterable[Measurement]) -> list[Measurement]:
    """The new answers at places where nothing was measured before."""
    places = {one.place for one in old}
    return [one for one in new if one.place not in places]


def _contradictions(old: Record, new: Record) -> Iterator[tuple[str, str]]:
    """Where two records of one key differ: the table, and the field with what each record says of an answer."""
    for field in OF_RECORD:
        if getattr(old, field) != getattr(new, field):
            yield ("history" if field == "history" else "runs"), f"{field}:"
    for there, given in ((old.evaluations, new.evaluations), (old.pixels, new.pixels)):
        before = {one.place: one for one in there}
        for one in given:
            was = dict(before.get(one.place, one))
            for field, now in one:
                if field in OF_PLACE and was[field] != now:
                    yield "measurements", f"{field}: {one} ({was[field]} there, {now} given)"


def take_in(plan: Plan, folder: Path) -> list[Record]:
    """Add the records of a folder to ``evidence/<scale>/``: all of them, or none if one is wrong.

    Each record must be of this scale, and the config must declare it (``undeclared_records``). Returns the records that
    are new or changed.
    """
    if not (folder / "runs.csv").exists() and not (folder / "runs.csv").is_symlink():
        tables = ", ".join(f"{name}.csv" for name in records.TABLES)
        raise HypersphereError(f"{folder}: holds no records ({tables})")
    incoming = records.read_folder(folder, plan.config.scale_name, plan.config.scale.level)
    for fault in undeclared_records(plan, incoming, folder):
        raise HypersphereError(fault)
    return add(plan.config.evidence, incoming, plan, records.read_tables(folder)["datasets"])


def undeclared_records(plan: Plan, every: Iterable[Record], folder: Path) -> Iterator[str]:
    """Yield a sentence for each record of a folder that says what the config does not declare.

    Such a record counts in nothing. An old one stays, as its config may be an earlier one; a new one is not taken in.
    """
    protocols: set[str] = set()
    for of_paper in plan.protocols.values():
        protocols.update(protocol.digest for protocol in of_paper.values())
    runs = set()
    studies = defaultdict[str, set[str]](set)
    for cell in plan.cells:
        if cell.run is not None:
            runs.add(_without_seed(cell.run))
            studies[cell.run.name].update(confirms(cell, plan.config))
    for record in every:
        of_run = f"{folder / 'runs.csv'}: {record.name}"
        dataset = record.run.dataset
        strange = sorted({*record.plans} - studies[record.name])
        measured = _undeclared_answer(record, protocols, plan.config.datasets)
        if dataset != plan.config.datasets.get(dataset.name):
            yield f"{of_run}: run: dataset: config/datasets.yaml declares no such {dataset.name}"
        elif _without_seed(record.run) not in runs:
            yield f"{of_run}: run: no artifact of scale {plan.config.scale_name} asks for it"
        elif strange:
            yield f"{of_run}: plan: no study has this run under {strange[0]}"
        elif measured:
            yield f"{folder / 'measurements.csv'}: {record.name}: {measured}"


def _without_seed(run: Run) -> str:
    """The settings of a run but its seed: a record may have a seed that the scale does not list."""
    return run.model_dump_json(exclude={"seed"})


def _undeclared_answer(
    record: Record, protocols: Collection[str], datasets: Collection[str]
) -> str | None:
    """The first answer whose protocol or target is not declared, in words; None if all are declared."""
    for answer in (*record.evaluations, *record.pixels):
        if answer.protocol not in protocols:
            return f"protocol: {answer}: the config declares no {answer.protocol}"
        if answer.target not in datasets:
            return f"target: {not_one_of(answer.target, datasets)}"
    return None
