"""Tables 1 to 7 of the double-metric paper against its sentences and against each other, one erratum a test."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from ..printed import Scalar, Table, table

LOSSES = ("nt_xent", "dm1", "dm2", "dm3", "dm4")
DATA = ("cifar10", "cifar100", "tiny_imagenet")  # the last is called ImageNet-200

TABLE_2 = table("double_metric", "table2", "dataset", "variant")
ERRORS, RELATIVE_ERRORS = (
    table("double_metric", "table3", "augmentation", "variant", {"measure": measure})
    for measure in ("mce", "relative_mce")
)
TABLE_4 = table("double_metric", "table4", "dataset", "variant")
TABLE_5 = {  # by temperature; the cells, not the run-together copies before them (erratum D11)
    data: table("double_metric", name, "objective.temperature", "variant")
    for data, name in (("cifar10", "table5a"), ("cifar100", "table5b"))
}
TABLE_6 = table("double_metric", "table6", "epoch", "variant")
TABLE_7 = {  # by temperature
    data: table("double_metric", "table7", "objective.temperature", "variant", {"dataset": data}) for data in DATA
}


def best(row: dict[Scalar, float]) -> set[Scalar]:
    return {loss for loss, value in row.items() if value == max(row.values())}


def gains(rows: Table, loss: str) -> list[float]:
    """Over the baseline, row by row."""
    return [round(row[loss] - row["nt_xent"], 2) for row in rows.values()]


def behind(rows: Table, loss: str) -> list[Scalar]:
    """Rows in which a loss is below the baseline."""
    return [name for name, row in rows.items() if row[loss] < row["nt_xent"]]


def spread(values: Iterable[float]) -> float:
    numbers = list(values)
    return round(max(numbers) - min(numbers), 2)


def test_d4_weights_shrink_nt_xent_by_up_to_a_factor_of_four_and_no_row_does_only_that() -> None:
    """Table 1 is in the paper's configuration."""
    file = Path(__file__).resolve().parents[3] / "config" / "papers" / "double_metric" / "paper.yaml"
    variants = yaml.safe_load(file.read_text(encoding="utf-8"))["variants"]
    weights = [(variants[loss]["objective"]["alpha"], variants[loss]["objective"]["beta"]) for loss in LOSSES[1:]]
    assert [alpha for alpha, _ in weights] == [0.75, 0.5, 0.25, 1.0]
    assert [alpha + beta for alpha, beta in weights] == [1, 1, 1, 2]
    assert all(beta > 0 for _, beta in weights)


def test_d8_tables_2_and_7_print_dm4_twice_and_differently() -> None:
    differ = {
        (data, loss): (TABLE_2[data][loss], TABLE_7[data][0.07][loss])
        for data in DATA
        for loss in LOSSES
        if TABLE_2[data][loss] != TABLE_7[data][0.07][loss]
    }
    assert differ == {("cifar10", "dm4"): (80.38, 80.83), ("cifar100", "dm4"): (58.36, 58.38)}
    assert TABLE_5["cifar10"][0.1]["dm4"] == TABLE_7["cifar10"][0.07]["dm4"]


def test_d9_tables_2_and_5_differ_at_one_setting_by_more_than_any_gain() -> None:
    both = {(data, x): (TABLE_2[data][x], TABLE_5[data][0.07][x]) for data in TABLE_5 for x in LOSSES}
    differences = {cell: round(abs(first - second), 2) for cell, (first, second) in both.items()}
    largest_gain = max(gain for loss in LOSSES[1:] for gain in gains(TABLE_2, loss))
    assert (max(differences.values()), largest_gain) == (2.91, 0.98)
    assert sum(difference > largest_gain for difference in differences.values()) == 7
    assert best(TABLE_2["cifar10"]) == {"dm3"}
    assert best(TABLE_5["cifar10"][0.07]) == {"dm2"}


def test_d10_the_best_temperature_is_not_007() -> None:
    at = {(data, loss): max(rows, key=lambda t: rows[t][loss]) for data, rows in TABLE_5.items() for loss in LOSSES}
    assert {cell: t for cell, t in at.items() if t != 0.1} == {("cifar100", "dm1"): 0.07}
    dm = {(data, t): [TABLE_7[data][t][loss] for loss in LOSSES[1:]] for data in DATA for t in (0.07, 0.3)}
    better = {data for data in DATA if max(dm[data, 0.3]) > max(TABLE_7[data][0.07]["nt_xent"], *dm[data, 0.07])}
    assert better == {"cifar10"}


def test_d11_two_losses_print_the_same_accuracy_at_temperature_1() -> None:
    alike = [
        (data, t, loss)
        for data, rows in TABLE_5.items()
        for t, row in rows.items()
        for loss in LOSSES
        if loss != "dm1" and row[loss] == row["dm1"]
    ]
    assert alike == [("cifar100", 0.05, "dm4"), ("cifar100", 1, "dm2")]


def test_d12_dm_losses_beat_the_baseline_in_7_of_12_cells_of_table_2() -> None:
    better = {loss: sum(gain > 0 for gain in gains(TABLE_2, loss)) for loss in LOSSES[1:]}
    assert better == {"dm1": 2, "dm2": 1, "dm3": 3, "dm4": 1}
    assert [best(TABLE_2[data]) for data in DATA] == [{"dm3"}, {"dm1"}, {"dm3"}]


def test_d13_on_biased_data_some_dm_loss_wins_every_row_but_dm3_loses_two() -> None:
    margins = {name: round(max(row.values()) - row["nt_xent"], 2) for name, row in TABLE_4.items()}
    assert min(margins.items(), key=lambda item: item[1]) == ("colored_mnist_2", 0.01)
    assert sum("dm3" in best(row) for row in TABLE_4.values()) == 5
    assert [name for name, row in TABLE_4.items() if len(best(row)) > 1] == ["corrupted_cifar10_2"]
    assert behind(TABLE_4, "dm3") == ["colored_mnist_0_5", "corrupted_cifar10_1"]
    assert sorted(gain for gain in gains(TABLE_4, "dm3") if gain < 0) == [-2.21, -0.07]
    winning = {loss: sum(gain > 0 for gain in gains(TABLE_4, loss)) for loss in LOSSES[1:]}
    assert winning == {"dm1": 3, "dm2": 3, "dm3": 6, "dm4": 6}


def test_d14_the_weights_that_do_not_sum_to_1_are_best_in_three_rows() -> None:
    rows = [name for name, row in TABLE_4.items() if best(row) == {"dm4"}]
    assert rows == ["colored_mnist_0_5", "corrupted_cifar10_0_5", "corrupted_cifar10_1"]


def test_d15_the_worst_loss_of_table_6_is_dm4_and_not_dm1() -> None:
    assert {min(row, key=lambda loss: row[loss]) for row in TABLE_6.values()} == {"dm4"}
    assert gains(TABLE_6, "dm1") == [0.21, -0.64, -1.13]
    assert gains(TABLE_6, "dm2")[-1] == -0.01


def test_d16_corruption_errors_differ_by_less_than_a_point_and_both_ways() -> None:
    standard, augmix, relative = ERRORS["standard"], ERRORS["augmix"], RELATIVE_ERRORS["augmix"]
    assert 100 - standard["dm3"] == pytest.approx(0.27)
    assert augmix["nt_xent"] - augmix["dm3"] == pytest.approx(0.80)
    assert all(t["standard"][loss] > 100 for loss in ("dm1", "dm2") for t in (ERRORS, RELATIVE_ERRORS))
    assert relative["dm3"] > relative["nt_xent"]
    assert spread(relative.values()) == 1.07
    assert all("dm4" not in row for row in ERRORS.values())


def test_d25_accuracy_moves_with_temperature_by_points_and_falls_behind_the_baseline() -> None:
    spreads = {data: [spread(row[x] for row in rows.values()) for x in LOSSES] for data, rows in TABLE_5.items()}
    assert spreads == {"cifar10": [3.43, 4.18, 3.54, 1.85, 3.0], "cifar100": [12.02, 14.52, 14.71, 11.97, 10.12]}
    below = [sum(len(behind(rows, loss)) for rows in TABLE_5.values()) for loss in LOSSES[1:]]
    assert below == [6, 4, 1, 7]


def test_d26_dm3_falls_behind_the_baseline_in_tables_3_4_and_5() -> None:
    """D13 has the rows of Table 4."""
    assert RELATIVE_ERRORS["augmix"]["dm3"] > RELATIVE_ERRORS["augmix"]["nt_xent"]
    assert {data: behind(rows, "dm3") for data, rows in TABLE_5.items()} == {"cifar10": [0.1], "cifar100": []}
