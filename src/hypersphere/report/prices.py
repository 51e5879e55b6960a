"""What answers would take: the open comparisons of small encoders that the runs of a study would not answer."""

import math
from collections.abc import Iterator, Sequence

from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Rules, Rung
from hypersphere.provenance.tables import Row
from hypersphere.report import forest, words
from hypersphere.report.entries import NOTHING, decimals_of

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
    return [cells for _, cells in sorted(_priced(config, claims, rules.margin.at_least_high))]


def _priced(
    config: Config, claims: Sequence[Row], margin: float
) -> Iterator[tuple[float, tuple[str, ...]]]:
    for row in claims:
        equal = row["reported"] == "equal"
        runs = row["runs_to_equate" if equal else "runs_to_see"]
        clear = row["low_unadjusted"] > 0 or row["high_unadjusted"] < 0
        if row["rung"] != SMALL or not runs > MOST_RUNS or clear or math.isnan(row["core_hours"]):
            continue
        paper, decimals = config.papers[row["paper"]], decimals_of(row)
        comparison = forest.in_numbers(paper, row)
        document = paper.report.short if paper.report else paper.title
        within = -margin < row["low_equal"] and row["high_equal"] < margin
        so_far = words.interval(
            row["low_equal"], row["high_equal"], decimals, MEASURES.get(row["metric"])
        )
        cells = (
            f"{document}, {row['source'].split(';')[0]}: {comparison['subject']}",
            comparison["printed"],
            words.number(row["spread"], decimals),
            NOTHING if equal else _rounded(runs),
            _rounded(row["core_hours"]),
            _rounded(row["runs_to_equate"]),
            f"{so_far} (equal)" if within else so_far,
        )
        yield row["core_hours"], cells


def _rounded(number: float) -> str:
    """Two digits, as the spread is that of a few runs."""
    return f"{float(f'{number:.2g}'):,g}"
