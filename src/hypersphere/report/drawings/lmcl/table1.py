"""Table 1: K-means on the points and on their learned projections."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from hypersphere.report import words
from hypersphere.report.drawings.toy_names import DATASETS, READINGS, SPACES

GAINS = {
    "gain of CL over Euclidean space": "cl_gain.{}.l9",
    "gain of LMCL (mean) over CL": "lmcl_gain.{}.l5",
    "gain of LMCL (sum) over CL": "lmcl_gain.{}.l9",
}


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    measured = {(row["space"], row["dataset"]): row for row in table.to_dict("records")}
    printed = {row["id"]: row for row in claims.to_dict("records")}
    head, body = ["K-means on"], []
    for name in DATASETS.values():
        head += [f"{name}, printed", "ours", "verdict"]
    for space, label in SPACES.items():
        row = [label]
        for dataset in DATASETS:
            trials = measured[(space, dataset)]
            claim = printed[trials["claim"]]
            row += [
                f"{claim['reported']:.1f} ± {float(claim['reported_std']):.1f}",
                f"{trials['mean']:.1f} ± {trials['std']:.1f}",
                str(claim["verdict"]),
            ]
        body.append(row)
    for label, gain in GAINS.items():
        effects = [printed[f"lmcl.table1.{gain.format(dataset)}"] for dataset in DATASETS]
        body.append([label, *(cell for effect in effects for cell in _effect(effect))])
    return head, body


def _effect(claim: dict[Hashable, Any]) -> list[str]:
    low, high = float(claim["low"]), float(claim["high"])
    ours = f"{words.signed(claim['measured'], 1)} {words.interval(low, high, 1)}, p {words.p_value(float(claim['p']))}"
    return [words.signed(claim["reported"], 1), ours, str(claim["verdict"])]


def note(table: pd.DataFrame) -> str:
    trials, steps = table["trials"].iloc[0], table["steps"].iloc[0]
    return (
        f"Accuracy in percent, mean ± standard deviation of {trials} trials, each with its own points, batches and "
        f"starts. Maps are learned in {steps:,} steps of Adam from a small random P. The shapes are ours and were "
        "chosen to match the first row, so it tests nothing. Gains are in points, with their interval and the p of "
        f"their t-test, Holm-corrected over all six. The paper marks LMCL's gains as significant at 0.05. {READINGS}"
    )
