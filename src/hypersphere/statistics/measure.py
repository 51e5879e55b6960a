"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from.

Of single images they are what probes say of them: quantiles of their values, pictures, points.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from hypersphere.config import coordinates, registry
from hypersphere.config import rules as rules_file
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan, table_name
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Rules
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance import pictures as png
from hypersphere.provenance.columns import DISTRIBUTION, PICTURES, POINTS
from hypersphere.provenance.manifest import check_evaluation
from hypersphere.statistics import effects, gather

QUANTILES = np.linspace(0, 1, 101)
"""Levels at which the distribution over images is stored."""
PLACES = ("row", "column", "caption")
"""The columns of a probe's table that say where its pictures are drawn."""
WHOSE = ["coordinates", "seed", "run"]
"""The columns that say which cell and run a row is of."""
BLANK = np.full((1, 1, 3), 255, np.uint8)
"""Stands in the file of pictures where no run has one."""
FLOORED = {
    (False, False): "",
    (True, False): "variant",
    (False, True): "baseline",
    (True, True): "both",
}
"""Which arm of an effect is not shown to be above its controls, by whether variant and baseline have a floor."""
Measured = tuple[Cell, Path, pd.DataFrame, int]
"""A cell and its probe's file: the rows of the cell's readings, whose index counts all rows, and the number of all."""


def build(plan: Plan, paper: str, artifact: str) -> dict[str, pd.DataFrame]:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns. After an error nothing has been written. Returns the tables by name.
    """
    images = registry.artifact_kind(plan.config.papers[paper].measured[artifact].draw).images
    written = judged_tables(plan, paper, artifact, rules_file.load(plan.config.root))
    folder, also = plan.config.artifact_folder(paper, artifact), []
    of_cells = plan, plan.artifacts[paper, artifact], written["measurements"]
    if "distribution.csv" in images:
        found = [pd.DataFrame(columns=list(DISTRIBUTION))]
        for cell, _, table, _ in _tables(*of_cells):
            values = {"quantile": QUANTILES, "value": np.quantile(table[cell.measure], QUANTILES)}
            found.append(table.iloc[:1][WHOSE].merge(pd.DataFrame(values), how="cross"))
        written["distribution"] = pd.concat(found[1:] or found)
    if "points.csv" in images:
        found = [pd.DataFrame(columns=list(POINTS))]
        for _, file, table, _ in _tables(*of_cells, first=True):
            if not POINTS.keys() <= set(table):
                raise HypersphereError(
                    f"{file}: this protocol has no points in space; ask for a probe that has"
                )
            found.append(table[list(POINTS)])
        written["points"] = pd.concat(found[1:] or found)
    if "pictures.csv" in images:
        written["pictures"], stacked = pictures(_tables(*of_cells, first=True))
        also.append(folder / "pictures.png")
        png.write(also[0], stacked)
    tables.write(
        folder, {name: (table, columns.TABLES[name]) for name, table in written.items()}, also
    )
    return written


def judged_tables(plan: Plan, paper: str, artifact: str, rules: Rules) -> dict[str, pd.DataFrame]:
    """The tables by which an artifact's claims are judged: measurements, summary, effects and runs."""
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    measurer = gather.Measurer(plan)
    rows = measurer.rows(cells, declared)
    rows += [*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)]
    kinds = {
        "seed": "Int64",
        "epoch": "int64",
        "n_test": "Int64",
        "value": "float64",
        "final": "bool",
    }
    measured = pd.DataFrame(rows, columns=list(columns.MEASUREMENTS)).astype(kinds)
    seeds = Counter(cell.text for cell in cells)  # also of those that are missing
    summaries = gather.summary(measured, rules.confidence, seeds, measurer.repeated)
    found = effects.of_artifact(measured, declared, seeds, rules)
    floors = dict(zip(summaries["coordinates"], summaries["floor"], strict=True))
    arms = zip(found["coordinates"].map(floors), found["baseline"].map(floors), strict=True)
    found["floored"] = [FLOORED[bool(variant), bool(baseline)] for variant, baseline in arms]
    return {
        "measurements": measured,
        "summary": summaries,
        "effects": found,
        "runs": gather.runs(plan, plan.runs_of(paper, artifact)),
    }


def pictures(of_cells: Iterable[Measured]) -> tuple[pd.DataFrame, list[UInt8[np.ndarray, "h w 3"]]]:
    """The pictures of cells, one below the other.

    Each has a row of the columns ``PICTURES``, in which ``top`` counts pixels from the top of the stack.
    """
    rows: list[dict[str, Any]] = []
    images: list[UInt8[np.ndarray, "h w 3"]] = []
    for _, file, table, length in of_cells:
        if not file.with_suffix(".png").is_file():
            raise HypersphereError(
                f"{file}: this protocol has no pictures; ask for a probe that has"
            )
        stacked = png.read(file.with_suffix(".png"))
        separate = stacked.reshape(length, len(stacked) // length, *stacked.shape[1:])
        for place, row in zip(table.index, tables.rows(table), strict=True):
            image = separate[place]
            where = {
                "top": sum(map(len, images)),
                "height": image.shape[0],
                "width": image.shape[1],
            }
            rows.append({**row, **where})
            images.append(image)
    return pd.DataFrame(rows, columns=list(PICTURES)), images or [BLANK]


def _tables(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame, first: bool = False
) -> Iterator[Measured]:
    """Each cell that was measured and has a value; ``first``: of its seeds the first alone.

    ``measured`` holds the cells' measurements.
    """
    shown: set[str] = set()
    lost = measured["status"].isin(WITHOUT_VALUE)
    without = set(measured.loc[lost, ["coordinates", "run"]].itertuples(index=False))
    for cell in cells:
        if cell.run is None or cell.target is None or cell.missing or cell.how is None:
            continue
        if (cell.text, cell.run.name) in without:
            continue
        path = plan.evaluation_file(cell.run.name, cell.how.digest)
        file, listed = (
            table_name(path, (cell.epoch, cell.target.name)),
            check_evaluation(path)["files"],
        )
        if file.name not in listed:
            raise HypersphereError(
                f"{file}: the protocol {cell.protocol} has no values of single images; ask for a probe that has"
            )
        if first and cell.text in shown:
            continue
        shown.add(cell.text)
        table = pd.read_csv(file, dtype=dict.fromkeys(PLACES, str)).fillna(
            dict.fromkeys(PLACES, "")
        )
        length = len(table)
        for key, value in coordinates.of_probe(cell.coordinates).items():
            table = table[table[key] == value]
        yield (
            cell,
            file,
            table.assign(coordinates=cell.text, seed=cell.run.seed, run=cell.run.name),
            length,
        )
