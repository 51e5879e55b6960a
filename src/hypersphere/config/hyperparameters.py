"""papers/<id>/hyperparameters.csv: the settings that a paper publishes, and where it states them."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hypersphere.config import coordinates
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import IDENTITY
from hypersphere.config.validation import read_table

FILE = "hyperparameters.csv"
SPOKEN = {"schedule.warmup": "schedule.warmup_epochs"}
"""Fields of a run that papers publish in other words, and the path of these."""


class Hyperparameter(NamedTuple):
    """One published setting: the paper, and the columns of its table.

    A row selects cells: by artifact, method, variant and dataset, each a list divided by spaces (empty: all), and by
    further coordinates (``setting``). A row without an artifact speaks of the paper's default: cells whose artifact
    varies the field itself are not meant.
    """

    paper: str
    artifact: str
    method: str
    variant: str
    dataset: str
    setting: str
    path: str
    printed: str
    ours: str
    reading: str
    source: str

    def is_of(self, cell: Cell) -> bool:
        """Whether it is about a cell of its paper."""
        point = cell.coordinates
        if self.artifact:
            if cell.artifact not in self.artifact.split():
                return False
        elif self.path in point:
            return False
        for key in IDENTITY:
            names = getattr(self, key)
            if names and point[key] not in names.split():
                return False
        further = coordinates.parse(self.setting, self.path)
        return all(point.get(key) == value for key, value in further.items())


def load(folder: Path) -> list[Hyperparameter]:
    """The published settings of the paper in a folder; none without the file."""
    file = folder / FILE
    if not file.exists():
        return []
    columns = [field for field in Hyperparameter._fields if field != "paper"]
    return [Hyperparameter(folder.name, **row) for row in read_table(file, columns)]


def source_of(rows: Iterable[Hyperparameter], cell: Cell, setting: str) -> str:
    """Where the paper states a setting of a cell's run, ``App. C.1``; empty: no row says it.

    ``setting`` is a path into the run, or a part of the run whose parameters may be stated. What is stated of the
    cell's own artifact comes before what is stated of all.
    """
    spoken = SPOKEN.get(setting, setting)
    stated = ""
    for row in rows:
        is_named = row.path in (setting, spoken) or row.path.startswith(f"{setting}.")
        if is_named and row.is_of(cell) and (row.artifact or not stated):
            stated = row.source
    return stated
