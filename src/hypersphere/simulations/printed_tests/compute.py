"""Significance of printed effects: Welch's test on printed means and standard deviations, at each number of runs.

A test needs the number of runs, which is often not printed. So each effect is tested at every number from 2 to 10, and
at those alone that the decimals of both its accuracies allow (audit/grim.py).
"""

from collections.abc import Iterable

import pandas as pd

from hypersphere.audit.chance import LEVEL, Effect, effects
from hypersphere.config.claims import load
from hypersphere.simulations.printed import cells, in_order
from hypersphere.simulations.study import Context, Study, counted

SHOWN = (2, 3, 5, 10)
"""Numbers of runs with a column of their own."""
ABOUT = {
    "margins": ("margins.printed_tests.pos", ("Table 2", "Table 3"), "mocov3", "pos", True),
    "lmcl": ("lmcl.printed_tests.control", ("Table 5",), "", "", False),
}
"""A paper's claim: its id, tables, method and variant (or all), and whether it says that effects are significant."""


def summary(effects: Iterable[Effect]) -> pd.DataFrame:
    """A row for each table, method and variant, and one for each table.

    Counts of effects with p below ``LEVEL``: at each number of runs; at all numbers that the decimals allow
    (``always``) or at none of them (``never``); ``unfit`` effects allow none. Then the range of p at three runs, and
    the chance that as many independent p, uniform where no variant differs, would all be at least the smallest.
    """
    rows = [(effect.cell.where, effect.cell.column.split("\t")[0], effect.cell.row, effect) for effect in effects]
    found = []
    for table in in_order(row[0] for row in rows):
        of_table = [row for row in rows if row[0] == table]
        groups = dict.fromkeys(row[1:3] for row in of_table)
        for group in [*(groups if len(groups) > 1 else ()), ("", "")]:
            chosen = [row[3] for row in of_table if group in (row[1:3], ("", ""))]
            below = {f"below_{n}": sum(effect.p(n) < LEVEL for effect in chosen) for n in SHOWN}
            fitting = [[effect.p(*runs) < LEVEL for runs in effect.runs] for effect in chosen if effect.runs]
            three = [effect.p(3) for effect in chosen]
            found.append(
                {
                    **{"table": table, "method": group[0], "variant": group[1], "effects": len(chosen), **below},
                    "unfit": len(chosen) - len(fitting),
                    "always": sum(all(one) for one in fitting),
                    "never": sum(not any(one) for one in fitting),
                    **{"low_3": min(three), "high_3": max(three), "chance": (1 - min(three)) ** len(three)},
                }
            )
    return pd.DataFrame(found)


def printed_tests(context: Context) -> Study:
    """Welch's test of every effect that a paper prints with standard deviations."""
    claim, tables, method, variant, significant = ABOUT[context.paper]
    printed = cells(load(context.config.claims_file(context.paper)))
    tested = [effect for effect in effects(cell for cell, _ in printed) if effect.has_spreads]
    chosen = [
        effect.p(3) < LEVEL
        for effect in tested
        if effect.cell.where in tables
        and method in ("", effect.cell.column.split("\t")[0])
        and variant in ("", effect.cell.row)
    ]
    answer = counted(claim, chosen.count(significant), len(chosen))
    return Study({"printed_tests": summary(tested)}, [answer])
