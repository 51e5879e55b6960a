"""Every printed number of a table or figure made from runs is a cell of it, and a slip of the pen is none."""

import pytest

from hypersphere.config import coordinates
from hypersphere.config.claims import Claim, load

from .released import ROOT, released

PAPERS = sorted(path.parent.name for path in (ROOT / "config" / "papers").glob("*/claims.csv"))
"""Our own questions have no printed numbers."""


def of_runs(paper: str) -> list[Claim]:
    """The claims of a paper's artifacts that are made from runs, and whose kind of run there is."""
    measured = released("paper").config.papers[paper].measured
    claims = load(ROOT / "config" / "papers" / paper / "claims.csv")
    return [
        claim
        for claim in claims
        if claim.kind != "theorem" and claim.artifact in measured and not measured[claim.artifact].missing
    ]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_its_cell_and_with_another_coordinate_none(paper: str) -> None:
    """The control: each coordinate in turn that has no column of its own, changed or added."""
    claims = of_runs(paper)
    assert len(claims) > 20
    for claim in claims:
        cells = {cell.text for cell in released("paper").artifacts[paper, claim.artifact]}
        assert claim.text in cells, claim.id
        own = coordinates.parse(claim.setting, claim.id)
        for key in (*own, "epoch", "objective.temperature", "target"):
            wrong = Claim(**{**claim.model_dump(), "setting": coordinates.text({**own, key: 7.7})})
            assert wrong.text not in cells, claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_every_comparison_is_one_that_its_artifact_makes(paper: str) -> None:
    measured = released("paper").config.papers[paper].measured
    compared = [claim for claim in of_runs(paper) if claim.kind == "comparison"]
    assert compared
    lost = [c.id for c in compared if (c.coordinates, c.compared_with) not in measured[c.artifact].comparisons]
    assert lost == []
    # The control: no artifact compares in the other direction too.
    turned = [c.id for c in compared if (c.compared_with, c.coordinates) in measured[c.artifact].comparisons]
    assert turned == []
