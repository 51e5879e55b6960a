"""Quantiles and pictures of single images, taken from the files that probes leave."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import pictures
from hypersphere.statistics import measure

from .world import World, at

Make = Callable[..., World]


def test_quantiles_are_those_of_numpy_for_each_split_and_seed(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    rng = np.random.default_rng(0)
    frames = {}
    for run in world.plan.runs:
        norms = rng.lognormal(size=250)
        frames[run] = pd.DataFrame({"split": ["train"] * 150 + ["test"] * 100, "image": 0, "norm": norms})
    world.images = frames
    world.measure("violins")
    cell = at(variant="cut3", split="test", measure="norm")
    found = world.table("violins", "distribution").loc[cell]
    for seed, one in enumerate(world.cells("violins", cell)):
        assert one.run is not None
        own = found[found["seed"] == seed]
        expected = np.quantile(frames[one.run.name]["norm"][150:], own["quantile"])
        assert own["quantile"].tolist() == pytest.approx(np.arange(101) / 100)
        assert own["value"].tolist() == pytest.approx(expected)
    # the run itself diverged: no quantiles, and no error
    run = world.cells("violins", cell)[1].run
    assert run is not None
    world.status[run.name] = "diverged"
    del world.images[run.name]
    world.measure("violins")
    assert set(world.table("violins", "distribution").loc[cell, "seed"]) == {0}
    assert world.table("violins", "summary").loc[cell, "n_diverged"] == 1


def test_quantiles_of_altered_or_absent_images_are_refused(make_world: Make) -> None:
    world = make_world(seeds=[0])
    frame = pd.DataFrame({"split": ["train", "test"], "image": 0, "norm": [1.0, 2.0]})
    world.images = dict.fromkeys(world.plan.runs, frame)
    world.measure("violins")
    table = next(iter(sorted((world.plan.config.results / "evaluations").rglob("*.0100.digits.csv"))))
    table.write_text(table.read_text().replace("1.0", "1.5"))
    with pytest.raises(DamagedError, match=r"\.0100\.digits\.csv: the file's bytes are not those"):
        measure.build(world.plan, "norms", "violins")
    world.images = {}
    world.write()
    with pytest.raises(HypersphereError, match="the protocol norms has no values of single images"):
        measure.build(world.plan, "norms", "violins")


SHOWN = pd.DataFrame(
    [
        ("train", extreme, row, rank, f"{rank}.50")
        for extreme in ("highest", "lowest")
        for row in "ab"
        for rank in (1, 2)
    ],
    columns=["split", "extreme", "row", "column", "caption"],
)


@pytest.fixture
def portraits(make_world: Make) -> World:
    """Eight random pictures of each run."""
    world = make_world(seeds=[0, 1])
    random = np.random.default_rng(0)
    world.pictures = {run: random.integers(0, 256, (8, 5, 4, 3), dtype=np.uint8) for run in world.plan.runs}
    world.portraits = dict.fromkeys(world.plan.runs, SHOWN)
    return world


def drawn(world: World, **coordinates: Any) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """The rows of a cell, and the pixels that they point at."""
    stack = pictures.read(world.plan.artifact_folder("norms", "portraits") / "pictures.png")
    rows = world.table("portraits", "pictures").loc[[at(**{"split": "train", "measure": "norm", **coordinates})]]
    places = rows[["top", "height", "width"]].astype(int).itertuples(index=False)
    return rows, [stack[top : top + height, :width] for top, height, width in places]


def run_of(world: World, seed: int, **coordinates: Any) -> str:
    """The name of a cell's run."""
    run = world.cells("portraits", at(split="train", measure="norm", **coordinates))[seed].run
    assert run is not None
    return run.name


def test_pictures_of_a_cell_are_those_of_its_readings_and_first_seed(portraits: World) -> None:
    portraits.measure("portraits")
    assert len(portraits.table("portraits", "pictures")) == 2 * 2 * 4
    for variant in ("default", "cut3"):
        for extreme, chosen in (("highest", slice(0, 4)), ("lowest", slice(4, 8))):
            rows, found = drawn(portraits, variant=variant, extreme=extreme)
            run = run_of(portraits, 0, variant=variant, extreme=extreme)
            assert np.array_equal(found, portraits.pictures[run][chosen])
            assert (set(rows["seed"]), set(rows["run"])) == ({0}, {run})
            expected = SHOWN[chosen].astype(str)
            for name in ("row", "column", "caption"):
                assert rows[name].tolist() == expected[name].tolist()


def test_a_diverged_run_shows_the_next_seed_and_if_all_diverged_nothing(portraits: World) -> None:
    for diverged, seeds in (({0}, {1}), ({0, 1}, set())):
        portraits.status = {run_of(portraits, seed, variant="cut3", extreme="lowest"): "diverged" for seed in diverged}
        portraits.measure("portraits")
        table = portraits.table("portraits", "pictures")
        assert set(table[table["coordinates"].str.contains("cut3")]["seed"]) == seeds
        assert set(table[table["coordinates"].str.contains("default")]["seed"]) == {0}
    portraits.status = dict.fromkeys(portraits.plan.runs, "diverged")
    portraits.measure("portraits")
    assert portraits.table("portraits", "pictures").empty


def test_altered_or_absent_pictures_are_refused(portraits: World) -> None:
    portraits.measure("portraits")
    image = min((portraits.plan.config.results / "evaluations").rglob("*.0100.digits.png"))
    content = bytearray(image.read_bytes())
    content[60] ^= 1
    image.write_bytes(bytes(content))
    with pytest.raises(DamagedError, match=r"\.0100\.digits\.png: the file's bytes are not those"):
        measure.build(portraits.plan, "norms", "portraits")
    portraits.pictures = {}
    portraits.write()
    with pytest.raises(HypersphereError, match="has no pictures"):
        measure.build(portraits.plan, "norms", "portraits")
