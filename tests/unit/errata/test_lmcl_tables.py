"""The LMCL paper's five tables, and what their numbers say about its sentences. One test for each erratum."""

import math
from itertools import combinations

import numpy as np
import pytest

from ..printed import table, with_deviations

TABLE_1 = table("lmcl", "table1", "variant", "dataset")
STD_1 = table("lmcl", "table1", "variant", "dataset", field="reported_std")
TOP_1, TOP_5 = (  # Table 2, by the number of negatives
    table("lmcl", "table2", "method.variant", "batch.size", {"measure": measure})
    for measure in ("linear_top1", "linear_top5")
)
TABLE_3 = table("lmcl", "table3", "variant", "objective.temperature")
TABLE_5 = with_deviations("lmcl", "table5", "method.variant")
Mean = tuple[float, float]
"""With its standard deviation."""


def test_l11_four_times_the_negatives_is_worth_13_points_with_swav_too() -> None:
    """Every row gains 13.4 to 14.9 points of top-1 from 1024 to 4096 negatives, SwAV's included, which has none, so
    negatives are not all that changes. Methods differ by at most 1.0 at 1024 and 2.3 at 4096."""
    steps = {name: row[4096] - row[1024] for name, row in TOP_1.items()}
    assert len(steps) == 7
    assert min(steps.values()) > 13
    assert steps["swav.default"] == pytest.approx(max(steps.values()), abs=0.1)
    spread = [max(abs(a[n] - b[n]) for a, b in combinations(TOP_1.values(), 2)) for n in (1024, 4096)]
    assert spread == pytest.approx([1.0, 2.31])


def test_l13_the_largest_lambda_is_not_the_best() -> None:
    """Enlarging lambda is said to improve generalisation: at 5 the mean over temperatures is the lowest of the four
    rows, below 0.01's, and it is best, in a tie, at one temperature of five."""
    largest = TABLE_3["dp_lambda_5"]
    means = {name: sum(row.values()) / len(row) for name, row in TABLE_3.items()}
    assert min(means, key=lambda name: means[name]) == "dp_lambda_5"
    columns = {t: [row[t] for row in TABLE_3.values()] for t in largest}
    rank_from_worst = {t: sorted(column).index(largest[t]) for t, column in columns.items()}
    assert rank_from_worst == {0.1: 1, 0.2: 2, 0.25: 1, 0.3: 0, 0.4: 0}
    assert [t for t, column in columns.items() if largest[t] == max(column)] == [0.2]


@pytest.mark.parametrize(("start", "expected"), [(1, 0.744), (0, 1.0)])
def test_l14_the_first_step_of_algorithm_1_depends_on_where_t_starts(start: int, expected: float) -> None:
    """m and v start at 0 and are corrected by 1 - alpha^(t+1). The first update at t = 0 is the gradient's sign times
    eta, as Adam's is; printed, t starts from 1, and it is 0.744 of that (alpha1 = 0.9, alpha2 = 0.999)."""
    gradient, moments, alphas = 3.0, [0.0, 0.0], (0.9, 0.999)
    for power, alpha in enumerate(alphas):
        moments[power] = (1 - alpha) * gradient ** (power + 1) / (1 - alpha ** (start + 1))
    assert moments[0] / math.sqrt(moments[1]) == pytest.approx(expected, abs=5e-4)


def test_l21_means_and_stds_fill_the_tables() -> None:
    """As extracted: 413 53 680 32 …; read as mean ± std the counts close, and no std exceeds half its mean."""
    means, stds = (np.array([[*row.values()] for row in cells.values()]) for cells in (TABLE_1, STD_1))
    table_5 = np.array([*TABLE_5.values()])
    assert (means.shape, table_5.shape) == ((3, 2), (6, 6, 2))
    for mean, std in ((means, stds), (table_5[..., 0], table_5[..., 1])):
        assert ((std > 0) & (std < mean / 2)).all()


def welch_t(a: Mean, b: Mean, n: int) -> float:
    return (a[0] - b[0]) / math.sqrt((a[1] ** 2 + b[1] ** 2) / n)


def test_l22_the_lost_t_test_follows_from_table_1() -> None:
    """n = 20, Welch: t = 11.9 and 13.3, far beyond 2.1 (at least 19 degrees of freedom), while conventional CL is above
    plain K-means on one of the two sets only. LMCL's own std differs by a factor of 11 between the sets."""

    assert list(TABLE_1["lmcl"]) == ["three_bars", "nested_moons"]
    ours, plain, k_means = (
        [(TABLE_1[row][data], STD_1[row][data]) for data in TABLE_1[row]] for row in ("lmcl", "cl", "euclidean")
    )
    assert [welch_t(a, b, 20) for a, b in zip(ours, plain, strict=True)] == pytest.approx([11.9, 13.3], abs=0.06)
    over_k_means = [welch_t(a, b, 20) for a, b in zip(plain, k_means, strict=True)]
    assert over_k_means[0] > 5 > 2.1 > over_k_means[1] > 0
    assert STD_1["lmcl"]["nested_moons"] / STD_1["lmcl"]["three_bars"] == pytest.approx(11.5)


def test_l24_half_of_table_2_is_off_the_grid_of_one_evaluation() -> None:
    """ImageNet-100's 5,000 validation images move an accuracy by 0.02: a single value has an even last digit. Baselines
    have 8 odd of 8 at 1024 negatives and 0 of 8 at 4096: two sources. (Chance of all alike in each half: 2^-14.)"""

    def odd(suffix: str) -> list[int]:
        rows = [row for top in (TOP_1, TOP_5) for name, row in top.items() if str(name).endswith(suffix)]
        return [sum(round(100 * row[negatives]) % 2 for row in rows) for negatives in (1024, 4096)]

    assert odd(".default") == [8, 0]
    assert odd(".dp") == [2, 4]


def test_l25_reinforcement_scores_agree_better_than_their_stds_allow() -> None:
    """+DP against its base, 3 trials each, 18 cells: the largest Welch |t| is 0.57. Simulated without any difference
    (normal scores, the printed stds as true ones), all 18 stay below that in no draw of 10,000, and a single cell does
    in 0.4 of them: 6e-8 together. Between the six methods, too, means differ less than by standard error on
    every task."""
    bases = ("curl", "curl_dcl", "curl_hcl")
    cells = [(TABLE_5[f"{base}.dp"][i], TABLE_5[f"{base}.default"][i]) for base in bases for i in range(6)]
    largest = max(abs(welch_t(a, b, 3)) for a, b in cells)
    assert largest == pytest.approx(0.57, abs=0.005)
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((10_000, 18, 2, 3)) * np.array([[a[1], b[1]] for a, b in cells])[:, :, None]
    mean, variance = scores.mean(axis=3), scores.var(axis=3, ddof=1)
    t = np.abs(mean[..., 0] - mean[..., 1]) / np.sqrt(variance.sum(axis=2) / 3)
    assert (t.max(axis=1) <= largest).sum() == 0
    assert 0.3 < (t <= largest).mean() < 0.45
    assert (t <= largest).mean(axis=0).prod() < 1e-6
    means, stds = np.moveaxis(np.array([*TABLE_5.values()]), -1, 0)
    assert (means.std(axis=0, ddof=1) < np.sqrt((stds**2).mean(axis=0) / 3)).all()


@pytest.mark.parametrize("root", [True, False])
def test_l27_more_negatives_hardly_reduce_the_first_term_of_theorem_4(root: bool) -> None:
    """Q1 is (1 + 1/n), under a root or not (its sign is lost). From n = 32 to 512, the paper's range, it falls by 1.4 %
    or 2.8 %; Q2, which has log²(n), grows 3.2 times. The first term therefore cannot explain gains from larger n."""
    first = [math.sqrt(1 + 1 / n) if root else 1 + 1 / n for n in (32, 512)]
    assert 0.01 < 1 - first[1] / first[0] < 0.03
    assert (math.log(512) / math.log(32)) ** 2 == pytest.approx(3.24)
