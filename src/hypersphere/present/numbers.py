"""scorecard.json: the numbers that the scorecard shows, for `dvc metrics` and for other programs."""

import math
from typing import Any

from hypersphere.declared.artifacts import Table
from hypersphere.declared.config import Config
from hypersphere.present import claims
from hypersphere.present.cells import Cell, Sheet, sheet
from hypersphere.present.results import Results


def numbers(config: Config) -> dict[str, Any]:
    """How many claims have each verdict, and the mean and n of every cell of every table.

    All of it stands under the name of the scale, and a column under what it was really measured on, so that no number
    is read without either: ``quick: embedding_norms: table5: simclr.default: digits_lt: {mean: 83.2, n: 5}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    results = Results(config)
    measured, studied, stated = claims.apart(claims.shown(config, results))
    kinds = {"claims": measured, "exact studies": studied, "theorems": stated}
    counts = {kind: {verdict: count for verdict, _, count in claims.counts(shown)} for kind, shown in kinds.items()}
    papers = {}
    for paper in config.papers.values():
        tables = [key for key, artifact in paper.artifacts.items() if isinstance(artifact, Table)]
        if tables:
            papers[paper.paper] = {key: _table(sheet(config, paper, key, results)) for key in tables}
    return {config.scale_name: {**counts, **papers}}


def _table(layout: Sheet) -> dict[str, Any]:
    """Rows that were measured, each with its columns that were."""
    rows = {row.key: {_column(cell): _cell(cell) for cell in row.cells if _known(cell)} for row in layout.rows}
    return {key: cells for key, cells in rows.items() if cells}


def _known(cell: Cell) -> bool:
    return not math.isnan(cell.mean) or cell.n_diverged > 0


def _column(cell: Cell) -> str:
    trained, probed = cell.column.measured_on, cell.column.probed_on
    return f"{trained}" if trained == probed else f"{trained} to {probed}"


def _cell(cell: Cell) -> dict[str, float | int]:
    """The mean over n pretrainings; n = 0 for chance and raw pixels, which are one number and no mean of runs."""
    mean = {} if math.isnan(cell.mean) else {"mean": cell.mean}
    return {**mean, "n": cell.n, **({"diverged": cell.n_diverged} if cell.n_diverged else {})}
