"""config/statistics.yaml as it stands, and what is said of a wrong one."""

import json

import pytest

from hypersphere.config import rules
from hypersphere.config.rules import Verdict

from ...fixtures import Approve
from ...golden.released import ROOT


@pytest.mark.parametrize(("published", "margin"), [(79.9, 1.5), (80.0, 1.0), (95.0, 1.0), (0.0, 1.5)])
def test_margin_is_as_the_design_states_it(published: float, margin: float) -> None:
    # docs/statistics.md: 1 point where the published accuracy is at least 80 %, else 1.5
    assert rules.load(ROOT).margin.of(published) == margin


def test_the_level_of_a_table_is_exactly_what_its_confidence_leaves() -> None:
    """In binary 1 - 0.95 is 0.050000000000000044."""
    assert rules.load(ROOT).alpha == 0.05


def test_colours(approve: Approve) -> None:
    for tone in ("agree", "disagree", "neutral"):
        approve(f"{tone}: {', '.join(verdict for verdict in Verdict if verdict.tone == tone)}")
    approve(f"settles: {', '.join(verdict for verdict in Verdict if verdict.settles)}")
    assert json.dumps([Verdict.NOT_RUN]) == '["not run"]' == f'["{Verdict.NOT_RUN}"]'
