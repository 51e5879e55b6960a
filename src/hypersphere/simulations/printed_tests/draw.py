"""A table of Welch's tests of printed effects."""

import pandas as pd

from hypersphere.report.studies import Layout
from hypersphere.simulations.binomial_floor.draw import NAMES

SHOWN = (2, 3, 5, 10)
"""Numbers of runs with a column of their own."""


def printed_tests(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """How many printed effects are significant, by Welch's test, at each number of runs."""
    head = ["Printed in", "Effects of", "Effects", *(f"p < 0.05 at n = {n}" for n in SHOWN)]
    head += ["at every n allowed", "at no n allowed", "p at n = 3", "Chance of no smaller p"]
    body = []
    for row in table.fillna("").to_dict("records"):
        named = f"{NAMES.get(row['method'], row['method'])}, {row['variant']}" if row["variant"] else "all"
        counts = [str(row[name]) for name in ("effects", *(f"below_{n}" for n in SHOWN), "always", "never")]
        body.append(
            [row["table"], named, *counts, f"{row['low_3']:.2g} to {row['high_3']:.2g}", f"{row['chance']:.2g}"]
        )
    note = (
        "Each variant that is printed with a standard deviation is compared with its table's baseline by Welch's test, "
        "as if both were means of n runs; nothing is corrected for the number of tests. Allowed are the numbers of "
        "runs from 2 to 10 that the decimals of both accuracies allow; all, where the decimals tell nothing. Chance of "
        "no smaller p: of as many independent uniform p, all at least as large as the smallest; near 0, the means "
        "agree better than their own deviations let expect."
    )
    return Layout(head, body, note)
