"""Each table of printed accuracies and its floor: the standard error from the size of the test set alone."""

import math

import pandas as pd

UNPAIRED = (
    "Errors come from the size of the test set alone. They are unpaired and upper limits, because two encoders err on "
    "the same images and means over seeds err less. The noise from run to run comes on top."
)


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """One row per printed table."""
    head = ["Printed in", "Accuracies", "of unknown test size", "Median floor (points)"]
    head += ["Effects", "within 1.96 errors", "Furthest (errors)"]
    body = []
    for row in table.to_dict("records"):
        cells = [str(row["cells"]), str(row["unknown"]), _number(row["floor"], "{:.2f}")]
        effects = [str(row["effects"]), str(row["within"]), _number(row["furthest"], "{:+.1f}")]
        body.append([row["table"], *cells, *effects])
    return head, body


def note(table: pd.DataFrame) -> str:
    """How floors and errors are computed."""
    return (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant minus its table's baseline; its error is the root of both squares. {UNPAIRED}"
    )


def _number(value: float, layout: str) -> str:
    return "–" if math.isnan(value) else layout.format(value).replace("-", "−")
