"""From effects to what is known of a claim: tests, prices, shortcomings, rungs and criteria, worked by hand."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hypersphere.config.artifacts import Measured
from hypersphere.config.certainty import SHORTCOMINGS, load_certainty
from hypersphere.config.claims import Claim
from hypersphere.config.coordinates import in_order, parse
from hypersphere.config.rules import Verdict
from hypersphere.provenance import columns
from hypersphere.statistics import (
    best_evidence,
    effects,
    effects_table,
    false_calls,
    judged_records,
    ladder,
    price,
    replication,
)
from hypersphere.statistics import shortcomings as finding
from hypersphere.t_test import t_interval

from ...golden.released import ROOT
from .world import CLAIM, RULES, at

NAN = math.nan
CERTAINTY = load_certainty(ROOT)


def arm(*values: float) -> pd.Series:
    return pd.Series(values, index=range(len(values)), dtype=float)


# Which test, of what.


@pytest.mark.parametrize(
    ("variant", "baseline", "test"),
    [
        (arm(1.0, 2.0, 3.0), arm(4.0, 5.5, 6.0), "welch"),  # three runs in both
        (arm(1.0, 2.0), arm(4.0, 5.5, 6.0), "pooled"),
        (arm(1.0, 2.0, 3.0), arm(4.0, 5.5), "pooled"),
        (arm(1.0), arm(4.0, 5.5, 6.0), ""),
    ],
)
def test_welch_needs_three_runs_in_both_arms(
    variant: pd.Series, baseline: pd.Series, test: str
) -> None:
    row = effects.effect(variant, baseline, {"a": variant, "b": baseline}, RULES)
    assert row["test"] == test
    assert (row["n_variant"], row["n_baseline"]) == (len(variant), len(baseline))
    assert row["effect"] == pytest.approx(variant.mean() - baseline.mean())


def test_the_columns_of_an_effect_are_of_their_own_levels() -> None:
    variant, baseline = arm(56.0, 57.5, 55.0, 58.0), arm(51.0, 50.0, 53.0, 51.5)
    row = effects.effect(variant, baseline, {"a": variant, "b": baseline}, RULES)
    welch = stats.ttest_ind(variant, baseline, equal_var=False)
    paired = stats.ttest_rel(variant, baseline)
    expected = {
        ("low", "high"): welch.confidence_interval(0.95),
        ("low_equal", "high_equal"): welch.confidence_interval(0.90),
        ("paired_low", "paired_high"): paired.confidence_interval(0.95),
    }
    for ends, interval in expected.items():
        assert [row[end] for end in ends] == pytest.approx(interval)
    assert (row["p"], row["paired_p"]) == pytest.approx((welch.pvalue, paired.pvalue))
    assert row["correlation"] == pytest.approx(stats.pearsonr(variant, baseline).statistic)
    assert row["df"] == pytest.approx(welch.df)


@pytest.mark.parametrize(
    ("own", "other", "known"),
    [
        ([1.0, 2.0, 4.0], [3.0, 5.0, 5.5], True),
        ([1.0, 2.0], [3.0, 5.0], False),  # two points lie on a line
        ([1.0, 1.0, 1.0], [3.0, 5.0, 5.5], False),
        ([1.0, 2.0, 4.0], [3.0, 3.0, 3.0], False),
    ],
)
def test_a_correlation_needs_three_seeds_and_arms_that_vary(
    own: list[float], other: list[float], known: bool
) -> None:
    assert math.isnan(effects.correlation(np.array(own), np.array(other))) != known


def test_a_pooled_test_needs_two_runs_in_each_arm_and_a_spread() -> None:
    """Student's: the standard error of a difference of two means, of two and of three runs of deviation 0.5."""
    two, three = arm(1.0, 2.0), arm(1.0, 2.0, 3.0)
    found = effects.pooled_test(two, three, effects.Pooled(0.5, 7))
    assert (found.name, found.df) == ("pooled", 7)
    assert found.error == pytest.approx(0.5 * math.sqrt(1 / 2 + 1 / 3))
    for other, std in ((three, 0.0), (three, NAN), (arm(1.0), 0.5)):
        assert effects.pooled_test(two, other, effects.Pooled(std, 7)) == effects.NO_TEST


def test_an_effect_that_a_test_would_find() -> None:
    """Scipy's noncentral t: at the detectable effect a one-sided test at 2.5 % has a power of 80 %."""
    for df in (2, 4, 18):
        found = effects.detectable(effects.Test("welch", 0.5, df), RULES)
        critical = stats.t.ppf(0.975, df)
        assert stats.nct.sf(critical, df, found / 0.5) == pytest.approx(0.8, abs=1e-6)
    assert math.isnan(effects.detectable(effects.NO_TEST, RULES))


@pytest.mark.parametrize(("df", "low"), [(3.999, True), (4.0, False)])
def test_low_power_is_less_than_four_degrees_of_freedom(
    monkeypatch: pytest.MonkeyPatch, df: float, low: bool
) -> None:
    monkeypatch.setattr(effects, "primary", lambda *of: effects.Test("welch", 0.5, df))
    assert effects.effect(arm(1.0, 2.0, 3.0), arm(1.0, 2.0, 4.0), {}, RULES)["low_power"] == low


def test_a_spread_is_borrowed_unless_the_others_vary_less() -> None:
    """At the very level of the F test it is: 0.25 is the chance of a ratio as small."""
    own = arm(0.0, 1.0)
    at_level = stats.f.ppf(RULES.pooled_if, 3, 1)
    for factor, borrowed in ((0.99, False), (1.01, True)):
        std = math.sqrt(own.var() * at_level * factor)
        others = {str(at): arm(0.0, std * math.sqrt(2)) for at in range(3)}
        pooled = effects.pool_for([own], {"own": own, **others}, RULES)
        assert pooled.df == (4 if borrowed else 1)
        expected = (own.var() + 3 * std**2) / 4 if borrowed else own.var()
        assert pooled.std == pytest.approx(math.sqrt(expected))
    alone = effects.pool_for([own], {"own": own, "flat": arm(2.0, 2.0)}, RULES)
    assert alone == effects.pool([own])
    flat = effects.pool_for([arm(2.0, 2.0)], {"own": own}, RULES)
    assert flat.df == 0
    assert math.isnan(flat.std)


@pytest.mark.parametrize(
    ("point", "alike"),
    [
        ("method=m;variant=b;dataset=d;measure=knn_top1;optimiser.weight_decay=1", True),
        ("method=n;variant=a;dataset=d;measure=knn_top1", True),
        ("method=m;variant=a;dataset=e;measure=knn_top1", False),
        ("method=m;variant=a;dataset=d;measure=linear_top1", False),
        ("method=m;variant=a;dataset=d;measure=knn_top1;epoch=5", False),
        ("method=m;variant=a;dataset=d;measure=knn_top1;target=t", False),
    ],
)
def test_a_layout_is_what_differs_by_training_alone(point: str, alike: bool) -> None:
    first = parse("method=m;variant=a;dataset=d;measure=knn_top1", "here")
    assert (effects_table.layout(first) == effects_table.layout(parse(point, "here"))) == alike


TWO: dict[str, Any] = {
    "draw": "table",
    "title": "t",
    "measure": "knn_top1",
    "fixed": {"method": "simclr", "dataset": "ten"},
    "rows": {"variant": ["default", "cut3", "cut9", "again"]},
    "columns": {"epoch": [50, 100]},
    "baseline": {"variant": "default"},
}


def of_artifact(values: dict[str, list[float | None]], **declared: Any) -> dict[str, Any]:
    """effects.csv by variant, at epoch 100; None: a seed's run diverged. Four seeds are declared."""
    rows = [
        {
            "coordinates": at(f"simclr.{variant}", epoch=100),
            "seed": seed,
            "value": NAN if value is None else value,
            "status": "diverged" if value is None else "finished",
        }
        for variant, of_seeds in values.items()
        for seed, value in enumerate(of_seeds)
    ]
    artifact = Measured.model_validate(TWO | declared)
    seeds = {point.text: 4 for point in artifact.points} | {at(epoch=100): 5}
    found = effects_table.of_artifact(pd.DataFrame(rows), artifact, seeds, RULES)
    return {row["coordinates"]: row for row in found.to_dict("records")}


DEFAULT = [60.0, 61.0, 62.0, 63.0]


def test_seeds_that_are_not_there_are_missing_and_those_that_diverged_are_not() -> None:
    found = of_artifact({"default": [*DEFAULT, None], "cut3": [66.0, 67.5, None], "cut9": DEFAULT})
    cut3, cut9 = (found[at(f"simclr.{name}", epoch=100)] for name in ("cut3", "cut9"))
    assert (cut3["n_variant"], cut3["n_baseline"], cut3["n_declared"]) == (2, 4, 4)
    assert (cut3["n_missing"], cut9["n_missing"]) == (1, 0)
    assert len(found) == 2  # the A/A arm and epoch 50 were not run


def test_holms_family_is_what_is_declared_without_the_a_a_arm() -> None:
    """Of two variants at two epochs four comparisons: the smaller p counts four times, the other three times."""
    said = {"cut3": [66.0, 67.5, 65.0, 68.0], "cut9": [61.0, 63.0, 62.5, 64.0]}
    found = of_artifact({"default": DEFAULT, "again": [60.5, 62.0, 61.0, 63.0], **said})
    p = {name: stats.ttest_ind(one, DEFAULT, equal_var=False) for name, one in said.items()}
    assert p["cut3"].pvalue < 0.05 / 4
    for name, times in (("cut3", 4), ("cut9", 3)):
        row = found[at(f"simclr.{name}", epoch=100)]
        assert row["p_holm"] == pytest.approx(times * p[name].pvalue)
        holm = p[name].confidence_interval(1 - 0.05 / times)
        assert (row["low_holm"], row["high_holm"]) == pytest.approx(tuple(holm))
        assert row["in_family"]
    again = found[at("simclr.again", epoch=100)]
    assert not again["in_family"]
    assert np.isnan([again["p_holm"], again["low_holm"], again["high_holm"]]).all()


@pytest.mark.parametrize("shift", [0.0, 0.5, -0.5])
def test_equivalence_is_strict_at_both_ends(shift: float) -> None:
    variant = [value + shift for value in (60.4, 61.3, 61.9, 62.6)]
    interval = stats.ttest_ind(variant, DEFAULT, equal_var=False).confidence_interval(0.9)
    reach = max(abs(end) for end in interval)
    for margin, equivalent in ((reach * 1.0001, True), (reach * 0.9999, False)):
        found = of_artifact({"default": DEFAULT, "cut3": variant}, margin=margin)
        row = found[at("simclr.cut3", epoch=100)]
        assert (row["margin"], row["equivalent"]) == (margin, equivalent)
    found = of_artifact({"default": DEFAULT, "cut3": variant})
    row = found[at("simclr.cut3", epoch=100)]
    assert not row["equivalent"]  # without a margin
    touching = max(-row["low_equal"], row["high_equal"])
    found = of_artifact({"default": DEFAULT, "cut3": variant}, margin=touching)
    assert not found[at("simclr.cut3", epoch=100)]["equivalent"]


def test_what_counts_as_the_same_encoders() -> None:
    point = parse("method=m;variant=a;dataset=d;measure=knn_top1;epoch=5", "here")
    same = effects_table._of_same_encoders
    assert same(point, in_order(point | {"measure": "linear_top1", "target": "t"}))
    for other in ({"epoch": 6}, {"variant": "b"}, {"dataset": "e"}, {"objective.temperature": 1.0}):
        assert not same(point, in_order(point | other))


# Prices.


def compared(**stated: Any) -> Claim:
    nothing = dict.fromkeys(["reported_std", "reported_n", "direction"])
    comparison = {"kind": "comparison", "variant": "cut3", "baseline": "default", "reported": 2.0}
    return Claim.model_validate(CLAIM | nothing | comparison | stated)


ROW = {"kind": "comparison", "answered_by": "encoder", "spread": 1.0}


@pytest.mark.parametrize(
    ("claim", "row", "stds", "spread"),
    [
        (compared(), ROW, (), 1.0),
        (compared(), ROW, (3.0, 4.0), 1.0),  # our spread goes before the printed ones
        (compared(), ROW | {"spread": 0.0}, (3.0, 4.0), math.sqrt((9 + 16) / 2)),
        (compared(), {**ROW, "spread": NAN}, (3.0, 4.0), math.sqrt((9 + 16) / 2)),
        (compared(direction="equal", reported=None), ROW, (), 1.0),
        (compared(), ROW | {"spread": NAN}, (3.0,), NAN),  # one printed deviation is not enough
    ],
)
def test_the_price_of_a_comparison(
    claim: Claim, row: dict[str, Any], stds: tuple[float, ...], spread: float
) -> None:
    found = price.of_comparison(claim, row, stds, {"c": 0.5}, RULES)
    see = effects.runs_to_see(claim.reported or 0.0, spread, RULES)
    equate = effects.runs_to_equate(RULES.margin.at_least_high, spread, RULES)
    needed = equate if claim.direction == "equal" else see
    expected = {
        "spread": spread,
        "runs_to_see": see,
        "runs_to_equate": equate,
        "core_hours": 0.5 * needed,
    }
    assert found == pytest.approx(expected, nan_ok=True)
    assert math.isnan(price.of_comparison(claim, row, stds, {}, RULES)["core_hours"])


def test_only_printed_comparisons_of_accuracies_by_encoders_have_a_price() -> None:
    assert price.of_comparison(compared(), ROW, (), {}, RULES)
    for claim, row in (
        (compared(origin="ours"), ROW),
        (compared(metric="norm"), ROW),
        (compared(), ROW | {"answered_by": "study"}),
        (compared(), ROW | {"kind": "value"}),
    ):
        assert price.of_comparison(claim, row, (), {}, RULES) == {}


def test_what_some_hours_would_settle() -> None:
    """Printed claims that wait alone count; what does not fit any more is passed over, what just fits is not."""
    rows = [("a", "make", "printed", 4.0), ("a", "", "printed", 4.0), ("a", "make", "ours", 4.0)]
    rows += [("b", "make", "printed", 2.0)] * 3 + [("c", "make", "printed", 0.0)]
    table = pd.DataFrame(rows, columns=["artifact", "settle", "origin", "gpu_hours"])
    table = table.assign(paper="p")
    free, b, a = ("p/c", 1, 0.0), ("p/b", 3, 2.0), ("p/a", 1, 4.0)
    assert price.settled_first(table, 6.0) == [free, b, a]
    assert price.settled_first(table, 5.9) == [free, b]
    assert price.settled_first(table, 1.9) == [free]


# Shortcomings, rungs and the best evidence.


@pytest.mark.parametrize(
    ("verdict", "rung", "shortcomings"),
    [
        (Verdict.NO_COUNTEREXAMPLE, "proof", ["untried"]),
        (Verdict.NO_COUNTEREXAMPLE_ERRATUM, "proof", ["untried"]),
        (Verdict.NO_COUNTEREXAMPLE, "exact", []),
        (Verdict.REFUTED, "proof", []),
        (Verdict.INCONCLUSIVE, "exact", ["undecided"]),
        (Verdict.CANNOT_BE_JUDGED, "exact", ["unjudged"]),
        (Verdict.EXACT, "exact", []),
    ],
)
def test_shortcomings_of_what_needs_no_encoder(
    verdict: Verdict, rung: Any, shortcomings: list[str]
) -> None:
    assert finding.of_exact(verdict, rung) == shortcomings


SOUND = {"kind": "comparison", "answer": "holds", "verdict": "laptop only", "n": 5.0, "floored": ""}


@pytest.mark.parametrize(
    ("changed", "stand_in", "shortcomings"),
    [
        ({}, False, []),
        ({"n": 4.0}, False, ["few_runs"]),
        ({"n": NAN}, False, ["few_runs"]),
        ({"answer": "cannot tell"}, False, ["undecided"]),
        ({"answer": "cannot tell", "kind": "value"}, False, ["other_setting"]),
        ({}, True, ["stand_in"]),
        ({"floored": "baseline"}, False, ["floored"]),
        ({"verdict": "cannot be judged"}, False, ["unjudged"]),
        ({"n": 1.0, "floored": "both"}, True, ["few_runs", "stand_in", "floored"]),
    ],
)
def test_shortcomings_of_encoders(
    changed: dict[str, Any], stand_in: bool, shortcomings: list[str]
) -> None:
    assert finding.of_encoders(SOUND | changed, stand_in, 5) == shortcomings


def test_a_step_of_the_ladder_says_why_its_certainty_is_no_higher() -> None:
    """In the order of the rules, and of too few runs how many there were."""
    row = {"id": "c", "n": 3.0, "measured": "2", "kind": "comparison", "differs": "64 for 256"}
    shortcomings: list[Any] = ["floored", "few_runs"]
    step = ladder._step(row, "laptop", shortcomings, CERTAINTY)
    listed = [one for one in CERTAINTY.rungs["laptop"].at_most if one in shortcomings]
    in_words = [{"few_runs": "n = 3"}.get(one, SHORTCOMINGS[one]) for one in listed]
    assert step["reasons"] == "; ".join(in_words)
    assert step["certainty"] == "very low"
    assert (step["id"], step["measured"], step["differs"]) == ("c", "2", "64 for 256")
    assert (step["rung"], "kind" in step) == ("laptop", False)
    assert step.keys() <= columns.LADDER.keys()
    alone = ladder._step({"id": "c", "n": 5.0}, "laptop", [], CERTAINTY)
    assert (alone["certainty"], alone["reasons"], alone["differs"]) == ("low", "", "")


def test_the_order_of_the_ladder() -> None:
    """By rung, then the most runs, then the scale's name."""
    steps = [("laptop", 9, "b"), ("laptop", 3, "a"), ("published", 1, "z"), ("laptop", 9, "a")]
    rows = [dict(zip(("rung", "n", "scale"), step, strict=True)) for step in steps]
    expected = [("published", 1, "z"), ("laptop", 9, "a"), ("laptop", 9, "b"), ("laptop", 3, "a")]
    for order in itertools.permutations(rows):
        assert [tuple(row.values()) for row in ladder.sort(order)] == expected


@pytest.mark.parametrize(
    ("runs", "df"), [((None, None), 0), ((3, None), 2), ((3, 5), 6), ((1, 1), 0)]
)
def test_the_interval_of_a_printed_difference(runs: tuple[int | None, int | None], df: int) -> None:
    """Of two printed deviations; where no number of runs is printed it is one, and the normal quantile is used."""
    arms = [
        compared(kind="value", baseline="", reported_std=std, reported_n=n)
        for std, n in zip((0.3, 0.4), runs, strict=True)
    ]
    found = best_evidence._printed_interval(compared(), arms)
    error = math.sqrt(0.09 / (runs[0] or 1) + 0.16 / (runs[1] or 1))
    quantile = stats.t.ppf(0.975, df) if df else stats.norm.ppf(0.975)
    assert found["reported_low"] == pytest.approx(2.0 - quantile * error)
    assert found["reported_high"] == pytest.approx(2.0 + quantile * error)
    for claim, of in (
        (compared(), arms[:1]),
        (compared(reported=None, direction="larger"), arms),
        (compared(kind="value", baseline=""), arms),
    ):
        assert np.isnan([*best_evidence._printed_interval(claim, of).values()]).all()


def test_what_would_settle_a_claim() -> None:
    row = {"answered_by": "encoder", "rung": "laptop", "paper": "p", "artifact": "table1"}
    command = "make reproduce SCALE=paper ONLY=p/table1"
    assert best_evidence._settling(row, 2.0) == {"settle": command, "gpu_hours": 2.0}
    assert best_evidence._settling(row | {"answered_by": "study"}, 2.0) == {}
    assert best_evidence._settling(row | {"rung": "published"}, 2.0) == {}
    assert best_evidence._settling(row, None) == {}


NEGATIVE = [
    # (published, ours, interval, printed interval): what is counted
    ("-2", "-3", (-5.0, -1.0), (-3.5, -1.0), "same_sign clear printed_inside with_interval ours_inside"),
    ("-2", "3", (1.0, 5.0), (-3.5, -1.0), "with_interval"),
    ("-2", "-2", (-2.0, -2.0), (NAN, NAN), "same_sign clear printed_inside"),  # ends are inside
    ("-2", "-3", (-4.0, 0.0), (NAN, NAN), "same_sign printed_inside"),  # zero is not excluded
    ("2", "1", (0.0, 4.0), (1.0, 3.0), "same_sign printed_inside with_interval ours_inside"),
    ("2", "4", (3.0, 5.0), (1.0, 3.0), "same_sign clear with_interval"),
    ("0", "1", (0.5, 2.0), (NAN, NAN), None),  # no sign is printed
    ("larger", "1", (0.5, 2.0), (NAN, NAN), None),
    ("2", "1", (NAN, NAN), (1.0, 3.0), None),  # one run has no interval
]  # fmt: skip


@pytest.mark.parametrize(("reported", "measured", "ours", "printed", "counted"), NEGATIVE)
def test_criteria_of_one_comparison(
    reported: str,
    measured: str,
    ours: tuple[float, float],
    printed: tuple[float, float],
    counted: str | None,
) -> None:
    row = {"kind": "comparison", "answered_by": "encoder", "paper": "p", "rung": "laptop"}
    row |= {"reported": reported, "measured": measured}
    row |= dict(zip(("low_unadjusted", "high_unadjusted"), ours, strict=True))  # type: ignore[arg-type]
    row |= dict(zip(("reported_low", "reported_high"), printed, strict=True))  # type: ignore[arg-type]
    found = replication.criteria(pd.DataFrame([row])).to_dict("records")
    if counted is None:
        assert found == []
        return
    names = [name for name in columns.CRITERIA if name not in ("paper", "rung")]
    assert [name for name in names if found[0][name]] == ["compared", *counted.split()]
    for other in ({"kind": "value"}, {"answered_by": "study"}):
        assert replication.criteria(pd.DataFrame([row | other])).empty


# How often a difference is called where there is none.


def test_a_a_comparisons_without_a_difference_call_none() -> None:
    """Touching zero is no call; an interval that is not known is no comparison."""
    ends = {"low": [0.0, -1.0, NAN, 0.1], "high": [1.0, 0.0, NAN, 1.0]}
    rows = pd.DataFrame({"paper": "p", "study": "s", "artifact": "s", "effect": 0.5, **ends})
    rows = rows.assign(in_family=False, finished=True)
    assert false_calls.of_again(rows, 0.95)[:2] == (3, 1)
    nothing = false_calls.of_again(rows[:0], 0.95)
    assert nothing[:2] == (0, 0)
    assert np.isnan(nothing[2:]).all()


# Where evidence lies.


def test_only_scales_of_the_project_on_real_images_count(tmp_path: Path) -> None:
    for scale, level in (("quick", "quick"), ("laptop", "laptop"), ("paper", "paper")):
        file = tmp_path / "config" / "scales" / f"{scale}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"level: {level}\n")
    for scale in ("quick", "laptop", "paper", "gone"):
        for folder, name in (("results", "claims.csv"), ("evidence", "history.csv")):
            (tmp_path / folder / scale).mkdir(parents=True)
            (tmp_path / folder / scale / name).touch()
    (tmp_path / "evidence" / "paper" / "history.csv").unlink()
    finished = judged_records.finished_here(tmp_path)
    assert [path.parent.name for path in finished] == ["laptop", "paper"]
    assert judged_records.recorded_scales(tmp_path) == ["laptop", "quick"]
    recorded = judged_records.records_file(tmp_path, "laptop")
    assert recorded == tmp_path / "results/report/records/laptop/claims.csv"
    settings = judged_records.settings_of
    assert settings(recorded, tmp_path) == {"scale": "laptop", "evidence_only": True}
    assert settings(finished[0], tmp_path) == {"scale": "laptop"}


def test_an_interval_needs_a_degree_of_freedom_and_an_error() -> None:
    assert np.isnan(t_interval(1.0, 0.0, 5, 0.95)).all()
    assert np.isnan(t_interval(1.0, 1.0, 0, 0.95)).all()
    assert t_interval(1.0, 1.0, 1, 0.5) == pytest.approx((0.0, 2.0))  # Cauchy's quartiles
