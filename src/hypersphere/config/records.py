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
import math
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.measures import MEASURES
from hypersphere.config.run import Run
from hypersphere.config.validation import NonNegativeInt, PositiveInt, Strict, not_one_of, validate
from hypersphere.errors import HypersphereError

FOLDER = "evidence"
"""Holds a folder of records for each scale."""
EPOCH = ("learning_rate", "loss", "norm", "return")
"""What training records after each epoch; ``return`` is of control tasks alone."""
RUNS = (
    *("key", "name", "scale", "level", "status", "seed", "plan", "epochs", "code", "data", "seconds"),
    *("peak_memory_mb", "device", "numerics", "environment", "files", "run", "seal"),
)
MEASUREMENTS = (
    *("key", "of", "protocol", "epoch", "target", "measure", "reading", "value", "n_test", "classes", "status"),
    *("by", "seal"),
)
HISTORY = ("key", "epoch", *EPOCH)
PROTOCOLS = ("by", "protocol", "content", "code", "device", "threads", "environment")
ENVIRONMENTS = ("environment", "content")
TABLES = {
    **{"environments": ENVIRONMENTS, "protocols": PROTOCOLS, "history": HISTORY, "measurements": MEASUREMENTS},
    **{"runs": RUNS},
}
"""The columns of each table, in the order in which tables are written: what a row refers to comes before it."""
JOURNAL = ".adding.json"
"""The sizes that the tables had before rows that are being added: what lies beyond them is not there yet."""
LARGEST_VALUE = 3.5e38
"""No number of training or of a probe is larger: they are computed in float32."""
Level = Literal["quick", "laptop", "paper"]
Status = Literal["finished", "diverged"]
Row = dict[str, str]


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
    code: str
    data: str
    files: dict[str, str]
    device: dict[str, str]
    numerics: dict[str, Any]
    environment: dict[str, Any]
    seconds: float
    peak_memory_mb: NonNegativeInt
    history: list[dict[str, float | None]]
    """None where a diverged run's loss or norm is not finite."""
    evaluations: list[Answer]
    pixels: list[Answer]
    """The same protocols' answers on raw pixels of the probed datasets: controls."""
    evaluated_by: dict[str, How]
    """By its digest: probe and layer, digest of the code, device, threads and environment, which may differ from
    training's."""

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
        """Of training: ``float32``, unless it is recorded otherwise."""
        return str(self.numerics.get("precision", "float32"))

    def answers(self, protocol: str, of_pixels: bool = False) -> list[Answer]:
        """The answers of one protocol, by its digest."""
        return [one for one in (self.pixels if of_pixels else self.evaluations) if one.protocol == protocol]

    def measured(self, protocol: str, epoch: int, target: str) -> bool:
        """Whether the run was measured so."""
        return any((one.epoch, one.target) == (epoch, target) for one in self.answers(protocol))

    def check(self) -> None:
        """Check what a record says against itself and the measures that exist.

        Raises:
            WrongError: two parts of it contradict one another, or a value is impossible.
        """
        if self.name != self.run.name:
            raise WrongError("runs", f"name: the record's content is named {self.run.name}")
        for field, length, value in (("code", 16, self.code), ("data", 64, self.data)):
            _check_digest(field, value, length)
        for file in ("encoder.safetensors", "history.csv"):
            if file not in self.files:
                raise WrongError("runs", f"files: has no checksum of {file}")
        for name, checksum in self.files.items():
            _check_digest(f"files: {name}", checksum, 64)
        if not {"name", "type"} <= self.device.keys():
            raise WrongError("runs", "device: needs name and type")
        if not isinstance(self.numerics.get("threads"), int):
            raise WrongError("runs", "numerics: needs threads")
        if self.numerics.get("precision") not in ("float32", "bfloat16", None):
            raise WrongError("runs", f"numerics: precision: unknown (given: {self.numerics['precision']!r})")
        if not isinstance(files.mapping(self.environment.get("packages")).get("torch"), str):
            raise WrongError("runs", "environment: packages: needs torch")
        if not 0 <= self.seconds <= LARGEST_VALUE:
            raise WrongError("runs", f"seconds: must be between 0 and {LARGEST_VALUE:g} (given: {self.seconds:g})")
        last = self.run.schedule.epochs
        if self.epochs > last or (self.status == "finished" and self.epochs != last):
            raise WrongError("runs", f"epochs: a run of {last} epochs cannot be {self.status} after {self.epochs}")
        self._check_history()
        for of, answers in (("run", self.evaluations), ("pixels", self.pixels)):
            places = set()
            for answer in answers:
                self._check_answer(answer, of)
                if answer.place in places:
                    raise WrongError("measurements", f"{answer}: is there twice")
                places.add(answer.place)

    def _check_history(self) -> None:
        epochs = [row.get("epoch") for row in self.history]
        if epochs != list(range(1, self.epochs + 1)):
            raise WrongError("history", f"epoch: must be 1 to {self.epochs}, each once (given: {_short(epochs)})")
        for row in self.history:
            if row.keys() - {"epoch", *EPOCH} or {"loss", "norm", "learning_rate"} - row.keys():
                raise WrongError("history", f"columns: {', '.join(row)}; known are epoch, {', '.join(EPOCH)}")
            may_fail = self.status == "diverged" and row["epoch"] == self.epochs
            for field, value in row.items():
                if (value is None and not may_fail) or (value is not None and abs(value) > LARGEST_VALUE):
                    shown = "nothing" if value is None else f"{value:g}"
                    raise WrongError("history", f"{field}: epoch {row['epoch']:g}: must be finite (given: {shown})")
            if not (row["norm"] or 0) >= 0:
                raise WrongError("history", f"norm: epoch {row['epoch']:g}: is negative")

    def _check_answer(self, answer: Answer, of: str) -> None:
        def wrong(field: str, sentence: str) -> WrongError:
            return WrongError("measurements", f"{field}: {answer}: {sentence}")

        if answer.measure not in MEASURES:
            raise wrong("measure", not_one_of(answer.measure, MEASURES))
        measure = MEASURES[answer.measure]
        about = self.evaluated_by.get(answer.by)
        if about is None:
            raise wrong("by", f"{answer.by} is not described")
        if answer.protocol != files.digest(about.protocol, 8):
            raise wrong("protocol", f"{answer.protocol} is not the digest of the probe in {answer.by}")
        probe = files.mapping(about.protocol.get("probe")).get("name")
        if probe not in registry.names("probes"):
            raise wrong("protocol", f"there is no probe {_short(probe)}")
        if answer.measure not in registry.read_constant("probes", str(probe), "MEASURES", ()):
            raise wrong("measure", f"the probe {probe} does not give it")
        limit = 0 if of == "pixels" else self.run.schedule.epochs
        if answer.epoch > limit:
            raise wrong("epoch", f"must be at most {limit}")
        diverged = of == "run" and self.status == "diverged" and answer.epoch > 0
        if (answer.status == "diverged") != diverged:
            raise wrong("status", f"cannot be {answer.status} where the run is {self.status}")
        if diverged:
            if (answer.value, answer.n_test, answer.classes) != (None, None, None):
                raise wrong("value", "a run that diverged has none")
            return
        a_part = "bucket=" in answer.reading
        if answer.value is None and not a_part:
            raise wrong("value", "is missing, and the run finished")
        if answer.value is not None and not measure.low <= answer.value <= measure.high:
            raise wrong("value", f"must be from {measure.low:g} to {measure.high:g} (given: {answer.value:g})")
        if answer.n_test is None or (answer.n_test < 1 and measure.of_images and not a_part):
            raise wrong("n_test", f"must be at least 1 (given: {answer.n_test})")
        if answer.classes is None or (answer.classes < 2 and measure.of_images):
            raise wrong("classes", f"must be at least 2 (given: {answer.classes})")


Records = Mapping[str, tuple[Record, ...]]
"""Records by the name of their run: replicates of one run, those in float32 first, and then in the order they came."""


def _check_digest(field: str, value: str, length: int) -> None:
    if not re.fullmatch(f"[0-9a-f]{{{length}}}", value):
        raise WrongError("runs", f"{field}: must be {length} hex digits (given: {_short(value)!r})")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Expected(NamedTuple):
    """What the configuration knows of a scale's records."""

    level: Level
    test_images: Mapping[str, int]
    """Of a dataset's test set, where that is declared."""


# Reading


def read_all(folder: Path, expected: Expected | None = None) -> Records:
    """All records of a scale's folder; none if it does not exist.

    Raises:
        HypersphereError: a table is malformed, was altered, or a record contradicts itself, another, or the scale.
    """
    return grouped(read_folder(folder, folder.name, expected))


def read_folder(folder: Path, scale: str, expected: Expected | None = None) -> list[Record]:
    """The records of any folder in the order of their rows, checked as those of one scale.

    Raises:
        HypersphereError: as ``read_all``.
    """
    tables = read_tables(folder)
    read = list(_assembled(folder, tables))
    for record in read:
        if record.scale != scale:
            raise HypersphereError(
                f"{folder / 'runs.csv'}: {record.name}: scale: is {record.scale}, among records of {scale}"
            )
    check_together(folder, read, expected)
    return read


def read_tables(folder: Path) -> dict[str, list[Row]]:
    """The rows of each table, as text, without those that are being added or that a killed process left half-added."""
    for _ in range(50):
        sizes = _sizes_before(folder)
        contents = {name: _content(folder / f"{name}.csv") for name in TABLES}
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
    sizes = files.mapping(files.read_json(path))
    if sizes.keys() != TABLES.keys() or not all(isinstance(size, int) and size >= 0 for size in sizes.values()):
        raise HypersphereError(f"{path}: must hold a size for each of {', '.join(TABLES)}")
    return sizes


def _content(path: Path) -> bytes:
    """A regular file's bytes; none if there is no such file."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(mode):
        raise HypersphereError(f"{path}: is no file of its own but a {_KINDS.get(stat.S_IFMT(mode), 'device')}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


_KINDS = {stat.S_IFLNK: "link", stat.S_IFIFO: "pipe", stat.S_IFDIR: "folder", stat.S_IFSOCK: "socket"}


def _rows(path: Path, content: bytes, columns: tuple[str, ...]) -> list[Row]:
    if not content:
        return []
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HypersphereError(f"{path}: not UTF-8 text (byte {error.start})") from None
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise HypersphereError(f"{path}: not a table ({error})") from None
    if tuple(lines[0]) != columns:
        raise HypersphereError(f"{path}: its columns must be {','.join(columns)} (given: {_short(','.join(lines[0]))})")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise HypersphereError(
                f"{path}: row {number}: has {len(line)} fields, and there are {len(columns)} columns"
            )
    return [dict(zip(columns, line, strict=True)) for line in lines[1:]]


def _assembled(folder: Path, tables: Mapping[str, list[Row]]) -> Iterator[Record]:
    """Records from rows.

    Raises:
        HypersphereError: a row has no run, is there twice, was altered, or is not of the schema.
    """
    environments = _described(folder, "environments", tables, "environment", lambda row: _json(row, "content"))
    protocols = _described(folder, "protocols", tables, "by", lambda row: _evaluated_by(row, environments))
    keys = [row["key"] for row in tables["runs"]]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise HypersphereError(f"{folder / 'runs.csv'}: key: {twice} is there twice")
    of_run: dict[str, dict[str, list[Row]]] = {key: {"history": [], "measurements": []} for key in keys}
    for name in ("history", "measurements"):
        for row in tables[name]:
            if row["key"] not in of_run:
                raise HypersphereError(f"{folder / name}.csv: key: runs.csv has no {_short(row['key'])!r}")
            of_run[row["key"]][name].append(row)
    for row in tables["runs"]:
        where, table = row["name"], "runs"
        try:
            content = _run_fields(row, environments)
            table = "history"
            content["history"] = [_epoch(one) for one in of_run[row["key"]]["history"]]
            table = "measurements"
            _check_seals(of_run[row["key"]]["measurements"])
            answers = [(one["of"], _answer(one)) for one in of_run[row["key"]]["measurements"]]
            if other := {of for of, _ in answers} - {"run", "pixels"}:
                raise ValueError(f"of: must be run or pixels (given: {_short(min(other))!r})")
            content["evaluations"] = [answer for of, answer in answers if of == "run"]
            content["pixels"] = [answer for of, answer in answers if of == "pixels"]
            content["evaluated_by"] = {by: protocols[by] for _, answer in answers if (by := answer["by"]) in protocols}
            table = "runs"
            record = validate(Record, content, folder / f"runs.csv: {where}")
            if str(record.run.seed) != row["seed"]:
                raise ValueError(f"seed: is {record.run.seed} in the settings (given: {_short(row['seed'])})")
            record.check()
            if record.key != row["key"]:
                raise ValueError(f"key: the record's content has the key {record.key} (given: {_short(row['key'])})")
            if record.seal != row["seal"]:
                raise ValueError("seal: the run's row or its history was altered since it was written")
        except WrongError as error:
            raise HypersphereError(f"{folder / error.table}.csv: {where}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise HypersphereError(f"{folder / table}.csv: {_short(where)}: {' '.join(str(error).split())}") from None
        yield record


def _described(folder: Path, name: str, tables: Mapping[str, list[Row]], key: str, parse: Any) -> dict[str, Any]:
    """What rows describe, by the digest of it that they begin with."""
    found: dict[str, Any] = {}
    for number, row in enumerate(tables[name], 2):
        where = f"{folder / name}.csv: row {number}"
        try:
            content = parse(row)
        except (ValueError, RecursionError) as error:
            raise HypersphereError(f"{where}: {' '.join(str(error).split())}") from None
        if row[key] != files.digest(content, 8):
            raise HypersphereError(f"{where}: {key}: is not the digest of what follows")
        if row[key] in found:
            raise HypersphereError(f"{where}: {key}: {row[key]} is there twice")
        found[row[key]] = content
    return found


def _json(row: Row, field: str) -> dict[str, Any]:
    try:
        value = json.loads(row[field])
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"{field}: must be a JSON mapping (given: {_short(row[field])})")
    return value


def _whole(row: Row, field: str, empty: bool = False) -> int | None:
    if empty and not row[field]:
        return None
    if not re.fullmatch("[0-9]{1,10}", row[field]):
        raise ValueError(f"{field}: must be a whole number (given: {_short(row[field])!r})")
    return int(row[field])


def _number(row: Row, field: str) -> float:
    try:
        value = float(row[field])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or row[field] != repr(value):
        raise ValueError(f"{field}: must be a number (given: {_short(row[field])!r})")
    return value


def _run_fields(row: Row, environments: Mapping[str, Any]) -> dict[str, Any]:
    if row["environment"] not in environments:
        raise ValueError(f"environment: environments.csv has no {_short(row['environment'])!r}")
    plain = ("name", "scale", "level", "status", "plan", "code", "data")
    return {
        **{field: row[field] for field in plain},
        **{field: _json(row, field) for field in ("device", "numerics", "files", "run")},
        **{field: _whole(row, field) for field in ("epochs", "peak_memory_mb")},
        "seconds": _number(row, "seconds"),
        "environment": environments[row["environment"]],
    }


def _epoch(row: Row) -> dict[str, float | None]:
    values = {field: None if row[field] == "nan" else _number(row, field) for field in EPOCH if row[field]}
    return {"epoch": float(_whole(row, "epoch") or 0), **values}


def _answer(row: Row) -> dict[str, Any]:
    return {
        **{field: row[field] for field in ("protocol", "target", "measure", "reading", "status", "by")},
        **{field: _whole(row, field, empty=True) for field in ("n_test", "classes")},
        "epoch": _whole(row, "epoch"),
        "value": _number(row, "value") if row["value"] else None,
    }


def _evaluated_by(row: Row, environments: Mapping[str, Any]) -> dict[str, Any]:
    if row["environment"] not in environments:
        raise ValueError(f"environment: environments.csv has no {_short(row['environment'])!r}")
    _check_digest("code", row["code"], 16)
    protocol = _json(row, "content")
    if not isinstance(files.mapping(protocol.get("probe")).get("name"), str):
        raise ValueError("content: names no probe")
    if row["protocol"] != files.digest(protocol, 8):
        raise ValueError("protocol: is not the digest of its content")
    return {
        **{"protocol": protocol, "code": row["code"], "device": _json(row, "device")},
        **{"threads": _whole(row, "threads"), "environment": environments[row["environment"]]},
    }


def _check_seals(rows: Iterable[Row]) -> None:
    together: dict[str, list[Row]] = {}
    for row in rows:
        together.setdefault(row["seal"], []).append(row)
    for seal, several in together.items():
        if seal != sealed(several):
            raise ValueError(f"seal: {_short(seal)}: one of the {len(several)} rows that came together was altered")


def sealed(rows: Iterable[Row]) -> str:
    """The digest that measurements which come together share."""
    return files.digest([[row[field] for field in MEASUREMENTS if field != "seal"] for row in rows], 8)


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


def check_together(folder: Path, records: Iterable[Record], expected: Expected | None = None) -> None:
    """Check what records must share, and what two of different seeds cannot.

    Raises:
        HypersphereError: records of one dataset had other data, test images or classes; seeds share weights or a
            history; or one is not of the scale's level or test sets. The sentence names the table, run and field.
    """
    data: dict[str, tuple[str, str]] = {}
    sizes: dict[tuple[str, ...], tuple[Any, str]] = {}
    weights: dict[str, tuple[int, str]] = {}
    histories: dict[str, tuple[int, str]] = {}
    for record in records:
        runs = f"{folder / 'runs.csv'}: {record.name}"
        if expected is not None and record.level != expected.level:
            raise HypersphereError(f"{runs}: level: is {record.level}, and the scale's is {expected.level}")
        known, other = data.setdefault(record.run.dataset.folder, (record.data, record.name))
        if known != record.data:
            raise HypersphereError(
                f"{runs}: data: {record.data[:16]} is not that of {other}, though both are of {record.run.dataset.name}"
            )
        for field, seen, value in (
            ("files: encoder.safetensors", weights, record.files["encoder.safetensors"]),
            ("history", histories, files.digest(record.history)),
        ):
            seed, other = seen.setdefault(value, (record.run.seed, record.name))
            if seed != record.run.seed:
                raise HypersphereError(f"{runs}: {field}: equals that of {other}, which has another seed")
        for answer in (*record.evaluations, *record.pixels):
            if answer.status == "finished":
                _check_sizes(folder, record, answer, sizes, expected)


def _check_sizes(folder: Path, record: Record, answer: Answer, seen: dict[Any, Any], expected: Expected | None) -> None:
    where = f"{folder / 'measurements.csv'}: {record.name}"
    found: dict[str, Any] = {"classes": answer.classes}
    if "bucket=" not in answer.reading:
        found["n_test"] = answer.n_test
    for field, value in found.items():
        place = (field, answer.target) if field == "classes" else (field, answer.protocol, *answer.place[2:])
        known, other = seen.setdefault(place, (value, record.name))
        if known != value:
            raise HypersphereError(f"{where}: {field}: {answer}: is {value}, and {known} in the record of {other}")
    images = expected.test_images.get(answer.target) if expected else None
    if images is not None and answer.n_test is not None and answer.measure.startswith(("knn_", "linear_")):
        probe = record.evaluated_by[answer.by].protocol["probe"]
        batch = probe.get("drop_last") or 1
        whole = images - images % batch if isinstance(batch, int) and batch > 0 else images
        if answer.reading == "" and answer.n_test != whole:
            raise HypersphereError(f"{where}: n_test: {answer}: is {answer.n_test}, and {answer.target} has {whole}")


# Rows


def rows(record: Record) -> dict[str, list[Row]]:
    """The rows of a record, by table.

    Raises:
        WrongError: its history has a column that the table lacks.
    """
    key, environments = record.key, {files.digest(record.environment, 8): record.environment}
    protocols = []
    for by, about in record.evaluated_by.items():
        environment = files.digest(about.environment, 8)
        environments[environment] = about.environment
        protocols.append(
            {
                **{"by": by, "protocol": files.digest(about.protocol, 8), "environment": environment},
                **{"content": files.canonical_json(about.protocol), "code": str(about.code)},
                **{"device": files.canonical_json(about.device), "threads": str(about.threads)},
            }
        )
    run = {
        **{field: str(getattr(record, field)) for field in ("key", "name", "scale", "level", "status", "plan", "code")},
        **{field: str(getattr(record, field)) for field in ("data", "epochs", "peak_memory_mb", "seal")},
        **{field: files.canonical_json(getattr(record, field)) for field in ("device", "numerics", "files")},
        **{"seed": str(record.run.seed), "seconds": repr(record.seconds)},
        "run": files.canonical_json(record.run.model_dump(mode="json")),
        "environment": files.digest(record.environment, 8),
    }
    return {
        "environments": [
            {"environment": name, "content": files.canonical_json(value)} for name, value in environments.items()
        ],
        "protocols": protocols,
        "history": [_history_row(key, row) for row in record.history],
        "measurements": measurement_rows(
            key, [("run", one) for one in record.evaluations] + [("pixels", one) for one in record.pixels]
        ),
        "runs": [run],
    }


def _history_row(key: str, row: Mapping[str, float | None]) -> Row:
    def written(field: str) -> str:
        if field not in row:
            return ""
        value = row[field]
        return "nan" if value is None else repr(float(value))

    epoch = row.get("epoch") or 0.0
    whole = str(int(epoch)) if epoch.is_integer() else repr(epoch)
    return {"key": key, "epoch": whole, **{field: written(field) for field in EPOCH}}


def measurement_rows(key: str, answers: Iterable[tuple[str, Answer]]) -> list[Row]:
    """The rows of answers that come together, of a run and of pixels, in the order in which probes give them."""
    made = []
    for of, one in answers:
        made.append(
            {
                **{"key": key, "of": of, "protocol": one.protocol, "epoch": str(one.epoch), "target": one.target},
                **{"measure": one.measure, "reading": one.reading, "status": one.status, "by": one.by},
                "value": "" if one.value is None else repr(one.value),
                "n_test": "" if one.n_test is None else str(one.n_test),
                "classes": "" if one.classes is None else str(one.classes),
            }
        )
    seal = sealed(made)
    return [row | {"seal": seal} for row in made]
