"""Whether runs can be compared: how they were made, and whether two of them are one."""

import pandas as pd

from hypersphere.provenance import tables

MIXED = ("kind", "precision")
"""Columns of runs.csv that runs of one comparison must share."""


def unlike(about: pd.DataFrame) -> list[str]:
    """Why runs (rows of runs.csv) cannot be compared: how they were made differs, or two of them are one; in words."""
    kinds = (
        sorted({kind for text in about[name].dropna() for kind in text.split("; ")})
        for name in MIXED
    )
    reasons = [f"runs of {' and '.join(values)} are mixed" for values in kinds if len(values) > 1]
    finished = about[about["status"] == "finished"]
    same: dict[str, str] = {}
    for row in tables.rows(finished):
        other = same.setdefault(row["weights"] or row["run"], row["run"])
        if other == row["run"] and row["alike"] in {*finished["run"]}:
            other = row["alike"]
        if other != row["run"]:
            reasons.append(f"{other} and {row['run']} trained alike")
    return reasons
