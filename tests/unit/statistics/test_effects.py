"""Effects against independent implementations: statsmodels' OLS, CompareMeans and DescrStatsW, hand-worked p."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from hypersphere import t_test
from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured
from hypersphere.statistics import effects, effects_table

from ...golden.released import configured
from .world import PAPER, RULES, STUDY, Make, World, at, gain


def arms(**values: list[float]) -> effects.Arms:
    return {
        name: pd.Series(group, index=range(len(group)), dtype=float)
        for name, group in values.items()
    }


UNEQUAL = arms(a=[50.1, 51.9, 50.8, 52.0], b=[56.0, 55.1, 57.2], c=[70.0, 71.5], lone=[64.0])


@pytest.mark.parametrize("variant", ["b", "c"])
def test_the_pooled_effect_is_that_of_ordinary_least_squares(variant: str) -> None:
    long = pd.concat([pd.DataFrame({"arm": name, "y": group}) for name, group in UNEQUAL.items()])
    fit = smf.ols("y ~ C(arm, Treatment('a'))", long).fit()
    term = f"C(arm, Treatment('a'))[T.{variant}]"
    pooled = effects.pool(UNEQUAL.values())
    ours = effects.pooled_test(UNEQUAL[variant], UNEQUAL["a"], pooled)
    assert ours.interval(fit.params[term], 0.95) == pytest.approx(fit.conf_int().loc[term].tolist())
    assert ours.p(fit.params[term]) == pytest.approx(fit.pvalues[term])
    assert pooled.df == fit.df_resid == 6
    assert pooled.std == pytest.approx(fit.mse_resid**0.5)


def test_welch_is_that_of_statsmodels_and_primary_where_both_arms_have_three_runs() -> None:
    own = UNEQUAL["b"], UNEQUAL["a"]
    expected, ours = CompareMeans(*map(DescrStatsW, own)), effects.effect(*own, UNEQUAL, RULES)
    assert [ours["low"], ours["high"]] == pytest.approx(expected.tconfint_diff(usevar="unequal"))
    _, p, df = expected.ttest_ind(usevar="unequal")
    assert (ours["test"], ours["p"], ours["df"]) == ("welch", pytest.approx(p), pytest.approx(df))


def test_a_collapsed_arm_adds_no_variance_and_no_degrees_of_freedom() -> None:
    """In the pool its three equal runs would make the interval narrower.

    Beside one other arm: Welch's test with one variance of 0, whatever the other rows: that of one sample.
    """
    pairs = arms(a=[50.0, 52.0], b=[53.0, 55.0])
    collapsed = pairs | arms(c=[10.0, 10.0, 10.0])
    alone, beside = (
        effects.effect(groups["b"], groups["a"], groups, RULES) for groups in (pairs, collapsed)
    )
    assert [beside[name] for name in ("low", "high", "p", "df")] == [
        alone[name] for name in ("low", "high", "p", "df")
    ]
    assert (
        effects.pool(collapsed.values(), constant=True).df
        == effects.pool(collapsed.values()).df + 2
    )
    tight = arms(c=[60.0, 60.1, 60.2], d=[70.0, 70.1, 70.2])
    groups = arms(a=[10.0, 10.0, 40.0], b=[10.0, 10.0, 10.0]) | tight
    row = effects.effect(groups["a"], groups["b"], groups, RULES)
    expected = stats.ttest_1samp([10.0, 10.0, 40.0], 10.0)
    low, high = expected.confidence_interval(0.95)
    assert (row["test"], row["df"]) == ("welch", 2)
    assert (row["p"], row["low"], row["high"]) == pytest.approx(
        (expected.pvalue, low - 10, high - 10)
    )
    assert row["p"] == pytest.approx(0.42, abs=0.005)


def test_two_runs_pool_only_rows_that_vary_no_less() -> None:
    """Rows of 10.00 and 10.01 beside arms that vary by 1: the F test with 6 and 2 degrees of freedom is scipy's."""
    own = arms(a=[50.0, 52.0], b=[53.0, 54.0])
    for spread, pooled in ((0.01, False), (0.4, False), (2.0, True), (9.0, True)):
        others = arms(**{str(i): [10.0, 10.0 + spread] for i in range(6)})
        variance, ours = spread**2 / 2, (2.0 + 0.5) / 2
        assert (stats.f.cdf(variance / ours, 6, 2) >= RULES.pooled_if) == pooled
        row = effects.effect(own["b"], own["a"], own | others, RULES)
        assert (row["test"], row["df"]) == ("pooled", 8 if pooled else 2)
        expected = ((6 * variance + 2 * ours) / 8 if pooled else ours) ** 0.5
        assert row["pooled_std"] == pytest.approx(expected)
        # the error: std * sqrt(1/2 + 1/2)
        interval = stats.t.interval(0.95, row["df"], loc=53.5 - 51, scale=expected)
        assert [row["low"], row["high"]] == pytest.approx(interval)


def test_pairing_uses_shared_seeds_only_whatever_their_order() -> None:
    variant = pd.Series([57.0, 55.1, 56.2, 90.0], index=[2, 0, 1, 9])
    baseline = pd.Series([50.1, 51.9, 50.8, 10.0], index=[0, 1, 2, 8])
    differences = DescrStatsW(np.array([55.1 - 50.1, 56.2 - 51.9, 57.0 - 50.8]))
    ours = effects.effect(variant, baseline, {"a": variant, "b": baseline}, RULES)
    assert ours["n_pairs"] == 3
    assert [ours["paired_low"], ours["paired_high"]] == pytest.approx(differences.tconfint_mean())
    assert ours["paired_p"] == pytest.approx(differences.ttest_mean(0)[1])
    assert ours["correlation"] == pytest.approx(
        np.corrcoef([55.1, 56.2, 57.0], [50.1, 51.9, 50.8])[0, 1]
    )
    two_runs = arms(a=[57.0, 55.1], b=[50.1, 51.9])
    two = effects.effect(*two_runs.values(), two_runs, RULES)
    # two points lie on a line always; of their difference there is an interval
    assert np.isnan(two["correlation"])
    assert two["paired_low"] < (6.9 + 3.2) / 2 < two["paired_high"]


@pytest.mark.parametrize("n", [2, 5, 20])
def test_detectable_effect_is_that_of_statsmodels_where_df_is_the_usual(n: int) -> None:
    expected = TTestIndPower().solve_power(nobs1=n, alpha=0.05, power=0.8)
    test = effects.Test("pooled", 2.5 * (2 / n) ** 0.5, 2 * n - 2)
    ours = effects.detectable(test, RULES)
    # two-sided power also counts the wrong side
    assert ours == pytest.approx(2.5 * expected, rel=1e-4)


def test_holm_worked_by_hand() -> None:
    adjusted, levels = effects.holm([0.01, 0.04, 0.03, float("nan"), 0.005], 0.05, 4)
    # sorted 0.005*4, 0.01*3, 0.03*2, then max(0.06, 0.04*1); the third fails, so the fourth keeps its level 0.05/2
    assert adjusted[[4, 0, 2, 1]] == pytest.approx([0.02, 0.03, 0.06, 0.06])
    assert levels[[4, 0, 2, 1]] == pytest.approx([0.05 / 4, 0.05 / 3, 0.05 / 2, 0.05 / 2])
    assert np.isnan([adjusted[3], levels[3]]).all()
    # 0.025 = 0.05/2 and 0.05 = 0.05/1: no step fails, and each row keeps its own level
    adjusted, levels = effects.holm([0.025, 0.05], 0.05, 2)
    assert (adjusted.tolist(), levels.tolist()) == ([0.05, 0.05], [0.025, 0.05])
    assert len(effects.holm([], 0.05, 0)[0]) == 0


@pytest.mark.parametrize("not_run", [0, 2])
def test_holm_is_that_of_statsmodels(not_run: int) -> None:
    """Comparisons that were not run count as if their p were 1; a row without a p is no test."""
    draws = np.random.default_rng(0)
    for n in (0, 1, 2, 7, 40):
        p = draws.uniform(0, 0.3, n).round(2)  # with ties
        expected = multipletests([*p, *[1.0] * not_run], method="holm")[1][:n] if n else []
        adjusted, levels = effects.holm([*p, math.nan], 0.05, n + not_run)
        np.testing.assert_array_equal(adjusted, [*expected, math.nan])
        assert np.isnan(levels[-1])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-30, 30), st.floats(0.1, 5)), min_size=1, max_size=8),
    st.integers(min_value=1, max_value=40),
)
def test_the_holm_interval_excludes_zero_exactly_where_holm_rejects(
    pairs: list[tuple[float, float]], df: int
) -> None:
    p = [t_test.t_p(centre, error, df) for centre, error in pairs]
    adjusted, levels = effects.holm(p, 0.05, len(p))
    assume(all(abs(value - 0.05) > 1e-9 for value in adjusted))  # on the edge, rounding decides
    for (centre, error), rejected, level in zip(pairs, adjusted <= 0.05, levels, strict=True):
        low, high = t_test.t_interval(centre, error, df, 1 - level)
        assert (low > 0 or high < 0) == rejected


@pytest.mark.parametrize(
    "others", [arms(), arms(c=[60.0, 60.1, 60.2], d=[70.0, 70.1, 70.2])], ids=["alone", "beside"]
)
@pytest.mark.parametrize(
    ("baseline", "variant"),
    [
        ([50.0], [55.0]),
        ([49.0, 50.0, 51.0], [55.0]),
        ([50.0] * 2, [55.0] * 2),
        ([50.0] * 3, [55.0] * 3),
    ],
    ids=[
        "one run an arm",
        "one run in an arm",
        "two seeds that change nothing",
        "three seeds that change nothing",
    ],
)
def test_without_a_spread_of_their_own_there_is_an_effect_but_no_p(
    baseline: list[float], variant: list[float], others: effects.Arms
) -> None:
    own = arms(a=baseline, b=variant)
    ours = effects.effect(own["b"], own["a"], own | others, RULES)
    assert (ours["effect"], ours["test"]) == (5.0, "")
    unknown = ["low", "high", "p", "paired_p", "correlation", "detectable"]
    assert np.isnan([ours[name] for name in unknown]).all()
    assert ours["low_power"]


FINALS = {
    "simclr.default": [50.0, 51.0, 52.0],
    "simclr.cut3": [53.0, 54.0, 55.0],
    "simsiam.default": [40.0, 41.0, 42.0],
    "simsiam.cut9": [44.0, 46.0, 48.0],
}


def fill(world: World) -> None:
    for row, finals in FINALS.items():
        world.say("table5", at(row), finals)


def test_a_table_corrects_over_all_that_it_declares(make_world: Make) -> None:
    world = make_world()
    fill(world)
    for row, finals in FINALS.items():
        world.say("table5", at(row, dataset="hundred"), [value - 20 for value in finals])
    found = world.tidy("table5", "effects")
    assert found[["coordinates", "baseline", "measured_on"]].to_numpy().tolist() == [
        [at(f"{method}.{cut}", dataset=dataset), at(f"{method}.default", dataset=dataset), used]
        for method, cut in (("simclr", "cut3"), ("simsiam", "cut9"))
        for dataset, used in (("ten", "digits"), ("hundred", "pairs"))
    ]
    # effects 3 and 5; variances 1, 1, 1, 4 over 2 df each: pooled 7/4
    assert found["effect"].tolist() == [3.0, 3.0, 5.0, 5.0]
    # the last two of arms of 1 and 4: 1 / 2.5 = 0.4 is below the quarter of F(4, 4), x^2 (3 + x) / (1 + x)^3 = 0.198
    assert found["pooled_std"].tolist() == pytest.approx([1.75**0.5] * 2 + [2.5**0.5] * 2)
    # Welch by hand: variances 1 and 1 have df 4; 1 and 4 have (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 50/17
    assert found["df"].tolist() == pytest.approx([4, 4, 50 / 17, 50 / 17])
    assert found["low_power"].tolist() == [False, False, True, True]  # under four
    errors = {3: (2 / 3) ** 0.5, 5: (5 / 3) ** 0.5}
    p3, p5 = 2 * stats.t.sf(3 / errors[3], 4), 2 * stats.t.sf(5 / errors[5], 50 / 17)
    # Holm over the eight declared ones, four of which were not run: 8 p3, 7 p3 (raised), 6 p5, 5 p5 (raised)
    assert found["p_holm"].tolist() == pytest.approx([8 * p3, 8 * p3, 6 * p5, 6 * p5])
    # none is rejected, so that all intervals are at the level of the first step
    half = {
        3: stats.t.ppf(1 - 0.05 / 16, 4) * errors[3],
        5: stats.t.ppf(1 - 0.05 / 16, 50 / 17) * errors[5],
    }
    assert found["low_holm"].tolist() == pytest.approx([x - half[x] for x in (3, 3, 5, 5)])
    assert found["high_holm"].tolist() == pytest.approx([x + half[x] for x in (3, 3, 5, 5)])
    assert found["low"][:2].tolist() == pytest.approx([3 - stats.t.ppf(0.975, 4) * errors[3]] * 2)


def test_further_comparisons_are_of_the_same_family(make_world: Make) -> None:
    """SimCLR's default with SimSiam's on two datasets, one of which is not run: 8 + 2 declared. Worked by hand."""
    of = {"method": "simclr", "variant": "default", "dataset": ["ten", "flowers"]}
    table5 = PAPER["artifacts"]["table5"] | {"also": [{"of": of, "against": {"method": "simsiam"}}]}
    world = make_world(paper={"artifacts": {"table5": table5}})
    fill(world)
    found = world.tidy("table5", "effects")
    last = found.iloc[-1]
    assert (last["coordinates"], last["baseline"]) == (at("simclr.default"), at("simsiam.default"))
    assert last["effect"] == pytest.approx(
        np.mean(FINALS["simclr.default"]) - np.mean(FINALS["simsiam.default"])
    )
    assert found["p_holm"].min() == pytest.approx(10 * found["p"].min())


def test_a_baseline_that_is_no_cell_gives_no_row(make_world: Make) -> None:
    """A sparse table: one dataset of two has a baseline, at another epoch."""
    rows = [
        {"method": "simclr", "variant": variant, "epoch": epoch, "dataset": dataset}
        for variant, epoch, dataset in (
            ("default", 4, "ten"),
            ("cut3", 2, "ten"),
            ("cut3", 2, "hundred"),
        )
    ]
    own = {"rows": rows, "columns": {}, "baseline": {"variant": "default", "epoch": 4}}
    world = make_world(paper={"artifacts": {"table5": PAPER["artifacts"]["table5"] | own}})
    _, compared, _ = world.plan.config.papers["norms"].measured["table5"].points
    assert world.tidy("table5", "effects")["coordinates"].tolist() == [coordinates.text(compared)]


def test_spreads_are_pooled_over_training_alone(make_world: Make) -> None:
    """Another dataset, however wide its spread, widens no interval of this one; and so with epochs and targets."""
    world = make_world()
    fill(world)
    for row in FINALS:
        world.say("table5", at(row, dataset="hundred"), [10.0, 50.0, 90.0])
    found = world.tidy("table5", "effects")
    assert found.loc[at("simclr.cut3"), "pooled_std"] == pytest.approx(1.75**0.5)
    assert found.loc[at("simclr.cut3", dataset="hundred"), "pooled_std"] == pytest.approx(40.0)
    for row, finals in list(FINALS.items())[:2]:
        world.say("epochs", at(row, epoch=50), [1.0, 20.0, 60.0])
        world.say("epochs", at(row, epoch=100), finals)
    found = world.tidy("epochs", "effects")
    assert found.loc[at("simclr.cut3", epoch=100), ["effect", "pooled_std", "df"]].tolist() == [
        3.0,
        1.0,
        4.0,
    ]
    assert found.loc[at("simclr.cut3", epoch=50), "pooled_std"] == pytest.approx(
        np.std([1, 20, 60], ddof=1)
    )


def test_an_epoch_may_be_the_baseline(make_world: Make) -> None:
    """Epoch 100 against epoch 50 of the same variant, by the spread of the cells of both epochs and of no third."""
    gains = PAPER["artifacts"]["epochs"] | {"baseline": {"epoch": 50}}
    world = make_world(paper={"artifacts": {"gains": gains}})
    for row, end in (("simclr.default", 60.0), ("simclr.cut3", 65.0)):
        world.say("gains", at(row, epoch=0), [1.0, 30.0, 90.0])
        world.say("gains", at(row, epoch=50), [50.0, 51.0, 52.0])
        world.say("gains", at(row, epoch=100), [end, end + 2, end + 4])
    found = world.tidy("gains", "effects")
    for row, effect in (("simclr.default", 11.0), ("simclr.cut3", 16.0)):
        last = found.loc[at(row, epoch=100)]
        assert (last["effect"], last["baseline"]) == (effect, at(row, epoch=50))
        assert last["pooled_std"] == pytest.approx(2.5**0.5)  # variances 1, 1, 4, 4


def test_two_readings_of_the_same_encoders_are_paired(make_world: Make) -> None:
    """statsmodels' test of the differences. Another variant, the control, is not, and has pairs by seed beside it."""
    probes: dict[str, Any] = {
        **{
            "draw": "dots",
            "title": "t",
            "measure": "knn_top1",
            "fixed": {"method": "simclr", "dataset": "ten"},
        },
        **{
            "x": {"by": ["knn", "knn_few"], "variant": ["default", "cut3"]},
            "baseline": {"by": "knn"},
        },
        "also": [{"of": {"by": "knn", "variant": "cut3"}, "against": {"variant": "default"}}],
    }
    few = {"knn_few": {"like": "knn", "probe": {"name": "knn", "k": 3}}}
    world = make_world(
        paper={"artifacts": {"probes": probes}, "evaluations": PAPER["evaluations"] | few}
    )
    for by, values in (("knn", [50.0, 60.0, 70.0]), ("knn_few", [51.0, 62.0, 71.0])):
        world.say("probes", at("simclr.default", by=by), values)
    world.say("probes", at("simclr.cut3", by="knn"), [None, 42.0, 45.0])
    found = world.tidy("probes", "effects")
    row, other = (
        found.loc[at("simclr.default", by="knn_few")],
        found.loc[at("simclr.cut3", by="knn")],
    )
    differences = DescrStatsW([1.0, 2.0, 1.0])
    assert (row["test"], row["df"], row["effect"]) == ("paired", 2, pytest.approx(4 / 3))
    assert [row["low"], row["high"]] == pytest.approx(differences.tconfint_mean())
    assert row["p"] == pytest.approx(differences.ttest_mean(0)[1])
    assert (other["test"], other["effect"], other["n_pairs"]) == ("pooled", 43.5 - 60, 2)
    assert (other["paired_low"] + other["paired_high"]) / 2 == pytest.approx(
        (42 - 60 + 45 - 70) / 2
    )


def test_only_encoders_with_both_readings_are_compared() -> None:
    """By hand: two of four encoders have both, 1 and 3 apart. Unpaired, the control, the means are 8 apart."""
    few, baseline = pd.Series({0: 51.0, 1: 63.0}), pd.Series({0: 50.0, 1: 60.0, 2: 40.0, 3: 46.0})
    row = effects.effect(few, baseline, {"few": few, "all": baseline}, RULES, of_pairs=True)
    assert (row["effect"], row["n_variant"], row["n_baseline"], row["df"]) == (2.0, 2, 2, 1)
    assert effects.effect(few, baseline, {"few": few, "all": baseline}, RULES)["effect"] == 8.0


# A study's comparisons: many arms, pairs, A/A arms, equivalence, and cells level with a control.

SAID = {
    "default": [60.0, 61.0, 62.0, 63.0],
    "cut3": [60.2, 61.1, 62.2, 63.1],
    "cut9": [66.0, 67.5, 65.0, 68.0],
    "again": [61.0, 61.5, 62.5, 61.0],
}


def of_study(
    make_world: Make, said: dict[str, Any] = SAID, **study: Any
) -> dict[str, dict[str, Any]]:
    """effects.csv of the study, by variant."""
    cuts = STUDY | {
        "arms": [{"method": "simclr", "dataset": "ten", "variant": [*SAID]}],
        "seeds": {"confirmation": [0, 1, 2, 3], "again": [10, 11, 12, 13]},
    }
    variants = {"variants": PAPER["variants"] | {"again": {}}}
    world = make_world(level="laptop", paper=variants | {"studies": {"s": cuts | study}})
    for variant, values in said.items():
        world.say("s", at(variant=variant), values)
    world.of_pixels("digits", "knn", {"knn_top1": 20.0, "knn_top5": 50.0})
    world.measure("s")
    return {row["variant"]: row for row in world.table("s", "effects").to_dict("records")}


def test_an_a_a_arm_keeps_its_own_interval_and_is_in_no_family(make_world: Make) -> None:
    """Holm over two comparisons: the smaller p doubles, the larger stays. Three would treble the smaller."""
    found = of_study(make_world)
    assert {name: row["in_family"] for name, row in found.items()} == {
        "cut3": True,
        "cut9": True,
        "again": False,
    }
    p = {
        name: stats.ttest_ind(SAID[name], SAID["default"], equal_var=False).pvalue for name in found
    }
    assert found["cut9"]["p_holm"] == pytest.approx(2 * p["cut9"])
    assert found["cut3"]["p_holm"] == pytest.approx(p["cut3"])
    assert found["again"]["p"] == pytest.approx(p["again"])
    assert np.isnan(found["again"]["p_holm"])
    assert found["again"]["low"] < 0 < found["again"]["high"]
    assert not found["cut3"]["equivalent"]  # unpaired, it may differ by a point


def test_pairs_are_compared_seed_by_seed_within_the_studys_margin_and_the_a_a_arm_is_not(
    make_world: Make,
) -> None:
    """cut3 differs by 0.15 +- 0.07, paired: within a point, and not within a tenth of one."""
    found = of_study(make_world, test="paired")
    assert found["cut3"]["p"] == pytest.approx(
        stats.ttest_rel(SAID["cut3"], SAID["default"]).pvalue
    )
    assert (found["cut3"]["test"], found["again"]["test"]) == ("paired", "welch")
    assert found["cut3"]["equivalent"]
    assert not of_study(make_world, test="paired", margin=0.1)["cut3"]["equivalent"]


MANY = [f"arm{at}" for at in range(15)]
ONE_TO_MANY: dict[str, Any] = {
    **{"draw": "table", "title": "A study", "measure": "knn_top1", "fixed": {"method": "simclr"}},
    **{
        "rows": {"variant": ["default", *MANY]},
        "columns": {"dataset": "ten"},
        "baseline": {"variant": "default"},
    },
}
SPREADS = st.lists(st.sampled_from([0.0, 0.01, 0.49, 1.0, 3.5]), min_size=15, max_size=15)


def many_to_one(test: str, values: np.ndarray) -> list[dict[str, Any]]:
    """effects.csv of a baseline, the first row of values, and fifteen arms."""
    artifact = Measured.model_validate(ONE_TO_MANY | {"test": test})
    cells = [coordinates.text(point) for point in artifact.points]
    seeds = values.shape[1]
    table = pd.DataFrame(
        {"coordinates": np.repeat(cells, seeds), "value": values.ravel(), "status": "finished"}
    )
    table["seed"] = np.tile(range(seeds), len(cells))
    declared = dict.fromkeys(cells, seeds)
    return effects_table.of_artifact(table, artifact, declared, RULES).to_dict("records")


def own_test(test: str, arm: np.ndarray, baseline: np.ndarray) -> Any:
    """Scipy's test of two arms alone."""
    return (
        stats.ttest_rel(arm, baseline)
        if test == "paired"
        else stats.ttest_ind(arm, baseline, equal_var=False)
    )


def levels_of_holm(p: np.ndarray) -> np.ndarray:
    """The level at which each comparison stands, step by step: the first that is not clear stays, with all after it."""
    left, levels, stopped = len(p), np.empty(len(p)), False
    for next_one in np.argsort(p, kind="stable"):
        levels[next_one] = RULES.alpha / left
        stopped = stopped or p[next_one] > levels[next_one]
        left -= not stopped
    return levels


DECLARED = {
    artifact.test for paper in configured().papers.values() for artifact in paper.measured.values()
}
"""The tests that released artifacts and studies name."""


@pytest.mark.filterwarnings("ignore:Precision loss")  # of arms that are constant
@pytest.mark.parametrize("test", sorted(DECLARED))
@settings(max_examples=2, derandomize=True, deadline=None)
@given(SPREADS, st.sampled_from([5, 7, 10]), st.sampled_from([0.0, 3.5]), st.integers(0, 2**32 - 1))
def test_an_arm_however_noisy_or_collapsed_changes_no_other_comparison_but_for_its_step_of_holm(
    test: str, spreads: list[float], seeds: int, odd: float, seed: int
) -> None:
    """Each has the p and intervals of scipy's test of its two arms alone, and statsmodels' correction of all p.

    So the first arm, which is replaced by one far off, constant or noisy, can change the others' level alone.
    """
    draws = np.random.default_rng(seed).standard_normal((16, seeds))
    values = 40 + draws * np.array([[0.49], *([one] for one in spreads)])
    for first in (values[1], 26 + odd * draws[1]):
        values[1] = first
        rows = many_to_one(test, values)
        alone = [own_test(test, arm, values[0]) for arm in values[1:]]
        p = np.array([row["p"] for row in rows])
        assert p == pytest.approx([one.pvalue for one in alone], rel=1e-6, abs=1e-12)
        assert [row["p_holm"] for row in rows] == pytest.approx(
            multipletests(p, RULES.alpha, method="holm")[1]
        )
        for row, own, level in zip(rows, alone, levels_of_holm(p), strict=True):
            intervals = [
                *own.confidence_interval(1 - RULES.alpha),
                *own.confidence_interval(1 - level),
            ]
            found = [row[end] for end in ("low", "high", "low_holm", "high_holm")]
            assert found == pytest.approx(intervals, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("pixels", "floor", "answer"),
    [(20.0, "", "holds"), (62.0, "pixels", "direction only"), (90.0, "pixels", "cannot tell")],
)
def test_a_cell_that_is_not_above_raw_pixels_is_marked(
    make_world: Make, pixels: float, floor: str, answer: str
) -> None:
    """cut3 is 6 points better: over a baseline at the floor that has no size, and with both at it nothing is read."""
    world = make_world(level="laptop", seeds=(0, 1, 2, 3))
    world.say("table5", at(), SAID["default"])
    world.say("table5", at(variant="cut3"), SAID["cut9"])
    world.of_pixels("digits", "knn", {"knn_top1": pixels, "knn_top5": 50.0})
    world.measure("table5")
    assert world.table("table5", "summary").loc[at(), "floor"] == floor
    judged = world.judged(gain("g"))["g"]
    assert judged["answer"] == answer
    assert ("the baseline is not shown to be above raw pixels" in judged["why"]) == bool(floor)


# How many runs would answer a comparison.


def test_runs_to_see_an_effect_are_those_of_statsmodels() -> None:
    """Its one-sided test at alpha / 2 finds an effect on its side. Without effect or spread there is no price."""
    for effect in (0.2, 0.5, -1.0, 1.5):
        n = TTestIndPower().solve_power(
            abs(effect), alpha=RULES.alpha / 2, power=RULES.power, alternative="larger"
        )
        assert effects.runs_to_see(effect, 1.0, RULES) == math.ceil(n)
        assert effects.runs_to_see(3 * effect, 3.0, RULES) == math.ceil(n)
    for effect, spread in ((0.0, 1.0), (1.0, math.nan), (1.0, 0.0), (1e-6, 1.0)):
        assert math.isnan(effects.runs_to_see(effect, spread, RULES))
    assert math.isnan(effects.runs_to_equate(1.0, math.nan, RULES))
    assert effects.runs_to_see(100.0, 1.0, RULES) == 2


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_equal_arms_of_so_many_runs_are_found_equal_with_the_stated_power(margin: float) -> None:
    """20,000 simulated pairs: their share is within 0.02 of its expectation but for 1 in 10^8 (Hoeffding: 2 e^-16)."""
    n = int(effects.runs_to_equate(margin, 1.0, RULES))

    def power(runs: int) -> float:
        a, b = np.random.default_rng([runs]).standard_normal((2, 20_000, runs))
        found = stats.ttest_ind(a, b, axis=1, equal_var=False).confidence_interval(
            RULES.equivalence
        )
        return float(((found.low > -margin) & (found.high < margin)).mean())

    assert power(n) > RULES.power - 0.02
    assert power(max(2, n - n // 5)) < RULES.power - 0.02


def test_a_comparison_that_needs_more_runs_than_are_tried_has_no_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of one standard deviation Welch's test needs 17 runs an arm (statsmodels: 16.7 for a power of 80 %)."""
    needed = TTestIndPower().solve_power(1.0, alpha=RULES.alpha, power=RULES.power)
    assert math.ceil(needed) == 17
    for most, found in ((18, 17.0), (17, 17.0), (16, math.nan)):
        monkeypatch.setattr(effects, "MOST", most)
        assert effects.runs_to_see(2.0, 2.0, RULES) == pytest.approx(found, nan_ok=True)
