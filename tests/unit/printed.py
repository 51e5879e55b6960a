"""Numbers that the documents print, read from ``paper/claims/*.csv``, so that each of them is typed once."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from hypersphere.declared.claims import Claim, load
from hypersphere.declared.coordinates import PAIR, Coordinates, Scalar

CLAIMS = Path(__file__).resolve().parents[2] / "paper" / "claims"

Field = Literal["reported", "reported_std"]
"""A printed mean, or its standard deviation."""
Table = dict[Scalar, dict[Scalar, float]]
"""Row, column, number."""

LMCL_TABLE_5: dict[str, tuple[tuple[float, float], ...]] = {
    "curl.default": ((413, 53), (680, 32), (908, 86), (298, 38), (621, 121), (826, 42)),
    "dcl.default": ((422, 23), (672, 52), (878, 96), (248, 98), (626, 98), (836, 12)),
    "hcl.default": ((420, 61), (678, 82), (869, 116), (268, 42), (623, 26), (819, 62)),
    "curl.dp": ((423, 63), (682, 13), (926, 73), (296, 32), (625, 53), (842, 27)),
    "dcl.dp": ((423, 33), (683, 93), (909, 87), (287, 67), (625, 93), (843, 37)),
    "hcl.dp": ((421, 51), (681, 83), (910, 95), (292, 78), (626, 89), (832, 83)),
}
"""LMCL paper, Table 5, which is not among the claims: mean and deviation of three trials on Spin, Swingup, Easy, Run,
Walk and Catch, the lost ± put back (erratum L21)."""


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """All claims of a paper."""
    return tuple(load(CLAIMS / f"{paper}.csv"))


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
    field: Field = "reported",
) -> Table:
    """The values of an artifact by two coordinates, in the order of the claims. Two for one cell must agree."""
    cells: Table = {}
    for claim in _selected(paper, artifact, fixed):
        row = cells.setdefault(coordinate(claim, rows), {})
        value = getattr(claim, field)
        assert row.setdefault(coordinate(claim, columns), value) == value, f"{claim.id}: another value for its cell"
    assert cells, f"{paper}/{artifact} has no value at {dict(fixed)}"
    return cells


def differences(cells: Table, row: str, baseline: str) -> list[float]:
    """One row less another, column by column. Printed decimals are exact."""
    return [round(cells[row][column] - cells[baseline][column], 10) for column in cells[row]]
