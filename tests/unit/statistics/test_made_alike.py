"""A claim says device, precision and seeds of its runs, and nothing is judged from runs that were not made alike."""

from collections.abc import Callable
from typing import Any

import pytest

from .world import World, at, claim, gain

Make = Callable[..., World]
BFLOAT16 = {"numerics": {"threads": 1, "precision": "bfloat16"}}
CUDA = {"device": {"type": "cuda", "name": "a card"}}


def made(make_world: Make, level: str, how: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Three tight seeds an arm, the baseline as printed and the variant well above; seed 1 of the variant made so."""
    world = make_world(seeds=[0, 1, 2], level=level)
    for method in ("simclr", "simsiam"):
        for variant, mean in (("default", 51.1), ("cut3" if method == "simclr" else "cut9", 56.1)):
            world.say("table5", at(method=method, variant=variant), [mean - 0.1, mean, mean + 0.1])
    if how:
        run = next(one.run for one in world.cells("table5", at(variant="cut3")) if one.run and one.run.seed == 1)
        world.made[run.name] = how
    world.measure("table5")
    return world.judged(claim("d", reported=51.1), claim("c", variant="cut3", reported=56.1), gain("g", reported=""))


def test_runs_that_were_made_alike_are_judged(make_world: Make) -> None:
    found = made(make_world, "paper", {})
    assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys("dcg", "reproduced")
    for row in found.values():
        assert (row["device"], row["precision"], row["seeds"]) == ("a processor", "float32", "0 1 2")


@pytest.mark.parametrize(
    ("how", "column", "shown", "why"),
    [
        (BFLOAT16, "precision", "bfloat16; float32", "runs of bfloat16 and float32 are mixed"),
        (CUDA, "device", "a card; a processor", "runs of cpu and cuda are mixed"),
    ],
)
def test_nothing_is_judged_from_mixed_runs(
    make_world: Make, how: dict[str, Any], column: str, shown: str, why: str
) -> None:
    """The baseline's own value is of one kind, and is judged: the control."""
    found = made(make_world, "paper", how)
    assert found["d"]["verdict"] == "reproduced"
    for row in (found["c"], found["g"]):
        assert (row["verdict"], row[column]) == ("inconclusive", shown)
        assert why in row["why"]
    small = made(make_world, "laptop", how)
    assert (small["g"]["verdict"], small["g"]["direction"]) == ("laptop only", "unclear")
    assert why in small["g"]["why"]
