"""scorecard.json: the numbers of the scorecard, under the scale's name, by coordinates."""

import json
import math
from typing import Any

import pytest

CUT = "method=plain;variant=cut;dataset=photos;measure=knn_top1"
DEFAULT = "method=plain;variant=default;dataset=photos;measure=knn_top1"


def of(world: Any) -> dict[str, Any]:
    """The one scale that the file speaks of."""
    content = json.loads(world.read("scorecard.json"))
    assert list(content) == [world.plan.config.scale_name]
    return dict(content[world.plan.config.scale_name])


def test_another_mean_changes_its_number_and_no_count(make: Any, quick: Any) -> None:
    """The control: the file is written from the tidy tables and says what they say."""
    moved = make(shift=0.5)
    moved.build()
    cells = [of(world)["alpha"]["table1"][CUT]["mean"] for world in (quick, moved)]
    assert cells[1] - cells[0] == pytest.approx(0.5)
    assert of(quick)["claims"] == of(moved)["claims"]


@pytest.mark.parametrize(
    ("diverged", "said"),
    [(2, {"n": 0, "diverged": 2, "measured_on": "digits"}), (0, None)],
    ids=["diverged", "not run"],
)
def test_a_cell_without_a_mean_says_how_many_diverged_or_is_left_out(
    make: Any, diverged: int, said: dict[str, Any] | None
) -> None:
    world = make()
    world.change("table1", "summary", CUT, mean=math.nan, n=0, n_diverged=diverged)
    world.build()
    table = of(world)["alpha"]["table1"]
    assert table.get(CUT) == said
    assert "diverged" not in table[DEFAULT]
