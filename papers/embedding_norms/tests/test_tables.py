"""What the norms paper's printed tables say about its sentences, one erratum a test."""

import math
import re
from itertools import combinations

import numpy as np
import pytest

from tests.unit.printed import table

TABLE_2_SIMSIAM = table(
    "embedding_norms", "table2", "variant", "optimiser.weight_decay", {"method": "simsiam"}
)
TABLE_4 = table("embedding_norms", "table4", "method.variant", "dataset")
DECAY_SIMSIAM = 5e-4  # the default


@pytest.mark.parametrize(("penalty", "ends", "fitted"), [(0.5, 1.45, 1.465), (1.0, 1.30, 1.305)])
def test_n2_steps_do_not_grow_with_the_square_of_the_norm(
    penalty: float, ends: float, fitted: float
) -> None:
    """Slope of log steps on log norm, from norm 1 to 7, and by least squares over all three; 2 would be quadratic."""
    rows = table("embedding_norms", "table1", "variant", "norm", {"measure": "steps"})
    steps = rows.loc[f"gamma{penalty:g}"]
    assert list(steps.index) == [1, 4, 7]
    assert math.log(steps[7] / steps[1]) / math.log(7) == pytest.approx(ends, abs=0.005)
    assert np.polyfit(np.log([1, 4, 7]), np.log(steps), 1)[0] == pytest.approx(fitted, abs=0.005)
    assert steps[4] / steps[1] < 10  # 16 would be quadratic
    assert steps[7] / steps[1] < 20  # 49


def test_n22_a_cut_of_3_shrinks_the_norm_39_times() -> None:
    """More than the 3 of one uncut-normalised layer and the 27 of three."""
    norms = table("embedding_norms", "tableS4", "variant", "dataset")["cifar10"]
    assert norms["default"] / norms["cut3"] == pytest.approx(38.6, abs=0.1)


def test_n23_the_grid_has_no_trend_to_9() -> None:
    """At SimSiam's default decay the last doublings bring 1.0 and 0.4 after 8.3; at 1e-3, c = 2 is below c = 1."""
    grid = ["default", "cut2", "cut4", "cut8"]
    assert list(TABLE_2_SIMSIAM.index) == grid  # none at 9
    assert TABLE_2_SIMSIAM[DECAY_SIMSIAM].diff()[1:].round(1).tolist() == [8.3, 1.0, 0.4]
    assert TABLE_2_SIMSIAM.loc["cut2", 1e-3] < TABLE_2_SIMSIAM.loc["default", 1e-3]


def test_n29_table_s2_is_not_imagenet_100() -> None:
    """SimSiam, default decay and batch (1024), uncut, epoch 100: 32.6 in Table S2, 40.5 in Table 2 on ImageNet-100."""
    over = table("embedding_norms", "tableS2", "variant", "epoch", {"batch.size": 1024}).loc[
        "default"
    ]
    assert TABLE_2_SIMSIAM.loc["default", DECAY_SIMSIAM] - over[100] == pytest.approx(7.9)
    assert (TABLE_4.loc["simsiam.default"] - over[500]).abs().idxmin() == "cifar100"


@pytest.mark.parametrize(
    ("dataset", "method", "printed"),
    [
        ("cifar10", "simclr", "1.00.930.42"),
        ("cifar10", "simsiam", "1.00.720.37"),
        ("cifar100", "simclr", "0.741.00.91"),
        ("cifar100", "simsiam", "0.431.00.65"),
    ],
)
def test_n33_the_labels_of_fig_3_can_be_cut_in_one_way(
    dataset: str, method: str, printed: str
) -> None:
    """Into three numbers of one digit before the point: CIFAR-10's labels stand before CIFAR-100's."""
    cuts = [
        (printed[:i], printed[i:j], printed[j:]) for i, j in combinations(range(1, len(printed)), 2)
    ]
    (labels,) = [cut for cut in cuts if all(re.fullmatch(r"\d\.\d+", part) for part in cut)]
    violins = table(
        "embedding_norms", "fig3", "target", "split", {"dataset": dataset, "method": method}
    )
    (other,) = {"cifar10", "cifar100"} - {dataset}
    assert violins.loc[other, "train"] == violins.loc[other, "test"]  # one label for both splits
    of_other, of_own = (
        [violins.loc[other, "test"]],
        violins.loc[dataset, ["train", "test"]].tolist(),
    )
    assert [float(label) for label in labels] == (
        of_own + of_other if dataset == "cifar10" else of_other + of_own
    )
    assert of_own[0] == 1 > of_own[1] > of_other[0]


def test_n40_gradscale_on_imagenet_100_is_chance() -> None:
    assert TABLE_4.loc["simclr.gradscale", "imagenet100"] == 100 / 100  # per cent, of 100 classes


def test_n42_dropping_the_last_batch() -> None:
    """Test images of CIFAR and of Flowers102 that are left of whole batches of 256."""
    assert [n - n % 256 for n in (10_000, 1_020)] == [9_984, 768]
