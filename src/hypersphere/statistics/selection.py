"""``hypersphere select``: choose the tuned values of a study's arms from the records of its tuning runs.

Nothing is chosen during a build: the choice is written into a file that is committed, with the curve it was made from.
"""

import math

import numpy as np

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Position
from hypersphere.config.plan import Plan
from hypersphere.config.study import TUNING, Tried
from hypersphere.errors import HypersphereError
from hypersphere.provenance.tables import Row
from hypersphere.statistics.gather import Measurer
from hypersphere.t_test import spread


def select(plan: Plan, paper: str, name: str) -> list[Tried]:
    """The curve of each arm over its grid, with its best value marked.

    The best value has the best mean of the primary measure over the tuning seeds; a value of which a run diverged, or
    leaves the measure undefined, is not chosen. Of equal means the first in the grid is chosen. A best value at the
    edge of any tuned field's grid is an error, because a better one may lie beyond it. The plan is of the study's
    scale, from records alone.
    """
    study = plan.config.papers[paper].studies[name]
    where = f"{plan.config.paper_file(paper)}: studies.{name}"
    if not study.tuned:
        raise HypersphereError(f"{where}: tunes nothing, so there is nothing to select")
    if study.closed is not None:
        raise HypersphereError(f"{where}: is closed, so what was selected stays")
    declared = plan.config.papers[paper].measured[name + TUNING]
    cells = [
        cell
        for cell in plan.artifacts[paper, name + TUNING]
        if not declared.leaves_out(cell.coordinates)
    ]
    lacking = sorted({cell.run.name for cell in cells if cell.run is not None and cell.missing})
    if lacking or any(cell.run is None for cell in cells):
        first = lacking[0] if lacking else ""
        raise HypersphereError(
            f"{paper}/{name}: {len(lacking)} of {len(cells)} tuning runs have no record, the first is {first}; "
            "`hypersphere campaign` makes them"
        )
    grids = study.grids()
    tuned: dict[str, dict[Position, list[Row]]] = {arm: {} for arm in grids}
    for cell, row in zip(cells, Measurer(plan).rows(cells, declared), strict=True):
        arm = study.arm(cell.coordinates)
        value = coordinates.in_order({key: cell.coordinates[key] for key in grids[arm]})
        tuned[arm].setdefault(value, []).append(row)
    tried: list[Tried] = []
    edges: list[str] = []
    for arm, by_value in tuned.items():
        curve = {value: _point_of(arm, value, rows) for value, rows in by_value.items()}
        whole = [value for value, one in curve.items() if not one.diverged]
        if not whole:
            raise HypersphereError(
                f"{where}: {arm}: a run diverged, or has no value, at every value of the grid"
            )
        best = max(whole, key=lambda value: curve[value].mean)
        curve[best] = curve[best]._replace(chosen=True)
        tried += curve.values()
        for key, edge in study.edges(arm, best).items():
            edges.append(f"{arm} at {key}={best[key]}, the {edge}")
    if edges:
        raise HypersphereError(
            f"{where}: the best value is at an edge of its grid, so extend it and tune again: {'; '.join(edges)}"
        )
    return tried


def _point_of(arm: str, value: Position, rows: list[Row]) -> Tried:
    """A point of an arm's curve, by the measurements of its tuning runs."""
    finished = [row["value"] for row in rows if row["status"] == "finished"]
    values = np.array(finished, dtype=float)
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    return Tried(arm, value.text, mean, spread(values), n, len(rows) - n, False)
