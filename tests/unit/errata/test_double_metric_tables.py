"""Tables 1 to 7 of the double-metric paper against its sentences and against each other, one erratum a test."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from ..printed import frame

LOSSES = ["nt_xent", "dm1", "dm2", "dm3", "dm4"]
DATA = ["cifar10", "cifar100", "tiny_imagenet"]  # the last is called ImageNet-200

TABLE_2, TABLE_4 = (frame("double_metric", f"table{n}", "dataset", "variant") for n in (2, 4))
ERRORS, RELATIVE_ERRORS = (
    frame("double_metric", "table3", "augmentation", "variant", fixed={"measure": measure})
    for measure in ("mce", "relative_mce")
)
TABLE_5 = {  # by temperature; the cells, not the run-together copies before them (erratum D11)
    data: frame("double_metric", name, "objective.temperature", "variant")
    for data, name in (("cifar10", "table5a"), ("cifar100", "table5b"))
}
TABLE_6 = frame("double_metric", "table6", "epoch", "variant")
TABLE_7 = {  # by temperature
    data: frame("double_metric", "table7", "objective.temperature", "variant", fixed={"dataset": data}) for data in DATA
}


def best(row: pd.Series) -> set[str]:
    return {*row.index[row == row.max()]}


def gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Of the DM losses over the baseline."""
    return rows[LOSSES[1:]].sub(rows["nt_xent"], axis=0).round(2)


def test_d4_weights_shrink_nt_xent_by_up_to_a_factor_of_four_and_no_row_does_only_that() -> None:
    """Table 1 is in the paper's configuration."""
    file = Path(__file__).resolve().parents[3] / "config" / "papers" / "double_metric" / "paper.yaml"
    variants = yaml.safe_load(file.read_text(encoding="utf-8"))["variants"]
    weights = [(variants[loss]["objective"]["alpha"], variants[loss]["objective"]["beta"]) for loss in LOSSES[1:]]
    assert [alpha for alpha, _ in weights] == [0.75, 0.5, 0.25, 1.0]
    assert [alpha + beta for alpha, beta in weights] == [1, 1, 1, 2]
    assert all(beta > 0 for _, beta in weights)


def test_d8_tables_2_and_7_print_dm4_twice_and_differently() -> None:
    again = pd.DataFrame({data: TABLE_7[data].loc[0.07] for data in DATA}).T
    differ = TABLE_2.loc[DATA, LOSSES].compare(again[LOSSES])
    assert differ["dm4"].to_dict("index") == {
        "cifar10": {"self": 80.38, "other": 80.83},
        "cifar100": {"self": 58.36, "other": 58.38},
    }
    assert differ.shape == (2, 2)
    assert TABLE_5["cifar10"].loc[0.1, "dm4"] == TABLE_7["cifar10"].loc[0.07, "dm4"]


def test_d9_tables_2_and_5_differ_at_one_setting_by_more_than_any_gain() -> None:
    again = pd.DataFrame({data: rows.loc[0.07] for data, rows in TABLE_5.items()}).T
    differences = (TABLE_2.loc[again.index] - again)[LOSSES].abs().round(2).stack()
    largest_gain = gains(TABLE_2).max(axis=None)
    assert (differences.max(), largest_gain) == (2.91, 0.98)
    assert (differences > largest_gain).sum() == 7
    assert (best(TABLE_2.loc["cifar10"]), best(again.loc["cifar10"])) == ({"dm3"}, {"dm2"})


def test_d10_the_best_temperature_is_not_007() -> None:
    at = pd.DataFrame({data: rows[LOSSES].idxmax() for data, rows in TABLE_5.items()})
    assert at.stack()[at.stack() != 0.1].to_dict() == {("dm1", "cifar100"): 0.07}
    better = {data for data, rows in TABLE_7.items() if rows.loc[0.3, LOSSES[1:]].max() > rows.loc[0.07].max()}
    assert better == {"cifar10"}


def test_d11_two_losses_print_the_same_accuracy_at_temperature_1() -> None:
    alike = [
        (data, t, loss)
        for data, rows in TABLE_5.items()
        for t, loss in rows.stack().index[rows.eq(rows["dm1"], axis=0).stack()]
        if loss != "dm1"
    ]
    assert alike == [("cifar100", 0.05, "dm4"), ("cifar100", 1, "dm2")]


def test_d12_dm_losses_beat_the_baseline_in_7_of_12_cells_of_table_2() -> None:
    assert (gains(TABLE_2) > 0).sum().to_dict() == {"dm1": 2, "dm2": 1, "dm3": 3, "dm4": 1}
    assert [best(TABLE_2.loc[data]) for data in DATA] == [{"dm3"}, {"dm1"}, {"dm3"}]


def test_d13_on_biased_data_some_dm_loss_wins_every_row_but_dm3_loses_two() -> None:
    won, of_dm3 = gains(TABLE_4).max(axis=1).clip(lower=0), gains(TABLE_4)["dm3"]
    assert (won.idxmin(), won.min()) == ("colored_mnist_2", 0.01)
    winners = TABLE_4.apply(best, axis=1)
    assert winners.map(lambda names: "dm3" in names).sum() == 5
    assert [*winners.index[winners.map(len) > 1]] == ["corrupted_cifar10_2"]
    assert of_dm3[of_dm3 < 0].to_dict() == {"colored_mnist_0_5": -2.21, "corrupted_cifar10_1": -0.07}
    assert (gains(TABLE_4) > 0).sum().to_dict() == {"dm1": 3, "dm2": 3, "dm3": 6, "dm4": 6}


def test_d14_the_weights_that_do_not_sum_to_1_are_best_in_three_rows() -> None:
    rows = [name for name, row in TABLE_4.iterrows() if best(row) == {"dm4"}]
    assert rows == ["colored_mnist_0_5", "corrupted_cifar10_0_5", "corrupted_cifar10_1"]


def test_d15_the_worst_loss_of_table_6_is_dm4_and_not_dm1() -> None:
    assert {*TABLE_6.idxmin(axis=1)} == {"dm4"}
    assert gains(TABLE_6)["dm1"].tolist() == [0.21, -0.64, -1.13]
    assert gains(TABLE_6)["dm2"].iloc[-1] == -0.01


def test_d16_corruption_errors_differ_by_less_than_a_point_and_both_ways() -> None:
    relative = RELATIVE_ERRORS.loc["augmix"]
    assert 100 - ERRORS["dm3"]["standard"] == pytest.approx(0.27)
    assert ERRORS["nt_xent"]["augmix"] - ERRORS["dm3"]["augmix"] == pytest.approx(0.80)
    assert all((t.loc["standard", ["dm1", "dm2"]] > 100).all() for t in (ERRORS, RELATIVE_ERRORS))
    assert relative["dm3"] > relative["nt_xent"]
    assert relative.max() - relative.min() == pytest.approx(1.07)
    assert "dm4" not in ERRORS


def test_d25_accuracy_moves_with_temperature_by_points_and_falls_behind_the_baseline() -> None:
    spreads = {data: (rows.max() - rows.min())[LOSSES].round(2).tolist() for data, rows in TABLE_5.items()}
    assert spreads == {"cifar10": [3.43, 4.18, 3.54, 1.85, 3.0], "cifar100": [12.02, 14.52, 14.71, 11.97, 10.12]}
    assert sum((gains(rows) < 0).sum() for rows in TABLE_5.values()).tolist() == [6, 4, 1, 7]


def test_d26_dm3_falls_behind_the_baseline_in_tables_3_4_and_5() -> None:
    """D13 has the rows of Table 4."""
    assert RELATIVE_ERRORS["dm3"]["augmix"] > RELATIVE_ERRORS["nt_xent"]["augmix"]
    assert {data: rows.index[rows["dm3"] < rows["nt_xent"]].tolist() for data, rows in TABLE_5.items()} == {
        "cifar10": [0.1],
        "cifar100": [],
    }
