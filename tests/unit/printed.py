"""Numbers that the documents print, read from ``config/papers/*/claims.csv``, so that each of them is typed once."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from hypersphere.config.claims import Claim, load
from hypersphere.config.coordinates import PAIR, Coordinates, Scalar

PAPERS = Path(__file__).resolve().parents[2] / "config" / "papers"

Table = dict[Scalar, dict[Scalar, float]]
"""Row, column, number."""


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    return tuple(load(PAPERS / paper / "claims.csv"))


def coordinate(claim: Claim, name: str) -> Scalar:
    """One of a claim's coordinates, or ``method.variant`` for both; ``""`` if the claim has none of that name."""
    return f"{claim.method}.{claim.variant}" if name == PAIR else claim.coordinates.get(name, "")


def _selected(paper: str, artifact: str, fixed: Coordinates) -> Iterator[Claim]:
    for claim in claims(paper):
        of_artifact = claim.kind == "value" and claim.artifact == artifact
        if of_artifact and all(coordinate(claim, name) == value for name, value in fixed.items()):
            yield claim


def values(paper: str, artifact: str, fixed: Coordinates) -> list[float]:
    """The values of an artifact at these coordinates, in the order of the claims."""
    numbers = [claim.reported for claim in _selected(paper, artifact, fixed) if claim.reported is not None]
    assert numbers, f"{paper}/{artifact} has no value at {dict(fixed)}"
    return numbers


def table(
    paper: str,
    artifact: str,
    rows: str,
    columns: str,
    fixed: Coordinates = MappingProxyType({}),
    field: Literal["reported", "reported_std"] = "reported",
) -> Table:
    """The values of an artifact by two coordinates, in the order of the claims. Two for one cell must agree."""
    cells: Table = {}
    for claim in _selected(paper, artifact, fixed):
        row = cells.setdefault(coordinate(claim, rows), {})
        value = getattr(claim, field)
        assert row.setdefault(coordinate(claim, columns), value) == value, f"{claim.id}: another value for its cell"
    assert cells, f"{paper}/{artifact} has no value at {dict(fixed)}"
    return cells


def frame(paper: str, artifact: str, rows: str, columns: str, **more: Any) -> pd.DataFrame:
    """``table`` as a frame, in its order; NaN where nothing is printed."""
    return pd.DataFrame.from_dict(table(paper, artifact, rows, columns, **more), orient="index")


def with_deviations(*place: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ``frame`` of the printed means, and that of their deviations."""
    return frame(*place), frame(*place, field="reported_std")


def differences(cells: Table, row: str, baseline: str) -> list[float]:
    """One row less another, column by column. Printed decimals are exact."""
    return [round(cells[row][column] - cells[baseline][column], 10) for column in cells[row]]
