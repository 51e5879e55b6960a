"""effects.csv: each variant minus the baseline of its artifact, by the tests of ``effects``.

All effects and intervals are in the metric's unit. docs/statistics.md states the rules.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured
from hypersphere.config.coordinates import Coordinates, Position
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Rules
from hypersphere.config.study import AGAIN
from hypersphere.provenance import tables
from hypersphere.provenance.columns import EFFECTS
from hypersphere.statistics.effects import PAIRED, Arms, adjust, effect


def layout(point: Coordinates) -> Position:
    """Coordinates that cells must share to have their spread pooled: all but method, variant and fields of the run."""
    dataset_and_readings = point.keys() - {"method", "variant", *coordinates.of_run(point)}
    return coordinates.in_order({key: point[key] for key in dataset_and_readings})


def arms(table: pd.DataFrame, points: Iterable[Position]) -> dict[Position, Arms]:
    """The measured cells of one artifact, by layout; without values if no run has one."""
    finished = table["value"].where(table["status"] == "finished").set_axis(table["seed"])
    by_cell = finished.groupby(table["coordinates"].to_numpy(), sort=False)
    measured = {str(cell): values.dropna() for cell, values in by_cell}
    found: dict[Position, Arms] = {}
    for point in points:
        alike = found.setdefault(layout(point), {})
        if point.text in measured:
            alike[point.text] = measured[point.text]
    return found


def of_artifact(
    table: pd.DataFrame, artifact: Measured, declared: Mapping[str, int], rules: Rules
) -> pd.DataFrame:
    """effects.csv: all effects of one artifact, Holm-corrected together: against the baseline, then the others.

    Comparisons that were not run have no row and count for Holm, whose family is what the artifact declares. A/A
    comparisons are in no family. ``table`` holds the artifact's measurements, and ``declared`` the number of seeds that
    each cell should have.
    """
    by_layout = arms(table, artifact.points)
    cells = table.drop_duplicates("coordinates").set_index("coordinates", drop=False)
    about = dict(zip(cells.index, tables.rows(cells), strict=True))
    lost = table.loc[table["status"].isin(WITHOUT_VALUE), "coordinates"].value_counts()
    margin = math.nan if artifact.margin is None else artifact.margin
    rows: list[dict[str, Any]] = []
    for point, against in artifact.comparisons:
        # Two layouts if the two differ in a reading; a baseline that is no cell has none.
        groups = by_layout.get(layout(point), {}) | by_layout.get(layout(against), {})
        cell, baseline = pair = point.text, against.text
        if not groups.keys() >= {*pair}:
            continue
        in_family = _in_family(point, against)
        of_pairs = _of_same_encoders(point, against) or (artifact.test == PAIRED and in_family)
        row = effect(groups[cell], groups[baseline], groups, rules, of_pairs)
        seen = sum(len(groups[one]) + lost.get(one, 0) for one in pair)
        row |= {
            "baseline": baseline,
            "in_family": in_family,
            "margin": margin,
            "equivalent": -margin < row["low_equal"] and row["high_equal"] < margin,
            "n_declared": min(declared[one] for one in pair),
            "n_missing": sum(declared[one] for one in pair) - seen,
        }
        rows.append(about[cell] | row)
    family = sum(_in_family(point, against) for point, against in artifact.comparisons)
    adjust([row for row in rows if row["in_family"]], family, rules)
    return pd.DataFrame(rows, columns=list(EFFECTS))


def _in_family(point: Coordinates, against: Coordinates) -> bool:
    """Whether Holm's correction counts a comparison: every one but of a baseline with itself (A/A)."""
    return AGAIN not in (point["variant"], against["variant"])


def _of_same_encoders(point: Coordinates, against: Coordinates) -> bool:
    """Whether two cells are readings of the same encoders: a difference between seeds is in both."""
    epochs = point.get("epoch"), against.get("epoch")
    return (
        coordinates.without_readings(point) == coordinates.without_readings(against)
        and epochs[0] == epochs[1]
    )
