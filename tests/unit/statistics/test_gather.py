"""Measurements, controls and means: joined to cells by coordinates. Expected values are worked by hand."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from .world import World, at

Make = Callable[..., World]


def measured(world: World, artifact: str) -> pd.DataFrame:
    world.measure(artifact)
    return world.table(artifact, "measurements")


def test_every_cell_has_the_numbers_of_its_own_coordinates(make_world: Make) -> None:
    """Epochs, temperatures and targets of one run's weights never stand in for each other."""
    world = make_world(seeds=[0, 1])
    said = {
        ("epochs", at(epoch=0)): [10.0, 11.0],
        ("epochs", at(epoch=50)): [20.0, 21.0],
        ("epochs", at(epoch=100)): [30.0, 31.0],
        ("epochs", at(epoch=50, variant="cut3")): [40.0, 41.0],
        ("temperatures", at(objective__temperature=0.1)): [50.0, 51.0],
        ("temperatures", at(objective__temperature=1)): [60.0, 61.0],
        ("transfers", at(target="hundred", measure="transfer_top1")): [70.0, 71.0],
        ("transfers", at(dataset="hundred", target="ten", measure="transfer_top1")): [80.0, 81.0],
    }
    for (artifact, cell), values in said.items():
        world.say(artifact, cell, values)
    world.measure("epochs", "temperatures", "transfers", "table5")
    for (artifact, cell), values in said.items():
        assert world.table(artifact, "measurements").loc[cell, "value"].tolist() == values, cell
    # the last epoch by name, the usual temperature by name, and neither: one run, one number, three artifacts
    same = [("temperatures", at(objective__temperature=0.5)), ("table5", at())]
    assert [world.table(name, "measurements").loc[cell, "value"].tolist() for name, cell in same] == [[30.0, 31.0]] * 2


def test_what_a_row_says_of_its_cell(make_world: Make) -> None:
    world = make_world(level="quick", seeds=[4])
    cell = at(target="hundred", measure="transfer_top1")
    world.say("transfers", cell, [33.5])
    row = measured(world, "transfers").loc[cell].to_dict()
    expected = {
        **{"method": "simclr", "variant": "default", "dataset": "ten", "setting": "target=hundred"},
        **{"measure": "transfer_top1", "measured_on": "digits", "probed_on": "pairs", "epoch": 10, "final": True},
        **{"protocol": "transfer", "protocol_digest": world.plan.protocols["norms"]["linear"].digest},  # its content
        **{"seed": 4, "run": world.run("transfers", cell), "value": 33.5, "n_test": 100, "status": "finished"},
    }
    assert {key: row[key] for key in expected} == expected


def test_training_itself_is_measured_epoch_by_epoch(make_world: Make) -> None:
    world = make_world(seeds=[0])
    run, norms = world.run("training", at(epoch=50, measure="norm")), np.linspace(5, 2, 100)
    world.histories[run] = pd.DataFrame({"epoch": range(1, 101), "loss": 1.5, "norm": norms})
    rows = measured(world, "training")
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
    world.histories[run] = pd.DataFrame({"epoch": [1, 2], "loss": [1.0, np.nan], "norm": [3.0, np.inf]})
    world.measure("epochs", "training", "table5")
    for artifact, epochs in (("epochs", {50, 100}), ("training", {0, 50, 100}), ("table5", {100})):
        rows = world.table(artifact, "measurements")
        lost = rows[(rows["run"] == run) & rows["epoch"].isin(epochs) & (rows["method"] != "control")]
        assert set(lost["epoch"]) == epochs
        assert set(lost["status"]) == {"diverged"}
        assert lost["value"].isna().all()
    before = world.table("epochs", "measurements").loc[at(epoch=0)]
    assert before["status"].tolist() == ["finished", "finished"]  # its first weights are those of any run


def controls(world: World, artifact: str) -> pd.DataFrame:
    world.measure(artifact)
    rows = world.table(artifact, "summary")
    return rows[rows["method"] == "control"]


def test_chance_and_pixels_follow_the_dataset_that_was_probed(make_world: Make) -> None:
    world = make_world(seeds=[0])
    for name, knn, linear in (("digits", 33.0, 34.0), ("pairs", 25.0, 26.0)):
        world.of_pixels(name, "knn", {"knn_top1": knn, "knn_top5": 90.0})
        world.of_pixels(name, "linear", {"linear_top1": linear, "linear_top5": 91.0})
    table = controls(world, "table5")["mean"]
    kind = {"method": "control", "variant": "chance"}
    # digits has 10 classes, pairs 16
    assert table[at(**kind)] == 10.0
    assert table[at(**kind, dataset="hundred")] == 6.25
    assert table[at(method="control", variant="pixels")] == 33.0
    assert table[at(method="control", variant="pixels", dataset="hundred")] == 25.0
    transferred = controls(world, "transfers")["mean"]
    to_hundred = {"method": "control", "target": "hundred", "measure": "transfer_top1"}
    assert transferred[at(**to_hundred, variant="chance")] == 6.25
    assert transferred[at(**to_hundred, variant="pixels")] == 26.0
    assert controls(world, "table5").loc[at(**kind), "n"] == 0  # one number, and no network


def test_untrained_counts_each_seed_once_and_is_of_the_first_row(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    world.say("epochs", at(epoch=0), [10.0, 11.0])
    world.say("epochs", at(epoch=0, variant="cut3"), [98.0, 99.0])  # cut weights are no usual initial ones
    rows = measured(world, "epochs")
    untrained = rows[rows["variant"] == "untrained"]
    assert untrained["value"].tolist() == [10.0, 11.0]
    assert untrained["seed"].tolist() == [0, 1]
    assert untrained["coordinates"].tolist() == [at(method="control", variant="untrained")] * 2


def test_a_value_that_is_none_is_no_divergence(make_world: Make) -> None:
    """As of a bucket of norms with too few images: measured, and without a number."""
    world = make_world(seeds=[0, 1])
    cell = at(split="test", measure="norm")
    world.images = dict.fromkeys(world.plan.runs, pd.DataFrame({"split": ["test", "train"], "image": 0, "norm": 1.0}))
    world.say("violins", cell, [float("nan"), 3.0])
    world.measure("violins")
    rows, summary = world.table("violins", "measurements").loc[cell], world.table("violins", "summary").loc[cell]
    assert (rows["status"].tolist(), rows["value"].isna().tolist()) == (["finished"] * 2, [True, False])
    assert (summary["mean"], summary["n"], summary["n_diverged"]) == (3.0, 1, 0)


NONE = float("nan")


@pytest.mark.parametrize(
    ("values", "n", "mean", "std", "half"),
    [
        ([51.0, 52.0, 53.0], 3, 52.0, 1.0, 2.484138),  # t(0.975, 2) = 4.302652729911275 from tables, over sqrt(3)
        ([51.0, None, 53.0], 2, 52.0, 2**0.5, 12.706205),  # |51 - 53| / sqrt(2); t(0.975, 1) sqrt(2) / sqrt(2)
        ([51.3], 1, 51.3, NONE, NONE),
        ([None], 0, NONE, NONE, NONE),
        ([51.3, 51.3, 51.3], 3, 51.3, 0.0, NONE),
    ],
)
def test_a_diverged_run_is_counted_and_in_no_mean_and_no_interval_is_claimed_without_a_spread(
    make_world: Make, values: list[float | None], n: int, mean: float, std: float, half: float
) -> None:
    world = make_world(seeds=range(len(values)))
    world.say("table5", at(), values)
    world.measure("table5")
    row = world.table("table5", "summary").loc[at()]
    assert (row["n"], row["n_diverged"], row["epoch"]) == (n, values.count(None), 100)
    expected = [mean, std, mean - half, mean + half]
    found = [row[name] for name in ("mean", "std", "low", "high")]
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)
