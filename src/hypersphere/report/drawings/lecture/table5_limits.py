"""Each printed entropy of SimCLR's Table 5, with the lowest and the highest that its row allows."""

import pandas as pd

HEAD = [
    "Normalised",
    "τ",
    "Printed",
    "Lowest",
    "Logits at the top",
    "Highest",
    "Below uniform",
    "Effective",
    "Printed is",
]


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    return HEAD, [
        [
            "yes" if row.normalised else "no",
            f"{row.temperature:g}",
            f"{row.printed:.1f}",
            f"{row.lowest:.3f}",
            f"{row.at_top:,}" if row.normalised else "–",
            f"{row.highest:.3f}",
            f"{row.below_uniform:.2f}",
            _two_digits(effective),
            str(row.finding),
        ]
        for row, effective in zip(table.itertuples(), table["effective"], strict=True)
    ]


def _two_digits(value: float) -> str:
    """Two significant digits, because the printed decimal of an entropy supports no more."""
    return f"{value:.1f}" if value < 10 else f"{round(value, 2 - len(str(int(value)))):,.0f}"


def note(table: pd.DataFrame) -> str:
    return (
        f"Entropies in nat, of a softmax over {table['examples'].iloc[0]:,} examples. The lowest has some of the "
        "logits at 1/τ and the others at -1/τ; without normalisation it is 0. Effective: as many equally likely "
        "examples have the printed entropy. Possible: inside the range. Forced: all of the range rounds to it."
    )
