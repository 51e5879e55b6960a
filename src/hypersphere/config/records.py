"""Evidence: what a finished run leaves, with all that is needed to judge it and without its weights.

The records of a scale are tidy tables in ``evidence/<scale>/``. Rows are only added, at the ends of the tables, so that
a difference of two commits is additions, and the order of rows is that in which they came:

| table              | a row for each                                                                              |
|--------------------|---------------------------------------------------------------------------------------------|
| `runs.csv`         | run on one machine, by code and data (``key``): settings, checksums, machine, plan          |
| `measurements.csv` | number of a probe; rows that came together share the digest of all of them (``seal``)       |
| `history.csv`      | epoch of training                                                                           |
| `protocols.csv`    | way in which a probe was run (``by``): its settings, code, device and environment           |
| `environments.csv` | machine and its libraries                                                                   |
"""

import csv
import io
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.measures import LARGEST, MEASURES
from hypersphere.config.run import Run
from hypersphere.config.validation import NonNegativeInt, PositiveInt, Strict, not_one_of, validate
from hypersphere.errors import HypersphereError

FOLDER = "evidence"
"""Holds a folder of records for each scale."""
EPOCH = ("learning_rate", "loss", "norm", "return")
"""What training records after each epoch; ``return`` is of control tasks alone."""
TABLES: dict[str, tuple[str, ...]] = {
    "environments": ("environment", "content"),
    "protocols": ("by", "protocol", "content", "code", "device", "threads", "environment"),
    "history": ("key", "epoch", *EPOCH),
    "measurements": (
        *("key", "of", "protocol", "epoch", "target", "measure", "reading", "value", "n_test", "classes", "status"),
        *("by", "seal"),
    ),
    "runs": (
        *("key", "name", "scale", "level", "status", "seed", "plan", "epochs", "code", "data", "seconds"),
        *("peak_memory_mb", "device", "numerics", "environment", "files", "run", "seal"),
    ),
}
"""The columns of each table, in the order in which tables are written: what a row refers to comes before it."""
VALUES = {
    *("content", "device", "numerics", "files", "run", "epoch", "epochs", "seed", "threads", "peak_memory_mb"),
    *("n_test", "classes", "seconds", "value", *EPOCH),
}
"""The columns of all tables that hold JSON: mappings and numbers, or nothing; others hold text."""
JOURNAL = ".adding.json"
"""The sizes that the tables had before rows that are being added: what lies beyond them is not there yet."""
Level = Literal["quick", "laptop", "paper"]
Status = Literal["finished", "diverged"]
Row = dict[str, str]
Parsed = dict[str, Any]
Hex16 = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Hex64 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class WrongError(ValueError):
    """What is wrong with a record: the table, and a sentence that begins with the field."""

    def __init__(self, table: str, sentence: str) -> None:
        super().__init__(sentence)
        self.table = table


class How(Strict):
    """How a probe was run."""

    protocol: dict[str, Any]
    code: str
    device: dict[str, str]
    threads: int
    environment: dict[str, Any]


class Answer(Strict):
    """One number of one probe, in the measure's unit; empty for a run that diverged, and for a part without images."""

    epoch: NonNegativeInt
    protocol: str
    """Digest of the probe, its parameters and its layer."""
    measure: str
    target: str
    """The dataset that was probed."""
    reading: str
    """Which value of that measure: ``split=train``; empty if there is only one."""
    value: float | None
    n_test: NonNegativeInt | None
    classes: PositiveInt | None
    status: Status
    by: str
    """Digest of how it was measured: a key of the record's ``evaluated_by``."""

    @property
    def place(self) -> tuple[str, int, str, str, str]:
        """Which number it is: a record has no two of one place."""
        return self.protocol, self.epoch, self.target, self.measure, self.reading

    def __str__(self) -> str:
        return f"{' '.join(filter(None, (self.measure, self.reading)))} of epoch {self.epoch} on {self.target}"


class Record(Strict):
    """All rows of one run on one machine."""

    name: str
    scale: str
    level: Level
    run: Run
    status: Status
    plan: str = ""
    """Digest of the study's plan under which it was made; empty: of none."""
    epochs: PositiveInt
    code: Hex16
    data: Hex64
    files: dict[str, Hex64]
    device: dict[str, str]
    numerics: dict[str, Any]
    environment: dict[str, Any]
    seconds: Annotated[float, Field(ge=0, le=LARGEST)]
    peak_memory_mb: NonNegativeInt
    history: list[dict[str, float | None]]
    """None where a diverged run's loss or norm is not finite."""
    evaluations: list[Answer]
    pixels: list[Answer]
    """The same protocols' answers on raw pixels of the probed datasets: controls."""
    evaluated_by: dict[str, How]
    """How probes were run, each by its digest; machine and code may differ from training's."""

    @property
    def key(self) -> str:
        """Digest of all that decides a run's bytes: records of one key must agree, those of two are replicates."""
        decides = self.model_dump(mode="json", include={"name", "device", "numerics", "code", "data"})
        machine = {name: value for name, value in self.environment.items() if name != "cores"}
        return files.digest([decides, machine], 8)

    @property
    def seal(self) -> str:
        """Digest of all but the measurements, which may be added to."""
        return files.digest(self.model_dump(mode="json", exclude={"evaluations", "pixels", "evaluated_by"}))

    @property
    def precision(self) -> str:
        """The precision of training: ``float32``, unless it is recorded otherwise."""
        return str(self.numerics.get("precision", "float32"))

    def answers(self, protocol: str, of_pixels: bool = False) -> list[Answer]:
        """The answers of one protocol, by its digest."""
        return [one for one in (self.pixels if of_pixels else self.evaluations) if one.protocol == protocol]

    def measured(self, protocol: str, epoch: int, target: str) -> bool:
        """Whether the run was measured so."""
        return any((one.epoch, one.target) == (epoch, target) for one in self.answers(protocol))

    def check(self) -> None:
        """Check what a record says against itself and the measures that exist; a WrongError for the first fault."""
        for table, sentence in (*self._faults(), *self._faults_of_history(), *self._faults_of_answers()):
            raise WrongError(table, sentence)

    def _faults(self) -> Iterator[tuple[str, str]]:
        last = self.run.schedule.epochs
        whole = self.epochs == last if self.status == "finished" else self.epochs <= last
        torch = files.mapping(self.environment.get("packages")).get("torch")
        for holds, sentence in (
            (self.name == self.run.name, f"name: the record's content is named {self.run.name}"),
            ("encoder.safetensors" in self.files, "files: has no checksum of encoder.safetensors"),
            ("history.csv" in self.files, "files: has no checksum of history.csv"),
            ({"name", "type"} <= self.device.keys(), "device: needs name and type"),
            (isinstance(self.numerics.get("threads"), int), "numerics: needs threads"),
            (self.precision in ("float32", "bfloat16"), f"numerics: precision: unknown (given: {self.precision})"),
            (isinstance(torch, str), "environment: packages: needs torch"),
            (whole, f"epochs: a run of {last} epochs cannot be {self.status} after {self.epochs}"),
        ):
            if not holds:
                yield "runs", sentence

    def _faults_of_history(self) -> Iterator[tuple[str, str]]:
        if [row.get("epoch") for row in self.history] != list(range(1, self.epochs + 1)):
            yield "history", f"epoch: must be 1 to {self.epochs}, each once"
            return
        for row in self.history:
            if row.keys() - {"epoch", *EPOCH} or {"loss", "norm", "learning_rate"} - row.keys():
                yield "history", f"columns: {', '.join(row)}; known are epoch, {', '.join(EPOCH)}"
                return
            may_fail = self.status == "diverged" and row["epoch"] == self.epochs
            for field, value in row.items():
                if not may_fail if value is None else abs(value) > LARGEST:
                    yield "history", f"{field}: epoch {row['epoch']:g}: must be finite (given: {value})"
            if not (row["norm"] or 0) >= 0:
                yield "history", f"norm: epoch {row['epoch']:g}: is negative"

    def _faults_of_answers(self) -> Iterator[tuple[str, str]]:
        for answers, last in ((self.evaluations, self.run.schedule.epochs), (self.pixels, 0)):
            places = set()
            for answer in answers:
                diverged = self.status == "diverged" and answer.epoch > 0 and answers is self.evaluations
                for field, sentence in _faults_of_answer(answer, self.evaluated_by.get(answer.by), last, diverged):
                    yield "measurements", f"{field}: {answer}: {sentence}"
                if answer.place in places:
                    yield "measurements", f"{answer}: is there twice"
                places.add(answer.place)


def _faults_of_answer(answer: Answer, about: How | None, last: int, diverged: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with an answer: the field, and what it must be.

    ``about`` is how it was measured, ``last`` the last epoch that can be, and ``diverged`` whether it has no number.
    """
    if answer.measure not in MEASURES:
        yield "measure", not_one_of(answer.measure, MEASURES)
        return
    if about is None:
        yield "by", f"{answer.by} is not described"
        return
    if answer.protocol != files.digest(about.protocol, 8):
        yield "protocol", f"{answer.protocol} is not the digest of the probe in {answer.by}"
    probe = files.mapping(about.protocol.get("probe")).get("name")
    if probe not in registry.names("probes"):
        yield "protocol", f"there is no probe {_short(probe)}"
    elif answer.measure not in registry.read_constant("probes", str(probe), "MEASURES", ()):
        yield "measure", f"the probe {probe} does not give it"
    if answer.epoch > last:
        yield "epoch", f"must be at most {last}"
    if (answer.status == "diverged") != diverged:
        yield "status", f"cannot be {answer.status} where the run is {'diverged' if diverged else 'finished'}"
    numbers = answer.value, answer.n_test, answer.classes
    if diverged:
        if numbers != (None, None, None):
            yield "value", "a run that diverged has none"
        return
    measure, a_part = MEASURES[answer.measure], "bucket=" in answer.reading
    if answer.value is None and not a_part:
        yield "value", "is missing, and the run finished"
    if answer.value is not None and not measure.low <= answer.value <= measure.high:
        yield "value", f"must be from {measure.low:g} to {measure.high:g} (given: {answer.value:g})"
    for field, number, least in (("n_test", answer.n_test, 0 if a_part else 1), ("classes", answer.classes, 2)):
        if number is None or (number < least and not measure.without_test_set):
            yield field, f"must be at least {least} (given: {number})"


Records = Mapping[str, tuple[Record, ...]]
"""Records by the name of their run: replicates of one run, those in float32 first, and then in the order they came."""


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# Reading


def read_all(folder: Path, level: Level | None = None) -> Records:
    """All records of a scale's folder; none if it does not exist. One that is malformed or contradicts is refused."""
    return grouped(read_folder(folder, folder.name, level))


def read_folder(folder: Path, scale: str, level: Level | None = None) -> list[Record]:
    """The records of any folder in the order of their rows, checked as those of one scale."""
    read = list(_assembled(folder, read_tables(folder)))
    for record in read:
        if record.scale != scale:
            raise HypersphereError(
                f"{folder / 'runs.csv'}: {record.name}: scale: is {record.scale}, among records of {scale}"
            )
    check_together(folder, read, level)
    return read


def read_tables(folder: Path) -> dict[str, list[Row]]:
    """The rows of each table, as text, without those that are being added or that a killed process left half-added."""
    for _ in range(50):
        sizes = _sizes_before(folder)
        contents = {name: path.read_bytes() if (path := folder / f"{name}.csv").exists() else b"" for name in TABLES}
        after = _sizes_before(folder)
        if sizes == after and (sizes is None or all(len(contents[name]) >= sizes[name] for name in TABLES)):
            break
        time.sleep(0.1)  # another process adds rows right now
    else:
        raise HypersphereError(f"{folder}: other processes change it all the time")
    return {
        name: _rows(folder / f"{name}.csv", content if sizes is None else content[: sizes[name]], TABLES[name])
        for name, content in contents.items()
    }


def _sizes_before(folder: Path) -> dict[str, int] | None:
    path = folder / JOURNAL
    if not path.exists():
        return None
    return files.mapping(files.read_json(path))


def _rows(path: Path, content: bytes, columns: tuple[str, ...]) -> list[Row]:
    if not content:
        return []
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise HypersphereError(f"{path}: not a table in UTF-8 text ({error})") from None
    if tuple(lines[0]) != columns:
        raise HypersphereError(f"{path}: its columns must be {','.join(columns)} (given: {_short(','.join(lines[0]))})")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise HypersphereError(
                f"{path}: row {number}: has {len(line)} fields, and there are {len(columns)} columns"
            )
    return [dict(zip(columns, line, strict=True)) for line in lines[1:]]


def _parsed(row: Row) -> Parsed:
    """The values of a row's fields: text, numbers, None and mappings; a ValueError that begins with the field."""
    return {column: _value(column, text) for column, text in row.items()}


def _value(column: str, text: str) -> Any:
    if column not in VALUES:
        return text
    try:
        return json.loads(text) if text else None
    except ValueError:
        raise ValueError(f"{column}: must be JSON (given: {_short(text)!r})") from None


def _assembled(folder: Path, tables: Mapping[str, list[Row]]) -> Iterator[Record]:
    """Records from rows. A row without a run, one that is there twice, altered or malformed is refused."""

    def how(row: Parsed) -> Parsed:
        if row["protocol"] != files.digest(row["content"], 8):
            raise ValueError("protocol: is not the digest of its content")
        described = {"protocol": row["content"], "environment": _environment(row, environments)}
        return described | {key: row[key] for key in ("code", "device", "threads")}

    environments = _described(folder, "environments", tables, lambda row: row["content"])
    protocols = _described(folder, "protocols", tables, how)
    of_run: dict[str, dict[str, list[Row]]] = {}
    for row in tables["runs"]:
        if row["key"] in of_run:
            raise HypersphereError(f"{folder / 'runs.csv'}: key: {row['key']} is there twice")
        of_run[row["key"]] = {"history": [], "measurements": []}
    for name in ("history", "measurements"):
        for row in tables[name]:
            if row["key"] not in of_run:
                raise HypersphereError(f"{folder / name}.csv: key: runs.csv has no {_short(row['key'])!r}")
            of_run[row["key"]][name].append(row)
    for row in tables["runs"]:
        table = "runs"
        try:
            content = {field: value for field, value in _parsed(row).items() if field not in ("key", "seed", "seal")}
            content["environment"] = _environment(row, environments)
            table = "history"
            content["history"] = [_epoch(one) for one in of_run[row["key"]]["history"]]
            table = "measurements"
            content |= _answers(of_run[row["key"]]["measurements"], protocols)
            table = "runs"
            record = validate(Record, content, folder / f"runs.csv: {_short(row['name'])}")
            record.check()
            for field, value in (("seed", record.run.seed), ("key", record.key)):
                if str(value) != row[field]:
                    raise ValueError(f"{field}: is {value} by the record's content (given: {_short(row[field])})")
            if record.seal != row["seal"]:
                raise ValueError("seal: the run's row or its history was altered since it was written")
        except (ValueError, RecursionError) as error:
            table = error.table if isinstance(error, WrongError) else table
            said = " ".join(str(error).split())
            raise HypersphereError(f"{folder / table}.csv: {_short(row['name'])}: {said}") from None
        yield record


def _described(folder: Path, name: str, tables: Mapping[str, list[Row]], content_of: Any) -> dict[str, Any]:
    """What rows describe, by the digest of it that they begin with."""
    found: dict[str, Any] = {}
    key = TABLES[name][0]
    for number, row in enumerate(tables[name], 2):
        where = f"{folder / name}.csv: row {number}"
        try:
            content = content_of(_parsed(row))
            digest = files.digest(content, 8)
        except (ValueError, RecursionError) as error:
            raise HypersphereError(f"{where}: {' '.join(str(error).split())}") from None
        if row[key] != digest:
            raise HypersphereError(f"{where}: {key}: is not the digest of what follows")
        if row[key] in found:
            raise HypersphereError(f"{where}: {key}: {row[key]} is there twice")
        found[row[key]] = content
    return found


def _environment(row: Parsed, environments: Mapping[str, Any]) -> Any:
    if row["environment"] not in environments:
        raise ValueError(f"environment: environments.csv has no {_short(row['environment'])!r}")
    return environments[row["environment"]]


def _epoch(row: Row) -> dict[str, float | None]:
    """A row of history; empty fields are of other kinds of runs, and ``nan`` is of an epoch that diverged."""
    values = {field: None if row[field] == "nan" else _value(field, row[field]) for field in EPOCH if row[field]}
    return {"epoch": _value("epoch", row["epoch"]), **values}


def _answers(rows: list[Row], protocols: Mapping[str, Any]) -> Parsed:
    """The measurements of one run, of its pixels, and how they were made; a ValueError if a row was altered."""
    together: dict[str, list[Row]] = {}
    for row in rows:
        together.setdefault(row["seal"], []).append(row)
    for seal, several in together.items():
        if seal != sealed(several):
            raise ValueError(f"seal: {_short(seal)}: one of the {len(several)} rows that came together was altered")
    answers: dict[str, list[Parsed]] = {"run": [], "pixels": []}
    for row in map(_parsed, rows):
        if row["of"] not in answers:
            raise ValueError(f"of: must be run or pixels (given: {_short(row['of'])!r})")
        answers[row["of"]].append({field: row[field] for field in Answer.model_fields})
    used = {by: protocols[by] for row in rows if (by := row["by"]) in protocols}
    return {"evaluations": answers["run"], "pixels": answers["pixels"], "evaluated_by": used}


def sealed(rows: Iterable[Row]) -> str:
    """The digest that measurements which come together share."""
    return files.digest([[row[field] for field in TABLES["measurements"] if field != "seal"] for row in rows], 8)


def grouped(records: Iterable[Record]) -> Records:
    """Records by the name of their run, those in float32 before others, and else in the order in which they came."""
    by_run: dict[str, list[Record]] = {}
    for record in records:
        by_run.setdefault(record.name, []).append(record)
    return {
        name: tuple(sorted(several, key=lambda record: record.precision != "float32"))
        for name, several in by_run.items()
    }


# Checks of many


def check_together(folder: Path, records: Iterable[Record], level: Level | None = None) -> None:
    """Check what records must share (a dataset's data, test images and classes), and what two seeds cannot."""
    seen: dict[Any, tuple[Any, str]] = {}
    for record in records:
        runs = f"{folder / 'runs.csv'}: {record.name}"
        if level is not None and record.level != level:
            raise HypersphereError(f"{runs}: level: is {record.level}, and the scale's is {level}")
        known, other = seen.setdefault(("data", record.run.dataset.folder), (record.data, record.name))
        if known != record.data:
            raise HypersphereError(
                f"{runs}: data: {record.data[:16]} is not that of {other}, though both are of {record.run.dataset.name}"
            )
        for field, value in (
            ("files: encoder.safetensors", record.files["encoder.safetensors"]),
            ("history", files.digest(record.history)),
        ):
            seed, other = seen.setdefault((field, value), (record.run.seed, record.name))
            if seed != record.run.seed:
                raise HypersphereError(f"{runs}: {field}: equals that of {other}, which has another seed")
        for answer in (*record.evaluations, *record.pixels):
            if answer.status == "finished":
                _check_sizes(f"{folder / 'measurements.csv'}: {record.name}", record, answer, seen)


def _check_sizes(where: str, record: Record, answer: Answer, seen: dict[Any, Any]) -> None:
    found: dict[Any, Any] = {("classes", answer.target): answer.classes}
    if "bucket=" not in answer.reading:
        found["n_test", answer.protocol, *answer.place[2:]] = answer.n_test
    for place, value in found.items():
        known, other = seen.setdefault(place, (value, record.name))
        if known != value:
            raise HypersphereError(f"{where}: {place[0]}: {answer}: is {value}, and {known} in the record of {other}")


# Writing


def rows(record: Record) -> dict[str, list[Row]]:
    """The rows of a record, by table."""
    every = [record.environment, *(how.environment for how in record.evaluated_by.values())]
    environments = {files.digest(one, 8): one for one in every}
    protocols = [
        {
            **{"by": by, "protocol": files.digest(how.protocol, 8), "content": how.protocol, "code": how.code},
            **{"device": how.device, "threads": how.threads, "environment": files.digest(how.environment, 8)},
        }
        for by, how in record.evaluated_by.items()
    ]
    history = []
    for row in record.history:
        values = {field: "nan" if value is None else value for field, value in row.items() if field != "epoch"}
        epoch = row.get("epoch") or 0.0
        history.append(values | {"key": record.key, "epoch": int(epoch) if epoch.is_integer() else epoch})
    of_record = {field: getattr(record, field) for field in TABLES["runs"] if field not in ("seed", "environment")}
    run = of_record | {"seed": record.run.seed, "run": record.run.model_dump(mode="json")}
    answers = [("run", one) for one in record.evaluations] + [("pixels", one) for one in record.pixels]
    return {
        "environments": [_row("environments", {"environment": k, "content": v}) for k, v in environments.items()],
        "protocols": [_row("protocols", one) for one in protocols],
        "history": [_row("history", one) for one in history],
        "measurements": measurement_rows(record.key, answers),
        "runs": [_row("runs", run | {"environment": files.digest(record.environment, 8)})],
    }


def _row(table: str, values: Mapping[str, Any]) -> Row:
    """A row's fields as text, which `_parsed` reads."""

    def written(value: Any) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        return files.canonical_json(value) if isinstance(value, dict) else repr(value)

    if unknown := values.keys() - set(TABLES[table]):
        raise WrongError(table, f"{min(unknown)}: is no column")
    return {column: written(values.get(column)) for column in TABLES[table]}


def measurement_rows(key: str, answers: Iterable[tuple[str, Answer]]) -> list[Row]:
    """The rows of answers that come together, of a run and of pixels, in the order in which probes give them."""
    made = [_row("measurements", {"key": key, "of": of, **one.model_dump()}) for of, one in answers]
    seal = sealed(made)
    return [row | {"seal": seal} for row in made]
