"""What is selected from tuning runs that were made up, and when nothing is."""

import copy
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.coordinates import text
from hypersphere.config.study import read_selection, write_selection
from hypersphere.errors import HypersphereError
from hypersphere.statistics.selection import select

from .world import PAPER, World

RATE = "optimiser.learning_rate.times"
STUDY: dict[str, Any] = {
    "question": "?",
    "title": "Best against best",
    "arms": [{"method": "simclr", "dataset": "ten", "variant": ["default", "cut3", "again"]}],
    "tuned": {RATE: [0.1, 0.3, 1, 3]},
    "measure": "knn_top1",
    "seeds": {"tuning": [100, 101], "confirmation": [0, 1], "again": [10, 11]},
    "margin": 1.0,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "laptop",
}
FLAT = {0.1: [20.0, 20.0], 0.3: [20.0, 20.0], 1: [20.0, 20.0], 3: [20.0, 20.0]}


def _world(root: Path, said: dict[str, dict[float, list[float | None]]]) -> World:
    paper = copy.deepcopy(PAPER) | {"studies": {"s": STUDY}}
    paper["variants"] |= {"again": {}}
    world = World(root, "laptop", paper=paper)
    for variant, curve in said.items():
        for rate, values in curve.items():
            world.say("s_tuning", f"method=simclr;variant={variant};dataset=ten;{RATE}={rate};measure=knn_top1", values)
    world.write("s_tuning")
    return world


def test_each_arm_has_the_rate_of_its_best_mean(tmp_path: Path) -> None:
    """0.3 has the best mean (35), though 1 has the best single run (41); the file gives the choice back."""
    said = {"default": FLAT | {0.3: [34.0, 36.0], 1: [41.0, 20.0]}, "cut3": FLAT | {1: [30.0, 30.0]}}
    world = _world(tmp_path, said)
    curve = select(world.plan, "norms", "s")
    chosen = {one.arm.split(";")[1]: (one.value, one.mean, one.n) for one in curve if one.chosen}
    assert chosen == {"variant=default": (f"{RATE}=0.3", 35.0, 2), "variant=cut3": (f"{RATE}=1", 30.0, 2)}
    assert len(curve) == 8
    write_selection(tmp_path / "s.csv", curve)
    study = world.plan.config.papers["norms"].studies["s"]
    assert {arm: v[RATE] for arm, v in read_selection(tmp_path / "s.csv", study).items()} == {
        one.arm: float(one.value.partition("=")[2]) for one in curve if one.chosen
    }


def test_a_rate_of_which_one_run_diverged_is_not_chosen(tmp_path: Path) -> None:
    said = {"default": FLAT | {1: [90.0, None], 0.3: [30.0, 30.0]}, "cut3": FLAT | {1: [30.0, 30.0]}}
    curve = select(_world(tmp_path, said).plan, "norms", "s")
    assert [(one.value, one.diverged) for one in curve if one.chosen and "default" in one.arm] == [(f"{RATE}=0.3", 0)]


@pytest.mark.parametrize("edge", [0.1, 3])
def test_the_edge_of_a_grid_is_an_error_that_names_the_arm(tmp_path: Path, edge: float) -> None:
    said = {"default": FLAT | {0.3: [30.0, 30.0]}, "cut3": FLAT | {edge: [30.0, 30.0]}}
    with pytest.raises(HypersphereError, match=rf"edge of the grid.*variant=cut3;dataset=ten at {RATE}={edge}"):
        select(_world(tmp_path, said).plan, "norms", "s")


def test_an_arm_that_diverged_everywhere_has_no_choice(tmp_path: Path) -> None:
    said = {"default": FLAT | {0.3: [30.0, 30.0]}, "cut3": {rate: [None, None] for rate in FLAT}}
    with pytest.raises(HypersphereError, match="variant=cut3;dataset=ten: a run diverged at every value"):
        select(_world(tmp_path, said).plan, "norms", "s")


def test_arms_choose_among_their_own_fields(tmp_path: Path) -> None:
    """One arm has a temperature of its loss, the other of its logits; each is read from its own grid alone."""
    of_loss, of_logits = "objective.temperature", "logits.temperature"
    fields = {"method": "simclr", "dataset": "ten"}
    arms = [
        fields | {"variant": ["default", "again"], of_loss: [0.2, 0.5]},
        fields | {"variant": "margins", of_logits: [0.1, 0.3]},
    ]
    study = STUDY | {"arms": [arms], "tuned": {RATE: [0.1, 1, 10], of_loss: [], of_logits: []}}
    paper = copy.deepcopy(PAPER) | {"studies": {"s": study}}
    objective, logits = {"name": "generalised_info_nce", "negatives": "both_views"}, {"name": "cosine_logits"}
    paper["variants"] |= {"again": {}, "margins": {"objective": objective, "logits": logits | {"temperature": 0.25}}}
    world = World(tmp_path, "laptop", paper=paper)
    best = {"default": (of_loss, 0.5), "margins": (of_logits, 0.1)}
    for variant, (key, grid) in {"default": (of_loss, (0.2, 0.5)), "margins": (of_logits, (0.1, 0.3))}.items():
        for t in grid:
            for rate in (0.1, 1, 10):
                value = 60.0 if (key, t) == best[variant] and rate == 1 else 50.0
                place = text({**fields, "variant": variant, RATE: rate, key: t, "measure": "knn_top1"})
                world.say("s_tuning", place, [value, value])
    world.write("s_tuning")
    curve = select(world.plan, "norms", "s")
    assert len(curve) == 12
    write_selection(tmp_path / "s.csv", curve)
    chosen = read_selection(tmp_path / "s.csv", world.plan.config.papers["norms"].studies["s"])
    assert {arm.split(";")[1]: values for arm, values in chosen.items()} == {
        f"variant={variant}": {RATE: 1, key: t} for variant, (key, t) in best.items()
    }
