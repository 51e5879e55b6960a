"""The columns of the tidy tables that exact/, statistics/ and report/ write, each with what it holds.

columns.csv lists them in their order, each with the tables that have it. docs/results.md says what they mean.
"""

from pathlib import Path
from typing import Any

from hypersphere.config.validation import read_table
from hypersphere.provenance.tables import Columns

_ROWS: list[dict[str, Any]] = list(
    read_table(Path(__file__).with_suffix(".csv"), ("tables", "column", "kind"))
)


def _of(table: str) -> Columns:
    """The columns of one table, or of a part that several tables share."""
    return {row["column"]: row["kind"] for row in _ROWS if table in row["tables"].split()}


CELL = _of("cell")
"""Which number is meant: a part of measurements.csv and summary.csv, as is ``PROBE``."""
PROBE = _of("probe")
MEASUREMENTS = _of("measurements")
SUMMARY = _of("summary")
RUNS = _of("runs")
"""``kind`` is the device's: cpu or cuda. ``weights``: how their checksum begins. ``alike``: another run, as which it
trained by their records. ``records``: how many it has; 1 if it was made here."""
EFFECTS = _of("effects")
DISTRIBUTION = _of("distribution")
PICTURES = _of("pictures")
POINTS = _of("points")
TABLES: dict[str, Columns] = {
    "measurements": MEASUREMENTS,
    "summary": SUMMARY,
    "effects": EFFECTS,
    "runs": RUNS,
    "distribution": DISTRIBUTION,
    "pictures": PICTURES,
    "points": POINTS,
}
"""The tables of an artifact that is made from runs, by name."""
THEORY = _of("theory")
CLAIMS = _of("claims")
"""``low`` and ``high``: of a comparison of encoders, after Holm's correction; ``…_unadjusted``: without it."""
LADDER = _of("ladder")
"""results/report/ladder.csv: a row for each claim and each scale, or kind of computation, that says something of it."""
KNOWN = _of("known")
"""results/report/claims.csv: a row for each claim, with its best evidence. ``settle`` is the command that would settle
it, and ``gpu_hours`` what its table takes, stated and not measured (docs/cost.md). The last three are what an answer of
small encoders takes: runs an arm, and hours of one core for ``runs_to_see`` in both (``statistics/effects.py``)."""
CRITERIA = _of("criteria")
"""results/report/criteria.csv: of the comparisons with a printed difference and an interval of ours, how many have the
printed sign; exclude zero on its side; have the printed effect inside our interval; and how many print an interval, and
have our effect inside it."""
FINDINGS = _of("findings")
"""results/report/findings.csv: the questions of every findings.yaml, each with the sentence that its evidence bears."""
