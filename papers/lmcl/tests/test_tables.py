"""The LMCL paper's five tables, and what their numbers say about its sentences. One test for each erratum."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.unit.printed import table, with_deviations

TABLE_1, STD_1 = with_deviations("lmcl", "table1", "variant", "dataset")
TOP_1, TOP_5 = (  # Table 2, by the number of negatives
    table("lmcl", "table2", "method.variant", "batch.size", fixed={"measure": measure})[
        [1024, 4096]
    ]
    for measure in ("linear_top1", "linear_top5")
)
TABLE_5, STD_5 = with_deviations("lmcl", "table5", "method.variant", "dataset")


def test_l11_four_times_the_negatives_is_worth_13_points_with_swav_too() -> None:
    """Every row gains 13.4 to 14.9 points of top-1 from 1024 to 4096 negatives, SwAV's included, which has none, so
    negatives are not all that changes. Methods differ by at most 1.0 at 1024 and 2.3 at 4096."""
    steps = TOP_1[4096] - TOP_1[1024]
    assert steps.count() == 7
    assert steps.min() > 13
    assert steps["swav.default"] == pytest.approx(steps.max(), abs=0.1)
    assert (TOP_1.max() - TOP_1.min()).tolist() == pytest.approx([1.0, 2.31])


def test_l13_the_largest_lambda_is_not_the_best() -> None:
    """Enlarging lambda is said to improve generalisation: at 5 the mean over temperatures is the lowest of the four
    rows, below 0.01's, and it is best, in a tie, at one temperature of five."""
    rows = table("lmcl", "table3", "variant", "objective.temperature")
    assert rows.mean(axis=1).idxmin() == "dp_lambda_5"
    assert rows.rank(method="min").loc["dp_lambda_5"].to_dict() == {
        0.1: 2,
        0.2: 3,
        0.25: 2,
        0.3: 1,
        0.4: 1,
    }
    assert rows.columns[rows.loc["dp_lambda_5"] == rows.max()].tolist() == [0.2]


@pytest.mark.parametrize(("start", "expected"), [(1, 0.744), (0, 1.0)])
def test_l14_the_first_step_of_algorithm_1_depends_on_where_t_starts(
    start: int, expected: float
) -> None:
    """m and v start at 0 and are corrected by 1 - alpha^(t+1). The first update at t = 0 is the gradient's sign times
    eta, as Adam's is; printed, t starts from 1, and it is 0.744 of that (alpha1 = 0.9, alpha2 = 0.999)."""
    gradient, moments, alphas = 3.0, [0.0, 0.0], (0.9, 0.999)
    for power, alpha in enumerate(alphas):
        moments[power] = (1 - alpha) * gradient ** (power + 1) / (1 - alpha ** (start + 1))
    assert moments[0] / math.sqrt(moments[1]) == pytest.approx(expected, abs=5e-4)


def test_l21_means_and_stds_fill_the_tables() -> None:
    """As extracted: 413 53 680 32 …; read as mean ± std the counts close, and no std exceeds half its mean."""
    assert (TABLE_1.shape, TABLE_5.shape) == ((3, 2), (6, 6))
    for mean, std in ((TABLE_1, STD_1), (TABLE_5, STD_5)):
        assert ((std > 0) & (std < mean / 2)).all(axis=None)


def welch_t(mean: pd.DataFrame, std: pd.DataFrame, row: str, baseline: str, n: int) -> pd.Series:
    return (mean.loc[row] - mean.loc[baseline]) / np.sqrt(
        (std.loc[row] ** 2 + std.loc[baseline] ** 2) / n
    )


def test_l22_the_lost_t_test_follows_from_table_1() -> None:
    """n = 20, Welch: t = 11.9 and 13.3, far beyond 2.1 (at least 19 degrees of freedom), while conventional CL is above
    plain K-means on one of the two sets only. LMCL's own std differs by a factor of 11 between the sets."""
    assert list(TABLE_1) == ["three_bars", "nested_moons"]
    assert welch_t(TABLE_1, STD_1, "lmcl", "cl", 20).tolist() == pytest.approx(
        [11.9, 13.3], abs=0.06
    )
    over_k_means = welch_t(TABLE_1, STD_1, "cl", "euclidean", 20)
    assert over_k_means["three_bars"] > 5 > 2.1 > over_k_means["nested_moons"] > 0
    assert STD_1.loc["lmcl", "nested_moons"] / STD_1.loc["lmcl", "three_bars"] == pytest.approx(
        11.5
    )


def test_l24_half_of_table_2_is_off_the_grid_of_one_evaluation() -> None:
    """ImageNet-100's 5,000 validation images move an accuracy by 0.02: a single value has an even last digit. Baselines
    have 8 odd of 8 at 1024 negatives and 0 of 8 at 4096: two sources. (Chance of all alike in each half: 2^-14.)"""
    odd = (100 * pd.concat([TOP_1, TOP_5])).round() % 2
    by_variant = odd.groupby(odd.index.str.rpartition(".").get_level_values(2))
    assert by_variant.size().to_dict() == {"default": 8, "dp": 6}
    assert by_variant.sum().T.to_dict("list") == {"default": [8, 0], "dp": [2, 4]}


def test_l25_reinforcement_scores_agree_better_than_their_stds_allow() -> None:
    """+DP against its base, 3 trials each, 18 cells: the largest Welch |t| is 0.57. Simulated without any difference
    (normal scores, the printed stds as true ones), all 18 stay below that in no draw of 10,000, and a single cell does
    in 0.4 of them: 6e-8 together. Between the six methods, too, means differ less than by standard error on
    every task."""
    rows = [(f"{base}.dp", f"{base}.default") for base in ("curl", "curl_dcl", "curl_hcl")]
    largest = max(welch_t(TABLE_5, STD_5, *pair, 3).abs().max() for pair in rows)
    assert largest == pytest.approx(0.57, abs=0.005)
    rng = np.random.default_rng(0)
    scores = (
        rng.standard_normal((10_000, 18, 2, 3))
        * np.concatenate([STD_5.loc[[*pair]].T for pair in rows])[:, :, None]
    )
    mean, variance = scores.mean(axis=3), scores.var(axis=3, ddof=1)
    t = np.abs(mean[..., 0] - mean[..., 1]) / np.sqrt(variance.sum(axis=2) / 3)
    assert (t.max(axis=1) <= largest).sum() == 0
    assert 0.3 < (t <= largest).mean() < 0.45
    assert (t <= largest).mean(axis=0).prod() < 1e-6
    assert (TABLE_5.std() < np.sqrt((STD_5**2).mean() / 3)).all()


@pytest.mark.parametrize("root", [True, False])
def test_l27_more_negatives_hardly_reduce_the_first_term_of_theorem_4(root: bool) -> None:
    """Q1 is (1 + 1/n), under a root or not (its sign is lost). From n = 32 to 512, the paper's range, it falls by 1.4 %
    or 2.8 %; Q2, which has log²(n), grows 3.2 times. The first term therefore cannot explain gains from larger n."""
    first = [math.sqrt(1 + 1 / n) if root else 1 + 1 / n for n in (32, 512)]
    assert 0.01 < 1 - first[1] / first[0] < 0.03
    assert (math.log(512) / math.log(32)) ** 2 == pytest.approx(3.24)
