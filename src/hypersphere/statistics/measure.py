"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from.

Of single images they are what probes say of them: quantiles of their values, pictures, points.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from hypersphere.config import coordinates, registry
from hypersphere.config import rules as rules_file
from hypersphere.config.cells import Cell, is_probed
from hypersphere.config.plan import Plan, table_name
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Rules
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance import pictures as png
from hypersphere.provenance.columns import DISTRIBUTION, PICTURES, POINTS
from hypersphere.provenance.manifest import check_evaluation
from hypersphere.statistics import effects_table, gather

QUANTILES = np.linspace(0, 1, 101)
"""Levels at which the distribution over images is stored."""
PLACES = ("row", "column", "caption")
"""The columns of a probe's table that say where its pictures are drawn."""
WHOSE = ["coordinates", "seed", "run"]
"""The columns that say which cell and run a row is of."""
KINDS = {
    "seed": "Int64",
    "epoch": "int64",
    "n_test": "Int64",
    "value": "float64",
    "final": "bool",
}
"""The types of the columns of measurements.csv that pandas would take for others."""
BLANK = np.full((1, 1, 3), 255, np.uint8)
"""Stands in the file of pictures where no run has one."""
FLOORED = {
    (False, False): "",
    (True, False): "variant",
    (False, True): "baseline",
    (True, True): "both",
}
"""Which arm of an effect is not shown to be above its controls, by whether variant and baseline have a floor."""


class OfImages(NamedTuple):
    """What a probe's file says of single images for one cell."""

    cell: Cell
    file: Path
    table: pd.DataFrame
    """The rows of the cell's readings; the index counts all rows of the file."""
    length: int
    """The number of all rows of the file."""


def build(plan: Plan, paper: str, artifact: str) -> dict[str, pd.DataFrame]:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns. After an error nothing has been written. Returns the tables by name.
    """
    images = registry.artifact_kind(plan.config.papers[paper].measured[artifact].draw).images
    written = judged_tables(plan, paper, artifact, rules_file.load(plan.config.root))
    folder = plan.config.artifact_folder(paper, artifact)
    also = []
    of_cells = plan, plan.artifacts[paper, artifact], written["measurements"]
    if "distribution.csv" in images:
        written["distribution"] = stack_rows(DISTRIBUTION, map(_quantiles, _tables(*of_cells)))
    if "points.csv" in images:
        points = map(_points, _tables(*of_cells, first=True))
        written["points"] = stack_rows(POINTS, points)
    if "pictures.csv" in images:
        written["pictures"], stack = pictures(_tables(*of_cells, first=True))
        also.append(folder / "pictures.png")
        png.write(also[0], stack)
    with_columns = {name: (table, columns.TABLES[name]) for name, table in written.items()}
    tables.write(folder, with_columns, also)
    return written


def stack_rows(kinds: tables.Columns, parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all parts, one below the other; of none a table of these columns without a row."""
    found = list(parts)
    return pd.concat(found) if found else pd.DataFrame(columns=list(kinds))


def _quantiles(of: OfImages) -> pd.DataFrame:
    """The distribution over images of one run's values."""
    values = np.quantile(of.table[of.cell.measure], QUANTILES)
    quantiles = pd.DataFrame({"quantile": QUANTILES, "value": values})
    return of.table.iloc[:1][WHOSE].merge(quantiles, how="cross")


def _points(of: OfImages) -> pd.DataFrame:
    """The points in space of one run's images."""
    if not POINTS.keys() <= set(of.table):
        raise HypersphereError(
            f"{of.file}: this protocol has no points in space; ask for a probe that has"
        )
    return of.table[list(POINTS)]


def judged_tables(plan: Plan, paper: str, artifact: str, rules: Rules) -> dict[str, pd.DataFrame]:
    """The tables by which an artifact's claims are judged: measurements, summary, effects and runs."""
    declared = plan.config.papers[paper].measured[artifact]
    cells = plan.artifacts[paper, artifact]
    measurer = gather.Measurer(plan)
    rows = measurer.rows(cells, declared)
    rows += measurer.rows(plan.controls[paper, artifact])
    rows += measurer.controls(cells)
    measured = pd.DataFrame(rows, columns=list(columns.MEASUREMENTS)).astype(KINDS)
    seeds = Counter(cell.text for cell in cells)  # also of those that are missing
    summary = gather.summary(measured, rules.confidence, seeds, measurer.repeated)
    compared = effects_table.of_artifact(measured, declared, seeds, rules)
    has_floor = summary.set_index("coordinates")["floor"] != ""
    arms = zip(compared["coordinates"], compared["baseline"], strict=True)
    compared["floored"] = [FLOORED[has_floor[arm], has_floor[other]] for arm, other in arms]
    return {
        "measurements": measured,
        "summary": summary,
        "effects": compared,
        "runs": gather.runs(plan, plan.runs_of(paper, artifact)),
    }


def pictures(
    of_cells: Iterable[OfImages],
) -> tuple[pd.DataFrame, list[UInt8[np.ndarray, "h w 3"]]]:
    """The pictures of cells, one below the other.

    Each has a row of the columns ``PICTURES``, in which ``top`` counts pixels from the top of the stack.
    """
    rows: list[dict[str, Any]] = []
    images: list[UInt8[np.ndarray, "h w 3"]] = []
    top = 0
    for of in of_cells:
        file = of.file.with_suffix(".png")
        if not file.is_file():
            raise HypersphereError(
                f"{of.file}: this protocol has no pictures; ask for a probe that has"
            )
        separate = np.split(png.read(file), of.length)
        for place, row in zip(of.table.index, tables.rows(of.table), strict=True):
            image = separate[place]
            height, width, _ = image.shape
            rows.append({**row, "top": top, "height": height, "width": width})
            images.append(image)
            top += height
    return pd.DataFrame(rows, columns=list(PICTURES)), images or [BLANK]


def _tables(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame, first: bool = False
) -> Iterator[OfImages]:
    """Each cell that was measured and has a value; ``first``: of its seeds the first alone.

    ``measured`` holds the cells' measurements.
    """
    shown: set[str] = set()
    lost = measured[measured["status"].isin(WITHOUT_VALUE)]
    without = set(zip(lost["coordinates"], lost["run"], strict=True))
    for cell in cells:
        if not is_probed(cell) or (cell.text, cell.run.name) in without:
            continue
        path = plan.evaluation_file(cell.run.name, cell.how.digest)
        file = table_name(path, (cell.epoch, cell.target.name))
        if file.name not in check_evaluation(path)["files"]:
            raise HypersphereError(
                f"{file}: the protocol {cell.protocol} has no values of single images; ask for a probe that has"
            )
        if first and cell.text in shown:
            continue
        shown.add(cell.text)
        table = pd.read_csv(file, dtype=dict.fromkeys(PLACES, str))
        table = table.fillna(dict.fromkeys(PLACES, ""))
        length = len(table)
        for key, value in coordinates.of_probe(cell.coordinates).items():
            table = table[table[key] == value]
        table = table.assign(coordinates=cell.text, seed=cell.run.seed, run=cell.run.name)
        yield OfImages(cell, file, table, length)
