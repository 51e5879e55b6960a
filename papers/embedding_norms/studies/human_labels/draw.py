"""How many people labelled an image of CIFAR-10H, how far they agreed, and how often CIFAR-N's labels are wrong."""

import pandas as pd

from hypersphere.report.studies import Layout

FORMATS = {
    "people": "{:.1f}",
    "images": "{:,.0f}",
    "%": "{:.2f} %",
    "nat": "{:.3f} nat",
}


def human_labels(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    body = [
        [row["labels"], row["quantity"], FORMATS[row["unit"]].format(row["value"])]
        for row in table.to_dict("records")
    ]
    note = (
        "CIFAR-10N asked three people about each training image, CIFAR-100N one. Errors are against the official "
        "labels; the worst of three is wrong where one is."
    )
    return Layout(["Labels", "Quantity", "Value"], body, note)
