"""What is selected from tuning runs that were made up, and when nothing is."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import coordinates
from hypersphere.config import plan as planning
from hypersphere.config.study import read_selection, write_selection
from hypersphere.errors import HypersphereError
from hypersphere.statistics.selection import select

from ...fixtures import Refused
from ...golden.released import configured
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
    ("changed", "arm"),
    [
        ({0.1: [30.0, 30.0]}, []),
        ({3: [30.0, 30.0]}, []),
        ({rate: [None, None] for rate in FLAT}, ["method=simclr;variant=cut3;dataset=ten"]),
    ],
    ids=["lower edge of the grid", "upper edge", "diverged everywhere"],
)
def test_an_arm_without_a_choice_is_named(
    make_world: Make, refused: Refused, changed: dict[float, Any], arm: list[str]
) -> None:
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": TUNED}})
    for variant, curve in {"default": FLAT | {0.3: [30.0, 30.0]}, "cut3": FLAT | changed}.items():
        for rate, values in curve.items():
            world.say("s_tuning", at(variant=variant, **{RATE: rate}), values)
    world.write("s_tuning")
    with refused("papers/norms/paper.yaml", "studies.s", *arm):
        select(world.plan, "norms", "s")


def test_nothing_is_selected_where_nothing_is_tuned_or_a_record_is_missing(
    make_world: Make, refused: Refused
) -> None:
    untuned = {key: value for key, value in TUNED.items() if key != "tuned"}
    untuned["seeds"] = {"confirmation": [0, 1], "again": [10, 11]}
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": untuned}})
    with refused("papers/norms/paper.yaml", "studies.s"):
        select(world.plan, "norms", "s")
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": TUNED}})
    unrecorded = planning.make(world.root, {"evidence_only": True})
    with refused("norms/s"):
        select(unrecorded, "norms", "s")
    first = min(cell.run.name for cell in unrecorded.artifacts["norms", "s_tuning"])
    words = f"16 of 16 tuning runs have no record, the first is {first};"
    with pytest.raises(HypersphereError, match=words):
        select(unrecorded, "norms", "s")


OF_LOSS, OF_LOGITS = "objective.temperature", "logits.temperature"
FIELDS = {"method": "simclr", "dataset": "ten"}
LOGITS = {
    "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
    "logits": {"name": "cosine_logits", "temperature": 0.25},
}


@pytest.mark.parametrize(
    ("best", "edge"),
    [
        ({RATE: 1, OF_LOSS: 0.2}, ""),
        ({RATE: 1, OF_LOSS: 0.1}, "lowest"),
        ({RATE: 1, OF_LOSS: 0.5}, "highest"),
    ],
)
def test_the_edge_of_any_tuned_field_is_an_error(
    make_world: Make, best: dict[str, Any], edge: str
) -> None:
    """The best rate is in the midst of its grid; a temperature is chosen there too, and at no end of its grid."""
    temperatures = [0.1, 0.2, 0.5]
    arms = [FIELDS | {"variant": ["default", "cut3", "again"], OF_LOSS: temperatures}]
    study = TUNED | {"arms": arms, "tuned": {RATE: [0.1, 1, 10], OF_LOSS: []}}
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": study}})
    for name, rate, temperature in itertools.product(
        ("default", "cut3"), (0.1, 1, 10), temperatures
    ):
        values = {RATE: rate, OF_LOSS: temperature}
        mean = 60.0 if values == best else 20.0
        world.say("s_tuning", at(variant=name, **values), [mean, mean])
    world.write("s_tuning")
    if edge:
        with pytest.raises(HypersphereError, match=f"{OF_LOSS}={best[OF_LOSS]}, the {edge}"):
            select(world.plan, "norms", "s")
    else:
        chosen = {one.value for one in select(world.plan, "norms", "s") if one.chosen}
        assert chosen == {coordinates.text(best)}


def test_nothing_is_selected_anew_for_a_closed_study(make_world: Make, refused: Refused) -> None:
    closed = TUNED | {"closed": "It cannot answer."}
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": closed}})
    with refused("papers/norms/paper.yaml", "studies.s"):
        select(world.plan, "norms", "s")


def test_no_released_selection_of_an_open_study_is_at_an_edge() -> None:
    """By the grids as they are declared, field by field; of the closed study of losses, 14 of 16 temperatures are."""
    at_edges = dict[str, int]()
    config = configured("laptop")
    for (paper, name), selected in config.selected.items():
        study = config.papers[paper].studies[name]
        for arm, values in selected.items():
            for key, value in values.items():
                if value in (study.grids()[arm][key][0], study.grids()[arm][key][-1]):
                    assert study.closed, (name, arm, key)
                    at_edges[key] = at_edges.get(key, 0) + 1
    assert at_edges  # the control


def test_each_arm_has_the_values_of_its_own_grid_with_the_best_mean(
    make_world: Make, tmp_path: Path
) -> None:
    """A mean of 60 is the best, though another rate has the best run (75). One with a diverged run is not chosen.

    One arm has a temperature of its loss, the other of its logits; each is read from its own grid alone.
    """
    grids = {"default": (OF_LOSS, [0.2, 0.5, 1]), "margins": (OF_LOGITS, [0.05, 0.1, 0.3])}
    arms = [
        FIELDS | {"variant": ["default", "again"], OF_LOSS: grids["default"][1]},
        FIELDS | {"variant": "margins", OF_LOGITS: grids["margins"][1]},
    ]
    study = TUNED | {"arms": [arms], "tuned": {RATE: [0.1, 1, 10], OF_LOSS: [], OF_LOGITS: []}}
    world = make_world(
        "laptop", paper={"variants": VARIANTS | {"margins": LOGITS}, "studies": {"s": study}}
    )
    best = {"default": (OF_LOSS, 0.5), "margins": (OF_LOGITS, 0.1)}
    for variant, (key, grid) in grids.items():
        for t in grid:
            for rate, values in ((0.1, [90.0, None]), (1, [50.0, 50.0]), (10, [75.0, 20.0])):
                at_best = (key, t) == best[variant] and rate == 1
                world.say(
                    "s_tuning",
                    at(variant=variant, **{RATE: rate, key: t}),
                    [59.0, 61.0] if at_best else values,
                )
    world.write("s_tuning")
    curve = select(world.plan, "norms", "s")
    assert len(curve) == 18
    assert [(one.mean, one.n, one.diverged) for one in curve if one.chosen] == [(60, 2, 0)] * 2
    write_selection(tmp_path / "s.csv", curve)
    chosen = read_selection(tmp_path / "s.csv", world.plan.config.papers["norms"].studies["s"])
    assert {arm.split(";")[1]: values for arm, values in chosen.items()} == {
        f"variant={variant}": {RATE: 1, key: t} for variant, (key, t) in best.items()
    }


def test_of_equal_means_the_first_in_the_grid_is_chosen(make_world: Make) -> None:
    curve = {0.1: 20.0, 0.3: 60.0, 1: 60.0, 3: 20.0}
    study = TUNED | {"arms": [FIELDS | {"variant": ["default", "again"]}]}
    world = make_world("laptop", paper={"variants": VARIANTS, "studies": {"s": study}})
    for rate, mean in curve.items():
        world.say("s_tuning", at(variant="default", **{RATE: rate}), [mean - 1, mean + 1])
    world.write("s_tuning")
    tried = select(world.plan, "norms", "s")
    assert [(one.mean, one.n, one.diverged) for one in tried] == [
        (mean, 2, 0) for mean in curve.values()
    ]
    assert [one.std for one in tried] == pytest.approx([2**0.5] * 4)
    assert [one.value for one in tried if one.chosen] == [f"{RATE}=0.3"]
