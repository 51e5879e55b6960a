"""Tables 1 to 3, 9 and 10 of the margins paper against its sentences and the grid of its test sets, one erratum a test.

A test set of T images and n runs put a mean accuracy on the grid 100/(T·n).
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

Cell = tuple[float, float]


def table(text: str) -> dict[str, list[Cell]]:
    """One row a line: name, then mean and standard deviation of four columns."""
    rows = (line.split() for line in text.strip().splitlines())
    return {name: [(float(v[i]), float(v[i + 1])) for i in range(0, 8, 2)] for name, *v in rows}


TABLE_1 = {  # method, alpha: types I and II on CIFAR-10, CIFAR-100, STL-10, TinyImageNet
    ("moco", 0): (89.413, None, 60.956, None, 87.629, None, 42.133, None),
    ("moco", 0.25): (89.376, 89.713, 60.857, 61.217, 87.292, 87.455, 42.420, 42.460),
    ("moco", 1): (89.743, 89.633, 60.997, 61.263, 87.329, 87.442, 42.797, 42.510),
    ("simclr", 0): (89.653, None, 62.655, None, 87.188, None, 44.184, None),
    ("simclr", 0.25): (89.867, 89.557, 62.407, 62.763, 87.200, 87.042, 44.206, 44.197),
    ("simclr", 1): (89.735, 89.767, 62.840, 62.800, 87.300, 87.317, 44.260, 44.260),
}
TABLE_2 = table("""
moco             89.413 0.109  60.956 0.167  87.629 0.175  42.133 0.225
moco.margins     89.840 0.105  61.796 0.254  87.688 0.275  42.860 0.280
moco.pos         90.663 0.159  65.413 0.205  90.357 0.398  48.273 0.405
moco.pos_curv    90.865 0.025  66.095 0.295  90.361 0.057  48.503 0.270
moco.ratio       90.100 0.017  61.767 0.040  88.000 0.078  43.283 0.031
simclr           89.653 0.207  62.655 0.277  87.188 0.145  44.184 0.220
simclr.margins   90.447 0.191  63.507 0.414  87.430 0.220  44.593 0.410
simclr.pos       89.695 0.150  62.917 0.302  87.284 0.248  44.348 0.295
simclr.pos_curv  90.190 0.067  63.503 0.279  87.346 0.156  44.376 0.201
simclr.ratio     89.920 0.066  63.437 0.045  87.658 0.029  45.010 0.040
byol             90.283 0.109  61.006 0.140  87.546 0.668  41.846 0.097
byol.curv        90.485 0.085  61.170 0.340  88.051 0.230  43.332 0.564
""")
TABLE_3 = table("""
moco             75.417 0.241  43.590 0.225  72.013 0.250  31.140 0.130
moco.margins     75.380 0.418  43.190 0.255  72.154 0.654  30.543 0.160
moco.pos         78.847 0.244  55.113 0.434  78.100 0.185  41.825 0.431
moco.pos_curv    78.600 0.042  52.940 0.750  78.734 0.040  41.777 0.690
moco.ratio       76.027 0.074  44.113 0.012  72.567 0.040  32.070 0.050
simclr           77.300 0.014  48.845 0.615  75.533 0.026  35.108 0.453
simclr.margins   76.377 0.301  47.023 0.219  75.617 0.273  34.747 0.430
simclr.pos       76.893 0.220  49.090 0.262  75.675 0.194  35.067 0.380
simclr.pos_curv  76.620 0.190  48.683 0.107  75.571 0.220  34.280 0.215
simclr.ratio     77.440 0.346  49.903 0.025  75.983 0.029  35.237 0.032
byol             75.086 0.156  41.560 0.321  69.433 0.272  30.306 0.309
byol.curv        74.820 0.552  39.445 0.078  72.442 0.366  29.260 0.028
""")
TABLE_9 = table("""
1   91.142 0.218  65.010 0.215  90.280 0.113  45.682 0.151
10  92.386 0.100  69.136 0.421  90.633 0.244  50.478 0.237
20  92.624 0.161  69.466 0.183  90.860 0.122  51.154 0.184
40  92.648 0.171  69.408 0.342  91.098 0.209  51.138 0.362
""")
TABLE_10 = table("""
1   75.298 0.310  40.696 0.327  71.088 0.361  30.358 0.304
10  79.858 0.255  53.028 0.569  77.533 0.101  38.702 0.420
20  80.144 0.105  54.515 0.235  78.623 0.193  40.464 0.341
40  79.800 0.162  54.612 0.317  78.810 0.198  40.600 0.360
""")
STL = 2  # the column tested on STL-10, 8,000 images; the others have 10,000


def other_means() -> list[float]:
    """All means on 10,000 images; Table 1's alpha = 0 repeats Table 2."""
    tables = [row for t in (TABLE_2, TABLE_3, TABLE_9, TABLE_10) for row in t.values()]
    means = [cell[0] for row in tables for i, cell in enumerate(row) if i != STL]
    attenuated = [row for (_, alpha), row in TABLE_1.items() if alpha]
    return means + [x for row in attenuated for i, x in enumerate(row) if i // 2 != STL and x is not None]


def on_grid(mean: float, n: int, images: int = 10_000) -> bool:
    """Whether some count of right answers in n runs rounds to the printed mean."""
    step = 100 / (images * n)
    return abs(round(mean / step) * step - mean) <= 0.0005 + 1e-9


def smallest_n(mean: float, images: int = 10_000) -> int:
    return next(n for n in itertools.count(1) if on_grid(mean, n, images))


def test_m13_simclr_with_margins_lies_above_both_type_i_cells_within_its_deviation() -> None:
    """m1 = 0 there, so "+ margins" is type I at alpha = 1 - exp(-m2/0.25), between the two alphas of Table 1."""
    for dataset, m2, alpha in ((2, 0.2, 0.551), (3, 0.8, 0.959)):
        assert 1 - math.exp(-m2 / 0.25) == pytest.approx(alpha, abs=5e-4)
        mean, std = TABLE_2["simclr.margins"][dataset]
        ends = [TABLE_1["simclr", a][2 * dataset] for a in (0.25, 1)]
        assert all(end is not None and end < mean < end + 2 * std for end in ends)


def test_m17_no_one_number_of_seeds_below_8_fits_every_mean() -> None:
    means = other_means()
    assert len(means) == 120
    fitting = [sum(on_grid(x, n) for x in means) for n in range(1, 11)]
    assert fitting == [32, 42, 77, 102, 65, 102, 95, 120, 110, 120]
    assert {x: smallest_n(x) for x in (89.413, 65.413, 60.956, 61.796, 90.865, 66.095)} == {
        89.413: 3, 65.413: 3, 60.956: 5, 61.796: 5, 90.865: 2, 66.095: 2,
    }  # fmt: skip
    long = [cell[0] for t in (TABLE_9, TABLE_10) for row in t.values() for i, cell in enumerate(row) if i != STL]
    assert [x for x in long if not on_grid(x, 5)] == [54.515]


def test_m17a_last_digits_1_and_9_never_occur() -> None:
    """Up to five runs cannot give them; six to ten runs can."""
    assert {round(1000 * x) % 10 for x in other_means()}.isdisjoint({1, 9})
    reachable = {n: {round(1000 * round(k / n / 100, 3)) % 10 for k in range(1000 * n)} for n in range(1, 11)}
    assert set().union(*(reachable[n] for n in range(1, 6))) == {0, 2, 3, 4, 5, 6, 7, 8}
    assert reachable[8] == reachable[10] == set(range(10))
    assert 0.8 ** len(other_means()) == pytest.approx(2e-12, rel=0.2)


def rounded_runs(mean: float, std: float | None, n: int, ddof: int = 1) -> list[tuple[float, ...]]:
    """n accuracies on 8,000 images, each rounded to three decimals (a half either way), of that mean and deviation."""
    near = [k for k in range(8001) if abs(k / 80 - mean) < 0.4]
    runs = sorted({round(math.floor(k * 12.5 + half) / 1000, 3) for k in near for half in (0.499, 0.5)})
    found = []
    for first in itertools.combinations_with_replacement(runs, n - 1):
        last = [r for r in runs if abs((sum(first) + r) / n - mean) <= 0.0005 + 1e-9]
        found += [
            (*first, r) for r in last if std is None or abs(np.std([*first, r], ddof=ddof) - std) <= 0.0005 + 1e-9
        ]
    return found


def test_m17b_two_stl10_means_need_many_runs_or_a_rounding_of_each_run() -> None:
    assert smallest_n(88.051, 8000) == 9
    assert smallest_n(90.361, 8000) == 7
    assert (87.888, 88.213) in rounded_runs(88.051, 0.230, 2)
    assert [n for n in (2, 3) if rounded_runs(90.361, None, n)] == []
    # four and five runs by their sums: multiples of 0.0125, of which an odd one is rounded by 0.0005, up or down
    for n in (4, 5):
        sums = [k / 80 for k in range(round(90 * n * 80), round(91 * n * 80))]
        odd = [n if (n - round(s * 80)) % 2 == 0 else n - 1 for s in sums]  # most runs that can be odd multiples
        assert not any(abs(s - n * 90.361) <= 0.0005 * (n + o) + 1e-9 for s, o in zip(sums, odd, strict=True))


def runs_of(mean: float, std: float, n: int, ddof: int) -> set[tuple[float, ...]]:
    """All sets of n accuracies on 10,000 images that print as this mean and deviation."""
    totals = [k for k in range(round(mean * 100 * n) - n, round(mean * 100 * n) + n) if abs(k / n / 100 - mean) <= 5e-4]
    middle, reach = round(mean * 100), math.ceil(300 * std) + 3
    found = set()
    for total in totals:
        for first in itertools.combinations_with_replacement(range(middle - reach, middle + reach + 1), n - 1):
            runs = np.array(sorted([*first, total - sum(first)])) / 100
            if abs(runs.std(ddof=ddof) - std) <= 0.0005 + 1e-9:
                found.add(tuple(runs.tolist()))
    return found


def test_m18_pairs_use_both_conventions_of_the_standard_deviation() -> None:
    assert runs_of(90.865, 0.025, 2, ddof=0) == {(90.84, 90.89)}
    assert runs_of(66.095, 0.295, 2, ddof=0) == {(65.80, 66.39)}
    assert runs_of(39.445, 0.078, 2, ddof=1) == {(39.39, 39.50)}
    assert runs_of(41.825, 0.431, 2, ddof=1) == {(41.52, 42.13)}
    other = [(90.865, 0.025, 1), (66.095, 0.295, 1), (39.445, 0.078, 0), (41.825, 0.431, 0)]
    assert not any(runs_of(mean, std, 2, ddof) for mean, std, ddof in other)


def test_m18a_two_triples_exclude_the_sample_deviation() -> None:
    fits = {mean: [bool(runs_of(mean, std, 3, ddof)) for ddof in (0, 1)] for mean, std in
            ((89.413, 0.109), (90.283, 0.109), (44.113, 0.012))}  # fmt: skip
    assert fits == {89.413: [True, False], 90.283: [True, False], 44.113: [True, True]}


def test_m19_the_ratio_rows_deviate_far_less_than_all_others() -> None:
    rows = [(name, cell[1]) for t in (TABLE_2, TABLE_3) for name, row in t.items() for cell in row]
    ratio = [std for name, std in rows if name.endswith("ratio")]
    others = [std for name, std in rows if not name.endswith("ratio")]
    assert len(ratio) == 16
    assert sum(std <= 0.045 for std in ratio) == 11
    assert sum(std <= 0.045 for std in others) == 6
    assert len(others) == 80
    assert np.median(others) / np.median(ratio) == pytest.approx(5.7, abs=0.05)


def means(table: dict[str, list[Cell]], row: str) -> np.ndarray:
    return np.array([cell[0] for cell in table[row]])


def test_m27_for_simclr_plain_margins_beat_what_is_called_the_key() -> None:
    """The abstract calls all but positives and the ratio marginal."""
    margins, pos, ratio = (means(TABLE_2, f"simclr.{name}") for name in ("margins", "pos", "ratio"))
    assert (margins > pos).all()
    assert (margins > ratio).tolist() == [True, True, False, False]
    assert (pos - means(TABLE_2, "simclr") < [cell[1] for cell in TABLE_2["simclr.pos"]]).all()
    assert (means(TABLE_3, "simclr.pos") < means(TABLE_3, "simclr")).tolist() == [True, False, False, True]


def test_m28_a_thousand_epochs_lower_the_baselines_transfer() -> None:
    assert (means(TABLE_10, "1") < means(TABLE_3, "moco")).all()
    assert (means(TABLE_9, "1") > means(TABLE_2, "moco")).all()
    for t in (TABLE_9, TABLE_10):
        assert all((means(t, s) > means(t, "1")).all() for s in ("10", "20", "40"))  # the sentence itself holds


@pytest.mark.parametrize("method", ["moco", "simclr"])
def test_m29_the_ratio_improves_every_cell(method: str) -> None:
    for t in (TABLE_2, TABLE_3):
        assert (means(t, f"{method}.ratio") > means(t, method)).all()


def test_m30_the_ratio_gains_more_for_moco_than_for_simclr() -> None:
    gains = [(means(t, f"{m}.ratio") - means(t, m)).mean() for t in (TABLE_2, TABLE_3) for m in ("moco", "simclr")]
    assert gains == pytest.approx([0.755, 0.586, 0.654, 0.444], abs=5e-4)


def welch(method: str, variant: str) -> list[float]:
    """Two-sided p-values of Tables 2 and 3, three seeds assumed."""
    cells = [(t[f"{method}.{variant}"][i], t[method][i]) for t in (TABLE_2, TABLE_3) for i in range(4)]
    return [ttest_ind_from_stats(*a, 3, *b, 3, equal_var=False).pvalue for a, b in cells]


def test_m31_what_three_seeds_would_show() -> None:
    assert max(welch("moco", "pos")) == pytest.approx(0.0025, abs=5e-5)
    assert min(welch("simclr", "pos")) > 0.08
    assert sum(p < 0.05 for m in ("moco", "simclr") for p in welch(m, "ratio")) == 10
    simclr, moco = (means(TABLE_3, f"{m}.margins") - means(TABLE_3, m) for m in ("simclr", "moco"))
    assert simclr[:2] == pytest.approx([-0.923, -1.822], abs=5e-4)
    assert welch("simclr", "margins")[4:6] == pytest.approx([0.033, 0.025], abs=5e-4)
    assert moco[3] == pytest.approx(-0.597, abs=5e-4)
    assert welch("moco", "margins")[7] == pytest.approx(0.008, abs=5e-4)
