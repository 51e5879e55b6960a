"""What probes say of single images, for the cells of one artifact: quantiles of their values, pictures, points."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from hypersphere.config import coordinates
from hypersphere.config.artifacts import HISTORY
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan, pictures_name, table_name
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns
from hypersphere.provenance import pictures as png
from hypersphere.provenance.manifest import check_evaluation

DISTRIBUTION = columns.DISTRIBUTION
QUANTILES = np.linspace(0, 1, 101)
"""Levels at which the distribution over images is stored."""
PICTURES = columns.PICTURES
PLACES = ("row", "column", "caption")
"""The columns of a probe's table that say where its pictures are drawn."""
POINTS = columns.POINTS
BLANK = np.full((1, 1, 3), 255, np.uint8)
"""Stands in the file of pictures where every run diverged."""


class _Table(NamedTuple):
    """A cell that was measured, and the files of its probe."""

    cell: Cell
    file: Path
    pictures: Path
    listed: bool
    """Whether the probe gave pictures."""

    @property
    def of(self) -> dict[str, Any]:
        """The columns that say which cell and run it is."""
        assert self.cell.run is not None
        return {"coordinates": self.cell.text, "seed": self.cell.run.seed, "run": self.cell.run.name}

    def rows(self) -> pd.DataFrame:
        """The rows of the cell's readings; their index counts all rows of the file."""
        table = pd.read_csv(self.file, dtype=dict.fromkeys(PLACES, str)).fillna(dict.fromkeys(PLACES, ""))
        for key, value in coordinates.of_probe(self.cell.coordinates).items():
            table = table[table[key] == value]
        return table


def distribution(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Quantiles over images of a probe's values, for every cell and seed; in the measure's unit.

    ``measured`` holds the cells' measurements. A run that diverged has no quantiles.

    Raises:
        HypersphereError: a file is missing or altered, or a probe has no values of single images.
    """
    rows: list[dict[str, Any]] = []
    for found in _tables(plan, cells, measured):
        values = found.rows()[found.cell.measure]
        for quantile, value in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True):
            rows.append({**found.of, "quantile": quantile, "value": value})
    return pd.DataFrame(rows, columns=list(DISTRIBUTION))


def pictures(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame
) -> tuple[pd.DataFrame, list[UInt8[np.ndarray, "h w 3"]]]:
    """The pictures of each cell's first seed that did not diverge.

    ``measured`` holds the cells' measurements.

    Returns:
        The columns ``PICTURES``, a row for each picture (``top`` counts pixels from the top of the stack), and the
        pictures.

    Raises:
        HypersphereError: a file is missing or altered, or a probe has no pictures.
    """
    rows: list[dict[str, Any]] = []
    images: list[UInt8[np.ndarray, "h w 3"]] = []
    shown: set[str] = set()
    top = 0
    for found in _tables(plan, cells, measured):
        if found.cell.text in shown:
            continue
        shown.add(found.cell.text)
        if not found.listed:
            protocol = found.cell.protocol
            raise HypersphereError(
                f"{found.pictures}: the protocol {protocol} has no pictures; ask for a probe that has"
            )
        stacked, every = png.read(found.pictures), len(pd.read_csv(found.file))
        separate = stacked.reshape(every, len(stacked) // every, *stacked.shape[1:])
        for place, row in found.rows().iterrows():
            image = separate[int(str(place))]
            where = {"top": top, "height": image.shape[0], "width": image.shape[1]}
            rows.append({**found.of, **{name: row[name] for name in PLACES}, **where})
            images.append(image)
            top += len(image)
    return pd.DataFrame(rows, columns=list(PICTURES)), images or [BLANK]


def points(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Single images as points in space: those of each cell's first seed that did not diverge.

    ``measured`` holds the cells' measurements.

    Raises:
        HypersphereError: a file is missing or altered, or a probe has no points.
    """
    first: dict[str, pd.DataFrame] = {}
    for found in _tables(plan, cells, measured):
        rows = found.rows()
        if not POINTS.keys() - found.of.keys() <= set(rows):
            raise HypersphereError(
                f"{found.file}: the protocol {found.cell.protocol} has no points in space; ask for a probe that has"
            )
        first.setdefault(found.cell.text, rows.assign(**found.of)[list(POINTS)])
    return pd.concat(first.values(), ignore_index=True) if first else pd.DataFrame(columns=list(POINTS))


def _tables(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> Iterator[_Table]:
    """The probe's table of each cell that was measured and whose run did not diverge, in the order of ``cells``."""
    diverged = set(measured.loc[measured["status"] == "diverged", ["coordinates", "run"]].itertuples(index=False))
    for cell in cells:
        if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
            continue
        if (cell.text, cell.run.name) in diverged:
            continue
        path = plan.evaluation(cell.run.name, plan.protocols[cell.paper][cell.protocol].digest)
        at = cell.epoch, cell.target.name
        file = table_name(path, at)
        listed = check_evaluation(path)["files"]
        if file.name not in listed:
            raise HypersphereError(
                f"{file}: the protocol {cell.protocol} has no values of single images; ask for a probe that has"
            )
        pictured = pictures_name(path, at)
        yield _Table(cell, file, pictured, pictured.name in listed)
