"""What documents say of tables and figures made from runs: each claim has its cells, and each artifact a claim.

A slip of the pen is no cell. At the published scale, as many runs are planned as a verdict needs.
"""

from collections import defaultdict

import pytest

from hypersphere.config import coordinates
from hypersphere.config import rules as rules_file
from hypersphere.config.claims import Claim, load, why_not_measured
from hypersphere.config.measures import MEASURES
from hypersphere.statistics.effects import ENOUGH
from hypersphere.statistics.verdicts import margin_of

from .released import ROOT, released

RULES = rules_file.load(ROOT)

PAPERS = sorted(path.parent.name for path in (ROOT / "papers").glob("*/claims.csv"))
"""Our own questions have no printed numbers."""


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_its_cell_and_every_comparison_is_made_but_no_other(paper: str) -> None:
    """Of artifacts that are made from runs, and whose kind of run there is.

    The controls: each coordinate in turn that has no column of its own, changed or added; a comparison turned round.
    """
    declared = released("paper").config.papers[paper].measured
    measured = {name: one for name, one in declared.items() if not one.missing}
    read = load(ROOT / "papers" / paper / "claims.csv")
    claims = [claim for claim in read if claim.kind != "theorem" and claim.artifact in measured]
    assert claims
    for claim in claims:
        cells = {cell.text for cell in released("paper").artifacts[paper, claim.artifact]}
        assert claim.text in cells, claim.id
        own = coordinates.parse(claim.setting, claim.id)
        for key in (*own, "epoch", "objective.temperature", "target"):
            wrong = Claim(**{**claim.model_dump(), "setting": coordinates.text({**own, key: 7.7})})
            assert wrong.text not in cells, claim.id
    compared = [claim for claim in claims if claim.kind == "comparison"]
    assert compared
    lost = [
        c.id
        for c in compared
        if (c.coordinates, c.compared_with) not in measured[c.artifact].comparisons
    ]
    turned = [
        c.id
        for c in compared
        if (c.compared_with, c.coordinates) in measured[c.artifact].comparisons
    ]
    assert (lost, turned) == ([], [])


def of_runs(paper: str) -> list[Claim]:
    """A document's claims about artifacts that are made from runs."""
    measured = released("paper").config.papers[paper].measured
    claims = load(ROOT / "papers" / paper / "claims.csv")
    return [one for one in claims if one.kind != "theorem" and one.artifact in measured]


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_printed_and_trained_has_a_claim_that_its_cells_answer_or_says_why_not(
    paper: str,
) -> None:
    """By its name in print, as a figure may have an artifact of its own for what is said of it."""
    plan = released("paper")
    answered = {one.artifact for one in of_runs(paper) if not why_not_measured(plan, paper, one)}
    printed = defaultdict(list)
    for name, artifact in plan.config.papers[paper].measured.items():
        if artifact.printed and not artifact.missing:
            printed[artifact.printed].append((name, artifact.unclaimed))
    assert printed
    silent = {
        name
        for name, several in printed.items()
        if not any(one in answered or why for one, why in several)
    }
    assert not silent
    needless = {
        one for several in printed.values() for one, why in several if why and one in answered
    }
    assert not needless


@pytest.mark.parametrize("paper", PAPERS)
def test_a_claim_has_as_many_planned_runs_as_a_verdict_needs(paper: str) -> None:
    """Welch's test needs three an arm, and a number two."""
    plan = released("paper")
    seeds = defaultdict(set)
    for cell in plan.cells:
        if cell.paper == paper and cell.run:
            seeds[cell.artifact, cell.text].add(cell.run.seed)
    few = []
    for claim in of_runs(paper):
        needed = ENOUGH if claim.kind == "comparison" else 2
        planned = min(len(seeds[claim.artifact, cell]) for cell in claim.cells)
        if not why_not_measured(plan, paper, claim) and planned < needed:
            few.append(claim.id)
    assert not few


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_number_of_encoders_has_a_margin(paper: str) -> None:
    numbers = [one for one in of_runs(paper) if one.kind == "value" and one.metric is not None]
    assert numbers
    assert all(margin_of(MEASURES[one.metric or ""], one.reported, RULES) > 0 for one in numbers)
