"""Tables 1 to 3, 9 and 10 of the margins paper against its sentences and the grid of its test sets, one erratum a test.

A test set of T images and n runs put a mean accuracy on the grid 100/(T·n).
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from hypersphere.audit.grim import Assumptions, Printed, admissible
from tests.unit.printed import table, with_deviations

TABLE_1 = table("margins", "table1", "method.variant", "dataset")
TABLE_2, STD_2 = with_deviations("margins", "table2", "method.variant", "dataset")
TABLE_3, STD_3 = with_deviations("margins", "table3", "method.variant", "target")
TABLES_9_10 = [
    table("margins", name, "logits.s", by)
    for name, by in (("table9", "dataset"), ("table10", "target"))
]
STL = "stl10"  # 8,000 test images; the other test sets have 10,000


def without_stl(*tables: pd.DataFrame) -> list[float]:
    return [mean for rows in tables for mean in rows.drop(columns=STL, errors="ignore").stack()]


def other_means() -> list[float]:
    """All means on 10,000 images; the rows of Table 1 without attenuation repeat Table 2."""
    return without_stl(TABLE_2, TABLE_3, *TABLES_9_10, TABLE_1.filter(like="attenuation", axis=0))


def runs(
    mean: float, std: float | None = None, ddof: int = 1, images: int = 10_000
) -> tuple[int, ...]:
    """The numbers of runs up to 10 that a mean and deviation of three decimals can be of (audit/grim.py)."""
    printed = Printed(Decimal(f"{mean:.3f}"), None if std is None else Decimal(f"{std:.3f}"))
    return admissible(printed, Assumptions(Fraction(100, images), ddof=ddof))


def test_m13_simclr_with_margins_lies_above_both_type_i_cells_within_its_deviation() -> None:
    """m1 = 0 there, so "+ margins" is type I at alpha = 1 - exp(-m2/0.25), between the two alphas of Table 1. Table 5
    prints m2."""
    for dataset, m2, alpha in ((STL, 0.2, 0.551), ("tiny_imagenet", 0.8, 0.959)):
        assert 1 - math.exp(-m2 / 0.25) == pytest.approx(alpha, abs=5e-4)
        mean, std = TABLE_2.loc["simclr.margins", dataset], STD_2.loc["simclr.margins", dataset]
        ends = [TABLE_1.loc[f"simclr.attenuation_i_{a}", dataset] for a in ("0_25", "1")]
        assert all(end < mean < end + 2 * std for end in ends)


def test_m17_no_one_number_of_seeds_below_8_fits_every_mean() -> None:
    means = other_means()
    assert len(means) == 120
    fitting = [sum(n in runs(x) for x in means) for n in range(1, 11)]
    assert fitting == [32, 42, 77, 102, 65, 102, 95, 120, 110, 120]
    least = {
        ("baseline", "cifar10"): 3, ("pos", "cifar100"): 3, ("baseline", "cifar100"): 5, ("margins", "cifar100"): 5,
        ("pos_curv", "cifar10"): 2, ("pos_curv", "cifar100"): 2,
    }  # fmt: skip
    assert {(v, data): min(runs(TABLE_2.loc[f"mocov3.{v}", data])) for v, data in least} == least
    assert [x for x in without_stl(*TABLES_9_10) if 5 not in runs(x)] == [
        TABLES_9_10[1].loc[20, "cifar100"]
    ]


def test_m17a_last_digits_1_and_9_never_occur() -> None:
    """Up to five runs cannot give them; six to ten runs can."""
    assert {round(1000 * x) % 10 for x in other_means()}.isdisjoint({1, 9})
    reachable = {
        n: {round(1000 * round(k / n / 100, 3)) % 10 for k in range(1000 * n)} for n in range(1, 11)
    }
    assert set().union(*(reachable[n] for n in range(1, 6))) == {0, 2, 3, 4, 5, 6, 7, 8}
    assert reachable[8] == reachable[10] == set(range(10))
    assert 0.8 ** len(other_means()) == pytest.approx(2e-12, rel=0.2)


def prints(pair: tuple[float, float], cell: tuple[float, float], ddof: int) -> bool:
    """Whether two runs have this mean and deviation, to three decimals."""
    return (
        np.abs(np.subtract(cell, (np.mean(pair), np.std(pair, ddof=ddof)))).max() <= 0.0005 + 1e-9
    )


def test_m17b_two_stl10_means_need_many_runs_or_a_rounding_of_each_run() -> None:
    """A run on 8,000 images is a multiple of 0.0125, of which an odd one is rounded by 0.0005, up or down."""
    byol, moco = TABLE_2.loc["byol.curv", STL], TABLE_2.loc["mocov3.pos_curv", STL]
    assert (min(runs(byol, images=8000)), min(runs(moco, images=8000))) == (9, 7)
    assert prints((87.888, 88.213), (byol, STD_2.loc["byol.curv", STL]), ddof=1)
    assert [
        abs(run / 0.0125 - odd) * 0.0125 < 0.00051 for run, odd in ((87.888, 7031), (88.213, 7057))
    ] == [True] * 2
    for n in range(2, 6):
        sums = [k / 80 for k in range(round(90 * n * 80), round(91 * n * 80))]
        # most runs that can be odd multiples
        odd = [n if (n - round(s * 80)) % 2 == 0 else n - 1 for s in sums]
        assert not any(
            abs(s - n * moco) <= 0.0005 * (n + o) + 1e-9 for s, o in zip(sums, odd, strict=True)
        )


def cell(number: int, row: str, column: str) -> tuple[float, float]:
    """Mean and deviation of a cell of Table 2 or 3."""
    means, stds = {2: (TABLE_2, STD_2), 3: (TABLE_3, STD_3)}[number]
    return means.loc[row, column], stds.loc[row, column]


def test_m18_pairs_use_both_conventions_of_the_standard_deviation() -> None:
    for ddof, printed, pair in (
        (0, cell(2, "mocov3.pos_curv", "cifar10"), (90.84, 90.89)),
        (0, cell(2, "mocov3.pos_curv", "cifar100"), (65.80, 66.39)),
        (1, cell(3, "byol.curv", "cifar100"), (39.39, 39.50)),
        (1, cell(3, "mocov3.pos", "tiny_imagenet"), (41.52, 42.13)),
    ):
        assert prints(pair, printed, ddof)
        assert 2 not in runs(*printed, 1 - ddof)


def test_m18a_two_triples_exclude_the_sample_deviation() -> None:
    places = (
        (2, "mocov3.baseline", "cifar10"),
        (2, "byol.baseline", "cifar10"),
        (3, "mocov3.ratio", "cifar100"),
    )
    fits = [[3 in runs(*cell(*place), ddof) for ddof in (0, 1)] for place in places]
    assert fits == [[True, False], [True, False], [True, True]]


def test_m19_the_ratio_rows_deviate_far_less_than_all_others() -> None:
    stds = pd.concat([STD_2.stack(), STD_3.stack()])
    of_ratio = stds.index.get_level_values(0).str.endswith("ratio")
    ratio, others = stds[of_ratio], stds[~of_ratio]
    assert (ratio.size, others.size) == (16, 80)
    assert ((ratio <= 0.045).sum(), (others <= 0.045).sum()) == (11, 6)
    assert np.median(others) / np.median(ratio) == pytest.approx(5.7, abs=0.05)


def welch(method: str, variant: str) -> pd.Series:
    """Two-sided p-values of Tables 2 and 3 by test set, three seeds assumed."""
    means, stds = (
        pd.concat({2: one.T, 3: other.T}) for one, other in ((TABLE_2, TABLE_3), (STD_2, STD_3))
    )
    arm, baseline = (
        (means[f"{method}.{one}"], stds[f"{method}.{one}"]) for one in (variant, "baseline")
    )
    return pd.Series(
        ttest_ind_from_stats(*arm, 3, *baseline, 3, equal_var=False).pvalue, means.index
    )


def test_m31_what_three_seeds_would_show() -> None:
    assert welch("mocov3", "pos").max() == pytest.approx(0.0025, abs=5e-5)
    assert welch("simclr", "pos").min() > 0.08
    assert sum((welch(method, "ratio") < 0.05).sum() for method in ("mocov3", "simclr")) == 10
    lowered = {
        ("simclr", "cifar10"): 0.033,
        ("simclr", "cifar100"): 0.025,
        ("mocov3", "tiny_imagenet"): 0.008,
    }
    for (method, target), p in lowered.items():
        assert welch(method, "margins")[3, target] == pytest.approx(p, abs=5e-4)
        assert TABLE_3.loc[f"{method}.margins", target] < TABLE_3.loc[f"{method}.baseline", target]


def test_x5_noise_floors() -> None:
    """The noise floors of the margins and LMCL papers. D9 is about the floor of the double-metric paper."""
    margins = STD_2[~STD_2.index.str.endswith("ratio")].to_numpy()
    assert (margins.size, margins.min(), margins.max()) == (40, 0.025, 0.668)
    assert np.median(margins) == pytest.approx(0.22)
    assert ((margins < 0.1).sum(), (margins > 0.6).sum()) == (5, 1)
    _, control = with_deviations("lmcl", "table5", "method.variant", "dataset")
    assert (control.min(axis=None), control.max(axis=None)) == (12, 121)
