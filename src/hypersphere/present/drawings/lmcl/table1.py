"""Table 1: K-means on the points and on their learned projections."""

import pandas as pd

from hypersphere.present.drawings.toy_names import DATASETS, READINGS, SPACES


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    measured = {(row["space"], row["dataset"]): row for row in table.to_dict("records")}
    printed = {row["id"]: row for row in claims.to_dict("records")}
    head, body = ["K-means on"], []
    for name in DATASETS.values():
        head += [f"{name}, printed", "ours", "verdict"]
    for space, label in SPACES.items():
        row = [label]
        for dataset in DATASETS:
            ours = measured[(space, dataset)]
            claim = printed[ours["claim"]]
            row += [
                f"{claim['reported']:.1f} ± {float(claim['reported_std']):.1f}",
                f"{ours['mean']:.1f} ± {ours['std']:.1f}",
                str(claim["verdict"]),
            ]
        body.append(row)
    return head, body


def note(table: pd.DataFrame) -> str:
    trials, steps = table["trials"].iloc[0], table["steps"].iloc[0]
    return (
        f"Accuracy in percent, mean ± standard deviation of {trials} trials, each with its own points, batches and "
        f"starts; maps are learned in {steps:,} steps of Adam from a small random P. The shapes are ours, and were "
        f"chosen by the first row, which is therefore no test. {READINGS}"
    )
