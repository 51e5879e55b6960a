"""Whether runs can be compared: how they were made, and whether two of them are one."""

import pandas as pd

from hypersphere.provenance import tables

MIXED = ("kind", "precision")
"""Columns of runs.csv that runs of one comparison must share."""


def unlike(about: pd.DataFrame) -> list[str]:
    """Why runs (rows of runs.csv) cannot be compared: how they were made differs, or two of them are one; in words."""
    reasons = []
    for column in MIXED:
        texts = about[column].dropna()
        kinds = sorted(set(texts.str.split("; ").explode()))
        if len(kinds) > 1:
            reasons.append(f"runs of {' and '.join(kinds)} are mixed")
    finished = about[about["status"] == "finished"]
    first: dict[str, str] = {}
    for row in tables.rows(finished):
        other = first.setdefault(row["weights"] or row["run"], row["run"])
        if other == row["run"] and row["alike"] in {*finished["run"]}:
            other = row["alike"]
        if other != row["run"]:
            reasons.append(f"{other} and {row['run']} trained alike")
    return reasons
