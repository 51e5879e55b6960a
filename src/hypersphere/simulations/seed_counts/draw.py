"""A table of the numbers of runs that printed decimals allow."""

import pandas as pd

from hypersphere.report.studies import Layout

SHOWN = (1, 2, 3, 4, 5, 10)
"""Numbers of runs with a column of their own."""


def seed_counts(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """How many runs the decimals of printed accuracies allow, table by table."""
    head = ["Printed in", "If accuracies are", "Cells", *(f"fit n = {n}" for n in SHOWN), "n of every cell", "fit no n"]
    body = []
    for row in table.to_dict("records"):
        everywhere = str(row["all"]) if pd.notna(row["all"]) and str(row["all"]) else "none"
        counts = [str(row[f"n{n}"]) for n in SHOWN]
        body.append([row["table"], row["way"], str(row["cells"]), *counts, everywhere, str(row["none"])])
    note = (
        "A mean of n runs over T test images is a multiple of 100 / (T n) percent. A number of runs fits a cell if one "
        "of these multiples is printed so, and the printed standard deviation, if there is one, belongs to n whole "
        "numbers of hits. Numbers up to 10 are tried. Only tables whose decimals can exclude a number are here. That "
        "nothing fits says that these assumptions fail (a dropped last batch, a padded one), never that a number is "
        "wrong."
    )
    return Layout(head, body, note)
