"""Points in space, taken from the tables that probes leave."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from hypersphere.errors import HypersphereError
from hypersphere.provenance.columns import POINTS
from hypersphere.statistics import measure

from .world import PAPER, World, at

Make = Callable[..., World]
GLOBE: dict[str, Any] = {
    "draw": "sphere",
    "title": "Points",
    "rows": {"variant": ["default", "cut3"]},
    "columns": {"epoch": [50, 100]},
    "fixed": {"method": "simclr", "dataset": "ten"},
    "measure": "spread",
    "by": "points",
}
DOCUMENT: dict[str, Any] = {
    "evaluations": {**PAPER["evaluations"], "points": {"probe": {"name": "sphere_points"}}},
    "artifacts": {"globe": GLOBE},
}


def table(shift: float) -> pd.DataFrame:
    return pd.DataFrame({"image": [3, 8], "class": [1, 0], "x": [shift, 0.0], "y": [0.0, 1.0], "z": [0.5, 0.0]})


def test_points_are_those_of_the_first_seed_that_did_not_diverge(make_world: Make) -> None:
    world = make_world(seeds=[0, 1], paper=DOCUMENT)
    world.images = {run: table(place / 8) for place, run in enumerate(world.plan.runs)}
    diverged = world.cells("globe", at(variant="cut3", epoch=50, measure="spread"))[0].run
    assert diverged is not None
    world.status[diverged.name] = "diverged"
    del world.images[diverged.name]
    world.measure("globe")
    found = world.table("globe", "points")
    assert list(found.columns) == list(POINTS)
    for variant, seed in (("default", 0), ("cut3", 1)):
        for epoch in (50, 100):
            cell = at(variant=variant, epoch=epoch, measure="spread")
            run = world.cells("globe", cell)[seed].run
            assert run is not None
            rows = found.loc[cell]
            assert (set(rows["seed"]), set(rows["run"])) == ({seed}, {run.name})
            assert (
                rows[["x", "y", "z"]].to_numpy().tolist() == world.images[run.name][["x", "y", "z"]].to_numpy().tolist()
            )
            assert rows["class"].tolist() == ["1", "0"]


def test_a_probe_without_points_is_a_sentence(make_world: Make) -> None:
    world = make_world(seeds=[0], paper=DOCUMENT)
    world.images = dict.fromkeys(world.plan.runs, table(0).drop(columns="z"))
    world.write()
    with pytest.raises(HypersphereError, match="has no points in space"):
        measure.build(world.plan, "norms", "globe")


def test_where_every_run_diverged_there_are_no_points(make_world: Make) -> None:
    world = make_world(seeds=[0], paper=DOCUMENT)
    world.status = dict.fromkeys(world.plan.runs, "diverged")
    world.measure("globe")
    assert world.table("globe", "points").empty
