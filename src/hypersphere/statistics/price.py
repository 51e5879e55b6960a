"""Prices: what would answer an open claim, in runs, hours of one core, or hours of a GPU."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from hypersphere.config.claims import Claim
from hypersphere.config.rules import Rules
from hypersphere.provenance import tables
from hypersphere.provenance.claim_row import compares_encoders
from hypersphere.statistics import effects

DATA = Path(__file__).parents[3] / "data"


class Hours(NamedTuple):
    """The tables of ``python -m hypersphere.command.cost``."""

    of_artifacts: Mapping[tuple[str, str], float]
    """The hours of a GPU at the published scale, by document and artifact."""
    of_pairs: Mapping[str, float]
    """The hours of one core for a run of each arm of a comparison at the laptop scale, by claim."""
    measured_share: float
    """The share of all GPU hours that rests on measured rates; a stated rate gives the others."""


def hours() -> Hours:
    """The hours of data/costs.csv and data/pair_costs.csv."""
    costs = pd.read_csv(DATA / "costs.csv")
    artifacts = zip(costs["paper"], costs["artifact"], strict=True)
    of_artifacts = dict(zip(artifacts, costs["device_hours"], strict=True))
    pair_costs = pd.read_csv(DATA / "pair_costs.csv")
    of_pairs = dict(zip(pair_costs["id"], pair_costs["device_hours"], strict=True))
    (everything,) = tables.rows(costs[costs["paper"] == "all"])
    share = everything["measured_hours"] / everything["device_hours"]
    return Hours(of_artifacts, of_pairs, share)


def of_comparison(
    claim: Claim,
    row: Mapping[str, Any],
    stds: tuple[float, ...],
    of_pairs: Mapping[str, float],
    rules: Rules,
) -> dict[str, float]:
    """What an answer of small encoders to a comparison of accuracies takes: runs an arm, and hours of one core.

    The spread over seeds is that of the best evidence, else of ``stds``, the two printed standard deviations.
    """
    if not compares_encoders(row) or claim.origin == "ours" or not claim.of_accuracy:
        return {}
    spread = row.get("spread", 0.0)
    if not spread > 0:
        spread = math.nan
        if len(stds) == 2:
            spread = math.hypot(*stds) / math.sqrt(2)
    to_see = effects.runs_to_see(claim.reported or 0.0, spread, rules)
    to_equate = effects.runs_to_equate(rules.margin.at_least_high, spread, rules)
    needed = to_equate if claim.direction == "equal" else to_see
    core_hours = needed * of_pairs.get(claim.id, math.nan)
    return {
        "spread": spread,
        "runs_to_see": to_see,
        "runs_to_equate": to_equate,
        "core_hours": core_hours,
    }


def settled_first(known: pd.DataFrame, hours: float) -> list[tuple[str, int, float]]:
    """What some hours of a GPU would settle first: (artifact, printed claims, hours), most claims an hour first.

    An artifact that no longer fits is left out.
    """
    unsettled = known[(known["settle"] != "") & (known["origin"] == "printed")]
    of_artifact = unsettled.groupby(["paper", "artifact"], sort=False)["gpu_hours"]
    groups = of_artifact.agg(claims="size", hours="first").reset_index()
    per_hour = groups["claims"] / groups["hours"].clip(lower=1e-9)
    order = per_hour.sort_values(ascending=False, kind="stable").index
    found = []
    left = hours
    for row in tables.rows(groups.loc[order]):
        if row["hours"] <= left:
            left -= row["hours"]
            found.append((f"{row['paper']}/{row['artifact']}", row["claims"], row["hours"]))
    return found
