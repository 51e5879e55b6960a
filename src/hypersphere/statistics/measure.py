"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from.

Of single images they are what probes say of them: quantiles of their values, pictures, points.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from hypersphere.config import coordinates, registry
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import HISTORY
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan, table_name
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
"""Stands in the file of pictures where every run diverged."""


def build(plan: Plan, paper: str, artifact: str) -> dict[str, pd.DataFrame]:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns. After an error nothing has been written. Returns the tables by name.
    """
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    written = judged_tables(plan, paper, artifact)
    rows = written["measurements"]
    folder, images, also = plan.artifact_folder(paper, artifact), registry.artifact_kind(declared.draw).images, []
    if "distribution.csv" in images:
        written["distribution"] = distribution(plan, cells, rows)
    if "points.csv" in images:
        written["points"] = points(plan, cells, rows)
    if "pictures.csv" in images:
        written["pictures"], stacked = pictures(plan, cells, rows)
        also.append(folder / "pictures.png")
        png.write(also[0], stacked)
    tables.write(folder, {name: (table, columns.TABLES[name]) for name, table in written.items()}, also)
    return written


def judged_tables(plan: Plan, paper: str, artifact: str) -> dict[str, pd.DataFrame]:
    """The tables by which an artifact's claims are judged: measurements, summary, effects and runs."""
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    rules, measurer = rules_file.load(plan.config.root), gather.Measurer(plan)
    rows = measurer.rows(cells, declared)
    rows += [*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)]
    kinds = {"seed": "Int64", "epoch": "int64", "n_test": "Int64", "value": "float64", "final": "bool"}
    measured = pd.DataFrame(rows, columns=list(columns.MEASUREMENTS)).astype(kinds)
    seeds = Counter(cell.text for cell in cells)  # also of those that are missing
    summaries = gather.summary(measured, rules.confidence, seeds)
    found = effects.of_artifact(measured, declared, seeds, rules)
    level = dict(zip(summaries["coordinates"], summaries["level"], strict=True))
    found["level"] = found["coordinates"].map(level).where(lambda own: own != "", found["baseline"].map(level))
    return {
        "measurements": measured,
        "summary": summaries,
        "effects": found,
        "runs": gather.runs(plan, plan.runs_of(paper, artifact)),
    }


def distribution(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Quantiles over images of a probe's values, for every cell and seed; in the measure's unit.

    ``measured`` holds the cells' measurements. A run that diverged has no quantiles.
    """
    found = [
        table.iloc[:1][WHOSE].merge(
            pd.DataFrame({"quantile": QUANTILES, "value": np.quantile(table[cell.measure], QUANTILES)}), how="cross"
        )
        for cell, _, table, _ in _tables(plan, cells, measured)
    ]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(DISTRIBUTION))


def pictures(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame
) -> tuple[pd.DataFrame, list[UInt8[np.ndarray, "h w 3"]]]:
    """The pictures of each cell's first seed that did not diverge. ``measured`` holds the cells' measurements.

    Each has a row of the columns ``PICTURES``, in which ``top`` counts pixels from the top of the stack.
    """
    rows: list[dict[str, Any]] = []
    images: list[UInt8[np.ndarray, "h w 3"]] = []
    shown: set[str] = set()
    for cell, file, table, length in _tables(plan, cells, measured):
        if cell.text in shown:
            continue
        shown.add(cell.text)
        if not file.with_suffix(".png").is_file():
            raise HypersphereError(f"{file}: this protocol has no pictures; ask for a probe that has")
        stacked = png.read(file.with_suffix(".png"))
        separate = stacked.reshape(length, len(stacked) // length, *stacked.shape[1:])
        for place, row in zip(table.index, tables.rows(table), strict=True):
            image = separate[place]
            where = {"top": sum(map(len, images)), "height": image.shape[0], "width": image.shape[1]}
            rows.append({**row, **where})
            images.append(image)
    return pd.DataFrame(rows, columns=list(PICTURES)), images or [BLANK]


def points(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Single images as points in space: those of each cell's first seed that did not diverge.

    ``measured`` holds the cells' measurements.
    """
    first: dict[str, pd.DataFrame] = {}
    for cell, file, table, _ in _tables(plan, cells, measured):
        if not POINTS.keys() <= set(table):
            raise HypersphereError(f"{file}: this protocol has no points in space; ask for a probe that has")
        first.setdefault(cell.text, table[list(POINTS)])
    return pd.concat(first.values(), ignore_index=True) if first else pd.DataFrame(columns=list(POINTS))


def _tables(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame
) -> Iterator[tuple[Cell, Path, pd.DataFrame, int]]:
    """Each cell that was measured and whose run did not diverge, with its probe's file and what that says of it.

    That are the rows of the cell's readings, whose index counts all rows of the file, and the number of all.
    """
    diverged = set(measured.loc[measured["status"] == "diverged", ["coordinates", "run"]].itertuples(index=False))
    for cell in cells:
        if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
            continue
        if (cell.text, cell.run.name) in diverged:
            continue
        path = plan.evaluation(cell.run.name, plan.protocols[cell.paper][cell.protocol].digest)
        file, listed = table_name(path, (cell.epoch, cell.target.name)), check_evaluation(path)["files"]
        if file.name not in listed:
            raise HypersphereError(
                f"{file}: the protocol {cell.protocol} has no values of single images; ask for a probe that has"
            )
        table = pd.read_csv(file, dtype=dict.fromkeys(PLACES, str)).fillna(dict.fromkeys(PLACES, ""))
        length = len(table)
        for key, value in coordinates.of_probe(cell.coordinates).items():
            table = table[table[key] == value]
        yield cell, file, table.assign(coordinates=cell.text, seed=cell.run.seed, run=cell.run.name), length
