"""Each table of printed accuracies and its floor: the standard error from the size of the test set alone."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

UNPAIRED = (
    "Errors come from the size of the test set alone. They are unpaired and upper limits, because two encoders err on "
    "the same images and means over seeds err less. The noise from run to run comes on top."
)


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """One row per printed table."""
    head = ["Printed in", "Accuracies", "of unknown test size", "Median floor (points)"]
    head += ["Effects", "within 1.96 errors", "Furthest (errors)", "beyond", "beyond by chance", "p of as many"]
    body = []
    for row in table.to_dict("records"):
        cells = [str(row["cells"]), str(row["unknown"]), _number(row["floor"], "{:.2f}")]
        effects = [str(row["effects"]), str(row["within"]), _number(row["furthest"], "{:+.1f}")]
        chance = [str(row["effects"] - row["within"]), *_chance(row)]
        body.append([row["table"], *cells, *effects, *chance])
    return head, body


def note(table: pd.DataFrame) -> str:
    """How floors and errors are computed."""
    return (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant minus its table's baseline; its error is the root of both squares. {UNPAIRED} By chance: "
        "one effect in twenty is beyond 1.96 errors if none is real. p: of as many beyond or more, "
        "if effects were independent; those of one table share a baseline, so true p are larger."
    )


def _chance(row: Mapping[Hashable, Any]) -> list[str]:
    """The expected number beyond their error, and p of as many; dashes for a table without effects."""
    return [f"{row['by_chance']:.1f}", f"{row['p_as_many']:.2g}"] if row["effects"] else ["–", "–"]


def _number(value: float, layout: str) -> str:
    return "–" if math.isnan(value) else layout.format(value).replace("-", "−")
