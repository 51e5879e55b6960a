"""Tidy tables: joins, controls, diverged runs and means. Expected values are worked by hand from the few rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere import files
from hypersphere.declared.plan import MANIFEST, Cell, Plan
from hypersphere.errors import HypersphereError
from hypersphere.statistics import gather

World = Any  # of conftest.py
Make = Callable[..., World]


def measured(world: World) -> pd.DataFrame:
    histories = gather.history(world.plan)
    return gather.measurements(world.plan, gather.evaluations(world.files), histories)


def test_a_run_that_serves_two_cells_has_a_row_for_each(make_world: Make) -> None:
    world = make_world(seeds=[0])
    shared = world.plan.cells[0]
    twin = Cell("other", "simclr", "default", "ten", shared.run)
    plan = Plan(world.plan.config, (*world.plan.cells, twin), ())
    world.finals("simclr.default", [50.0])
    rows = gather.measurements(plan, gather.evaluations(world.files), gather.history(plan))
    assert list(rows["paper"]) == ["norms", "other"]
    assert list(rows["value"]) == [50.0, 50.0]
    assert list(rows["run"]) == [shared.run.name] * 2


def test_a_run_outside_the_plan_is_left_out(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.evaluate("old", [("stranger", 10, True, "knn_top1", "digits", 50.0, 100, "finished")])
    assert measured(world).empty


def test_norms_of_the_history_are_measurements_too(make_world: Make) -> None:
    world = make_world(seeds=[0])
    run = world.run_name("simclr.cut3", "digits", 0)
    world.history(run, [4.0, 2.5])
    rows = measured(world)
    assert list(rows["metric"]) == ["norm", "norm"]
    assert list(rows["value"]) == [4.0, 2.5]
    assert list(rows["final"]) == [False, True]
    assert list(rows["probed_on"]) == ["digits", "digits"]
    assert rows["n_test"].isna().all()


def test_a_diverged_run_has_no_values_at_all(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    world.finals("simclr.default", [50.0, None])
    world.history(world.run_name("simclr.default", "digits", 0), [3.0, 2.0])
    world.history(world.run_name("simclr.default", "digits", 1), [3.0, np.inf])
    rows = measured(world)
    assert rows.loc[rows["seed"] == 0, "value"].tolist() == [50.0, 3.0, 2.0]
    lost = rows[rows["seed"] == 1]
    assert lost["value"].isna().all()
    assert set(lost["status"]) == {"diverged"}


def controls(world: World) -> pd.DataFrame:
    rows = measured(world)
    return rows[rows["method"] == "control"]


def test_chance_and_pixels_follow_the_dataset_that_was_probed(make_world: Make) -> None:
    world = make_world(seeds=[0])
    run = world.run_name("simclr.default", "digits", 0)
    world.evaluate(
        "a",
        [
            (run, 10, True, "knn_top1", "digits", 60.0, 100, "finished"),
            (run, 10, True, "transfer_top1", "pairs", 40.0, 80, "finished"),
        ],
    )
    for name, classes, knn, transfer in (("digits", 10, 33.0, 34.0), ("pairs", 4, 25.0, 26.0)):
        world.evaluate(
            f"pixels-{name}",
            [
                ("pixels", 0, True, "classes", name, classes, 100, "finished"),
                ("pixels", 0, True, "knn_top1", name, knn, 100, "finished"),
                ("pixels", 0, True, "transfer_top1", name, transfer, 80, "finished"),
            ],
        )
    table = controls(world).set_index(["variant", "metric"])
    assert set(table["dataset"]) == {"ten"}
    assert set(table["measured_on"]) == {"digits"}
    # 100/10 on the ten classes of digits; transfer is probed on pairs, which has 4 classes here: 100/4
    assert table.loc[("chance", "knn_top1"), "value"] == 10.0
    assert table.loc[("chance", "transfer_top1"), "value"] == 25.0
    assert table.loc[("pixels", "knn_top1"), "value"] == 33.0
    assert table.loc[("pixels", "transfer_top1"), "value"] == 26.0
    assert len(table) == 4
    assert "classes" not in set(measured(world)["metric"])


def test_untrained_counts_each_seed_once_and_prefers_the_first_method(make_world: Make) -> None:
    world = make_world(seeds=[0, 1])
    rows = []
    for row, value in (("simsiam.default", 20.0), ("simclr.default", 10.0), ("simclr.cut3", 99.0)):
        for seed in (0, 1):
            run = world.run_name(row, "digits", seed)
            rows.append((run, 0, False, "knn_top1", "digits", value + seed, 100, "finished"))
            rows.append((run, 10, True, "knn_top1", "digits", 70.0, 100, "finished"))
    world.evaluate("a", rows)
    table = controls(world)
    assert set(table["variant"]) == {"untrained"}
    # simclr comes first among the paper's rows, though not in the file
    assert table["value"].tolist() == [10.0, 11.0]
    assert table["seed"].tolist() == [0, 1]
    assert table["final"].all()


def test_untrained_falls_back_to_another_method_where_the_first_has_none(make_world: Make) -> None:
    world = make_world(seeds=[0])
    rows = [("simclr.cut3", 99.0), ("simsiam.default", 20.0)]  # cut3 is another initialisation
    names = {row: world.run_name(row, "digits", 0) for row, _ in rows}
    world.evaluate("a", [(names[row], 0, False, "knn_top1", "digits", x, 100, "finished") for row, x in rows])
    assert controls(world)["value"].tolist() == [20.0]


def test_two_answers_from_one_encoder_are_refused_and_one_twice_is_not(make_world: Make) -> None:
    world = make_world(seeds=[0])
    row = (world.run_name("simclr.default", "digits", 0), 10, True, "knn_top1", "digits", 50.0, 100, "finished")
    world.evaluate("a", [row])
    world.evaluate("b", [row])
    assert len(measured(world)) == 1
    world.evaluate("c", [(*row[:5], 51.0, *row[6:])])
    with pytest.raises(HypersphereError, match="given twice"):
        measured(world)


def test_a_missing_column_and_a_missing_file_are_named(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.finals("simclr.default", [50.0])
    text = world.files[0].read_text()
    world.files[0].write_text(text.replace("probed_on", "probed"))
    with pytest.raises(HypersphereError, match=r"simclr.default-digits.csv: column probed_on is missing"):
        gather.evaluations(world.files)
    world.files[0].unlink()
    with pytest.raises(HypersphereError, match="the file is missing"):
        gather.evaluations(world.files)


def one_summary(world: World) -> dict[str, object]:
    table = gather.summary(measured(world), 0.95)
    assert len(table) == 1
    return dict(table.iloc[0])


def test_summary_of_three_seeds(make_world: Make) -> None:
    world = make_world(seeds=[0, 1, 2])
    world.finals("simclr.default", [51.0, 52.0, 53.0])
    row = one_summary(world)
    # mean 52, std 1; t(0.975, 2) = 4.302652729911275 from tables, over the square root of 3: 2.484138
    assert (row["mean"], row["std"], row["n"], row["n_diverged"], row["n_test"]) == (52.0, 1.0, 3, 0, 100)
    assert row["low"] == pytest.approx(52 - 2.484138, abs=1e-6)
    assert row["high"] == pytest.approx(52 + 2.484138, abs=1e-6)


def test_a_diverged_run_leaves_the_mean_and_is_counted_in_its_row(make_world: Make) -> None:
    world = make_world(seeds=[0, 1, 2])
    world.finals("simclr.default", [51.0, None, 53.0])  # it ended at epoch 3, the others at 10
    row = one_summary(world)
    assert (row["mean"], row["n"], row["n_diverged"], row["epoch"]) == (52.0, 2, 1, 10)
    assert row["std"] == pytest.approx(2**0.5)  # |51 - 53| / sqrt(2)


@pytest.mark.parametrize("values", [[51.3], [None], [51.3, 51.3, 51.3]])
def test_summary_claims_no_interval_that_it_cannot_have(make_world: Make, values: list[float | None]) -> None:
    world = make_world(seeds=range(len(values)))
    world.finals("simclr.default", values)
    row = one_summary(world)
    finished = [value for value in values if value is not None]
    assert row["n"] == len(finished)
    assert np.isnan(row["low"])  # type: ignore[call-overload]
    assert np.isnan(row["high"])  # type: ignore[call-overload]
    assert row["std"] == 0.0 if len(finished) > 1 else np.isnan(row["std"])  # type: ignore[call-overload]


def test_controls_without_a_network_count_no_pretraining(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.finals("simclr.default", [60.0])
    world.evaluate("pixels-digits", [("pixels", 0, True, "knn_top1", "digits", 33.0, 100, "finished")])
    table = gather.summary(measured(world), 0.95).set_index("variant")
    assert (table.loc["pixels", "mean"], table.loc["pixels", "n"]) == (33.0, 0)


def test_runs_say_what_they_were_made_by(make_world: Make) -> None:
    world = make_world(seeds=[0])
    name = world.run_name("simclr.default", "digits", 0)
    manifest = {
        "name": name,
        "run": {},
        "files": {},
        "status": "finished",
        "epochs": 30,
        "code": "c0de",
        "data": "da7a",
        "device": {"type": "cpu", "name": "a processor"},
        "numerics": {"threads": 1},
        "environment": {"packages": {"torch": "2.13.0"}},
    }
    path = world.plan.run_folder(name) / MANIFEST
    files.write_sealed(path, manifest)
    table = gather.runs(world.plan)
    assert table.iloc[0].tolist() == [name, "finished", 30, "a processor", 1, "2.13.0", "c0de", "da7a"]
    assert len(table) == 1  # the other runs have no manifest
    files.write_json(path, manifest | {"status": "diverged", "seal": files.read_json(path)["seal"]})
    with pytest.raises(HypersphereError, match=r"manifest\.json: was altered"):
        gather.runs(world.plan)
