"""Numbers of runs behind printed accuracies, as far as their decimals allow an inference (audit/grim.py)."""

from collections.abc import Iterable

import pandas as pd

from hypersphere.audit.grim import (
    MEASURED,
    MOST,
    RUNS_ROUNDED,
    TRUNCATED,
    Printed,
    admissible,
    common,
    informative,
    ways,
)
from hypersphere.audit.table import Cell
from hypersphere.config.claims import load
from hypersphere.simulations.printed import cells, in_order
from hypersphere.simulations.study import Context, Study, counted

WAYS = (MEASURED, TRUNCATED, RUNS_ROUNDED)
"""How the printed numbers may have come about."""
COLUMNS = ["table", "way", "cells", *(f"n{n}" for n in range(1, MOST + 1)), "all", "none"]


def summary(cells: Iterable[Cell]) -> pd.DataFrame:
    """For each table with informative cells, and each way: how many cells n runs fit, and what fits all of them."""
    known, rows = [(cell, cell.n_test) for cell in cells if cell.n_test], []
    for table in in_order(cell.where for cell, _ in known):
        for way in WAYS:
            told = [
                (Printed(cell.mean, cell.std), ways(n_test, False)[way])
                for cell, n_test in known
                if cell.where == table
            ]
            allowed = [admissible(*one) for one in told if informative(*one)]
            if allowed:
                counts = {f"n{n}": sum(n in one for one in allowed) for n in range(1, MOST + 1)}
                row = {"table": table, "way": way, "cells": len(allowed), **counts}
                rows.append(row | {"all": " ".join(map(str, common(allowed))), "none": allowed.count(())})
    return pd.DataFrame(rows, columns=COLUMNS)


def seed_counts(context: Context) -> Study:
    """The numbers of runs that each table's printed accuracies allow."""
    claims = load(context.config.claims_file(context.paper))
    table = summary(cell for cell, _ in cells(claims))
    measured = table[table["way"] == MEASURED]
    number, unfit = int(measured["cells"].sum()), int(measured["none"].sum())
    known = {"fits": (number - unfit, number), "one_number": (int((measured["all"] != "").sum()), len(measured))}
    answers = {f"{context.paper}.seed_counts.{name}": places for name, places in known.items()}
    asked = [counted(claim.id, *answers[claim.id]) for claim in claims if claim.id in answers]
    return Study({"seed_counts": table}, asked)
