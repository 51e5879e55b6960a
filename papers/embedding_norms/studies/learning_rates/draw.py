"""Norms paper, App. C.1: the learning rate as stated, and as the authors' scheduler gives it."""

import pandas as pd

from hypersphere.report.studies import Layout

CURVES = {"stated": "as stated, over 500 epochs", "authors": "authors' scheduler"}
METHODS = {
    "simsiam": "SimSiam",
    "simclr": "SimCLR",
    "gradscale": "SimCLR with GradScale",
}


def learning_rates(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    head = [
        "Method",
        "Batch",
        "Schedule",
        "Highest rate",
        "× 256 / batch",
        "Warm-up (epochs)",
    ]
    body = []
    for row in table.to_dict("records"):
        body.append(
            [
                METHODS[row["method"]],
                str(row["batch"]),
                CURVES[row["curve"]],
                f"{row['rate']:.3g}",
                f"{row['per_256']:.3g}",
                f"{row['warmup']:.1f}",
            ]
        )
    note = (
        "Computed from the text and from the authors' released code, for the mean gradient of a batch of CIFAR. In the "
        "code SimSiam's warm-up and cosine lengthen with the batch, so that batch size and schedule change together in "
        "Table S2."
    )
    return Layout(head, body, note)
