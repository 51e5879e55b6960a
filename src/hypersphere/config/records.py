"""Evidence: the records of finished runs, which have all that is needed to judge a run except its weights.

The records of a scale are tidy tables in ``evidence/<scale>/``. Rows are only added, at the ends of the tables, so that
a difference of two commits is additions, and rows are in the order in which they came:

| table              | a row for each                                                                              |
|--------------------|---------------------------------------------------------------------------------------------|
| `runs.csv`         | run on one machine, by code and data (``key``): settings, checksums, machine, plan          |
| `measurements.csv` | number of a probe; rows that came together share the digest of all of them (``seal``)       |
| `history.csv`      | epoch of training                                                                           |
| `protocols.csv`    | way in which a probe was run (``by``): its settings, code, device and environment           |
| `environments.csv` | machine and its libraries                                                                   |
| `datasets.csv`     | dataset whose repeated images were counted, by the name of its prepared folder              |
"""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, permutations, product
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from hypersphere import files
from hypersphere.config import coordinates, registry
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
"""The folder that has a folder of records for each scale."""
EPOCH = ("learning_rate", "loss", "norm", "return")
"""The numbers that training records after each epoch; only control tasks have a ``return``."""
LEARNED = ("loss", "norm")
"""The numbers of ``EPOCH`` by which the training of two runs is compared."""
WRITTEN = ("epoch", "loss", "norm", "learning_rate", "return")
"""The columns of a run's own history.csv, in the order in which training writes them."""
MOST_LOST = 6
"""The most numbers of a history that are not finite: training stops at the first. Each has three spellings."""
QUICKEST = 1e-3
"""The least seconds that an epoch of training takes on any machine."""
Level = Literal["quick", "laptop", "paper"]
Status = Literal["finished", "diverged"]
UNDEFINED = "undefined"
"""The status of a measurement if the run finished and the measure has no value: the logarithm of a norm of zero."""
WITHOUT_VALUE = ("diverged", UNDEFINED)
"""The statuses of a measurement without a value."""
ADDED: dict[tuple[str, str], Any] = {
    ("optimiser", "scaling"): "linear",
    ("batch", "parts"): 1,
    ("views", "side"): None,
    ("views", "normalisation"): None,
    ("views_b", "side"): None,
    ("views_b", "normalisation"): None,
}
"""The fields of a run that older records lack, each with the value that their runs had all the same."""
TextRow = dict[str, str]
Hex16 = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Hex64 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Plans = Annotated[str, Field(pattern=r"^([\w/]+=[0-9a-f]{8}(;[\w/]+=[0-9a-f]{8})*)?$")]
OfJson = BeforeValidator(lambda value: json.loads(value) if isinstance(value, str) else value)
"""Marks a field that tables hold as JSON."""


def _plain(value: str) -> str:
    if not re.fullmatch(r"[\w ()@./+,:#®™-]{1,100}", value):
        raise ValueError(
            "must be at most 100 letters, digits, blanks and ()@./+,:#- (pages show it)"
        )
    return value


Plain = Annotated[str, AfterValidator(_plain)]
"""Marks text that pages show: it holds no markup."""


class Recorded(Strict):
    """Something that is read from rows of text."""

    model_config = ConfigDict(strict=False)


class Repeated(Recorded):
    """How many images of a split occur more than once (datasets/repeated.py)."""

    images: NonNegativeInt
    again: NonNegativeInt
    in_train: NonNegativeInt
    two_labels: dict[str, NonNegativeInt]


class Counts(Recorded):
    """How many images of each split of a dataset occur more than once."""

    of: Literal["images", "sentences"]
    splits: dict[str, Repeated]


class How(Recorded):
    """How a probe was run."""

    protocol: Annotated[dict[str, Any], OfJson]
    code: str
    device: Annotated[dict[str, Plain], OfJson]
    threads: PositiveInt
    environment: dict[str, Any]


class Measurement(Recorded):
    """One number of one probe, in the measure's unit.

    The value is empty if the run diverged, if the measure is undefined, or if a part has no images.
    """

    protocol: str
    """Digest of the probe, its parameters and its layer."""
    epoch: NonNegativeInt
    target: str
    """The dataset that was probed."""
    measure: str
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
        """Which number it is. A record has at most one number at a place."""
        return self.protocol, self.epoch, self.target, self.measure, self.reading

    def __str__(self) -> str:
        name = f"{self.measure} {self.reading}".rstrip()
        return f"{name} of epoch {self.epoch} on {self.target}"

    def says(self, measure: str, reading: str) -> bool:
        """Whether it is the number of a measure and reading, or says that no reading of the measure has a number."""
        for_all = not self.reading and self.status in WITHOUT_VALUE
        return self.measure == measure and (self.reading == reading or for_all)


TABLES: dict[str, tuple[str, ...]] = {
    "environments": ("environment", "content"),
    "datasets": ("dataset", "data", "counts"),
    "protocols": ("by", "protocol", "content", "code", "device", "threads", "environment"),
    "history": ("key", "epoch", *EPOCH),
    "measurements": ("key", "of", *Measurement.model_fields, "seal"),
    "runs": (
        "key",
        "name",
        "scale",
        "level",
        "status",
        "seed",
        "plan",
        "epochs",
        "code",
        "data",
        "seconds",
        "peak_memory_mb",
        "device",
        "numerics",
        "environment",
        "files",
        "run",
        "seal",
    ),
}
"""The columns of each table, in the order in which tables are written: what a row refers to comes before it."""
NAMED = ("runs", "protocols", "environments", "datasets")
"""The tables whose rows are named by their first column."""
REFERENCES = (
    ("protocols", "environment", "environments"),
    ("runs", "environment", "environments"),
    ("measurements", "by", "protocols"),
)
"""The references between tables: a table, its column that names a row, and the table in whose first column it is."""
NUMBERS: dict[str, tuple[str, ...]] = {
    "protocols": ("threads",),
    "history": ("epoch", *EPOCH),
    "measurements": ("epoch", "value", "n_test", "classes"),
    "runs": ("seed", "epochs", "seconds", "peak_memory_mb"),
}
"""The columns of numbers of each table."""
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(rf"{_WHOLE.pattern}(\.[0-9]+)?([eE][-+]?[0-9]+)?")
"""Numbers as JSON writes them. Python's ``float`` takes ``9_9.5``, ``+5``, blanks around it and zeros before it."""
_FRACTIONS = {"value", "seconds", *EPOCH}
"""The columns whose numbers need not be whole."""
_NO_NUMBER = {
    "value": {""},
    "n_test": {""},
    "classes": {""},
    **{field: {"", "nan"} for field in EPOCH},
}
"""The texts that stand for no number, in the columns that may lack a number."""


class Record(Recorded):
    """All rows of one run on one machine."""

    name: str
    scale: str
    level: Level
    run: Annotated[Run, OfJson]
    status: Status
    plan: Plans = ""
    """The studies that it confirms, each with its plan's digest (``Config.plans``), joined by ``;``; empty: none."""
    epochs: PositiveInt
    code: Hex16
    data: Hex64
    files: Annotated[dict[str, Hex64], OfJson]
    device: Annotated[dict[str, Plain], OfJson]
    numerics: Annotated[dict[str, Any], OfJson]
    environment: dict[str, Any]
    seconds: Annotated[float, Field(ge=0, le=LARGEST)]
    peak_memory_mb: NonNegativeInt
    history: list[dict[str, float | None]]
    """The numbers of each epoch; a diverged run's loss or norm that is not finite is None."""
    evaluations: list[Measurement]
    pixels: list[Measurement]
    """The controls: what the same protocols measure on raw pixels of the probed datasets."""
    evaluated_by: dict[str, How]
    """How probes were run, each by its digest; machine and code may differ from training's."""

    @property
    def plans(self) -> list[str]:
        """The studies that it confirms, one by one."""
        return [*filter(None, self.plan.split(";"))]

    @property
    def key(self) -> str:
        """Digest of all that decides a run's bytes.

        Records with one key must agree. Records of one run with different keys are replicates.
        """
        decides = self.model_dump(
            mode="json", include={"name", "device", "numerics", "code", "data"}
        )
        machine = {name: value for name, value in self.environment.items() if name != "cores"}
        return files.digest([decides, machine], 8)

    @property
    def weights(self) -> str:
        """The checksum of the trained encoder."""
        return self.files["encoder.safetensors"]

    @property
    def seal(self) -> str:
        """Digest of all but measurements, which may become more, and but the fields that older records lack."""
        content = self.model_dump(mode="json", exclude={"evaluations", "pixels", "evaluated_by"})
        for (part, field), before in ADDED.items():
            fields = content["run"][part]
            if fields and fields[field] == before:
                del fields[field]
        return files.digest(content)

    def answers(self, protocol: str, of_pixels: bool = False) -> list[Measurement]:
        """The answers of one protocol, by its digest."""
        return [
            one
            for one in (self.pixels if of_pixels else self.evaluations)
            if one.protocol == protocol
        ]

    @property
    def precision(self) -> str:
        """How exactly its numbers were computed."""
        return str(self.numerics.get("precision", "float32"))

    def check(self, folder: Path) -> None:
        """Check that a record contradicts neither itself nor the measures that exist. ``folder`` has its tables."""
        faults = {
            "runs": self._faults_of_run(),
            "history": self._faults_of_history(),
            "measurements": self._faults_of_answers(),
        }
        for table, sentences in faults.items():
            for sentence in sentences:
                raise HypersphereError(f"{folder / table}.csv: {_short(self.name)}: {sentence}")

    def _faults_of_run(self) -> Iterator[str]:
        if self.name != self.run.name:
            yield f"name: the record's content is named {self.run.name}"
        for file in ("encoder.safetensors", "history.csv"):
            if file not in self.files:
                yield f"files: has no checksum of {file}"
        if not {"name", "type"} <= self.device.keys():
            yield "device: needs name and type"
        if type(self.numerics.get("threads")) is not int:
            yield "numerics: needs threads"
        if self.precision not in ("float32", "tf32", "bfloat16"):
            yield f"numerics: precision: unknown (given: {self.precision})"
        torch = files.mapping(self.environment.get("packages")).get("torch")
        if not isinstance(torch, str):
            yield "environment: packages: needs torch"
        elif not re.fullmatch(r"[0-9A-Za-z.+]+", torch):
            yield f"environment: packages: torch is not a version (given: {_short(torch)})"
        last = self.run.schedule.epochs
        if self.epochs > last or (self.epochs < last and self.status == "finished"):
            yield f"epochs: a run of {last} epochs cannot be {self.status} after {self.epochs}"
        if self.seconds < QUICKEST * self.epochs:
            yield f"seconds: {self.epochs} epochs take more (given: {self.seconds:g})"

    def _faults_of_history(self) -> Iterator[str]:
        epochs = [row.get("epoch") for row in self.history]
        if epochs != list(range(1, self.epochs + 1)):
            yield f"epoch: must be 1 to {self.epochs}, each once"
        for at, row in enumerate(self.history, 1):
            known = {"loss", "norm", "learning_rate"} <= row.keys() <= {"epoch", *EPOCH}
            if not known or row.keys() != self.history[0].keys():
                yield f"columns: {', '.join(row)}; known are epoch, {', '.join(EPOCH)}"
            may_fail = self.status == "diverged" and at == self.epochs
            for field, value in row.items():
                finite = may_fail if value is None else abs(value) <= LARGEST
                if not finite:
                    yield f"{field}: epoch {at}: must be finite (given: {value})"
            if (row["norm"] or 0) < 0:
                yield f"norm: epoch {at}: is negative"
        if self.files["history.csv"] not in _checksums(self.history):
            yield "a number was altered: runs.csv has another checksum of the run's history.csv"

    def _faults_of_answers(self) -> Iterator[str]:
        for answers, last in ((self.evaluations, self.run.schedule.epochs), (self.pixels, 0)):
            places = set()
            for answer in answers:
                diverged = self.status == "diverged" and answer.epoch > 0
                how = self.evaluated_by[answer.by]
                for field, sentence in _faults_of_answer(answer, how, last, diverged):
                    yield f"{field}: {answer}: {sentence}"
                if answer.place in places:
                    yield f"{answer}: is there twice"
                places.add(answer.place)


def _faults_of_answer(
    answer: Measurement, how: How, last: int, diverged: bool
) -> Iterator[tuple[str, str]]:
    """The faults of an answer: each the field that is wrong, and what it must be.

    ``how`` says how it was measured. ``last`` is the last epoch that it can have. ``diverged``: it has no number.
    """
    if fault := _fault_of_reading(answer.reading):
        yield "reading", fault
    if answer.measure not in MEASURES:
        yield "measure", not_one_of(answer.measure, MEASURES)
        return
    if answer.protocol != files.digest(how.protocol, 8):
        yield "protocol", f"{answer.protocol} is not the digest of the probe in {answer.by}"
    probe = str(files.mapping(how.protocol.get("probe")).get("name"))
    if probe not in registry.components("probes"):
        yield "protocol", f"there is no probe {_short(probe)}"
    elif answer.measure not in registry.read_constant("probes", probe, "MEASURES", ()):
        yield "measure", f"the probe {probe} does not give it"
    if answer.epoch > last:
        yield "epoch", f"must be at most {last}"
    if (answer.status == "diverged") != diverged:
        run = "diverged" if diverged else "finished"
        yield "status", f"cannot be {answer.status} where the run is {run}"
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
    measure = MEASURES[answer.measure]
    of_a_part = is_of_a_part(answer.reading)
    if answer.value is None and not of_a_part:
        yield "value", "is missing, and the run finished"
    if answer.value is not None and not measure.low <= answer.value <= measure.high:
        yield "value", f"must be from {measure.low:g} to {measure.high:g} (given: {answer.value:g})"
    least = 0 if of_a_part or measure.without_test_set else 1
    if answer.n_test is None or answer.n_test < least:
        yield "n_test", f"must be at least {least} (given: {answer.n_test})"


@lru_cache(maxsize=4096)
def _fault_of_reading(reading: str) -> str:
    """What is wrong with a reading; empty if nothing is."""
    known = coordinates.READINGS[coordinates.READINGS.index("split") : -1]
    try:
        parsed = coordinates.parse(reading, "")
    except HypersphereError as error:
        return _short(str(error).removeprefix(": "))
    if strange := [key for key in parsed if key not in known]:
        return not_one_of(strange[0], known)
    canonical = coordinates.text(parsed)
    return "" if reading == canonical else f"is written {canonical} (given: {_short(reading)})"


def _checksums(history: Sequence[Mapping[str, float | None]]) -> Iterator[str]:
    """The sha256 of each history.csv that a history can come from: the usual order of columns comes first.

    A trainer may write another order. None stands for any number that is not finite.
    """
    columns = [name for name in WRITTEN if history and name in history[0]]
    rows = [_texts(epoch, lost="{}") for epoch in history]
    lost = sum([*row.values()].count("{}") for row in rows)
    if lost > MOST_LOST:
        return
    for others in permutations(columns[1:]):
        order = ("epoch", *others)
        lines = [order, *map(itemgetter(*order), rows)]
        content = "".join(f"{','.join(line)}\n" for line in lines)
        for spellings in product(("nan", "inf", "-inf"), repeat=lost):
            yield hashlib.sha256(content.format(*spellings).encode()).hexdigest()


def _texts(epoch: Mapping[str, float | None], lost: str = "nan") -> TextRow:
    """The numbers of an epoch as tables have them; ``lost`` stands for one that is not finite."""
    texts = {}
    for field, value in epoch.items():
        texts[field] = lost if value is None else repr(value)
    texts["epoch"] = f"{epoch['epoch']:.0f}"
    return texts


def is_of_a_part(reading: str) -> bool:
    """Whether a reading is of a part of the images, which may be too few for a number: a range of norms."""
    return "bucket=" in reading


Records = Mapping[str, tuple[Record, ...]]
"""Records by the name of their run. Replicates in float32 come first, then replicates that confirm a study, then those
from a CPU, and then the order is by key. The places in the tables decide nothing."""


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def measuring(records: Records, run: str, protocol: str, epoch: int, target: str) -> Record | None:
    """The first record of a run with such a measurement, so that replicates of one seed count once."""
    for record in records.get(run, ()):
        for answer in record.answers(protocol):
            if (answer.epoch, answer.target) == (epoch, target):
                return record
    return None


# Reading


def read_all(
    folder: Path, level: Level | None = None, scale: str | None = None, writing: bool = False
) -> Records:
    """All records of a folder, which may not exist. Without a ``scale`` the folder's name is the scale.

    A record that is malformed or contradicts another is refused. For ``writing`` see ``read_tables``.
    """
    by_run: dict[str, list[Record]] = {}
    for record in read_folder(folder, scale or folder.name, level, writing):
        by_run.setdefault(record.name, []).append(record)
    return {name: tuple(sorted(several, key=_rank)) for name, several in by_run.items()}


def _rank(record: Record) -> tuple[bool, bool, bool, str]:
    """Which of the replicates of a run comes first: the order of ``Records``."""
    rounded = record.precision != "float32"
    return rounded, not record.plan, record.device["type"] != "cpu", record.key


def read_tables(folder: Path, writing: bool = False) -> dict[str, list[TextRow]]:
    """The rows of each table, as text. A reference to a row that is missing, or that is there twice, is refused.

    A number in another spelling than JSON's is refused, and a table that is missing or empty beside others.
    ``writing``: such a table is allowed. A kill may have left only the first tables, and whoever writes mends that.

    Tables are read in the reverse of the order in which they are written. So whatever a row refers to is there, even if
    another process adds rows meanwhile. A row may wait for its run, which may still come.
    """
    paths = {name: folder / f"{name}.csv" for name in reversed(TABLES)}
    tables = {}
    for name, path in paths.items():
        tables[name] = read_table(path, TABLES[name]) if path.exists() else []
    if not writing and any(path.exists() or path.is_symlink() for path in paths.values()):
        _check_whole(paths, tables)
    for name, columns in NUMBERS.items():
        for column in columns:
            _check_spelling(paths[name], column, tables[name])
    names = {}
    for name in NAMED:
        first = TABLES[name][0]
        names[name] = Counter(row[first] for row in tables[name])
        for value, count in names[name].items():
            if count > 1:
                raise HypersphereError(f"{paths[name]}: {first}: {_short(value)} is there twice")
    for name, column, other in REFERENCES:
        for row in tables[name]:
            if row[column] not in names[other]:
                missing = _short(row[column])
                raise HypersphereError(f"{paths[name]}: {column}: {other}.csv has no {missing!r}")
    return tables


def _check_whole(paths: Mapping[str, Path], tables: Mapping[str, list[TextRow]]) -> None:
    """Check that no table is missing, or holds a header alone, beside others; older records have no counts."""
    for name, path in paths.items():
        if name == "datasets":
            continue
        if not path.exists():
            others = ", ".join(other.name for other in paths.values() if other.exists())
            raise HypersphereError(f"{path}: is missing beside {others}")
        # What was never probed has no measurements, and then no protocols.
        if not tables[name] and (name not in ("measurements", "protocols") or tables["protocols"]):
            raise HypersphereError(f"{path}: holds a header alone")


def _check_spelling(path: Path, column: str, rows: Sequence[TextRow]) -> None:
    """Check that a column holds finite numbers as JSON writes them, or what stands for none."""
    what, pattern = ("finite", _NUMBER) if column in _FRACTIONS else ("whole", _WHOLE)
    odd = {row[column] for row in rows} - _NO_NUMBER.get(column, set())
    odd = {text for text in odd if not pattern.fullmatch(text) or math.isinf(float(text))}
    for row in rows:
        if row[column] in odd:
            named = [row[field] for field in ("key", "epoch", "measure", "by") if field in row]
            about = _short(row.get("name") or " ".join(named))
            given = _short(repr(row[column]))
            raise HypersphereError(
                f"{path}: {about}: {column}: must be a {what} number, as JSON writes it (given: {given})"
            )


def read_folder(
    folder: Path, scale: str, level: Level | None = None, writing: bool = False
) -> list[Record]:
    """Read the records of a folder in the order of their rows, and check that they are of one scale.

    A run without a row in runs.csv has no record. For ``writing`` see ``read_tables``.
    """
    tables = read_tables(folder, writing)
    environments = {}
    for row in tables["environments"]:
        with _blaming(folder, "environments", row["environment"]):
            content = json.loads(row["content"])
            _agree(row, environment=files.digest(content, 8))
        environments[row["environment"]] = content
    data = {}
    for row in tables["datasets"]:
        _counts(folder, row)
        data[row["dataset"]] = row["data"]
    protocols = {}
    for row in tables["protocols"]:
        with _blaming(folder, "protocols", row["by"]) as where:
            protocols[row["by"]] = _how(row, environments[row["environment"]], where)
    history = _group_by(tables["history"], "key")
    measured = _group_by(tables["measurements"], "key")
    records = []
    for row in tables["runs"]:
        key = row["key"]
        with _blaming(folder, "measurements", row["name"]):
            answers = _answers(measured[key])
        with _blaming(folder, "runs", row["name"]) as where:
            content = {field: row[field] for field in row if field in Record.model_fields}
            content |= {
                "environment": environments[row["environment"]],
                "history": [_epoch(one) for one in history[key]],
                "evaluations": answers["run"],
                "pixels": answers["pixels"],
                "evaluated_by": {one["by"]: protocols[one["by"]] for one in measured[key]},
            }
            record = validate(Record, content, where)
            record.check(folder)
            _agree(row, seed=record.run.seed, key=record.key, seal=record.seal)
            dataset = record.run.dataset.folder
            if data.get(dataset, record.data) != record.data:
                raise ValueError(f"data: differs from {dataset} in datasets.csv")
            if record.scale != scale:
                raise ValueError(f"scale: is {record.scale}, among records of {scale}")
            if record.level != (level or record.level):
                raise ValueError(f"level: is {record.level}, and the scale's is {level}")
        records.append(record)
    check_together(folder, records)
    return records


@contextmanager
def _blaming(folder: Path, table: str, row: str) -> Iterator[str]:
    """Turn an error in a row into a sentence that begins with the table and the row; yields this beginning."""
    where = f"{folder / table}.csv: {_short(row)}"
    try:
        yield where
    except (ValueError, RecursionError) as error:
        raise HypersphereError(f"{where}: {' '.join(str(error).split())}") from None


def _group_by(rows: Iterable[TextRow], column: str) -> dict[str, list[TextRow]]:
    """The rows by their value in a column; a value that no row has gives an empty list."""
    groups = defaultdict[str, list[TextRow]](list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _how(row: TextRow, environment: dict[str, Any], where: str) -> How:
    """A row of protocols.csv as the way in which a probe was run."""
    content = {field: row[field] for field in ("code", "device", "threads")}
    how = validate(How, {**content, "protocol": row["content"], "environment": environment}, where)
    _agree(
        row,
        protocol=files.digest(how.protocol, 8),
        by=files.digest(how.model_dump(), 8),
    )
    return how


def _answers(measured: list[TextRow]) -> dict[str, list[TextRow]]:
    """A run's rows in measurements.csv, divided into answers of the run and of raw pixels. Their seals are checked."""
    for seal, together in _group_by(measured, "seal").items():
        if seal != seal_of(together):
            count = len(together)
            raise ValueError(
                f"seal: {_short(seal)}: one of the {count} rows that came together was altered"
            )
    answers: dict[str, list[TextRow]] = {"run": [], "pixels": []}
    for row in measured:
        if row["of"] not in answers:
            raise ValueError(f"of: must be run or pixels (given: {_short(row['of'])!r})")
        answers[row["of"]].append({field: row[field] for field in Measurement.model_fields})
    return answers


def _epoch(row: TextRow) -> dict[str, str | None]:
    """A row of history.csv as the numbers that training recorded after an epoch."""
    numbers = {field: text for field, text in row.items() if text and field != "key"}
    return {field: None if text == "nan" else text for field, text in numbers.items()}


def repeated_images(folder: Path) -> dict[str, dict[str, Any]]:
    """The counts of repeated images in the records of a folder, by the name of a dataset's prepared folder."""
    path = folder / "datasets.csv"
    rows = read_table(path, TABLES["datasets"]) if path.exists() else []
    return {row["dataset"]: _counts(folder, row) for row in rows}


def _counts(folder: Path, row: TextRow) -> dict[str, Any]:
    where = f"{folder / 'datasets.csv'}: {_short(row['dataset'])}: counts"
    try:
        content = json.loads(row["counts"])
    except (ValueError, RecursionError) as error:
        raise HypersphereError(f"{where}: not valid JSON ({error})") from None
    return validate(Counts, content, where).model_dump()


def _agree(row: TextRow, **expected: Any) -> None:
    """Check columns of a row, such as digests, against the values that its content gives."""
    for column, value in expected.items():
        if str(value) != row[column]:
            raise ValueError(f"{column}: is {value} by the content (given: {_short(row[column])})")


def seal_of(rows: Iterable[TextRow]) -> str:
    """The digest that measurements share if they came together."""
    columns = [column for column in TABLES["measurements"] if column != "seal"]
    return files.digest(list(map(itemgetter(*columns), rows)), 8)


def check_together(folder: Path, records: Sequence[Record]) -> None:
    """Check that records agree on what they share (data, test images, classes), and that no run is a copy."""
    seen: dict[Any, tuple[Any, str]] = {}
    for record in records:
        for shared in _shared_values(record):
            known, other = seen.setdefault(shared.place, (shared.value, record.name))
            if known != shared.value:
                where = f"{folder / shared.table}.csv: {record.name}: {shared.field}"
                raise HypersphereError(
                    f"{where}: is {shared.value}, and {known} in the record of {other}"
                )
    for record, twin in _trained_alike(records):
        if (record.run.seed, record.run.dataset) != (twin.run.seed, twin.run.dataset):
            raise HypersphereError(
                f"{folder / 'history.csv'}: {record.name}: loss and norm: mostly equal the numbers of {twin.name}; "
                "one of the two is a copy"
            )


class Shared(NamedTuple):
    """A value that all records must have in common."""

    table: str
    field: str
    """The field that holds the value, and what the value is of, in words."""
    place: tuple[object, ...]
    """What the value is of. All records that have a value at this place must have the same."""
    value: object


def _shared_values(record: Record) -> Iterator[Shared]:
    """What a record says of its dataset, its weights and its test images."""
    run = record.run
    folder = run.dataset.folder
    yield Shared("runs", f"data: of {run.dataset.name}", ("data", folder), record.data)
    if record.status == "finished":  # weights of runs that diverged may all be nan
        equal = "files: encoder.safetensors: the {} of equal weights"
        yield Shared("runs", equal.format("seed"), ("seed", record.weights), run.seed)
        yield Shared("runs", equal.format("dataset"), ("dataset", record.weights), folder)
    for answer in (*record.evaluations, *record.pixels):
        if answer.status != "diverged":
            place = ("classes", answer.target)
            yield Shared("measurements", f"classes: {answer}", place, answer.classes)
        if answer.status == "finished" and not is_of_a_part(answer.reading):
            counted = ("n_test", answer.protocol, answer.target, answer.measure, answer.reading)
            yield Shared("measurements", f"n_test: {answer}", counted, answer.n_test)


def _trained_alike(records: Iterable[Record]) -> Iterator[tuple[Record, Record]]:
    """Pairs of a record and an earlier one of another run, with equal weights or mostly equal histories."""
    holders: dict[float | str, Record] = {}
    for record in records:
        if record.status != "finished":
            continue  # it may have diverged at once, and has no number anyway
        learned = map(itemgetter(*LEARNED), record.history)
        numbers = [*chain.from_iterable(learned), record.weights]
        first = [holders.setdefault(number, record) for number in numbers if number is not None]
        others = {one.key: one for one in first if one.name != record.name}
        for other in others.values():
            if record.weights == other.weights or _mostly_equal(record, other):
                yield record, other


def _mostly_equal(one: Record, other: Record) -> bool:
    """Whether at least half of the losses and norms of two runs are equal, epoch by epoch.

    A collapsed run repeats itself, and another one may repeat it: what is mostly one number tells nothing.
    """
    longest = max(one.epochs, other.epochs)
    equal = compared = 0
    for field in LEARNED:
        ours = [row[field] for row in one.history]
        theirs = [row[field] for row in other.history]
        if _is_varied(ours) and _is_varied(theirs):
            compared += longest
            equal += sum(a == b for a, b in zip(ours, theirs, strict=False))
    return compared > 0 and 2 * equal >= compared


def _is_varied(numbers: list[float | None]) -> bool:
    """Whether more than half of the numbers are different ones."""
    return len(set(numbers)) > len(numbers) / 2


def alike(records: Iterable[Record]) -> dict[str, str]:
    """The finished runs that trained exactly as another run did: by name, with the other's name.

    Two variants of one seed train alike if a term never acts, and so does a copy that poses as a variant.
    """
    return {record.name: other.name for record, other in _trained_alike(records)}


# Writing


def rows(record: Record) -> dict[str, list[TextRow]]:
    """The rows of a record, by table."""
    key = record.key
    environments = {}
    for content in (record.environment, *(how.environment for how in record.evaluated_by.values())):
        name = files.digest(content, 8)
        environments[name] = _row("environments", {"environment": name, "content": content})
    protocols = []
    for by, how in record.evaluated_by.items():
        digests = {
            "protocol": files.digest(how.protocol, 8),
            "environment": files.digest(how.environment, 8),
        }
        about = {**how.model_dump(), "by": by, "content": how.protocol, **digests}
        protocols.append(_row("protocols", about))
    history = []
    for epoch in record.history:
        history.append(_row("history", {"key": key, **_texts(epoch)}))
    measured = []
    for of, answers in (("run", record.evaluations), ("pixels", record.pixels)):
        for answer in answers:
            measured.append(_row("measurements", {"key": key, "of": of, **answer.model_dump()}))
    seal = seal_of(measured)  # rows that come together share it
    run = {
        **{field: getattr(record, field) for field in TABLES["runs"] if field != "seed"},
        "seed": record.run.seed,
        "environment": files.digest(record.environment, 8),
        "run": record.run.model_dump(mode="json"),
    }
    return {
        "environments": list(environments.values()),
        "protocols": protocols,
        "history": history,
        "measurements": [row | {"seal": seal} for row in measured],
        "runs": [_row("runs", run)],
    }


def _row(table: str, values: Mapping[str, Any]) -> TextRow:
    """A row's fields as text: numbers and mappings as JSON."""
    row = dict.fromkeys(TABLES[table], "")
    for column, value in values.items():
        if value is not None:
            row[column] = value if isinstance(value, str) else files.canonical_json(value)
    return row
