"""Cells that would show one measured number for two different published ones."""

import math
from dataclasses import replace
from typing import Any

from hypersphere.config.cells import Cell, Cells

SHARED = "at this scale one number with"
"""How the reason of such a cell begins; the cell that keeps the number follows."""


def mark(cells: list[Cell], maker: Cells) -> list[Cell]:
    """Mark cells as missing where two different published numbers of a paper would show one measured number.

    If the scale makes one run or one epoch of two, the cell with the smaller rounding keeps the number, and the other
    cannot be measured.
    """
    best: dict[tuple[Any, ...], tuple[float, int, Any, Cell]] = {}
    keys = [_number(cell) for cell in cells]
    numbers = [None if key is None else maker.published(cell) for cell, key in zip(cells, keys, strict=True)]
    for place, (cell, key, number) in enumerate(zip(cells, keys, numbers, strict=True)):
        if key is not None and number is not None:
            best[key] = min(
                best.get(key, (math.inf, 0, number, cell)), (number.rounded, place, number, cell), key=_rank
            )
    marked = []
    for cell, key, number in zip(cells, keys, numbers, strict=True):
        if key is not None and number is not None and not cell.missing and not number.same(best[key][2]):
            cell = replace(cell, missing=f"{SHARED} {best[key][3].text}")
        marked.append(cell)
    return marked


def _rank(candidate: tuple[float, int, Any, Cell]) -> tuple[float, int]:
    return candidate[:2]


def _number(cell: Cell) -> tuple[Any, ...] | None:
    """The key of the measured number that a cell would show; None: it shows none."""
    if cell.run is None or cell.target is None:
        return None
    return cell.paper, cell.run.name, cell.epoch, cell.target.name, cell.protocol, cell.measure, cell.reading
