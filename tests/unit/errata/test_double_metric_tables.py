"""Tables 1 to 7 of the double-metric paper against its sentences and against each other, one erratum a test."""

import math
from collections.abc import Sequence

import pytest

LOSSES = ("nt_xent", "dm1", "dm2", "dm3", "dm4")


def table(text: str) -> dict[str, dict[str, float]]:
    """One row a line: its name, then a value for each loss."""
    rows = (line.split() for line in text.strip().splitlines())
    return {name: dict(zip(LOSSES, map(float, values), strict=True)) for name, *values in rows}


TABLE_1 = {"dm1": (0.75, 0.25), "dm2": (0.5, 0.5), "dm3": (0.25, 0.75), "dm4": (1.0, 1.0)}
TABLE_2 = table("""
cifar10       80.87  80.82  80.91  81.85  80.38
cifar100      59.08  59.63  58.69  59.22  58.36
imagenet200   44.03  44.48  43.98  44.58  44.30
""")
TABLE_3 = {  # mCE, relative mCE
    "standard": {"nt_xent": (100, 100), "dm1": (100.02, 100.04), "dm2": (100.21, 100.29), "dm3": (99.73, 99.53)},
    "augmix": {"nt_xent": (96.93, 86.14), "dm1": (96.66, 87.19), "dm2": (96.71, 86.12), "dm3": (96.13, 86.15)},
}
TABLE_4 = table("""
colored_mnist_0.5    87.35  86.03  86.38  85.14  87.91
colored_mnist_1.0    90.36  90.49  90.33  91.05  90.71
colored_mnist_2.0    92.83  92.48  92.81  92.84  92.04
colored_mnist_5.0    94.81  94.42  95.09  95.14  95.05
corrupted_cifar_0.5  25.50  26.04  25.55  25.70  26.31
corrupted_cifar_1.0  28.58  28.47  28.32  28.51  28.98
corrupted_cifar_2.0  33.33  32.56  33.71  33.71  33.38
corrupted_cifar_5.0  40.39  40.66  39.44  41.09  40.07
""")
TABLE_5 = {  # the cells, not the run-together copies before them (erratum D11)
    "cifar10": table("""
0.01  78.51  77.14  78.56  79.32  77.83
0.05  78.50  78.51  78.74  79.88  77.96
0.07  77.96  80.09  80.33  79.67  79.73
0.1   81.39  81.32  82.10  81.17  80.83
1     78.98  79.12  79.26  79.42  77.97
"""),
    "cifar100": table("""
0.01  54.07  53.79  53.85  55.54  54.78
0.05  55.24  55.09  54.75  56.20  55.09
0.07  56.73  57.23  56.82  58.17  55.96
0.1   57.56  57.11  57.42  58.89  56.81
1     45.54  42.71  42.71  46.92  46.69
"""),
}
TABLE_6 = table("""
40   61.19  61.40  63.10  63.15  59.84
80   68.94  68.30  69.46  70.94  67.25
120  70.98  69.85  70.97  72.23  69.32
""")
TABLE_7 = table("""
cifar10       80.87  80.82  80.91  81.85  80.83
cifar100      59.08  59.63  58.69  59.22  58.38
imagenet200   44.03  44.48  43.98  44.58  44.30
""")
TABLE_7_AT_03 = {  # tau = 0.3: dm1 to dm4
    "cifar10": (83.85, 82.79, 83.64, 82.02),
    "cifar100": (55.09, 55.68, 57.09, 53.56),
    "imagenet200": (43.27, 43.47, 44.09, 42.64),
}


def best(row: dict[str, float]) -> set[str]:
    return {loss for loss, value in row.items() if value == max(row.values())}


def gains(rows: dict[str, dict[str, float]], loss: str) -> list[float]:
    """Over the baseline, row by row."""
    return [round(row[loss] - row["nt_xent"], 2) for row in rows.values()]


def spread(values: Sequence[float]) -> float:
    return round(max(values) - min(values), 2)


def test_d4_weights_shrink_nt_xent_by_up_to_a_factor_of_four_and_no_row_does_only_that() -> None:
    assert [alpha for alpha, _ in TABLE_1.values()] == [0.75, 0.5, 0.25, 1.0]
    assert [alpha + beta for alpha, beta in TABLE_1.values()] == [1, 1, 1, 2]
    assert all(beta > 0 for _, beta in TABLE_1.values())


def test_d8_tables_2_and_7_print_dm4_twice_and_differently() -> None:
    differ = {
        (data, loss): (TABLE_2[data][loss], TABLE_7[data][loss])
        for data in TABLE_2
        for loss in LOSSES
        if TABLE_2[data][loss] != TABLE_7[data][loss]
    }
    assert differ == {("cifar10", "dm4"): (80.38, 80.83), ("cifar100", "dm4"): (58.36, 58.38)}
    assert TABLE_5["cifar10"]["0.1"]["dm4"] == 80.83


def test_d9_tables_2_and_5_differ_at_one_setting_by_more_than_any_gain() -> None:
    """Two proportions of 10,000 images each: a difference of 2.91 points is five standard errors."""
    differences = {
        (data, loss): round(abs(TABLE_2[data][loss] - TABLE_5[data]["0.07"][loss]), 2)
        for data in TABLE_5
        for loss in LOSSES
    }
    largest_gain = max(gain for loss in LOSSES[1:] for gain in gains(TABLE_2, loss))
    assert (max(differences.values()), largest_gain) == (2.91, 0.98)
    assert sum(difference > largest_gain for difference in differences.values()) == 7
    assert best(TABLE_2["cifar10"]) == {"dm3"}
    assert best(TABLE_5["cifar10"]["0.07"]) == {"dm2"}
    p = (80.87 + 77.96) / 200
    assert 0.0291 / math.sqrt(2 * p * (1 - p) / 10_000) == pytest.approx(5.1, abs=0.05)


def test_d10_the_best_temperature_is_not_007() -> None:
    at = {(data, loss): max(rows, key=lambda t: rows[t][loss]) for data, rows in TABLE_5.items() for loss in LOSSES}
    assert {cell: t for cell, t in at.items() if t != "0.1"} == {("cifar100", "dm1"): "0.07"}
    better = {data: max(row) > max(TABLE_7[data].values()) for data, row in TABLE_7_AT_03.items()}
    assert better == {"cifar10": True, "cifar100": False, "imagenet200": False}


def test_d11_two_losses_print_the_same_accuracy_at_temperature_1() -> None:
    pairs = [
        (data, t)
        for data, rows in TABLE_5.items()
        for t, row in rows.items()
        if len(set(list(row.values())[:3])) < 3 or row["dm1"] in (row["dm2"], row["dm3"])
    ]
    assert pairs == [("cifar100", "1")]


def test_d12_dm_losses_beat_the_baseline_in_7_of_12_cells_of_table_2() -> None:
    better = {loss: sum(gain > 0 for gain in gains(TABLE_2, loss)) for loss in LOSSES[1:]}
    assert better == {"dm1": 2, "dm2": 1, "dm3": 3, "dm4": 1}
    assert {data: best(row) for data, row in TABLE_2.items()} == {
        "cifar10": {"dm3"},
        "cifar100": {"dm1"},
        "imagenet200": {"dm3"},
    }


def test_d13_on_biased_data_some_dm_loss_wins_every_row_but_dm3_loses_two() -> None:
    margins = {name: round(max(row.values()) - row["nt_xent"], 2) for name, row in TABLE_4.items()}
    assert min(margins.items(), key=lambda item: item[1]) == ("colored_mnist_2.0", 0.01)
    assert sum("dm3" in best(row) for row in TABLE_4.values()) == 5
    assert [name for name, row in TABLE_4.items() if len(best(row)) > 1] == ["corrupted_cifar_2.0"]
    below = {name: row["dm3"] - row["nt_xent"] for name, row in TABLE_4.items() if row["dm3"] < row["nt_xent"]}
    assert below == pytest.approx({"colored_mnist_0.5": -2.21, "corrupted_cifar_1.0": -0.07})
    winning = {loss: sum(gain > 0 for gain in gains(TABLE_4, loss)) for loss in LOSSES[1:]}
    assert winning == {"dm1": 3, "dm2": 3, "dm3": 6, "dm4": 6}


def test_d14_the_weights_that_do_not_sum_to_1_are_best_in_three_rows() -> None:
    assert [name for name, row in TABLE_4.items() if best(row) == {"dm4"}] == [
        "colored_mnist_0.5",
        "corrupted_cifar_0.5",
        "corrupted_cifar_1.0",
    ]


def test_d15_the_worst_loss_of_table_6_is_dm4_and_not_dm1() -> None:
    assert {min(row, key=lambda loss: row[loss]) for row in TABLE_6.values()} == {"dm4"}
    assert gains(TABLE_6, "dm1") == [0.21, -0.64, -1.13]
    assert gains(TABLE_6, "dm2")[-1] == -0.01


def test_d16_corruption_errors_differ_by_less_than_a_point_and_both_ways() -> None:
    assert 100 - TABLE_3["standard"]["dm3"][0] == pytest.approx(0.27)
    assert TABLE_3["augmix"]["nt_xent"][0] - TABLE_3["augmix"]["dm3"][0] == pytest.approx(0.80)
    assert all(error > 100 for loss in ("dm1", "dm2") for error in TABLE_3["standard"][loss])
    assert TABLE_3["augmix"]["dm3"][1] > TABLE_3["augmix"]["nt_xent"][1]
    assert spread([relative for _, relative in TABLE_3["augmix"].values()]) == 1.07
    assert all("dm4" not in rows for rows in TABLE_3.values())


def test_d25_accuracy_moves_with_temperature_by_points_and_falls_behind_the_baseline() -> None:
    spreads = {data: [spread([row[x] for row in rows.values()]) for x in LOSSES] for data, rows in TABLE_5.items()}
    assert spreads == {"cifar10": [3.43, 4.18, 3.54, 1.85, 3.0], "cifar100": [12.02, 14.52, 14.71, 11.97, 10.12]}
    below = [
        sum(row[loss] < row["nt_xent"] for rows in TABLE_5.values() for row in rows.values()) for loss in LOSSES[1:]
    ]
    assert below == [6, 4, 1, 7]


def test_d26_dm3_falls_behind_the_baseline_in_tables_3_4_and_5() -> None:
    assert TABLE_3["augmix"]["dm3"][1] > TABLE_3["augmix"]["nt_xent"][1]
    assert sum(row["dm3"] < row["nt_xent"] for row in TABLE_4.values()) == 2
    behind = [(data, t) for data, rows in TABLE_5.items() for t, row in rows.items() if row["dm3"] < row["nt_xent"]]
    assert behind == [("cifar10", "0.1")]
    assert min(gains(TABLE_4, "dm3")) == -2.21
