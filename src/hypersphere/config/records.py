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
| `datasets.csv`     | dataset whose repeated images were counted, by the name of its prepared folder              |
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.measures import LARGEST, MEASURES
from hypersphere.config.run import Run
from hypersphere.config.validation import (
    MayBeEmpty,
    NonNegativeInt,
    PositiveInt,
    Strict,
    not_one_of,
    read_table,
    validate,
)
from hypersphere.errors import HypersphereError

FOLDER = "evidence"
"""Holds a folder of records for each scale."""
EPOCH = ("learning_rate", "loss", "norm", "return")
"""What training records after each epoch; ``return`` is of control tasks alone."""
TABLES: dict[str, tuple[str, ...]] = {
    "environments": ("environment", "content"),
    "datasets": ("dataset", "data", "counts"),
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
REFERENCES = (
    ("protocols", "environment", "environments"),
    ("runs", "environment", "environments"),
    ("measurements", "by", "protocols"),
)
"""A table, its column that names a row of another by that row's first column, and the other."""
Level = Literal["quick", "laptop", "paper"]
Status = Literal["finished", "diverged"]
UNDEFINED = "undefined"
"""Status of a measurement of which the run finished, and the measure has no value: the logarithm of a norm of zero."""
WITHOUT_VALUE = ("diverged", UNDEFINED)
"""The statuses of a measurement without a value."""
Row = dict[str, str]
Hex16 = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Hex64 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
OfJson = BeforeValidator(lambda value: json.loads(value) if isinstance(value, str) else value)
"""Marks a field that tables hold as JSON."""


class Recorded(Strict):
    """What rows hold as text."""

    model_config = ConfigDict(strict=False)


class Repeated(Recorded):
    """How many images of a split are there more than once (datasets/repeated.py)."""

    images: NonNegativeInt
    again: NonNegativeInt
    in_train: NonNegativeInt
    two_labels: dict[str, NonNegativeInt]


class Counts(Recorded):
    """The same of all splits of a dataset."""

    of: Literal["images", "sentences"]
    splits: dict[str, Repeated]


class How(Recorded):
    """How a probe was run."""

    protocol: Annotated[dict[str, Any], OfJson]
    code: str
    device: Annotated[dict[str, str], OfJson]
    threads: int
    environment: dict[str, Any]


class Answer(Recorded):
    """One number of one probe, in the measure's unit.

    It is empty for a run that diverged, for a measure that is undefined, and for a part without images.
    """

    epoch: NonNegativeInt
    protocol: str
    """Digest of the probe, its parameters and its layer."""
    measure: str
    target: str
    """The dataset that was probed."""
    reading: str
    """Which value of that measure: ``split=train``; empty if there is only one."""
    value: Annotated[float | None, MayBeEmpty]
    n_test: Annotated[NonNegativeInt | None, MayBeEmpty]
    classes: Annotated[PositiveInt | None, MayBeEmpty]
    status: Status | Literal["undefined"]
    by: str
    """Digest of how it was measured: a key of the record's ``evaluated_by``."""

    @property
    def place(self) -> tuple[str, int, str, str, str]:
        """Which number it is: a record has no two of one place."""
        return self.protocol, self.epoch, self.target, self.measure, self.reading

    def __str__(self) -> str:
        return f"{' '.join(filter(None, (self.measure, self.reading)))} of epoch {self.epoch} on {self.target}"

    def says(self, measure: str, reading: str) -> bool:
        """Whether it is the number of a measure and reading, or says that the measure has none at any reading."""
        for_all = not self.reading and self.status in WITHOUT_VALUE
        return self.measure == measure and (self.reading == reading or for_all)


class Record(Recorded):
    """All rows of one run on one machine."""

    name: str
    scale: str
    level: Level
    run: Annotated[Run, OfJson]
    status: Status
    plan: str = ""
    """Digest of the study's plan under which it was made; empty: of none."""
    epochs: PositiveInt
    code: Hex16
    data: Hex64
    files: Annotated[dict[str, Hex64], OfJson]
    device: Annotated[dict[str, str], OfJson]
    numerics: Annotated[dict[str, Any], OfJson]
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

    def answers(self, protocol: str, of_pixels: bool = False) -> list[Answer]:
        """The answers of one protocol, by its digest."""
        return [one for one in (self.pixels if of_pixels else self.evaluations) if one.protocol == protocol]

    def check(self, folder: Path) -> None:
        """Check what a record, whose tables are in ``folder``, says against itself and the measures that exist."""

        def check(table: str, holds: bool, sentence: str) -> None:
            if not holds:
                raise HypersphereError(f"{folder / table}.csv: {_short(self.name)}: {sentence}")

        last, precision = self.run.schedule.epochs, self.numerics.get("precision", "float32")
        check("runs", self.name == self.run.name, f"name: the record's content is named {self.run.name}")
        for name in ("encoder.safetensors", "history.csv"):
            check("runs", name in self.files, f"files: has no checksum of {name}")
        check("runs", {"name", "type"} <= self.device.keys(), "device: needs name and type")
        check("runs", isinstance(self.numerics.get("threads"), int), "numerics: needs threads")
        check("runs", precision in ("float32", "bfloat16"), f"numerics: precision: unknown (given: {precision})")
        torch = files.mapping(self.environment.get("packages")).get("torch")
        check("runs", isinstance(torch, str), "environment: packages: needs torch")
        whole = self.epochs == last if self.status == "finished" else self.epochs <= last
        check("runs", whole, f"epochs: a run of {last} epochs cannot be {self.status} after {self.epochs}")

        epochs = [row.get("epoch") for row in self.history]
        check("history", epochs == [*range(1, self.epochs + 1)], f"epoch: must be 1 to {self.epochs}, each once")
        for at, row in enumerate(self.history, 1):
            known = {"loss", "norm", "learning_rate"} <= row.keys() <= {"epoch", *EPOCH}
            check("history", known, f"columns: {', '.join(row)}; known are epoch, {', '.join(EPOCH)}")
            may_fail = self.status == "diverged" and at == self.epochs
            for field, value in row.items():
                finite = may_fail if value is None else abs(value) <= LARGEST
                check("history", finite, f"{field}: epoch {at}: must be finite (given: {value})")
            check("history", (row["norm"] or 0) >= 0, f"norm: epoch {at}: is negative")

        for answers, most in ((self.evaluations, last), (self.pixels, 0)):
            places = set()
            for answer in answers:
                diverged = self.status == "diverged" and answer.epoch > 0 and answers is self.evaluations
                for field, sentence in _faults_of_answer(answer, self.evaluated_by[answer.by], most, diverged):
                    check("measurements", False, f"{field}: {answer}: {sentence}")
                check("measurements", answer.place not in places, f"{answer}: is there twice")
                places.add(answer.place)


def _faults_of_answer(answer: Answer, about: How, last: int, diverged: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with an answer: the field, and what it must be.

    ``about`` is how it was measured, ``last`` the last epoch that can be, and ``diverged`` whether it has no number.
    """
    if answer.measure not in MEASURES:
        yield "measure", not_one_of(answer.measure, MEASURES)
        return
    if answer.protocol != files.digest(about.protocol, 8):
        yield "protocol", f"{answer.protocol} is not the digest of the probe in {answer.by}"
    probe = str(files.mapping(about.protocol.get("probe")).get("name"))
    if probe not in registry.components("probes"):
        yield "protocol", f"there is no probe {_short(probe)}"
    elif answer.measure not in registry.read_constant("probes", probe, "MEASURES", ()):
        yield "measure", f"the probe {probe} does not give it"
    if answer.epoch > last:
        yield "epoch", f"must be at most {last}"
    if (answer.status == "diverged") != diverged:
        yield "status", f"cannot be {answer.status} where the run is {'diverged' if diverged else 'finished'}"
    if diverged:
        if (answer.value, answer.n_test, answer.classes) != (None, None, None):
            yield "value", "a run that diverged has none"
        return
    if answer.classes is None:
        yield "classes", "is missing, and the run finished"
    if answer.status == UNDEFINED:
        if (answer.value, answer.n_test) != (None, None):
            yield "value", "a measure that is undefined has none"
        return
    measure, a_part = MEASURES[answer.measure], is_of_a_part(answer.reading)
    if answer.value is None and not a_part:
        yield "value", "is missing, and the run finished"
    if answer.value is not None and not measure.low <= answer.value <= measure.high:
        yield "value", f"must be from {measure.low:g} to {measure.high:g} (given: {answer.value:g})"
    least = 0 if a_part or measure.without_test_set else 1
    if answer.n_test is None or answer.n_test < least:
        yield "n_test", f"must be at least {least} (given: {answer.n_test})"


def is_of_a_part(reading: str) -> bool:
    """Whether a reading is of a part of the images, which may be too few for a number: a range of norms."""
    return "bucket=" in reading


Records = Mapping[str, tuple[Record, ...]]
"""Records by the name of their run: replicates of one run, those in float32 first, and then in the order they came."""


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def measuring(records: Records, run: str, protocol: str, epoch: int, target: str) -> Record | None:
    """The record that measures a run so: the first, so that replicates of one seed count once."""
    for record in records.get(run, ()):
        if any((one.epoch, one.target) == (epoch, target) for one in record.answers(protocol)):
            return record
    return None


# Reading


def read_all(folder: Path, level: Level | None = None, scale: str | None = None) -> Records:
    """All records of a folder, which may not exist, and whose name is that of the ``scale`` if none is given.

    One that is malformed or contradicts another is refused.
    """
    by_run: dict[str, list[Record]] = {}
    records = read_folder(folder, scale or folder.name, level)
    for record in sorted(records, key=lambda record: record.numerics.get("precision", "float32") != "float32"):
        by_run.setdefault(record.name, []).append(record)
    return {name: tuple(several) for name, several in by_run.items()}


def read_tables(folder: Path) -> dict[str, list[Row]]:
    """The rows of each table, as text. A reference to a row that is not there, or that is there twice, is refused.

    Tables are read in the reverse of the order in which they are written, so that what the rows of one refer to is
    there, whatever another process adds meanwhile. Rows whose run is not there are kept: it may still come.
    """
    paths = {name: folder / f"{name}.csv" for name in reversed(TABLES)}
    tables = {name: read_table(path, TABLES[name]) if path.exists() else [] for name, path in paths.items()}
    there: dict[str, set[str]] = {}
    for name in ("runs", "protocols", "environments", "datasets"):
        first = TABLES[name][0]
        there[name] = {row[first] for row in tables[name]}
        if len(there[name]) < len(tables[name]):
            listed = [row[first] for row in tables[name]]
            twice = next(one for at, one in enumerate(listed) if one in listed[:at])
            raise HypersphereError(f"{paths[name]}: {first}: {_short(twice)} is there twice")
    for name, column, other in REFERENCES:
        for row in tables[name]:
            if row[column] not in there[other]:
                raise HypersphereError(f"{paths[name]}: {column}: {other}.csv has no {_short(row[column])!r}")
    return tables


def read_folder(folder: Path, scale: str, level: Level | None = None) -> list[Record]:
    """The records of any folder in the order of their rows, checked as those of one scale; of runs that are there."""
    tables = read_tables(folder)
    environments: dict[str, Any] = {}
    protocols: dict[str, How] = {}
    of_run: dict[str, dict[str, list[Row]]] = {name: defaultdict(list) for name in ("history", "measurements")}
    for name, rows_of in of_run.items():
        for row in tables[name]:
            rows_of[row["key"]].append(row)
    records, where = [], str(folder)
    try:
        for row in tables["environments"]:
            where = f"{folder / 'environments.csv'}: {_short(row['environment'])}"
            environments[row["environment"]] = json.loads(row["content"])
            _agree(row, environment=files.digest(environments[row["environment"]], 8))
        data = {row["dataset"]: row["data"] for row in tables["datasets"]}
        for row in tables["datasets"]:
            _counts(folder, row)
        for row in tables["protocols"]:
            where = f"{folder / 'protocols.csv'}: {_short(row['by'])}"
            given = {field: row[field] for field in ("code", "device", "threads")}
            given |= {"protocol": row["content"], "environment": environments[row["environment"]]}
            how = protocols[row["by"]] = validate(How, given, where)
            _agree(row, protocol=files.digest(how.protocol, 8), by=files.digest(how.model_dump(), 8))
        for row in tables["runs"]:
            name = _short(row["name"])
            where = f"{folder / 'measurements.csv'}: {name}"
            epochs, measured = (rows_of[row["key"]] for rows_of in of_run.values())
            for seal in dict.fromkeys(one["seal"] for one in measured):
                several = [one for one in measured if one["seal"] == seal]
                if seal != sealed(several):
                    raise ValueError(
                        f"seal: {_short(seal)}: one of the {len(several)} rows that came together was altered"
                    )
            if strange := {one["of"] for one in measured} - {"run", "pixels"}:
                raise ValueError(f"of: must be run or pixels (given: {_short(min(strange))!r})")
            where = f"{folder / 'runs.csv'}: {name}"
            answers = {of: [_of(Answer, one) for one in measured if one["of"] == of] for of in ("run", "pixels")}
            content = {
                **_of(Record, row),
                "environment": environments[row["environment"]],
                "history": [
                    {field: None if text == "nan" else text for field, text in one.items() if text and field != "key"}
                    for one in epochs
                ],
                **{"evaluations": answers["run"], "pixels": answers["pixels"]},
                "evaluated_by": {one["by"]: protocols[one["by"]] for one in measured},
            }
            record = validate(Record, content, where)
            record.check(folder)
            _agree(row, seed=record.run.seed, key=record.key, seal=record.seal)
            if data.get(record.run.dataset.folder, record.data) != record.data:
                raise ValueError(f"data: differs from that of {record.run.dataset.folder} in datasets.csv")
            if record.scale != scale:
                raise ValueError(f"scale: is {record.scale}, among records of {scale}")
            records.append(record)
    except (ValueError, RecursionError) as error:
        raise HypersphereError(f"{where}: {' '.join(str(error).split())}") from None
    check_together(folder, records, level)
    return records


def counted(folder: Path) -> dict[str, dict[str, Any]]:
    """What the records of a folder say of repeated images, by the name of a dataset's prepared folder."""
    path = folder / "datasets.csv"
    rows = read_table(path, TABLES["datasets"]) if path.exists() else []
    return {row["dataset"]: _counts(folder, row) for row in rows}


def _counts(folder: Path, row: Row) -> dict[str, Any]:
    where = f"{folder / 'datasets.csv'}: {_short(row['dataset'])}: counts"
    try:
        content = json.loads(row["counts"])
    except (ValueError, RecursionError) as error:
        raise HypersphereError(f"{where}: not valid JSON ({error})") from None
    return validate(Counts, content, where).model_dump()


def _of(model: type[Recorded], row: Row) -> dict[str, str]:
    return {field: text for field, text in row.items() if field in model.model_fields}


def _agree(row: Row, **expected: Any) -> None:
    """Check digests, and what else a row says twice, by what it stands for."""
    for column, value in expected.items():
        if str(value) != row[column]:
            raise ValueError(f"{column}: is {value} by the content (given: {_short(row[column])})")


def sealed(rows: Iterable[Row]) -> str:
    """The digest that measurements which come together share."""
    return files.digest([[row[field] for field in TABLES["measurements"] if field != "seal"] for row in rows], 8)


def check_together(folder: Path, records: Iterable[Record], level: Level | None = None) -> None:
    """Check what records must share (a dataset's data, test images and classes), and what two seeds cannot."""
    seen: dict[Any, tuple[Any, str]] = {}
    for record in records:
        if level is not None and record.level != level:
            where = f"{folder / 'runs.csv'}: {record.name}"
            raise HypersphereError(f"{where}: level: is {record.level}, and the scale's is {level}")
        run = record.run
        weights, history = record.files["encoder.safetensors"], files.digest(record.history)
        shared: list[tuple[str, str, Any, Any]] = [
            ("runs", f"data: of {run.dataset.name}", run.dataset.folder, record.data),
            ("runs", "files: encoder.safetensors: the seed of equal weights", weights, run.seed),
            ("history", "the seed of equal histories", history, run.seed),
        ]
        for answer in (*record.evaluations, *record.pixels):
            if answer.status != "diverged":
                shared.append(("measurements", f"classes: {answer}", ("classes", answer.target), answer.classes))
            if answer.status == "finished" and not is_of_a_part(answer.reading):
                place = "n_test", answer.protocol, *answer.place[2:]
                shared.append(("measurements", f"n_test: {answer}", place, answer.n_test))
        for table, what, place, value in shared:
            known, other = seen.setdefault(place, (value, record.name))
            if known != value:
                raise HypersphereError(
                    f"{folder / table}.csv: {record.name}: {what}: is {value}, and {known} in the record of {other}"
                )


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
    history = [
        {field: "nan" if value is None else value for field, value in row.items()}
        | {"key": record.key, "epoch": f"{row.get('epoch')}".removesuffix(".0")}
        for row in record.history
    ]
    run = {field: getattr(record, field) for field in TABLES["runs"] if field not in ("seed", "environment")}
    run |= {"seed": record.run.seed, "environment": files.digest(record.environment, 8)}
    answers = [("run", one) for one in record.evaluations] + [("pixels", one) for one in record.pixels]
    measured = [_row("measurements", {"key": record.key, "of": of, **one.model_dump()}) for of, one in answers]
    seal = sealed(measured)  # what comes together shares it
    return {
        "environments": [_row("environments", {"environment": k, "content": v}) for k, v in environments.items()],
        "protocols": [_row("protocols", one) for one in protocols],
        "history": [_row("history", one) for one in history],
        "measurements": [row | {"seal": seal} for row in measured],
        "runs": [_row("runs", run | {"run": record.run.model_dump(mode="json")})],
    }


def _row(table: str, values: Mapping[str, Any]) -> Row:
    """A row's fields as text: numbers and mappings as JSON."""
    text = {
        column: value or "" if value is None or isinstance(value, str) else files.canonical_json(value)
        for column, value in values.items()
    }
    return dict.fromkeys(TABLES[table], "") | text
