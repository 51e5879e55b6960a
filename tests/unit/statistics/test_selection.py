"""What is selected from tuning runs that were made up, and when nothing is."""

from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.study import read_selection, write_selection
from hypersphere.statistics.selection import select

from ...fixtures import Refused
from .world import PAPER, STUDY, Make, at

RATE = "optimiser.learning_rate.times"
TUNED = STUDY | {
    "arms": [{"method": "simclr", "dataset": "ten", "variant": ["default", "cut3", "again"]}],
    "tuned": {RATE: [0.1, 0.3, 1, 3]},
    "seeds": {"tuning": [100, 101], "confirmation": [0, 1], "again": [10, 11]},
}
VARIANTS = PAPER["variants"] | {"again": {}}
FLAT = {rate: [20.0, 20.0] for rate in (0.1, 0.3, 1, 3)}


@pytest.mark.parametrize(
    "changed",
    [{0.1: [30.0, 30.0]}, {3: [30.0, 30.0]}, {rate: [None, None] for rate in FLAT}],
    ids=["lower edge of the grid", "upper edge", "diverged everywhere"],
)
def test_an_arm_without_a_choice_is_named(make_world: Make, refused: Refused, changed: dict[float, Any]) -> None:
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": TUNED}})
    for variant, curve in {"default": FLAT | {0.3: [30.0, 30.0]}, "cut3": FLAT | changed}.items():
        for rate, values in curve.items():
            world.say("s_tuning", at(variant=variant, **{RATE: rate}), values)
    world.write("s_tuning")
    with refused():
        select(world.plan, "norms", "s")


def test_each_arm_has_the_values_of_its_own_grid_with_the_best_mean(make_world: Make, tmp_path: Path) -> None:
    """A mean of 60 is the best, though another rate has the best run (75). One with a diverged run is not chosen.

    One arm has a temperature of its loss, the other of its logits; each is read from its own grid alone.
    """
    of_loss, of_logits = "objective.temperature", "logits.temperature"
    fields = {"method": "simclr", "dataset": "ten"}
    arms = [
        fields | {"variant": ["default", "again"], of_loss: [0.2, 0.5]},
        fields | {"variant": "margins", of_logits: [0.1, 0.3]},
    ]
    study = TUNED | {"arms": [arms], "tuned": {RATE: [0.1, 1, 10], of_loss: [], of_logits: []}}
    objective, logits = {"name": "generalised_info_nce", "negatives": "both_views"}, {"name": "cosine_logits"}
    margins = {"margins": {"objective": objective, "logits": logits | {"temperature": 0.25}}}
    world = make_world("laptop", paper={"variants": VARIANTS | margins, "studies": {"s": study}})
    best = {"default": (of_loss, 0.5), "margins": (of_logits, 0.1)}
    for variant, (key, grid) in {"default": (of_loss, (0.2, 0.5)), "margins": (of_logits, (0.1, 0.3))}.items():
        for t in grid:
            for rate, values in ((0.1, [90.0, None]), (1, [50.0, 50.0]), (10, [75.0, 20.0])):
                at_best = (key, t) == best[variant] and rate == 1
                world.say("s_tuning", at(variant=variant, **{RATE: rate, key: t}), [59.0, 61.0] if at_best else values)
    world.write("s_tuning")
    curve = select(world.plan, "norms", "s")
    assert len(curve) == 12
    assert [(one.mean, one.n, one.diverged) for one in curve if one.chosen] == [(60, 2, 0)] * 2
    write_selection(tmp_path / "s.csv", curve)
    chosen = read_selection(tmp_path / "s.csv", world.plan.config.papers["norms"].studies["s"])
    assert {arm.split(";")[1]: values for arm, values in chosen.items()} == {
        f"variant={variant}": {RATE: 1, key: t} for variant, (key, t) in best.items()
    }
