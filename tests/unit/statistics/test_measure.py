"""What is written for one artifact: which files, columns and bytes; and single images' quantiles, pictures and points.

It waits for nothing of any other artifact.
"""

import itertools
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hypersphere.errors import DamagedError
from hypersphere.provenance import columns, pictures
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import claims, measure

from .world import GLOBE, POINTS, World, at

Make = Callable[..., World]
COLUMNS = {
    name: columns.TABLES[name] for name in ("measurements", "summary", "effects", "runs", "distribution", "points")
}


def written(world: World, artifact: str) -> dict[str, bytes]:
    folder = world.plan.artifact_folder("norms", artifact)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def busy(make_world: Make) -> World:
    world = make_world()
    world.say("table5", at(), [50.0, 51.0, 52.5])
    world.say("table5", at(variant="cut3"), [53.0, None, 55.0])
    return world


def test_each_artifact_has_its_tables_with_their_columns_and_checksums(busy: World) -> None:
    """And no field says nan, inf or None."""
    frame = pd.DataFrame({"split": ["train", "test"], "image": 0, "norm": [1.0, 2.0]})
    busy.images = {run: frame for run in busy.plan.runs if busy.status.get(run) != "diverged"}
    busy.measure("table5", "violins", "training")
    for artifact, names in (("table5", list(COLUMNS)[:4]), ("violins", list(COLUMNS)[:5])):
        assert written(busy, artifact).keys() == {"manifest.json", *(f"{name}.csv" for name in names)}
        for name in names:
            path = check_tidy(busy.plan.config.results, f"statistics/norms/{artifact}/{name}.csv")
            assert list(pd.read_csv(path).columns) == list(COLUMNS[name])
    for artifact in ("table5", "training"):
        for name, content in written(busy, artifact).items():
            found = re.search(r"(^|,)-?(nan|inf|None|<NA>)(,|$)", content.decode(), re.IGNORECASE | re.MULTILINE)
            assert not found, (artifact, name)


@pytest.mark.parametrize("name", [*COLUMNS, "claims"])
def test_columns_are_those_of_the_documentation(name: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / "results.md").read_text()
    section = re.split(r"^## ", text.split(f"## `{name}.csv`")[1], flags=re.MULTILINE)[0]
    listed = re.findall(r"`([a-z0-9_,\s]+, [a-z0-9_,\s]+)`", section)
    documented = [column for part in listed[: 2 if name == "claims" else 1] for column in re.split(r",\s+", part)]
    assert documented == list({**COLUMNS, "claims": claims.COLUMNS}[name])


def test_equal_inputs_give_equal_bytes_and_other_values_other_bytes(busy: World) -> None:
    busy.measure("table5")
    first = written(busy, "table5")
    busy.measure("table5")
    assert written(busy, "table5") == first
    busy.say("table5", at(), [50.0, 51.0, 52.6])  # the control
    busy.measure("table5")
    changed = {name for name, content in written(busy, "table5").items() if content != first[name]}
    assert changed == {"measurements.csv", "summary.csv", "effects.csv", "manifest.json"}


def test_an_artifact_needs_its_own_runs_and_protocols_alone(busy: World) -> None:
    """Whatever else was never trained or measured: the sweep is made, and has the same bytes."""
    busy.write()
    busy.measure("temperatures")
    before = written(busy, "temperatures")
    own = {cell.run.name for cell in busy.plan.artifacts["norms", "temperatures"] if cell.run}
    knn = busy.plan.protocols["norms"]["knn"].digest
    for run in busy.plan.runs:
        if run not in own:
            shutil.rmtree(busy.plan.run_folder(run))
            shutil.rmtree(busy.plan.evaluation(run, knn).parent)
    for path in (busy.plan.config.results / "evaluations").rglob("*.csv"):
        if path.stem != knn or path.parent.name == "pixels-pairs":
            path.unlink()
    measure.build(busy.plan, "norms", "temperatures")
    assert written(busy, "temperatures") == before
    with pytest.raises(DamagedError):  # the control
        measure.build(busy.plan, "norms", "table5")


def test_an_artifact_with_nothing_finished_is_made_all_the_same(make_world: Make) -> None:
    world = make_world()
    world.status = dict.fromkeys(world.plan.runs, "diverged")
    world.measure("table5", "violins")
    for artifact in ("table5", "violins"):
        rows = world.table(artifact, "summary").query("method != 'control'")
        assert (set(rows["n"]), set(rows["n_diverged"])) == ({0}, {3})


def test_quantiles_are_those_of_numpy_for_each_split_and_seed(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    rng = np.random.default_rng(0)
    split = ["train"] * 150 + ["test"] * 100
    world.images = {
        run: pd.DataFrame({"split": split, "image": 0, "norm": rng.lognormal(size=250)}) for run in world.plan.runs
    }
    world.measure("violins")
    cell = at(variant="cut3", split="test", measure="norm")
    found = world.table("violins", "distribution").loc[cell]
    for seed in (0, 1):
        own = found[found["seed"] == seed]
        expected = np.quantile(world.images[world.run("violins", cell, seed)]["norm"][150:], own["quantile"])
        assert own["quantile"].tolist() == pytest.approx(np.arange(101) / 100)
        assert own["value"].tolist() == pytest.approx(expected)
    # the run itself diverged: no quantiles, and no error
    diverged = world.run("violins", cell, 1)
    world.status[diverged] = "diverged"
    del world.images[diverged]
    world.measure("violins")
    assert set(world.table("violins", "distribution").loc[cell, "seed"]) == {0}
    assert world.table("violins", "summary").loc[cell, "n_diverged"] == 1


PLACES = itertools.product(("highest", "lowest"), "ab", (1, 2))
SHOWN = pd.DataFrame(
    [("train", extreme, row, rank, f"{rank}.50") for extreme, row, rank in PLACES],
    columns=["split", "extreme", "row", "column", "caption"],
)


def shown_in(variant: str, extreme: str) -> str:
    return at(split="train", measure="norm", variant=variant, extreme=extreme)


@pytest.fixture
def portraits(make_world: Make) -> World:
    world = make_world(seeds=[0, 1])
    random = np.random.default_rng(0)
    world.pictures = {run: random.integers(0, 256, (8, 5, 4, 3), dtype=np.uint8) for run in world.plan.runs}
    world.portraits = dict.fromkeys(world.plan.runs, SHOWN)
    return world


def test_pictures_of_a_cell_are_those_of_its_readings_and_first_seed(portraits: World) -> None:
    portraits.measure("portraits")
    table = portraits.table("portraits", "pictures")
    stack = pictures.read(portraits.plan.artifact_folder("norms", "portraits") / "pictures.png")
    assert len(table) == 2 * 2 * 4
    for variant in ("default", "cut3"):
        for extreme, chosen in (("highest", slice(0, 4)), ("lowest", slice(4, 8))):
            rows, run = table.loc[shown_in(variant, extreme)], portraits.run("portraits", shown_in(variant, extreme))
            places = rows[["top", "height", "width"]].astype(int).itertuples(index=False)
            found = [stack[top : top + height, :width] for top, height, width in places]
            assert np.array_equal(found, portraits.pictures[run][chosen])
            assert (set(rows["seed"]), set(rows["run"])) == ({0}, {run})
            for name in ("row", "column", "caption"):
                assert rows[name].tolist() == SHOWN[chosen].astype(str)[name].tolist()


def test_a_diverged_run_shows_the_next_seed_and_if_all_diverged_nothing(portraits: World) -> None:
    first, second = (portraits.run("portraits", shown_in("cut3", "lowest"), seed) for seed in (0, 1))
    for diverged, shown in (
        ([first], {("default", 0), ("cut3", 1)}),
        ([first, second], {("default", 0)}),
        (portraits.plan.runs, set()),
    ):
        portraits.status = dict.fromkeys(diverged, "diverged")
        portraits.measure("portraits")
        table = portraits.table("portraits", "pictures")
        variants = table["coordinates"].str.extract("variant=([a-z0-9]+)", expand=False)
        assert {*zip(variants, table["seed"], strict=True)} == shown


def test_points_are_those_of_the_first_seed_that_did_not_diverge(make_world: Make) -> None:
    world = make_world(seeds=[0, 1], paper={"artifacts": {"globe": GLOBE}})
    world.images = {run: POINTS.assign(x=[place / 8, 0.0]) for place, run in enumerate(world.plan.runs)}
    diverged = world.run("globe", at(variant="cut3", epoch=50, measure="spread"))
    world.status[diverged] = "diverged"
    del world.images[diverged]
    world.measure("globe")
    found = world.table("globe", "points")
    for variant, seed in (("default", 0), ("cut3", 1)):
        for epoch in (50, 100):
            cell = at(variant=variant, epoch=epoch, measure="spread")
            rows, run = found.loc[cell], world.run("globe", cell, seed)
            assert (set(rows["seed"]), set(rows["run"])) == ({seed}, {run})
            for axis in "xyz":
                assert rows[axis].tolist() == world.images[run][axis].tolist()
            assert rows["class"].tolist() == ["1", "0"]
    world.status = dict.fromkeys(world.plan.runs, "diverged")
    world.measure("globe")
    assert world.table("globe", "points").empty
