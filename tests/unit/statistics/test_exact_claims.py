"""What an exact study answers is judged without regard to the scale; expected verdicts are worked by hand."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hypersphere.config.claims import Claim
from hypersphere.provenance.columns import CLAIMS
from hypersphere.provenance.exact import of_scale
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import exact_claims

from ...fixtures import Refused
from .world import CLAIM, PAPER, RULES, Make, at, claim


def of_steps(**changed: Any) -> Claim:
    """A claim of 100 steps, but for what is changed."""
    nothing = dict.fromkeys(["reported_std", "reported_n", "direction"])
    steps = {"id": "c", "artifact": "a", "metric": "steps", "reported": 100.0}
    return Claim.model_validate(CLAIM | nothing | steps | changed)


def of_one(kind: str, claim: Claim, **arms: Any) -> dict[str, Any]:
    return exact_claims.JUDGES[kind](
        claim, {arm: np.atleast_1d(numbers) for arm, numbers in arms.items()}, RULES
    )


SLOPE, N1 = {"metric": "slope"}, {"reading": "N1"}
SENTENCE = {"kind": "comparison", "variant": "", "reported": None, "metric": "share"}
ENTROPY = {"metric": "entropy", "reported": 8.3}
"""8.3 stands for 8.25 to 8.35."""


@pytest.mark.parametrize(
    ("changed", "kind", "arms", "verdict"),
    [
        # A number without chance is exact to its decimals.
        ({}, "exactly", {"value": 100.0}, "exact"),
        ({}, "exactly", {"value": 100.4}, "exact"),
        ({}, "exactly", {"value": 100.6}, "not reproduced"),
        (SLOPE, "exactly", {"value": 100.4}, "not reproduced"),  # two decimals
        (SLOPE | N1, "exactly", {"value": 100.004}, "exact (erratum)"),
        # A sentence is refuted by too many places.
        (SENTENCE, "counted", {"held": 400, "places": 400}, "no counterexample"),
        (SENTENCE | N1, "counted", {"held": 400, "places": 400}, "no counterexample (erratum)"),
        (SENTENCE, "counted", {"held": 399, "places": 400}, "refuted"),  # in one place
        (SENTENCE | N1, "counted", {"held": 0, "places": 400}, "refuted"),
        # of most, half fail
        (SENTENCE, "counted", {"held": 200, "places": 400, "needed": 201}, "refuted"),
        (SENTENCE, "counted", {"held": 201, "places": 400, "needed": 201}, "no counterexample"),
        # A range refutes, allows or forces the printed number.
        (ENTROPY, "between", {"low": 0, "high": 8.3178}, "inconclusive"),
        (ENTROPY, "between", {"low": 0, "high": 8.2}, "refuted"),
        (ENTROPY, "between", {"low": 8.4, "high": 9}, "refuted"),
        (ENTROPY, "between", {"low": 8.27, "high": 8.32}, "exact"),
        (ENTROPY, "between", {"low": 0, "high": 8.26}, "inconclusive"),
        # Never is an answer.
        ({"reported": math.inf}, "over_seeds", {"seeds": [math.inf] * 3}, "diverged as published"),
        ({"reported": 64.0}, "over_seeds", {"seeds": [math.inf] * 3}, "not reproduced"),
        ({"reported": math.inf}, "over_seeds", {"seeds": [64.0, 65.0, 64.0]}, "not reproduced"),
        ({"reported": math.inf}, "over_seeds", {"seeds": [64.0, math.inf, 64.0]}, "inconclusive"),
        ({"reported": 64.0}, "over_seeds", {"seeds": [64.0, math.inf, 64.0]}, "inconclusive"),
    ],
)
def test_an_answer_is_judged_by_its_kind(
    changed: dict[str, Any], kind: str, arms: dict[str, Any], verdict: str
) -> None:
    found = of_one(kind, of_steps(**changed), **arms)
    assert found["verdict"] == verdict
    if kind in ("exactly", "counted"):
        assert found["measured"] == (arms["value"] if kind == "exactly" else arms["held"] / 4)


STEPS = np.array([100.0, 101.0, 100.0, 99.0, 101.0, 100.0, 100.0, 99.0])
ACCURACIES = np.array([75.0, 76.0, 74.5, 75.5, 75.0, 74.0])
CLUSTERS = {"metric": "kmeans_accuracy", "reported": 75.2, "reported_std": 1.2}


@pytest.mark.parametrize(
    ("changed", "values", "ours", "theirs", "margin", "verdict"),
    [
        # A printed number counts as one run of our spread; the margin of steps is 5 %.
        ({}, STEPS, STEPS.var(ddof=1), STEPS.var(ddof=1), 5.0, "reproduced"),
        ({"reported": 120.0}, STEPS, STEPS.var(ddof=1), STEPS.var(ddof=1), 6.0, "not reproduced"),
        ({"reported": 104.5}, STEPS, STEPS.var(ddof=1), STEPS.var(ddof=1), 5.225, "inconclusive"),
        # Equal steps still have the spread of rounding: a uniform error of one step has a variance of 1/12.
        ({"reported": 50.0}, np.full(6, 50.0), 1 / 12, 1 / 12, 2.5, "reproduced"),
        # A printed mean of n trials counts as n.
        (CLUSTERS, ACCURACIES, ACCURACIES.var(ddof=1), 1.44, 1.5, "inconclusive"),
        (
            CLUSTERS | {"reported_n": 20},
            ACCURACIES,
            ACCURACIES.var(ddof=1),
            1.44 / 20,
            1.5,
            "reproduced",
        ),
    ],
)
def test_numbers_over_seeds_are_judged_by_two_one_sided_tests(
    changed: dict[str, Any],
    values: np.ndarray,
    ours: float,
    theirs: float,
    margin: float,
    verdict: str,
) -> None:
    """By the variances of one run of ours and of the printed number."""
    found = of_one("over_seeds", of_steps(**changed), seeds=values)
    level, n = 0.95 if verdict == "not reproduced" else 0.9, len(values)
    expected = stats.t.interval(level, n - 1, loc=values.mean(), scale=math.sqrt(ours / n + theirs))
    assert (found["low"], found["high"]) == pytest.approx(expected)
    assert (found["margin"], found["measured_std"]) == pytest.approx((margin, values.std(ddof=1)))
    assert found["verdict"] == verdict


def test_a_number_that_inputs_were_chosen_by_settles_nothing_however_near() -> None:
    values = np.array([75.0, 75.4, 75.2, 75.1, 75.3])
    near = of_one("over_seeds", of_steps(metric="kmeans_accuracy", reported=75.2), seeds=values)
    found = of_one("calibrated", of_steps(), calibrated=values)
    assert (near["verdict"], found["verdict"]) == ("reproduced", "inconclusive")
    low, high = stats.t.interval(0.95, 4, loc=75.2, scale=stats.sem(values))
    assert (found["measured"], found["low"], found["high"]) == pytest.approx((75.2, low, high))


Row = tuple[str, str, str, int, float]
"""Of answers.csv: claim, reading, arm, seed and number."""


def answered(
    make_world: Make, claims: list[Claim], *rows: Row, by: str = "printed_numbers", **declared: str
) -> dict[str, dict[str, Any]]:
    """Judge claims of a paper with the studied artifacts ``a``, declared as told, and ``b``."""
    world = make_world(paper={"artifacts": {"a": FIGURE | declared, "b": FIGURE}})
    world.answers(by, *rows)
    config = world.plan.config
    return exact_claims.of_studies(
        config, "norms", claims, RULES, of_scale(config).studies["norms"]
    )


def arms(name: str, variant: list[float], baseline: list[float]) -> list[Row]:
    both = {"variant": variant, "baseline": baseline}
    return [
        (name, "as printed", arm, at, value)
        for arm, values in both.items()
        for at, value in enumerate(values)
    ]


def test_effects_of_one_artifact_are_corrected_together(make_world: Make) -> None:
    larger = {
        "kind": "comparison",
        "reported": None,
        "direction": "larger",
        "metric": "norm",
        "baseline": "b",
    }
    strong, weak = [1.0, 1.1, 0.9, 1.05, 0.95], [0.08, 0.15, -0.05, 0.1, 0.02]
    zero = [0.0, 0.05, -0.05, 0.02, -0.02]
    rows = [*arms("strong", strong, zero), *arms("weak", weak, zero), *arms("wrong", zero, strong)]
    said = [of_steps(id=name, **larger) for name in ("strong", "weak", "wrong")]
    found = answered(make_world, said, *rows)
    expected = {"strong": "reproduced", "weak": "inconclusive", "wrong": "not reproduced"}
    assert {name: row["verdict"] for name, row in found.items()} == expected
    raw = stats.ttest_ind(weak, zero).pvalue  # the same as pooling two arms of equal size
    assert found["weak"]["p"] == pytest.approx(raw)  # the largest of three p is multiplied by 1
    assert found["strong"]["p"] == pytest.approx(3 * stats.ttest_ind(strong, zero).pvalue, rel=1e-6)
    alone = answered(make_world, said[:1], *arms("strong", strong, zero))
    assert alone["strong"]["p"] < found["strong"]["p"]


def test_an_effect_is_judged_by_its_printed_size_and_equal_arms_by_the_margin(
    make_world: Make,
) -> None:
    """An effect of 0.1, printed as 5, lies below half of it; as 0.15 it does not, if it can be told from 0."""
    small = [0.1, 0.12, 0.08, 0.11, 0.09]
    wide, narrow = [0.0, 0.3, -0.3, 0.2, -0.2], [0.0, 0.02, -0.02, 0.01, -0.01]
    equal = {"metric": "knn_top1", "direction": "equal", "level": 85.0, "reported": None}
    for said, variant, baseline, verdict in (
        ({"reported": 5.0}, small, wide, "not reproduced"),
        ({"reported": 5.0}, small, narrow, "direction only"),
        ({"reported": 0.15}, small, narrow, "reproduced"),
        ({"reported": -0.15}, small, narrow, "not reproduced"),
        # by 90 %; that of 95 % ends beyond the point
        (equal, [0.86 + value for value in small], narrow, "reproduced"),
        (equal, [3.0 + value for value in small], narrow, "not reproduced"),
    ):
        one = of_steps(**{"kind": "comparison", "metric": "norm", "baseline": "b", **said})
        assert answered(make_world, [one], *arms("c", variant, baseline))["c"]["verdict"] == verdict


UNLIKE: dict[str, tuple[str, list[Row]]] = {
    "another reading": ("printed_numbers", [("c", "N1", "value", 0, 1.0)]),
    "no claim of a study": (
        "printed_numbers",
        [(name, "as printed", "value", 0, 1.0) for name in "cd"],
    ),
    "another kind": (
        "printed_numbers",
        [("c", "as printed", arm, 0, 1.0) for arm in ("held", "places")],
    ),
    "another study": ("pair_attraction", [("c", "as printed", "value", 0, 1.0)]),
}


@pytest.mark.parametrize("unlike", UNLIKE)
def test_claims_and_answers_must_match(make_world: Make, refused: Refused, unlike: str) -> None:
    """``d`` is a claim that trained encoders answer."""
    study, rows = UNLIKE[unlike]
    with refused("results/paper/simulations/norms/answers.csv"):
        answered(make_world, [of_steps(), of_steps(id="d", artifact="table5")], *rows, by=study)


def test_what_a_document_leaves_out_is_measured_and_not_judged(make_world: Make) -> None:
    """The artifact says what is missing; claims of other artifacts keep their verdict, or need none."""
    rows = [("c", "as printed", "value", 0, 100.0), ("d", "as printed", "value", 0, 100.0)]
    both = [of_steps(), of_steps(id="d", artifact="b")]
    assert set(answered(make_world, [both[0], of_steps(id="e", artifact="table5")], rows[0])) == {
        "c"
    }
    assert [each["verdict"] for each in answered(make_world, both, *rows).values()] == [
        "exact",
        "exact",
    ]
    found = answered(make_world, both, *rows, cannot_be_judged="the shapes of the data")
    assert [each["verdict"] for each in found.values()] == ["cannot be judged", "exact"]
    assert found["c"]["measured"] == 100


def test_a_table_bears_a_sentence_about_it_or_contradicts_it(make_world: Make) -> None:
    """In all four places, or in three of four."""
    held = {"c": 4, "d": 3}
    sentences = [of_steps(id=name, **SENTENCE) for name in held]
    rows: list[Row] = []
    for name, number in held.items():
        rows.append((name, "as printed", "held", 0, number))
        rows.append((name, "as printed", "places", 0, 4))
    found = answered(make_world, sentences, *rows, by="sentences", study="sentences")
    verdicts = {name: row["verdict"] for name, row in found.items()}
    assert verdicts == {"c": "its table bears it", "d": "its table contradicts it"}


def test_the_smaller_arm_of_an_effect_counts_and_few_runs_have_low_power(make_world: Make) -> None:
    """Student's test, which pools both variances, by scipy; five and three runs leave six degrees of freedom."""
    larger = {"kind": "comparison", "reported": None, "direction": "larger", "metric": "norm"}
    said = of_steps(**larger, baseline="b")
    for variant, baseline, low_power in (
        ([5.0, 5.6, 4.9, 5.2, 5.3], [1.0, 1.5, 0.7], False),
        ([5.0, 5.6, 4.9], [1.0, 1.5], True),
    ):
        found = answered(make_world, [said], *arms("c", variant, baseline))["c"]
        test = stats.ttest_ind(variant, baseline)
        assert (found["n"], found["low_power"]) == (len(baseline), low_power)
        assert found["measured"] == pytest.approx(np.mean(variant) - np.mean(baseline))
        assert found["p"] == pytest.approx(test.pvalue)
        assert (found["low"], found["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))


# Rows of claims.csv that wait for no run: theorems, and what exact studies answer; and one paper's alone.

STATED = [
    ("norms.ok", "norms", "as printed", 100, 90, 0, 3e-15, "", "no counterexample"),
    (
        "norms.bad",
        "norms",
        "as printed",
        100,
        90,
        7,
        0.25,
        '{"tau": 1.0, "left": 0.5, "right": 0.25}',
        "refuted",
    ),
    ("norms.bad", "norms", "N1", 100, 90, 0, 0.0, "", "no counterexample (erratum)"),
]


FIGURE = {"draw": "study_table", "title": "t", "study": "printed_numbers"}


def theorem(identifier: str, reading: str = "as printed") -> dict[str, Any]:
    origin = "printed" if reading == "as printed" else "corrected"
    nothing = dict.fromkeys(("method", "variant", "dataset", "metric", "reported"), "")
    return claim(
        identifier, kind="theorem", artifact="t_1", origin=origin, reading=reading, **nothing
    )


def test_a_theorem_has_the_verdict_of_its_own_reading(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.theory(*STATED)
    ok, bad = world.judged(theorem("norms.ok"), theorem("norms.bad")).values()
    assert (ok["kind"], ok["verdict"], ok["n"], ok["unstated"]) == (
        "theorem",
        "no counterexample",
        "0",
        "0",
    )
    assert (ok["draws"], ok["met"], ok["violated"], ok["counterexample"]) == ("100", "90", "0", "")
    assert float(ok["measured"]) == 3e-15
    expected = ("refuted", "7", '{"tau": 1.0, "left": 0.5, "right": 0.25}')
    assert (bad["verdict"], bad["violated"], bad["counterexample"]) == expected
    assert (
        world.judged(theorem("norms.bad", "N1"))["norms.bad"]["verdict"]
        == "no counterexample (erratum)"
    )


@pytest.mark.parametrize("at", [("norms.none",), ("norms.ok", "N9")], ids=["id", "reading"])
def test_a_theorem_that_was_not_checked_is_refused(
    make_world: Make, refused: Refused, at: tuple[str, ...]
) -> None:
    world = make_world(seeds=[0])
    world.theory(*STATED)
    with refused("papers/norms/claims.csv", at[0]):
        world.judged(theorem(*at))


@pytest.mark.parametrize("level", ["quick", "paper"])
def test_a_papers_studies_and_theorems_are_judged_at_every_scale_without_any_run(
    make_world: Make, level: str
) -> None:
    """Never is written as inf, and nothing as an empty field."""
    artifacts = {"table5": PAPER["artifacts"]["table5"], "figure": FIGURE}
    world = make_world(level=level, paper={"artifacts": artifacts})
    said = [
        ("s", "value", 0, 7.0),
        ("w", "value", 0, 8.0),
        *(("n", "seeds", seed, math.inf) for seed in (0, 1)),
    ]
    world.answers("printed_numbers", *((name, "as printed", *of) for name, *of in said))
    world.theory(*STATED)
    counted = {"artifact": "figure", "metric": "steps", "reported": 7, "setting": "beta=1;t=0.25"}
    rows = [
        claim("s", **counted),
        claim("w", **counted),
        claim("n", **counted | {"reported": "inf"}),
    ]
    rows += [claim("d"), theorem("norms.ok")]
    world.claims(*rows)
    config = world.plan.config
    exact_claims.write_studies(config, "norms", of_scale(config))
    exact_claims.write_theorems(config, of_scale(config))
    paths = [
        check_tidy(config.results, name)
        for name in ("simulations/norms/claims.csv", "theory_claims.csv")
    ]
    alone = pd.concat(
        pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths
    ).set_index("id")
    # in the order of the file, without those that wait for runs
    assert [*alone["verdict"].to_dict().items()] == [
        ("s", "exact"),
        ("w", "not reproduced"),
        ("n", "diverged as published"),
        ("norms.ok", "no counterexample"),
    ]
    assert alone.loc["s", ["study", "why", "setting"]].tolist() == [
        "printed_numbers",
        "",
        "beta=1;t=0.25",
    ]
    assert alone.loc["n", ["reported", "measured", "low"]].tolist() == ["inf", "inf", ""]
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.measure("table5")
    whole = world.judged(*rows)
    assert list(whole) == [row["id"] for row in rows]
    assert [row["answered_by"] for row in whole.values()] == ["study"] * 3 + ["encoder", "theorem"]
    for name in alone.index:  # the same rows as among all claims, where the scale is named
        assert {"id": name} | alone.loc[name].to_dict() | {"scale": level} == whole[name]
    assert list(alone.reset_index().columns) == list(CLAIMS)
