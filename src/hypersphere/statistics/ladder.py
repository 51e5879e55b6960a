"""The ladder: each piece of evidence on a claim with its rung and its certainty, the best first.

Proofs and exact studies come from results/exact; trained encoders from the records of every scale on real images, and
from scales that were finished here.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hypersphere.config import project
from hypersphere.config.certainty import (
    RUNGS,
    SHORTCOMINGS,
    Certainty,
    Rung,
    Shortcoming,
    rung_of_encoders,
)
from hypersphere.config.project import Config
from hypersphere.config.rules import Verdict
from hypersphere.provenance import columns, exact, tables
from hypersphere.provenance.manifest import check_tidy
from hypersphere.provenance.tables import Row
from hypersphere.statistics import indirectness, judged_records, shortcomings

RUNG_OF: dict[str, Rung] = {"theorem": "proof", "study": "exact", "sentence": "own_table"}
"""The evidence that needs no encoder, by what answers the claim."""


def of_project(config: Config, rules: Certainty) -> list[Row]:
    """A row of ladder.csv for each piece of evidence at hand, the best first."""
    root = config.root
    rows = list(_exact(config, rules))
    for scale in judged_records.recorded_scales(root):
        file = judged_records.records_file(root, scale)
        rows += _encoders(config, file, judged_records.JUDGED, rules)
    for file in judged_records.finished_here(root):
        rows += _encoders(config, file, columns.CLAIMS, rules)
    return sort(rows)


def sort(rows: Sequence[Row]) -> list[Row]:
    """The rows of the ladder, the best evidence first: by rung, then by the number of runs."""
    order = list(RUNGS)
    return sorted(rows, key=lambda row: (order.index(row["rung"]), -row["n"], row["scale"]))


def _exact(config: Config, rules: Certainty) -> Iterator[Row]:
    """What theorems and exact studies say."""
    for row in tables.rows(exact.claims(exact.originals(config), config.papers)):
        verdict = Verdict.of(row["verdict"])
        rung = RUNG_OF[row["answered_by"]]
        if verdict is not Verdict.NOT_RUN:
            yield _step(row, rung, shortcomings.of_exact(verdict, rung), rules)


def _encoders(shared: Config, file: Path, kinds: tables.Columns, rules: Certainty) -> Iterator[Row]:
    """What trained encoders say, by a claims.csv of one scale."""
    root = shared.root
    config = project.load(root, shared.shared_settings | judged_records.settings_of(file, root))
    rung = rung_of_encoders(config.scale.level)
    table = tables.read(check_tidy(file.parent, file.name), kinds)
    measured = (table["answered_by"] == "encoder") & (table["verdict"] != Verdict.NOT_RUN)
    for row in tables.rows(table[measured]):
        stand_in = indirectness.stands_in(config, row)
        found = shortcomings.of_encoders(row, stand_in, rules.enough_runs)
        yield _step(row, rung, found, rules)


def _step(row: Row, rung: Rung, found: Sequence[Shortcoming], rules: Certainty) -> Row:
    """A row of the ladder, by a row of claims.csv."""
    grade, reasons = rules.of(rung, found)
    in_words = SHORTCOMINGS | {"few_runs": f"n = {row['n']:.0f}"}
    measured = {name: row[name] for name in columns.LADDER if name in row}
    return {
        "differs": "",
        **measured,
        "rung": rung,
        "certainty": grade,
        "reasons": "; ".join(in_words[one] for one in reasons),
    }
