"""The lecture's four quoted tables, and what their numbers say about its slides. One test for each erratum."""

import math

import numpy as np
import pytest

TABLE_5 = {  # l2 norm, temperature: entropy, contrastive accuracy, linear top-1
    (True, 0.05): (1.0, 90.5, 59.7),
    (True, 0.1): (4.5, 87.8, 64.4),
    (True, 0.5): (8.2, 68.2, 60.7),
    (True, 1): (8.3, 59.1, 58.0),
    (False, 10): (0.5, 91.7, 57.2),
    (False, 100): (0.5, 92.1, 57.0),
}
TABLE_A3 = {  # batch size: the cells under 100, 200, 400 and 800 epochs, as the text has them
    512: (512, 66.6, 68.4, 70.0),
    1024: (66.8, 68.9, 70.1, 70.9),
    2048: (66.8, 69.1, 70.4, 71.3),
}
TABLE_3 = {  # digits placed on the canvas: 1, 2, 4, 8, 12, 16
    ("supervised", "random"): (99.5, 99.5, 99.3, 99.4, 98.9, 98.3),
    ("supervised", "in-grid"): (99.5, 99.6, 99.5, 99.3, 98.6, 92.4),
    ("simclr", "random"): (98.9, 98.9, 99.0, 98.9, 98.2, 96.4),
    ("simclr", "in-grid"): (98.3, 98.6, 99.1, 99.2, 99.1, 98.3),
}
TABLE_3_RANDOM_NETWORK = 18.0
TABLE_4 = {  # second digit's size: 20, 30 … 80
    ("supervised", 1): (99.1, 99.2, 99.2, 99.2, 99.1, 99.1, 99.0),
    ("simclr, t = 0.05", 1): (97.8, 97.6, 96.2, 96.5, 88.5, 74.5, 39.9),
    ("simclr, t = 0.2", 1): (98.7, 98.8, 98.3, 87.5, 24.9, 19.8, 20.3),
    ("random network", 1): (16.5, 16.7, 16.6, 16.6, 16.6, 16.9, 16.5),
    ("random network", 2): (16.5, 19.1, 21.9, 24.1, 26.5, 28.1, 29.0),
}


def test_s1_the_row_of_batch_512_is_one_cell_too_far_right() -> None:
    """Moved left it lies within 0.7 of its neighbour's everywhere, and grows with the batch; as it stands it is a batch
    size followed by values 0.9 to 2.3 lower."""
    neighbour = np.array(TABLE_A3[1024])
    printed, moved = np.array(TABLE_A3[512]), np.array(TABLE_A3[512][1:])
    assert printed[0] > 100  # no accuracy
    assert (neighbour[1:] - printed[1:]).min() == pytest.approx(0.9)
    gap = neighbour[:3] - moved
    assert gap.min() >= 0
    assert gap.max() < 0.7
    assert (np.array(TABLE_A3[2048]) - neighbour).min() >= 0
    assert (np.array(TABLE_A3[2048])[:3] - moved).max() == pytest.approx(0.7)


def test_s7_normalising_gains_from_1_to_7_points_by_temperature() -> None:
    """Every normalised row beats both others, but temperatures do not overlap, and at 1 little is left of the gain."""
    top = {key: row[2] for key, row in TABLE_5.items()}
    plain = max(value for (normalised, _), value in top.items() if not normalised)
    gains = {t: value - plain for (normalised, t), value in top.items() if normalised}
    assert min(gains.values()) == gains[1] == pytest.approx(0.8)
    assert max(gains.values()) == gains[0.1] == pytest.approx(7.2)
    assert gains[0.1] - gains[1] == pytest.approx(6.4)  # temperature alone does eight times as much
    assert max(t for normalised, t in top if normalised) < min(t for normalised, t in top if not normalised)


def test_s7_contrastive_accuracy_and_linear_accuracy_are_uncorrelated_over_all_rows_only() -> None:
    """The slide's other sentence: r = 0.00 over six rows; 0.60 among the four normalised ones."""
    _, contrastive, top = np.array(list(TABLE_5.values())).T
    assert abs(np.corrcoef(contrastive, top)[0, 1]) < 0.005
    assert np.corrcoef(contrastive[:4], top[:4])[0, 1] == pytest.approx(0.605, abs=0.001)


def test_table_5_entropies_are_possible() -> None:
    """Over 4096 candidates an entropy is at most log 4096 = 8.318 nats; at temperature 1 it is nearly uniform."""
    entropies = [row[0] for row in TABLE_5.values()]
    assert max(entropies) == 8.3
    assert max(entropies) - 0.05 < math.log(4096) < max(entropies) + 0.05


def test_s8_the_random_network_has_two_accuracies() -> None:
    """18 in one caption, 16.5 in the other table; the latter grows by 12.5 with the digit's size, so that size
    matters: a digit of 28 lies between 16.5 and 19.1, as 18 does."""
    sizes = np.arange(20, 90, 10)
    second = TABLE_4["random network", 2]
    assert TABLE_3_RANDOM_NETWORK - TABLE_4["random network", 1][0] == pytest.approx(1.5)
    assert second[-1] - second[0] == pytest.approx(12.5)
    assert np.interp(28, sizes, second) == pytest.approx(18.58)
    assert second[0] < TABLE_3_RANDOM_NETWORK < second[1]


def test_s9_simclr_is_not_just_fine_with_16_randomly_placed_digits() -> None:
    """It loses 2.5 points there, twice what supervised training loses; up to 8 digits, and in a grid, it loses none."""
    lost = {key: row[0] - row[-1] for key, row in TABLE_3.items()}
    assert lost["simclr", "random"] == pytest.approx(2.5)
    assert lost["supervised", "random"] == pytest.approx(1.2)
    assert lost["simclr", "in-grid"] == pytest.approx(0.0)
    assert lost["supervised", "in-grid"] == pytest.approx(7.1)
    for placing in ("random", "in-grid"):
        row = TABLE_3["simclr", placing]
        assert row[0] - min(row[:4]) < 0.05


def test_s14_which_cells_of_table_4_were_red_can_be_told_from_the_numbers() -> None:
    """Falls of more than 5 points from the equal sizes: three cells at t = 0.05, four at 0.2, none supervised."""
    falls = {key: [i for i, x in enumerate(row) if row[0] - x > 5] for key, row in TABLE_4.items() if key[1] == 1}
    assert falls == {
        ("supervised", 1): [],
        ("simclr, t = 0.05", 1): [4, 5, 6],
        ("simclr, t = 0.2", 1): [3, 4, 5, 6],
        ("random network", 1): [],
    }
    nearest = {key: min(abs(row[0] - x - 5) for x in row) for key, row in TABLE_4.items() if key[1] == 1}
    assert min(nearest.values()) > 3  # no cell is near the threshold, so any between 2 and 9 tells the same
