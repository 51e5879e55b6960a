"""How many printed effects are significant, by Welch's test, at each number of runs."""

import pandas as pd

from hypersphere.report.drawings.shared.binomial_effects import NAMES

SHOWN = (2, 3, 5, 10)
"""Numbers of runs with a column of their own."""


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """One row per variant of each printed table, and one for the table."""
    head = ["Printed in", "Effects of", "Effects", *(f"p < 0.05 at n = {n}" for n in SHOWN)]
    head += ["at every n allowed", "at no n allowed", "p at n = 3", "Chance of no smaller p"]
    body = []
    for row in table.fillna("").to_dict("records"):
        named = f"{NAMES.get(row['method'], row['method'])}, {row['variant']}" if row["variant"] else "all"
        counts = [str(row[name]) for name in ("effects", *(f"below_{n}" for n in SHOWN), "always", "never")]
        body.append(
            [row["table"], named, *counts, f"{row['low_3']:.2g} to {row['high_3']:.2g}", f"{row['chance']:.2g}"]
        )
    return head, body


def note(table: pd.DataFrame) -> str:
    """What is tested, and what the last column means."""
    return (
        "Each variant that is printed with a standard deviation is compared with its table's baseline by Welch's test, "
        "as if both were means of n runs; nothing is corrected for the number of tests. Allowed are the numbers of "
        "runs from 2 to 10 that the decimals of both accuracies allow; all, where the decimals tell nothing. Chance of "
        "no smaller p: of as many independent uniform p, all at least as large as the smallest; near 0, the means "
        "agree better than their own deviations let expect."
    )
