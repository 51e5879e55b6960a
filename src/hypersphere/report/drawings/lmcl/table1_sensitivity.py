"""Table 1 under other choices of what the paper leaves open."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from hypersphere.report.drawings.toy_names import DATASETS, SPACES

CHOICES = {
    "default": "as in Table 1",
    "longer": "twice the steps",
    "identity": "P starts at the identity",
    "noise": "twice the augmentation's noise",
    "circle": "K-means on Px/|Px|",
    "plane": "Px not normalised in the loss",
    "corner": "all points above and to the right of 0",
}
OTHER_SHAPES = {
    "three_bars": {
        "first": "bars closer together",
        "second": "normal along the bar",
        "third": "bars side by side, not in steps",
    },
    "nested_moons": {"first": "half the points' noise", "second": "twice the points' noise", "third": "a smaller moon"},
}


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    head = ["Points", "Choice", "Euclidean", "CL", "LMCL, mean", "LMCL, sum", "mean − CL", "sum − CL"]
    cells = {(row["dataset"], row["variation"], row["space"]): row for row in table.to_dict("records")}
    body = []
    for dataset, name in DATASETS.items():
        for variation, choice in (CHOICES | OTHER_SHAPES[dataset]).items():
            by_space = {space: cells[(dataset, variation, space)] for space in SPACES}
            means = [f"{row['mean']:.1f} ± {row['std']:.1f}" for row in by_space.values()]
            gains = [_gain(by_space[space]) for space in ("lmcl_mean", "lmcl_sum")]
            body.append([name, choice, *means, *gains])
    return head, body


def _gain(row: Mapping[Hashable, Any]) -> str:
    gain, low, high = (f"{round(row[name], 1) + 0.0:+.1f}" for name in ("gain", "low", "high"))
    return f"{gain} [{low}, {high}]".replace("+0.0", "0.0").replace("-", "−")


def note(table: pd.DataFrame) -> str:
    return (
        f"K-means accuracy in percent, mean ± standard deviation of {table['trials'].iloc[0]} trials. Differences: "
        "LMCL minus conventional CL, with a 95 % t interval, paired by trial, not corrected for the number of rows. "
        "One choice differs in each row. Every shape's free parameter was chosen to match Table 1's Euclidean row."
    )
