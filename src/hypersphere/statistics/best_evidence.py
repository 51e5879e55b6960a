"""What is known of every claim: its best evidence, and what would settle it (results/report/claims.csv).

Nothing is trained or drawn. docs/statistics.md states the rules.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from scipy import special

from hypersphere.config import claims as ledger
from hypersphere.config import coordinates
from hypersphere.config import rules as rules_file
from hypersphere.config.certainty import Rung, load_certainty
from hypersphere.config.claims import Claim
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer, Verdict
from hypersphere.provenance import columns, tables
from hypersphere.provenance.tables import Row
from hypersphere.statistics import ladder, price, replication
from hypersphere.statistics.judged_records import REPORT

NOTHING: Rung = "nothing"
SIDE = 0.975
"""Probability below the upper end of a printed interval, which holds 95 %."""


def of_project(config: Config) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write results/report/{claims,ladder,criteria}.csv, and return the first two as they are read."""
    certainty = load_certainty(config.root)
    rules = rules_file.load(config.root)
    hours = price.hours()
    steps = ladder.of_project(config, certainty)
    best = {row["id"]: row for row in reversed(steps)}
    unknown: Row = {
        "rung": NOTHING,
        "verdict": Verdict.NOT_RUN,
        "answer": Answer.NOT_TESTED,
        "direction": "",
        "certainty": certainty.rungs[NOTHING].grade,
    }
    rows = []
    for paper, document in config.papers.items():
        listed = ledger.of(config, paper)
        values = [claim for claim in listed if claim.kind == "value" and claim.origin == "printed"]
        printed = {(value.artifact, value.text): value for value in values}
        for claim in listed:
            of_cells = [printed.get((claim.artifact, cell)) for cell in claim.cells]
            arms = [arm for arm in of_cells if arm and arm.reported_std]
            row = _columns_of(config, paper, claim)
            row |= _printed_interval(claim, arms)
            row |= best.get(claim.id, unknown)
            row |= ledger.answering(document, claim)
            row |= _settling(row, hours.of_artifacts.get((paper, claim.artifact)))
            stds = tuple(arm.reported_std or math.nan for arm in arms)
            row |= price.of_comparison(claim, row, stds, hours.of_pairs, rules)
            rows.append(row)
    claims = pd.DataFrame(rows, columns=list(columns.KNOWN))
    climbed = pd.DataFrame(steps, columns=list(columns.LADDER))
    known = tables.as_read(claims, columns.KNOWN)
    written = {
        "claims": (claims, columns.KNOWN),
        "ladder": (climbed, columns.LADDER),
        "criteria": (replication.criteria(known), columns.CRITERIA),
    }
    tables.write(config.root / REPORT, written)
    return known, tables.as_read(climbed, columns.LADDER)


def _columns_of(config: Config, paper: str, claim: Claim) -> Row:
    """The columns of what a document says."""
    reported = "" if claim.reported is None else f"{claim.reported:.10g}"
    stated = claim.model_dump(include={*columns.KNOWN})
    return stated | {
        "paper": paper,
        "setting": coordinates.setting(claim.coordinates),
        "metric": claim.metric or "",
        "reported": claim.direction or reported,
        "margin": claim.margin,
    }


def _printed_interval(claim: Claim, arms: Sequence[Claim]) -> Row:
    """The interval of a printed difference, of the deviations that its ``arms`` print.

    Where no number of runs is printed it is taken as one, which is the widest interval.
    """
    if claim.kind != "comparison" or len(arms) != 2 or claim.reported is None:
        return {"reported_low": math.nan, "reported_high": math.nan}
    runs = [arm.reported_n or 1 for arm in arms]
    df = sum(runs) - 2
    errors = [(arm.reported_std or 0.0) / n**0.5 for arm, n in zip(arms, runs, strict=True)]
    quantile = special.stdtrit(df, SIDE) if df else special.ndtri(SIDE)
    half = math.hypot(*errors) * float(quantile)
    return {"reported_low": claim.reported - half, "reported_high": claim.reported + half}


def _settling(row: Mapping[str, Any], hours: float | None) -> Row:
    """The command that would settle a claim on encoders, and the hours of its artifact at the published scale."""
    if row["answered_by"] != "encoder" or row["rung"] == "published" or hours is None:
        return {}
    command = f"make reproduce SCALE=paper ONLY={row['paper']}/{row['artifact']}"
    return {"settle": command, "gpu_hours": hours}
