"""Tables 1 to 7 of the double-metric paper against its sentences and against each other, one erratum a test."""

from pathlib import Path

import pandas as pd
import yaml

from tests.unit.printed import table

LOSSES = ["nt_xent", "dm1", "dm2", "dm3", "dm4"]
DATA = ["cifar10", "cifar100", "tiny_imagenet"]  # the last is called ImageNet-200

TABLE_2 = table("double_metric", "table2", "dataset", "variant")
TABLE_5 = {  # by temperature; the cells, not the run-together copies before them (erratum D11)
    data: table("double_metric", name, "objective.temperature", "variant")
    for data, name in (("cifar10", "table5a"), ("cifar100", "table5b"))
}
TABLE_7 = {  # by temperature
    data: table(
        "double_metric", "table7", "objective.temperature", "variant", fixed={"dataset": data}
    )
    for data in DATA
}


def gains(rows: pd.DataFrame) -> pd.DataFrame:
    """The gains of the DM losses over the baseline."""
    return rows[LOSSES[1:]].sub(rows["nt_xent"], axis=0).round(2)


def test_d4_weights_shrink_nt_xent_by_up_to_a_factor_of_four_and_no_row_does_only_that() -> None:
    """Table 1 is in the paper's configuration."""
    file = Path(__file__).resolve().parents[3] / "papers" / "double_metric" / "paper.yaml"
    variants = yaml.safe_load(file.read_text(encoding="utf-8"))["variants"]
    weights = [
        (variants[loss]["objective"]["alpha"], variants[loss]["objective"]["beta"])
        for loss in LOSSES[1:]
    ]
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
    assert (TABLE_2.loc["cifar10"].idxmax(), again.loc["cifar10"].idxmax()) == ("dm3", "dm2")


def test_d11_two_losses_print_the_same_accuracy_at_temperature_1() -> None:
    alike = [
        (data, t, loss)
        for data, rows in TABLE_5.items()
        for t, loss in rows.stack().index[rows.eq(rows["dm1"], axis=0).stack()]
        if loss != "dm1"
    ]
    assert alike == [("cifar100", 0.05, "dm4"), ("cifar100", 1, "dm2")]


def test_d25_accuracy_moves_with_temperature_by_points_and_falls_behind_the_baseline() -> None:
    spreads = {
        data: (rows.max() - rows.min())[LOSSES].round(2).tolist() for data, rows in TABLE_5.items()
    }
    assert spreads == {
        "cifar10": [3.43, 4.18, 3.54, 1.85, 3.0],
        "cifar100": [12.02, 14.52, 14.71, 11.97, 10.12],
    }
    assert sum((gains(rows) < 0).sum() for rows in TABLE_5.values()).tolist() == [6, 4, 1, 7]
