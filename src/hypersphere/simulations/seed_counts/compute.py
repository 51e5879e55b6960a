"""Numbers of runs behind printed accuracies, as far as their decimals allow an inference (grim.py)."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pandas as pd

from hypersphere.config.claims import Claim, load
from hypersphere.grim import MOST, Assumptions, Printed, admissible, common, informative
from hypersphere.simulations.printed import TEST_SIZES, TESTED, in_order, units, with_zeros
from hypersphere.simulations.study import Context, Study, counted

WAYS = ("as measured", "truncated", "each run rounded to 0.01 first")
"""How the printed numbers may have come about."""
COLUMNS = ["table", "way", "cells", *(f"n{n}" for n in range(1, MOST + 1)), "all", "none"]


def assumptions(way: str, examples: int) -> Assumptions:
    """The assumptions of one of ``WAYS`` for a test set of this many images."""
    step = Fraction(1, 100) if way == WAYS[2] else Fraction(100, examples)
    return Assumptions(step, "truncated" if way == WAYS[1] else "rounded")


class Cell(NamedTuple):
    """A printed accuracy over a known test set."""

    table: str
    printed: Printed
    examples: int


def printed_cells(claims: Iterable[Claim]) -> list[Cell]:
    """The accuracies of a paper, with the decimals of their table: a number in CSV has lost its last zeros."""
    found = []
    for claim in claims:
        examples = TEST_SIZES.get(str(claim.coordinates.get("target", claim.dataset)))
        if claim.kind == "value" and claim.metric in TESTED and examples and claim.reported is not None:
            std = None if claim.reported_std is None else Decimal(str(claim.reported_std))
            found.append(Cell(claim.source, Printed(Decimal(str(claim.reported)), std), examples))
    finest = units((cell.table, cell.printed.mean) for cell in found)
    return [cell._replace(printed=with_zeros(cell.printed, finest[cell.table])) for cell in found]


def summary(cells: Sequence[Cell]) -> pd.DataFrame:
    """For each table with informative cells, and each way: how many cells n runs fit, and what fits all of them."""
    rows = []
    for table in in_order(cell.table for cell in cells):
        for way in WAYS:
            told = [(cell.printed, assumptions(way, cell.examples)) for cell in cells if cell.table == table]
            told = [(printed, made) for printed, made in told if informative(printed, made)]
            if not told:
                continue
            allowed = [admissible(printed, made) for printed, made in told]
            counts = {f"n{n}": sum(n in one for one in allowed) for n in range(1, MOST + 1)}
            everywhere = " ".join(map(str, common(allowed)))
            none = sum(not one for one in allowed)
            rows.append({"table": table, "way": way, "cells": len(told), **counts, "all": everywhere, "none": none})
    return pd.DataFrame(rows, columns=COLUMNS)


def seed_counts(context: Context) -> Study:
    """The numbers of runs that each table's printed accuracies allow."""
    claims = load(context.config.claims_file(context.paper))
    table = summary(printed_cells(claims))
    measured = table[table["way"] == WAYS[0]]
    cells, unfit = int(measured["cells"].sum()), int(measured["none"].sum())
    answers = [counted(f"{context.paper}.seed_counts.fits", cells - unfit, cells)]
    if context.paper == "margins":
        answers.append(counted("margins.seed_counts.one_number", int((measured["all"] != "").sum()), len(measured)))
    return Study({"seed_counts": table}, answers)
