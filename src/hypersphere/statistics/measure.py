"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from.

Of single images they are what probes say of them: quantiles of their values, pictures, points.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import UInt8

from hypersphere.config import coordinates, registry
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import HISTORY
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan, pictures_name, table_name
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
BLANK = np.full((1, 1, 3), 255, np.uint8)
"""Stands in the file of pictures where every run diverged."""


class _Table(NamedTuple):
    """The rows of a cell that was measured, in its probe's table."""

    rows: pd.DataFrame
    """Of the cell's readings; their index counts all rows of the file."""
    of: dict[str, Any]
    """The columns that say which cell and run it is."""
    measure: str
    file: Path
    length: int
    """Rows of the whole file."""
    pictures: Path | None
    """None: the probe gave none."""


def build(plan: Plan, paper: str, artifact: str) -> None:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns. After an error nothing has been written.
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


def judged_tables(plan: Plan, paper: str, artifact: str) -> dict[str, pd.DataFrame]:
    """The tables by which an artifact's claims are judged: measurements, summary, effects and runs."""
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    rules, measurer = rules_file.load(plan.config.root), gather.Measurer(plan)
    rows = gather.measurements(measurer.rows(cells, declared))
    controls = gather.measurements([*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)])
    seeds = Counter(cell.text for cell in cells)  # a seed that is not there was declared all the same
    of_tables = [gather.summary(table, rules.confidence, seeds) for table in (rows, controls) if len(table)]
    summaries = gather.stack(of_tables, columns.SUMMARY)
    found = effects.of_artifact(rows, declared, seeds, rules)
    level = gather.levels(summaries)
    summaries["level"] = [level.get(cell, "") for cell in summaries["coordinates"]]
    compared = zip(found["coordinates"], found["baseline"], strict=True)
    found["level"] = [level.get(cell) or level.get(baseline, "") for cell, baseline in compared]
    return {
        "measurements": gather.stack([rows, controls], columns.MEASUREMENTS),
        "summary": summaries,
        "effects": found,
        "runs": gather.runs(plan, plan.runs_of(paper, artifact)),
    }


def distribution(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Quantiles over images of a probe's values, for every cell and seed; in the measure's unit.

    ``measured`` holds the cells' measurements. A run that diverged has no quantiles.
    """
    rows = [
        {**found.of, "quantile": quantile, "value": value}
        for found in _tables(plan, cells, measured)
        for quantile, value in zip(QUANTILES, np.quantile(found.rows[found.measure], QUANTILES), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(DISTRIBUTION))


def pictures(
    plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame
) -> tuple[pd.DataFrame, list[UInt8[np.ndarray, "h w 3"]]]:
    """The pictures of each cell's first seed that did not diverge. ``measured`` holds the cells' measurements.

    Each has a row of the columns ``PICTURES``, in which ``top`` counts pixels from the top of the stack.
    """
    rows: list[dict[str, Any]] = []
    images: list[UInt8[np.ndarray, "h w 3"]] = []
    shown: set[str] = set()
    for found in _tables(plan, cells, measured):
        if found.of["coordinates"] in shown:
            continue
        shown.add(found.of["coordinates"])
        if found.pictures is None:
            raise HypersphereError(f"{found.file}: this protocol has no pictures; ask for a probe that has")
        stacked = png.read(found.pictures)
        separate = stacked.reshape(found.length, len(stacked) // found.length, *stacked.shape[1:])
        for place, row in found.rows.iterrows():
            image = separate[int(str(place))]
            where = {"top": sum(map(len, images)), "height": image.shape[0], "width": image.shape[1]}
            rows.append({**found.of, **{name: row[name] for name in PLACES}, **where})
            images.append(image)
    return pd.DataFrame(rows, columns=list(PICTURES)), images or [BLANK]


def points(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> pd.DataFrame:
    """Single images as points in space: those of each cell's first seed that did not diverge.

    ``measured`` holds the cells' measurements.
    """
    first: dict[str, pd.DataFrame] = {}
    for found in _tables(plan, cells, measured):
        if not POINTS.keys() - found.of.keys() <= set(found.rows):
            raise HypersphereError(f"{found.file}: this protocol has no points in space; ask for a probe that has")
        first.setdefault(found.of["coordinates"], found.rows.assign(**found.of)[list(POINTS)])
    return pd.concat(first.values(), ignore_index=True) if first else pd.DataFrame(columns=list(POINTS))


def _tables(plan: Plan, cells: Sequence[Cell], measured: pd.DataFrame) -> Iterator[_Table]:
    """The probe's table of each cell that was measured and whose run did not diverge, in the order of ``cells``."""
    diverged = set(measured.loc[measured["status"] == "diverged", ["coordinates", "run"]].itertuples(index=False))
    for cell in cells:
        if cell.run is None or cell.target is None or cell.missing or cell.protocol == HISTORY:
            continue
        if (cell.text, cell.run.name) in diverged:
            continue
        path = plan.evaluation(cell.run.name, plan.protocols[cell.paper][cell.protocol].digest)
        at = cell.epoch, cell.target.name
        file, pictured, listed = table_name(path, at), pictures_name(path, at), check_evaluation(path)["files"]
        if file.name not in listed:
            raise HypersphereError(
                f"{file}: the protocol {cell.protocol} has no values of single images; ask for a probe that has"
            )
        rows = pd.read_csv(file, dtype=dict.fromkeys(PLACES, str)).fillna(dict.fromkeys(PLACES, ""))
        length = len(rows)
        for key, value in coordinates.of_probe(cell.coordinates).items():
            rows = rows[rows[key] == value]
        of = {"coordinates": cell.text, "seed": cell.run.seed, "run": cell.run.name}
        yield _Table(rows, of, cell.measure, file, length, pictured if pictured.name in listed else None)
