"""What is written for one artifact: measurements, controls and means, worked by hand; files and bytes."""

import itertools
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hypersphere import files
from hypersphere.errors import DamagedError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import columns, pictures
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import gather, judge, measure

from ...fixtures import Refused
from ...harm import flip
from .world import GLOBE, PAPER, POINTS, Make, World, at, claim

COLUMNS = {
    name: columns.TABLES[name]
    for name in ("measurements", "summary", "effects", "runs", "distribution", "points")
}
IMAGES = POINTS.assign(split=["train", "test"], norm=[1.0, 2.0])


def test_what_a_row_says_of_its_cell(make_world: Make) -> None:
    world = make_world(level="quick", seeds=[4])
    cell = at(target="hundred", measure="transfer_top1")
    world.say("transfers", cell, [33.5])
    row = world.tidy("transfers").loc[cell].to_dict()
    expected = {
        **{"method": "simclr", "variant": "default", "dataset": "ten", "setting": "target=hundred"},
        **{
            "measure": "transfer_top1",
            "measured_on": "digits",
            "probed_on": "pairs",
            "epoch": 10,
            "final": True,
        },
        # its content
        **{
            "protocol": "transfer",
            "protocol_digest": world.plan.protocols["norms"]["linear"].digest,
        },
        **{
            "seed": 4,
            "run": world.run("transfers", cell),
            "value": 33.5,
            "n_test": 100,
            "status": "finished",
        },
    }
    assert {key: row[key] for key in expected} == expected


def test_training_itself_is_measured_epoch_by_epoch(make_world: Make) -> None:
    world = make_world(seeds=[0])
    run, norms = world.run("training", at(epoch=50, measure="norm")), np.linspace(5, 2, 100)
    world.histories[run] = pd.DataFrame({"epoch": range(1, 101), "loss": 1.5, "norm": norms})
    rows = world.tidy("training")
    values = rows[rows["variant"] == "default"].set_index("epoch")["value"]
    assert np.isnan(values[0])  # nothing is written down before the first epoch
    assert values[50] == pytest.approx(5 - 3 * 49 / 99)
    assert values[100] == 2
    assert rows["protocol"].unique().tolist() == ["history"]
    assert rows["n_test"].isna().all()
    assert world.table("training", "summary")["n"].tolist() == [0, 1, 1, 0, 1, 1]


def test_a_diverged_run_has_no_values_at_all(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    world.say("epochs", at(epoch=100), [50.0, None])
    run = world.run("epochs", at(epoch=100), 1)
    world.histories[run] = pd.DataFrame(
        {"epoch": [1, 2], "loss": [1.0, np.nan], "norm": [3.0, np.inf]}
    )
    world.measure("epochs", "training", "table5")
    for artifact, epochs in (("epochs", {50, 100}), ("training", {0, 50, 100}), ("table5", {100})):
        rows = world.table(artifact, "measurements")
        lost = rows[
            (rows["run"] == run) & rows["epoch"].isin(epochs) & (rows["method"] != "control")
        ]
        assert set(lost["epoch"]) == epochs
        assert set(lost["status"]) == {"diverged"}
        assert lost["value"].isna().all()
    before = world.table("epochs", "measurements").loc[at(epoch=0)]
    # its first weights are those of any run
    assert before["status"].tolist() == ["finished", "finished"]


def test_chance_and_pixels_follow_the_dataset_that_was_probed(make_world: Make) -> None:
    world = make_world(seeds=[0])
    for name, knn, linear in (("digits", 33.0, 34.0), ("pairs", 25.0, 26.0)):
        world.of_pixels(name, "knn", {"knn_top1": knn, "knn_top5": 90.0})
        world.of_pixels(name, "linear", {"linear_top1": linear, "linear_top5": 91.0})
    summary = pd.concat([world.tidy("table5", "summary"), world.tidy("transfers", "summary")])
    places = [{}, {"dataset": "hundred"}, {"target": "hundred", "measure": "transfer_top1"}]
    # digits has 10 classes, pairs 16
    for variant, expected in (("chance", [10.0, 6.25, 6.25]), ("pixels", [33.0, 25.0, 26.0])):
        rows = summary.loc[[at(method="control", variant=variant, **place) for place in places]]
        assert rows["mean"].tolist() == expected
        assert rows["n"].tolist() == [0, 0, 0]  # one number, and no network


def test_where_pixels_have_no_value_chance_has_one_all_the_same(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.of_pixels("digits", "knn", {"knn_top1": "undefined", "knn_top5": 90.0})
    rows = world.tidy("table5")
    found = {
        variant: rows.loc[at(method="control", variant=variant)] for variant in ("pixels", "chance")
    }
    assert (found["pixels"]["status"], found["chance"]["status"]) == ("undefined", "finished")
    assert (np.isnan(found["pixels"]["value"]), found["chance"]["value"]) == (True, 10.0)


def test_untrained_counts_each_seed_once_and_is_of_the_first_row(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    world.say("epochs", at(epoch=0), [10.0, 11.0])
    # cut weights are no usual initial ones
    world.say("epochs", at(epoch=0, variant="cut3"), [98.0, 99.0])
    rows = world.tidy("epochs")
    untrained = rows.loc[rows["variant"] == "untrained", ["value", "seed", "coordinates"]]
    cell = at(method="control", variant="untrained")
    assert untrained.to_numpy().tolist() == [[10.0, 0, cell], [11.0, 1, cell]]


def test_a_value_that_is_none_is_no_divergence(make_world: Make) -> None:
    """As of a bucket of norms with too few images: measured, and without a number."""
    world = make_world(seeds=[0, 1])
    cell = at(split="test", measure="norm")
    world.images = dict.fromkeys(world.plan.runs, IMAGES)
    world.say("violins", cell, [float("nan"), 3.0])
    rows, summary = world.tidy("violins").loc[cell], world.table("violins", "summary").loc[cell]
    assert (rows["status"].tolist(), rows["value"].isna().tolist()) == (
        ["finished"] * 2,
        [True, False],
    )
    assert (summary["mean"], summary["n"], summary["n_diverged"]) == (3.0, 1, 0)


@pytest.mark.parametrize(
    ("values", "n", "mean", "std", "half"),
    [
        # t(0.975, 2) = 4.302652729911275 from tables, over sqrt(3)
        ([51.0, 52.0, 53.0], 3, 52.0, 1.0, 2.484138),
        # |51 - 53| / sqrt(2); t(0.975, 1) sqrt(2) / sqrt(2)
        ([51.0, None, 53.0], 2, 52.0, 2**0.5, 12.706205),
        ([51.0, "undefined", None, 53.0], 2, 52.0, 2**0.5, 12.706205),
        ([51.3], 1, 51.3, np.nan, np.nan),
        ([None], 0, np.nan, np.nan, np.nan),
        (["undefined"], 0, np.nan, np.nan, np.nan),
        ([51.3, 51.3, 51.3], 3, 51.3, 0.0, np.nan),
    ],
)
def test_a_run_without_a_value_is_counted_and_in_no_mean_and_no_interval_is_claimed_without_a_spread(
    make_world: Make, values: list[float | str | None], n: int, mean: float, std: float, half: float
) -> None:
    """Those that diverged, and finished ones of which the measure is undefined, apart."""
    world = make_world(seeds=range(len(values)))
    world.say("table5", at(), values)
    row = world.tidy("table5", "summary").loc[at()]
    counts = values.count(None), values.count("undefined")
    assert (row["n"], row["n_diverged"], row["n_undefined"], row["epoch"]) == (n, *counts, 100)
    expected = [mean, std, mean - half, mean + half]
    found = [row[name] for name in ("mean", "std", "low", "high")]
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


def written(world: World, artifact: str) -> dict[str, bytes]:
    folder = world.plan.config.artifact_folder("norms", artifact)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def busy(make_world: Make) -> World:
    world = make_world()
    world.say("table5", at(), [50.0, 51.0, 52.5])
    world.say("table5", at(variant="cut3"), [53.0, None, 55.0])
    return world


def test_each_artifact_has_its_tables_with_their_columns_and_checksums(busy: World) -> None:
    """And no field says nan, inf or None."""
    busy.images = {run: IMAGES for run in busy.plan.runs if busy.status.get(run) != "diverged"}
    busy.measure("table5", "violins", "training")
    for artifact, tables in (("table5", 4), ("violins", 5), ("training", 4)):
        names = list(COLUMNS)[:tables]
        assert written(busy, artifact).keys() == {
            "manifest.json",
            *(f"{name}.csv" for name in names),
        }
        for name in names:
            path = check_tidy(busy.plan.config.results, f"statistics/norms/{artifact}/{name}.csv")
            assert list(pd.read_csv(path).columns) == list(COLUMNS[name])
            found = re.search(
                r"(^|,)-?(nan|inf|None|<NA>)(,|$)", path.read_text(), re.IGNORECASE | re.MULTILINE
            )
            assert not found, (artifact, name)


@pytest.mark.parametrize("name", [*COLUMNS, "claims"])
def test_columns_are_those_of_the_documentation(name: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / "results.md").read_text()
    section = re.split(r"^## ", text.split(f"## `{name}.csv`")[1], flags=re.MULTILINE)[0]
    listed = re.findall(r"`([a-z0-9_,\s]+, [a-z0-9_,\s]+)`", section)
    documented = [
        column
        for part in listed[: 2 if name == "claims" else 1]
        for column in re.split(r",\s+", part)
    ]
    assert documented == list({**COLUMNS, "claims": judge.COLUMNS}[name])


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
            shutil.rmtree(busy.plan.evaluation_file(run, knn).parent)
    for path in (busy.plan.config.results / "evaluations").rglob("*.csv"):
        if path.stem != knn or path.parent.name == "pixels-pairs":
            path.unlink()
    measure.build(busy.plan, "norms", "temperatures")
    assert written(busy, "temperatures") == before
    with pytest.raises(DamagedError):  # the control
        measure.build(busy.plan, "norms", "table5")


def test_quantiles_are_those_of_numpy_for_each_split_and_seed(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    rng = np.random.default_rng(0)
    split = ["train"] * 150 + ["test"] * 100
    world.images = {
        run: pd.DataFrame({"split": split, "image": 0, "norm": rng.lognormal(size=250)})
        for run in world.plan.runs
    }
    cell = at(variant="cut3", split="test", measure="norm")
    found = world.tidy("violins", "distribution").loc[cell]
    for seed in (0, 1):
        own = found[found["seed"] == seed]
        expected = np.quantile(
            world.images[world.run("violins", cell, seed)]["norm"][150:], own["quantile"]
        )
        assert own["quantile"].tolist() == pytest.approx(np.arange(101) / 100)
        assert own["value"].tolist() == pytest.approx(expected)
    # the run itself diverged: no quantiles, and no error
    diverged = world.run("violins", cell, 1)
    world.status[diverged] = "diverged"
    del world.images[diverged]
    assert set(world.tidy("violins", "distribution").loc[cell, "seed"]) == {0}
    assert world.table("violins", "summary").loc[cell, "n_diverged"] == 1
    # nothing finished: the artifacts are made all the same
    world.status, world.images = dict.fromkeys(world.plan.runs, "diverged"), {}
    world.measure("table5", "violins")
    assert world.table("violins", "distribution").empty
    for artifact in ("table5", "violins"):
        rows = world.table(artifact, "summary").query("method != 'control'")
        assert (set(rows["n"]), set(rows["n_diverged"])) == ({0}, {2})


SHOWN = pd.DataFrame(
    [
        ("train", extreme, row, rank, f"{rank}.50")
        for extreme, row, rank in itertools.product(("highest", "lowest"), "ab", (1, 2))
    ],
    columns=["split", "extreme", "row", "column", "caption"],
)


def shown_in(variant: str, extreme: str) -> str:
    return at(split="train", measure="norm", variant=variant, extreme=extreme)


def test_pictures_of_a_cell_are_those_of_its_readings_and_of_the_first_seed_that_did_not_diverge(
    make_world: Make,
) -> None:
    world, random = make_world(seeds=[0, 1]), np.random.default_rng(0)
    world.pictures = {
        run: random.integers(0, 256, (8, 5, 4, 3), dtype=np.uint8) for run in world.plan.runs
    }
    world.portraits = dict.fromkeys(world.plan.runs, SHOWN)
    table = world.tidy("portraits", "pictures")
    stack = pictures.read(world.plan.config.artifact_folder("norms", "portraits") / "pictures.png")
    assert len(table) == 2 * 2 * 4
    for variant in ("default", "cut3"):
        for extreme, chosen in (("highest", slice(0, 4)), ("lowest", slice(4, 8))):
            rows, run = (
                table.loc[shown_in(variant, extreme)],
                world.run("portraits", shown_in(variant, extreme)),
            )
            places = rows[["top", "height", "width"]].astype(int).itertuples(index=False)
            found = [stack[top : top + height, :width] for top, height, width in places]
            assert np.array_equal(found, world.pictures[run][chosen])
            assert (set(rows["seed"]), set(rows["run"])) == ({0}, {run})
            for name in ("row", "column", "caption"):
                assert rows[name].tolist() == SHOWN[chosen].astype(str)[name].tolist()
    first, second = (world.run("portraits", shown_in("cut3", "lowest"), seed) for seed in (0, 1))
    for diverged, shown in (
        ([first], {("default", 0), ("cut3", 1)}),
        ([first, second], {("default", 0)}),
        (world.plan.runs, set()),
    ):
        world.status = dict.fromkeys(diverged, "diverged")
        table = world.tidy("portraits", "pictures")
        variants = table["coordinates"].str.extract("variant=([a-z0-9]+)", expand=False)
        assert {*zip(variants, table["seed"], strict=True)} == shown


def test_points_are_those_of_the_first_seed_that_did_not_diverge(make_world: Make) -> None:
    world = make_world(seeds=[0, 1], paper={"artifacts": {"globe": GLOBE}})
    world.images = {
        run: POINTS.assign(x=[place / 8, 0.0]) for place, run in enumerate(world.plan.runs)
    }
    world.status[world.run("globe", at(variant="cut3", epoch=50, measure="spread"))] = "diverged"
    table = world.tidy("globe", "points")
    for variant, seed in (("default", 0), ("cut3", 1)):
        cell = at(variant=variant, epoch=50, measure="spread")
        rows, run = table.loc[cell], world.run("globe", cell, seed)
        assert rows[["seed", "run"]].drop_duplicates().to_numpy().tolist() == [[seed, run]]
        assert rows[[*"xyz"]].to_numpy().tolist() == world.images[run][[*"xyz"]].to_numpy().tolist()
        assert rows["class"].tolist() == ["1", "0"]
    world.status = dict.fromkeys(world.plan.runs, "diverged")
    assert world.tidy("globe", "points").empty


# What runs and probes leave, altered or not there: one sentence each, and nothing is written.


def test_a_damaged_table_is_refused_and_not_taken_for_one_that_is_not_made(
    make_world: Make, refused: Refused
) -> None:
    world = make_world(seeds=[0])
    world.measure("table5")
    world.judged(claim("a"))
    flip(world.plan.config.artifact_folder("norms", "table5") / "claims.csv")
    with refused("results/paper/statistics/norms/table5/claims.csv"):
        judge.build(world.plan)


def test_runs_say_what_they_were_made_by_or_are_refused(make_world: Make, refused: Refused) -> None:
    world = make_world(seeds=[0])
    world.write()
    name, other = sorted(world.plan.runs)[:2]
    made = [
        name,
        "finished",
        100,
        "a processor",
        1,
        "2.13.0",
        "c0de",
        "da7a",
        "cpu",
        "float32",
        "",
        "",
        "",
        1,
    ]
    assert gather.runs(world.plan, [name, name]).to_numpy().tolist() == [made]
    path = world.plan.run_folder(name) / MANIFEST
    files.write_json(path, files.read_json(path) | {"status": "diverged"})
    with refused(path):
        gather.runs(world.plan, [name])
    path.unlink()
    # what has no manifest yet has no row
    assert gather.runs(world.plan, [name, other])["run"].tolist() == [other]


def seal(path: Path) -> None:
    """List a file as it is now, or no such file, as if it was made so."""
    manifest = path.parent / (
        MANIFEST if path.name == "history.csv" else f"{path.name.partition('.')[0]}.json"
    )
    content = files.read_sealed(manifest)
    del content["files"][path.name]
    if path.exists():
        content["files"][path.name] = files.sha256(path)
    files.write_sealed(manifest, content)


def edit(path: Path, this: str, that: str) -> None:
    """Change a file's text, and seal it as if it was made so."""
    path.write_text(re.sub(this, that, path.read_text()))
    seal(path)


def lose(path: Path) -> None:
    """Leave a file out, as if it was never made."""
    path.unlink()
    seal(path)


HARMED: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "answers deleted": ("table5", "answers", Path.unlink),
    "answers flipped": ("table5", "answers", flip),
    "answers without a column": ("table5", "answers", partial(edit, this="target", that="aim")),
    "answers without an epoch": ("epochs", "answers", partial(edit, this=".*,50,.*\\n", that="")),
    "pixels without a measure": (
        "epochs",
        "pixels",
        partial(edit, this=".*knn_top1.*\\n", that=""),
    ),
    "history flipped": ("training", "history", flip),
    "history without a column": ("training", "history", partial(edit, this="norm", that="normal")),
    "images flipped": ("violins", "images", flip),
    "images lost": ("violins", "images", lose),
    "pictures flipped": ("portraits", "pictures", flip),
    "pictures lost": ("portraits", "pictures", lose),
    "points without a coordinate": ("globe", "images", partial(edit, this=",z", that=",w")),
}
"""An artifact, which of its files is harmed, and how."""


@pytest.mark.parametrize("harmed", HARMED)
def test_damage_is_refused_and_nothing_is_written(
    make_world: Make, refused: Refused, harmed: str
) -> None:
    artifact, what, harm = HARMED[harmed]
    world = make_world(seeds=[0], paper={"artifacts": PAPER["artifacts"] | {"globe": GLOBE}})
    world.images, world.portraits = (
        dict.fromkeys(world.plan.runs, table) for table in (IMAGES, SHOWN)
    )
    world.pictures = dict.fromkeys(world.plan.runs, np.zeros((8, 5, 4, 3), dtype=np.uint8))
    world.write(artifact)
    cell = next(cell for cell in world.plan.artifacts["norms", artifact] if cell.run)
    if what == "history":
        path = world.plan.run_folder(cell.run.name) / "history.csv"
    else:
        answers = world.plan.evaluation_file(
            "pixels-digits" if what == "pixels" else cell.run.name, cell.how.digest
        )
        of_images = {"images": ".csv", "pictures": ".png"}
        path = (
            answers.with_name(f"{answers.stem}.0100.digits{of_images[what]}")
            if what in of_images
            else answers
        )
    harm(path)
    table = path.with_suffix(".csv")
    with refused(table if harmed == "pictures lost" else path):
        measure.build(world.plan, "norms", artifact)
    assert not world.plan.config.artifact_folder("norms", artifact).exists()
