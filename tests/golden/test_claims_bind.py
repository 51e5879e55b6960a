"""Every printed number of a table or figure made from runs is a cell of it, and a slip of the pen is none."""

import pytest

from hypersphere.config import coordinates
from hypersphere.config.claims import Claim, load

from .released import ROOT, released

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
    lost = [c.id for c in compared if (c.coordinates, c.compared_with) not in measured[c.artifact].comparisons]
    turned = [c.id for c in compared if (c.compared_with, c.coordinates) in measured[c.artifact].comparisons]
    assert (lost, turned) == ([], [])
