"""scorecard.json: the numbers of the scorecard, under the scale's name, by coordinates."""

import json
from typing import Any

import pytest

CUT = "method=plain;variant=cut;dataset=photos;measure=knn_top1"
DEFAULT = "method=plain;variant=default;dataset=photos;measure=knn_top1"
CHANCE = "method=control;variant=chance;dataset=photos;measure=knn_top1"


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


def test_a_diverged_cell_has_no_mean_and_says_how_many_diverged(make: Any) -> None:
    world = make()
    world.edit("statistics/alpha/table1/summary.csv", "digits,,,,,,64,,2,,,0,", "digits,,,,,,,,0,,,2,")
    world.build()
    table = of(world)["alpha"]["table1"]
    assert table[CUT] == {"n": 0, "diverged": 2, "measured_on": "digits"}
    assert "diverged" not in table[DEFAULT]


def test_a_cell_without_any_number_is_left_out(make: Any) -> None:
    world = make()
    world.edit("statistics/alpha/table1/summary.csv", "digits,,,,,,64,,2,,,0,", "digits,,,,,,,,0,,,0,")
    world.build()
    assert CUT not in of(world)["alpha"]["table1"]
