"""``hypersphere select``: choose the tuned values of a study's arms from the records of its tuning runs.

Nothing is chosen during a build: the choice is written into a file that is committed, with the curve it was made from.
"""

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.study import TUNING, Tried
from hypersphere.errors import HypersphereError
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
    cells = [cell for cell in plan.artifacts[paper, name + TUNING] if not declared.leaves_out(cell.coordinates)]
    lacking = sorted({cell.run.name for cell in cells if cell.run is not None and cell.missing})
    if lacking or any(cell.run is None for cell in cells):
        of = f"{len(lacking)} of {len(cells)} tuning runs have no record, the first is {lacking[0] if lacking else ''}"
        raise HypersphereError(f"{paper}/{name}: {of}; `hypersphere campaign` makes them")
    grids = study.grids()
    table = pd.DataFrame(Measurer(plan).rows(cells, declared))
    table["arm"] = [study.arm(cell.coordinates) for cell in cells]
    table["tuned"] = [
        coordinates.text({key: cell.coordinates[key] for key in grids[arm]})
        for cell, arm in zip(cells, table["arm"], strict=True)
    ]
    sign = -1 if MEASURES[study.measure].better == "lower" else 1
    tried: list[Tried] = []
    edges: list[str] = []
    for arm in grids:
        curve = []
        for value, rows in table[table["arm"] == arm].groupby("tuned", sort=False):
            finished = rows.loc[rows["status"] == "finished", "value"].to_numpy(dtype=float)
            mean = float(finished.mean()) if len(finished) else float("nan")
            diverged = len(rows) - len(finished)
            curve.append(Tried(arm, str(value), mean, spread(finished), len(finished), diverged, False))
        whole = [one for one in curve if not one.diverged]
        if not whole:
            raise HypersphereError(f"{where}: {arm}: a run diverged, or has no value, at every value of the grid")
        best = max(whole, key=lambda one: sign * one.mean)
        tried += [one._replace(chosen=one is best) for one in curve]
        values = coordinates.parse(best.value, "selection")
        edges += [f"{arm} at {key}={values[key]}, the {edge}" for key, edge in study.edges(arm, values).items()]
    if edges:
        raise HypersphereError(
            f"{where}: the best value is at an edge of its grid, so extend it and tune again: {'; '.join(edges)}"
        )
    return tried
