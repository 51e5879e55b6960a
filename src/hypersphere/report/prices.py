"""What answers would take: the open comparisons of small encoders that the runs of a study would not answer."""

import math
from collections.abc import Sequence

from hypersphere.config.certainty import Rung
from hypersphere.config.project import Config
from hypersphere.config.rules import Rules
from hypersphere.provenance.tables import Row
from hypersphere.report import forest, words
from hypersphere.report.entries import NOTHING, decimals_of, interval

SMALL: Rung = "laptop"
"""The rung of small encoders."""
MOST_RUNS = 10
"""Runs an arm that a study has."""
HEAD = (
    "comparison",
    "published",
    "spread",
    "runs to see it",
    "core-hours",
    "runs for equality",
    "effect so far",
)


def of_claims(config: Config, claims: Sequence[Row], rules: Rules) -> list[tuple[str, ...]]:
    """A row for each, under ``HEAD``, the cheapest first. Equality is within the margin of high accuracies."""
    margin = rules.margin.at_least_high
    is_open = filter(_is_priced, claims)
    return [
        cells
        for _, cells in sorted((row["core_hours"], _cells(config, row, margin)) for row in is_open)
    ]


def _is_priced(row: Row) -> bool:
    """Whether small encoders leave a claim open, and more runs than a study has would answer it."""
    runs = row["runs_to_equate" if row["reported"] == "equal" else "runs_to_see"]
    is_clear = row["low_unadjusted"] > 0 or row["high_unadjusted"] < 0
    has_price = not math.isnan(row["core_hours"])
    return row["rung"] == SMALL and runs > MOST_RUNS and has_price and not is_clear


def _cells(config: Config, row: Row, margin: float) -> tuple[str, ...]:
    paper = config.papers[row["paper"]]
    document = paper.report.short if paper.report else paper.title
    place = row["source"].split(";")[0]
    comparison = forest.in_numbers(paper, row)
    is_equal = -margin < row["low_equal"] and row["high_equal"] < margin
    so_far = interval(row, "{}_equal") or NOTHING
    return (
        f"{document}, {place}: {comparison['subject']}",
        comparison["printed"],
        words.number(row["spread"], decimals_of(row)),
        NOTHING if row["reported"] == "equal" else _two_digits(row["runs_to_see"]),
        _two_digits(row["core_hours"]),
        _two_digits(row["runs_to_equate"]),
        f"{so_far} (equal)" if is_equal else so_far,
    )


def _two_digits(number: float) -> str:
    """Two digits, as the spread is that of a few runs."""
    return f"{float(f'{number:.2g}'):,g}"
