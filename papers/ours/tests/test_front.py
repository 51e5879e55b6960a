"""The picture above all says what the evidence bears, and is not drawn otherwise."""

from typing import Any

import pandas as pd
import pytest

from hypersphere.config.rules import Answer
from hypersphere.errors import HypersphereError
from hypersphere.report.evidence import Evidence
from papers.ours import front
from tests.golden.released import ROOT


def evidence(published: str = "fails", corrected: str = "holds") -> Evidence:
    """Claims about the cells of the table with these answers."""
    claims: list[dict[str, Any]] = []
    for norm, gamma in front.CELLS:
        name = f"norms.table1.norm{norm}.gamma{gamma}"
        claims.append({"id": name, "reported": "64", "measured": "32", "answer": published})
        claims.append({"id": f"{name}.n1", "reported": "64", "measured": "64", "answer": corrected})
    return Evidence(claims=claims, ladder=[], criteria=[], findings=[], studies={})


@pytest.mark.parametrize("narrow", [False, True])
def test_both_panels_have_a_title_and_their_marks(narrow: bool) -> None:
    left, right = front.front(evidence(), ROOT, narrow).axes
    titles = [panel.get_title(loc="left").split() for panel in (left, right)]
    assert titles == [front.TABLE.split(), front.CURVES.split()]
    assert [len(line.get_xdata()) for line in left.lines] == [len(front.CELLS)] * 3
    assert len(right.containers) == len(front.VARIANTS)


@pytest.mark.parametrize(
    "answers", [{"published": "holds"}, {"corrected": "fails"}, {"corrected": "cannot tell"}]
)
def test_a_table_that_follows_from_its_formula_is_not_drawn(answers: dict[str, str]) -> None:
    assert {*answers.values()} <= set(Answer)
    with pytest.raises(HypersphereError, match="does not bear this title"):
        front.front(evidence(**answers), ROOT)


@pytest.mark.parametrize("best", [{"cut9": 10}, {"cut9": 1, "default": 0.1}])
def test_curves_with_other_best_rates_are_not_drawn(
    best: dict[str, float], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The best rate must fall with the division."""
    tuned = pd.read_csv(front.STUDY)
    for variant, rate in best.items():
        own = tuned["arm"].str.startswith(f"method=simsiam;variant={variant};")
        tuned.loc[own & tuned["value"].str.endswith(f"={rate:g}"), "mean"] = 27.5
    tuned.to_csv(tmp_path / "tuned.csv", index=False)
    monkeypatch.setattr(front, "STUDY", tmp_path / "tuned.csv")
    with pytest.raises(HypersphereError, match="does not bear this title"):
        front.front(evidence(), ROOT)
