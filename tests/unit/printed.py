"""Numbers that the documents print, read from ``papers/*/claims.csv``, so that each of them is typed once."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd

from hypersphere.config.claims import Claim, load
from hypersphere.config.coordinates import PAIR, Coordinates, Scalar

PAPERS = Path(__file__).resolve().parents[2] / "papers"


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
    numbers = [
        claim.reported for claim in _selected(paper, artifact, fixed) if claim.reported is not None
    ]
    assert numbers, f"{paper}/{artifact} has no value at {dict(fixed)}"
    return numbers


def table(
    paper: str,
    artifact: str,
    rows: str,
    columns: str,
    fixed: Coordinates = MappingProxyType({}),
    field: Literal["reported", "reported_std"] = "reported",
) -> pd.DataFrame:
    """The values of an artifact by two coordinates, in the order of the claims. Two for one cell must agree.

    NaN where nothing is printed.
    """
    cells: dict[Scalar, dict[Scalar, float]] = {}
    for claim in _selected(paper, artifact, fixed):
        row = cells.setdefault(coordinate(claim, rows), {})
        value = getattr(claim, field)
        assert row.setdefault(coordinate(claim, columns), value) == value, (
            f"{claim.id}: another value for its cell"
        )
    assert cells, f"{paper}/{artifact} has no value at {dict(fixed)}"
    return pd.DataFrame.from_dict(cells, orient="index")


def with_deviations(*place: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ``table`` of the printed means, and that of their deviations."""
    return table(*place), table(*place, field="reported_std")


def differences(cells: pd.DataFrame, row: Scalar, baseline: Scalar) -> list[float]:
    """One row less another, in the columns of the row. Printed decimals are exact."""
    own = cells.loc[row].dropna()
    return (own - cells.loc[baseline, own.index]).round(10).tolist()
