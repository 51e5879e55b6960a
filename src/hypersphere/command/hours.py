"""``hypersphere plan --hours H``: what so many hours of a device would settle at a scale, most claims an hour first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hypersphere.command import campaign
from hypersphere.command.cost import Cost
from hypersphere.command.templates import fill
from hypersphere.config import records
from hypersphere.config.certainty import GRADES, Grade, load_certainty, rung_of_encoders
from hypersphere.config.claims import Claim, measured_claims
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Answer, Verdict
from hypersphere.provenance import evidence
from hypersphere.statistics import indirectness, shortcomings

Artifact = tuple[str, str]
"""A document and one of its artifacts."""


class Purchase(NamedTuple):
    """An artifact that the hours pay for."""

    artifact: str
    """``paper/artifact``."""
    claims: int
    """Published numbers and comparisons that its runs would answer."""
    runs: int
    """That are not recorded yet, and that no purchase before it pays for."""
    seeds: int
    """Of its cells, the fewest."""
    certainty: Grade
    """The highest that an answer can have at this scale."""
    hours: float


def lines(plan: Plan, hours: float, rate: float | None) -> Iterator[str]:
    """A row for each artifact that the hours pay for. ``rate`` is 10^12 operations a second, for all networks."""
    cost = Cost(plan, rate)
    known = records.read_all(
        evidence.folder_of(plan), plan.config.scale.level, plan.config.scale_name
    )
    recorded = {name for name in plan.runs if campaign.is_recorded(plan, known, name)}
    claims = claims_of(plan)
    bought = purchases(plan, claims, cost, recorded, hours)
    unpriced = sorted("/".join(key) for key in claims if not _is_priced(plan, key, cost))
    text = fill("hours.txt", cost=cost, hours=hours, bought=bought, unpriced=unpriced)
    yield from text.splitlines()


def claims_of(plan: Plan) -> dict[Artifact, list[Claim]]:
    """The published claims that runs of a plan would answer, by the artifacts that ``only`` asks for."""
    measured = measured_claims(plan)
    found: dict[Artifact, list[Claim]] = {}
    for key in plan.chosen_artifacts:
        published = [claim for claim in measured.get(key, []) if claim.origin != "ours"]
        if published:
            found[key] = published
    return found


def purchases(
    plan: Plan,
    claims: Mapping[Artifact, Sequence[Claim]],
    cost: Cost,
    recorded: set[str],
    hours: float,
) -> list[Purchase]:
    """What the hours pay for, in order: each time the artifact with most claims an hour that the rest of them pays for.

    Runs that several artifacts show are paid for once, and recorded ones never. An artifact whose runs are all recorded
    is settled, and one whose operations are not known has no price.
    """
    paid = set(recorded)
    left = hours
    runs_of = {key: plan.runs_of(*key).keys() for key in claims if _is_priced(plan, key, cost)}
    bought: list[Purchase] = []
    while True:
        prices: dict[Artifact, float] = {}
        for key, runs in runs_of.items():
            price = sum(cost.run_hours[name] for name in sorted(runs - paid))
            if 0 < price <= left:
                prices[key] = price
        if not prices:
            return bought
        best = max(prices, key=lambda key: len(claims[key]) / prices[key])
        seeds = _fewest_seeds(plan, best)
        bought.append(
            Purchase(
                artifact="/".join(best),
                claims=len(claims[best]),
                runs=len(runs_of[best] - paid),
                seeds=seeds,
                certainty=_best_certainty(plan, best, claims[best], seeds),
                hours=prices[best],
            )
        )
        left -= prices[best]
        paid |= runs_of[best]


def _is_priced(plan: Plan, key: Artifact, cost: Cost) -> bool:
    return plan.runs_of(*key).keys() <= cost.run_hours.keys()


def _fewest_seeds(plan: Plan, key: Artifact) -> int:
    """Runs of the cell that has fewest of them."""
    runs = Counter(cell.text for cell in plan.artifacts[key] if cell.run)
    return min(runs.values(), default=0)


def _best_certainty(plan: Plan, key: Artifact, claims: Sequence[Claim], seeds: int) -> Grade:
    """The highest certainty that a clear answer to one of the claims can have, after config/certainty.yaml."""
    config = plan.config
    grading = load_certainty(config.root)
    rung = rung_of_encoders(config.scale.level)
    dataset_of = {cell.text: cell.run.dataset.name for cell in plan.artifacts[key] if cell.run}
    clear = {"n": seeds, "answer": Answer.HOLDS, "verdict": Verdict.REPRODUCED, "floored": ""}
    grades: list[Grade] = []
    for claim in claims:
        row = {"measured_on": dataset_of.get(claim.text, ""), "dataset": claim.dataset}
        stand_in = indirectness.stands_in(config, row)
        asked = clear | {"kind": claim.kind}
        found = shortcomings.of_encoders(asked, stand_in, grading.enough_runs)
        grade, _ = grading.of(rung, found)
        grades.append(grade)
    return min(grades, key=GRADES.index)
