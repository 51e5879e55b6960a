"""Evidence: one small JSON record per finished run, with all that is needed to judge it, and without its weights."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from hypersphere import files
from hypersphere.declared.run import Run
from hypersphere.declared.settings import Level
from hypersphere.declared.validation import PositiveInt, Strict, validate
from hypersphere.errors import HypersphereError

FOLDER = "evidence"
"""Holds a folder of records for each scale."""


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
    """The schema of ``evidence/<scale>/*.json``."""

    schema_version: Literal[1] = 1
    name: str
    scale: str
    level: Level
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
    pixels: list[Answer]
    """The same protocols' answers on raw pixels of the probed datasets: controls."""

    @property
    def key(self) -> str:
        """Digest of all that decides a run's bytes: records of one key must agree, those of two are replicates."""
        decides = self.model_dump(mode="json", include={"name", "device", "numerics", "code", "data"})
        machine = {name: value for name, value in self.environment.items() if name != "cores"}
        return files.digest([decides, machine], 8)

    @property
    def file_name(self) -> str:
        """``<run>-<key>.json``."""
        return f"{self.name}-{self.key}.json"

    def answers(self, protocol: str, of_pixels: bool = False) -> list[Answer]:
        """The answers of one protocol, by its digest."""
        return [one for one in (self.pixels if of_pixels else self.evaluations) if one.protocol == protocol]

    def measured(self, protocol: str, epoch: int, target: str) -> bool:
        """Whether the run was measured so."""
        return any((one.epoch, one.target) == (epoch, target) for one in self.answers(protocol))


Records = Mapping[str, tuple[Record, ...]]
"""Records by the name of their run: replicates of one run, in the order of their keys."""


def read(path: Path) -> Record:
    """Parse a record, and check that its name is the name of its content.

    Raises:
        HypersphereError: missing, not JSON, not of the schema, or misnamed.
    """
    record = validate(Record, files.read_json(path), path)
    if record.name != record.run.name:
        raise HypersphereError(f"{path}: name: the record's content is named {record.run.name}")
    if path.name != record.file_name:
        raise HypersphereError(f"{path}: the record's content belongs in a file called {record.file_name}")
    return record


def read_all(folder: Path) -> Records:
    """All records of a scale's folder; none if it does not exist.

    Raises:
        HypersphereError: one is malformed, misnamed or of another scale.
    """
    return grouped(_of_scale(read(path), folder) for path in sorted(folder.glob("*.json")))


def _of_scale(record: Record, folder: Path) -> Record:
    if record.scale != folder.name:
        raise HypersphereError(f"{folder / record.file_name}: scale: is {record.scale}, in the folder of {folder.name}")
    return record


def grouped(records: Iterable[Record]) -> Records:
    """Records by the name of their run."""
    by_run: dict[str, list[Record]] = {}
    for record in records:
        by_run.setdefault(record.name, []).append(record)
    return {name: tuple(sorted(several, key=lambda record: record.key)) for name, several in by_run.items()}


def merged(old: Record, new: Record, path: Path) -> Record:
    """Two records of one key as one: the answers of both, and the newer ones where a protocol's code has changed.

    Raises:
        HypersphereError: they contradict one another: training, or one protocol's code, gave two results.
    """
    for name in ("status", "epochs", "files", "history"):
        if getattr(old, name) != getattr(new, name):
            raise HypersphereError(f"{path}: {name}: differs from the record that is there, though both have one key")
    kept = [digest for digest in old.evaluated_by if digest not in new.evaluated_by]
    for digest in old.evaluated_by.keys() - set(kept):
        same_code = old.evaluated_by[digest] == new.evaluated_by[digest]
        if same_code and any(old.answers(digest, of) != new.answers(digest, of) for of in (False, True)):
            raise HypersphereError(
                f"{path}: evaluations: protocol {digest} gave other values than in the record that is there, "
                "though both have one key"
            )
    return new.model_copy(
        update={
            "evaluations": [*(one for digest in kept for one in old.answers(digest)), *new.evaluations],
            "pixels": [*(one for digest in kept for one in old.answers(digest, True)), *new.pixels],
            "evaluated_by": {digest: old.evaluated_by[digest] for digest in kept} | new.evaluated_by,
        }
    )
