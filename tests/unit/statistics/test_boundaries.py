"""Verdicts at each boundary, the order of what is said, and which interval answers which question. By hand."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hypersphere.config.claims import Claim
from hypersphere.config.measures import MEASURES
from hypersphere.config.rules import Answer, Verdict
from hypersphere.statistics import claim_rows, gather, verdicts
from hypersphere.statistics.verdicts import Floored, Intervals, Judgement, Size
from hypersphere.t_test import t_p

from .world import RULES, at

NAN = math.nan
UNKNOWN = (NAN, NAN)


def said(**fields: Any) -> Claim:
    """A comparison of accuracies of a baseline at 90, whose margin is one point."""
    stated = {"metric": "knn_top1", "level": 90.0, "margin": None}
    return Claim.model_construct(**{"reported": None, "direction": None} | stated | fields)


# Sign and size.


@pytest.mark.parametrize(
    ("adjusted", "primary", "verdict", "direction"),
    [
        # the sign: an end on zero is not beyond it
        ((1e-9, 9.0), (5.0, 8.0), "reproduced", "same"),
        ((0.0, 9.0), (5.0, 8.0), "inconclusive", "unclear"),
        ((-9.0, 0.0), (-8.0, -1.0), "not reproduced", "unclear"),
        ((-9.0, -1e-9), (-8.0, -1.0), "not reproduced", "opposite"),
        # the size: from half of 10 to twice 10, both ends included
        ((1.0, 9.0), (2.0, 5.0), "reproduced", "same"),
        ((1.0, 9.0), (2.0, 4.999), "direction only", "same"),
        ((1.0, 30.0), (20.0, 25.0), "reproduced", "same"),
        ((1.0, 30.0), (20.001, 25.0), "direction only", "same"),
        # no clear sign: only a size wholly below half says anything
        ((-1.0, 9.0), (0.0, 5.0), "inconclusive", "unclear"),
        ((-1.0, 9.0), (0.0, 4.999), "not reproduced", "unclear"),
        ((-1.0, 40.0), (21.0, 30.0), "inconclusive", "unclear"),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_effect_at_each_boundary(
    sign: int,
    adjusted: tuple[float, float],
    primary: tuple[float, float],
    verdict: str,
    direction: str,
) -> None:
    """The mirror image of each is judged alike."""

    def turned(interval: tuple[float, float]) -> tuple[float, float]:
        low, high = interval
        return interval if sign > 0 else (-high, -low)

    published = 10.0 * sign
    judged = verdicts.of_effect(
        published, Size.of(published, RULES), turned(adjusted), turned(primary)
    )
    assert (judged.verdict, judged.direction) == (verdict, direction)
    shown = primary if verdict == "not reproduced" else adjusted
    assert (judged.low, judged.high) == turned(shown)
    assert bool(judged.why) == (verdict == "direction only" and primary[0] > 20)


def test_a_published_size_allows_half_of_it_to_twice_it() -> None:
    for published in (4.0, -4.0):
        assert Size.of(published, RULES) == (2.0, 8.0)


@pytest.mark.parametrize("published", [0.0, 5.0])
def test_without_an_interval_nothing_is_said_of_an_effect(published: float) -> None:
    judged = verdicts.of_effect(published, Size.of(published, RULES), UNKNOWN, UNKNOWN)
    assert (judged.verdict, judged.direction, judged.why) == ("inconclusive", "unclear", "")
    assert np.isnan([judged.low, judged.high]).all()


@pytest.mark.parametrize(
    ("confident", "primary", "verdict"),
    [
        ((-1.0, 1.0), (-2.0, 2.0), "reproduced"),  # both ends are included
        ((-1.001, 1.0), (-2.0, 2.0), "inconclusive"),
        ((-1.0, 1.001), (-2.0, 2.0), "inconclusive"),
        ((1.5, 2.0), (1.0, 2.5), "inconclusive"),  # touching the margin is not beyond it
        ((1.5, 2.0), (1.001, 2.5), "not reproduced"),
        ((-2.0, -1.5), (-2.5, -1.0), "inconclusive"),
        ((-2.0, -1.5), (-2.5, -1.001), "not reproduced"),
    ],
)
def test_equality_at_each_boundary(
    confident: tuple[float, float], primary: tuple[float, float], verdict: str
) -> None:
    judged = verdicts.of_equality(confident, primary, 1.0)
    assert (judged.verdict, judged.margin) == (verdict, 1.0)
    assert judged.direction == ("no effect" if verdict == "reproduced" else "unclear")
    shown = primary if verdict == "not reproduced" else confident
    assert (judged.low, judged.high) == shown
    assert verdicts.of_equality(confident, primary, NAN).verdict == "inconclusive"


OPEN, CLEAR = (-0.5, 0.9), (0.1, 0.9)


@pytest.mark.parametrize(
    ("claim", "adjusted", "confident", "direction"),
    [
        # a published gain that is larger than the margin would have been seen
        (said(reported=1.001), OPEN, (-1.0, 1.0), "no effect"),
        (said(reported=-1.001), OPEN, (-1.0, 1.0), "no effect"),
        (said(reported=1.0), OPEN, (-1.0, 1.0), "unclear"),
        (said(reported=5.0), OPEN, (-1.0, 1.001), "unclear"),
        (said(reported=5.0), CLEAR, (-1.0, 1.0), "same"),  # a clear sign stays one
        (said(direction="larger"), OPEN, (-1.0, 1.0), "no effect"),
        (said(direction="larger", metric="steps"), OPEN, (-1.0, 1.0), "unclear"),  # no margin
        (said(direction="larger", metric=None), OPEN, (-1.0, 1.0), "unclear"),
        (said(direction="smaller", margin=0.2), OPEN, (-0.2, 0.2), "no effect"),
        (said(direction="smaller", margin=0.2), OPEN, (-0.2, 0.21), "unclear"),
    ],
)
def test_there_is_no_effect_only_where_one_would_have_been_seen(
    claim: Claim, adjusted: tuple[float, float], confident: tuple[float, float], direction: str
) -> None:
    judged = verdicts.compare(claim, Intervals(adjusted, adjusted, confident), RULES)
    assert judged.direction == direction
    fixed = claim.margin if claim.direction else None
    assert judged.margin == pytest.approx(fixed or NAN, nan_ok=True)


@pytest.mark.parametrize(
    ("claim", "margin"),
    [
        (said(direction="equal"), 1.0),
        (said(direction="equal", level=79.9), 1.5),
        (said(direction="equal", level=None), 1.5),
        (said(direction="equal", margin=0.3), 0.3),
        (said(direction="equal", metric="norm", level=40.0), 2.0),  # 5 %
        (said(direction="equal", metric="norm", level=None), NAN),
        (said(direction="equal", metric=None), NAN),
    ],
)
def test_the_margin_of_equality(claim: Claim, margin: float) -> None:
    """It is the study's, else the baseline's: two intervals of exactly its width lie within it, wider ones do not."""
    for width, verdict in ((1.0, "reproduced"), (1.001, "inconclusive")):
        ends = (-width * margin, width * margin)
        judged = verdicts.compare(claim, Intervals(UNKNOWN, (-9.0, 9.0), ends), RULES)
        assert judged.margin == pytest.approx(margin, nan_ok=True)
        assert judged.verdict == ("inconclusive" if math.isnan(margin) else verdict)


GAINED = Intervals((2.0, 4.0), (2.0, 4.0), (2.0, 4.0))
SMALL = Intervals((0.2, 0.4), (0.2, 0.4), (0.2, 0.4))


@pytest.mark.parametrize(
    ("claim", "ours", "floored", "verdict", "direction", "why"),
    [
        (said(reported=3.0), GAINED, "", "reproduced", "same", ""),
        (said(reported=3.0), GAINED, "variant", "reproduced", "same", ""),
        (said(reported=3.0), GAINED, "baseline", "direction only", "same", "no size"),
        (said(reported=3.0), GAINED, "both", "inconclusive", "unclear", "neither arm"),
        # what has no size yet loses none, and keeps its own reason
        (said(reported=3.0), SMALL, "baseline", "direction only", "same", ""),
        (said(reported=1.0), GAINED, "baseline", "direction only", "same", "no size"),
        (said(reported=0.5), GAINED, "baseline", "direction only", "same", "another effect"),
        (said(reported=-3.0), GAINED, "baseline", "not reproduced", "opposite", ""),
        # equality is no size over a baseline
        (said(direction="equal"), SMALL, "baseline", "reproduced", "no effect", ""),
        (said(direction="equal"), SMALL, "both", "inconclusive", "unclear", "neither arm"),
    ],
)
def test_arms_that_are_not_above_their_controls(
    claim: Claim, ours: Intervals, floored: Floored, verdict: str, direction: str, why: str
) -> None:
    judged = verdicts.compare(claim, ours, RULES, floored)
    assert (judged.verdict, judged.direction) == (verdict, direction)
    assert why in judged.why
    assert bool(judged.why) == bool(why)


def test_only_an_effect_of_the_other_sign_is_opposite() -> None:
    for verdict in Verdict:
        for direction in ("same", "opposite", "no effect", "unclear"):
            judged = Judgement(verdict, 0.0, 1.0, direction)  # type: ignore[arg-type]
            turned = verdict is Verdict.NOT_REPRODUCED and direction == "opposite"
            assert judged.answer is (Answer.OPPOSITE if turned else verdict.answer)


def test_each_interval_of_a_row_answers_its_own_question() -> None:
    """After Holm's correction the sign, at 95 % the size, at 90 % equivalence."""
    ends = ("low_holm", "high_holm", "low", "high", "low_equal", "high_equal")
    row = {name: float(place) for place, name in enumerate(ends)}
    assert Intervals.of(row) == ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0))
    claim = said(reported=10.0)
    inside, outside = (6.0, 9.0), (-1.0, 4.0)
    by_question = [
        Intervals(*(outside if place == question else inside for place in range(3)))
        for question in range(3)
    ]
    judged = [verdicts.compare(claim, ours, RULES) for ours in by_question]
    assert [one.verdict for one in judged] == ["inconclusive", "direction only", "reproduced"]
    assert [one.direction for one in judged] == ["unclear", "same", "same"]


# A printed number, by two one-sided tests.


def judged(mean: float, n: int, std: float, floor: float = 0.0, **printed: Any) -> dict[str, Any]:
    nothing = {"reported": 60.0, "reported_std": None, "reported_n": None}
    claim = Claim.model_construct(**nothing | printed)
    return verdicts.judge(claim, mean, n, std, 10, 1.5, RULES, floor)


@pytest.mark.parametrize(
    ("printed", "floor", "variance"),
    [
        ({}, 0.0, 0.16 / 4 + 0.16),  # one run of our spread
        ({"reported_n": 4}, 0.0, 0.16 / 4 + 0.16 / 4),
        ({"reported_std": 0.9}, 0.0, 0.16 / 4 + 0.81),
        ({"reported_std": 0.1}, 0.0, 0.16 / 4 + 0.16),  # raised to ours
        ({"reported_std": 0.1}, 0.7, 0.16 / 4 + 0.49),  # and to the table's
        ({"reported_std": 0.9, "reported_n": 9}, 0.7, 0.16 / 4 + 0.81 / 9),
        ({}, NAN, 0.16 / 4 + 0.16),  # a table without a spread
    ],
)
def test_the_error_of_a_printed_number(
    printed: dict[str, Any], floor: float, variance: float
) -> None:
    found = judged(60.2, 4, 0.4, floor, **printed)
    error = math.sqrt(variance)
    expected = stats.t.interval(0.9, 10, loc=60.2, scale=error)
    assert (found["low"], found["high"]) == pytest.approx(expected)
    assert found["p"] == pytest.approx(2 * stats.t.sf(0.2 / error, 10))


@pytest.mark.parametrize(("n", "std"), [(1, 0.4), (4, 0.0), (4, NAN)])
def test_without_a_spread_there_is_no_error(n: int, std: float) -> None:
    found = judged(60.2, n, std)
    assert [found[name] for name in ("verdict", "verdict_half", "verdict_double")] == [
        "inconclusive"
    ] * 3
    assert all(math.isnan(found[name]) for name in ("p", "low", "high"))
    assert judged(60.2, 2, 0.4)["verdict"] == "reproduced"  # two runs have one


def test_verdicts_at_half_and_at_twice_the_margin() -> None:
    """The half width at 90 % is 0.1812, with error 0.1: a distance of 0.5 is within 0.75, of 1 within 1.5, of 2 in 3.

    That of 95 % is 0.2228: a distance of 1.8 is beyond 1.5, of 3.3 beyond 3.
    """
    yes, open_, no = "reproduced", "inconclusive", "not reproduced"
    expected = {
        0.5: [yes, yes, yes],
        1.0: [no, yes, yes],
        1.4: [no, open_, yes],
        2.0: [no, no, yes],
        3.1: [no, no, open_],
        3.3: [no, no, no],
    }
    for distance, row in expected.items():
        for mean in (60.0 - distance, 60.0 + distance):
            found = judged(mean, 10**9, 0.1, reported_std=0.1)
            kinds = [found[f"verdict{part}"] for part in ("_half", "", "_double")]
            assert kinds == row
            half = stats.t.ppf(0.975 if row[1] == no else 0.95, 10) * 0.1
            assert found["high"] - found["low"] == pytest.approx(2 * half)
            assert found["high"] + found["low"] == pytest.approx(2 * mean)


def test_a_measure_without_a_margin_is_compared_and_not_judged() -> None:
    claim = Claim.model_construct(reported=60.0, reported_std=None, reported_n=None)
    found = verdicts.judge(claim, 60.2, 4, 0.4, 3, NAN, RULES)
    p = t_p(0.2, 0.4 * math.sqrt(1 / 4 + 1), 3)
    assert found == {"verdict": "inconclusive", "p": pytest.approx(p)}


def test_what_a_document_leaves_open_keeps_what_was_measured() -> None:
    outcome = {"measured": 3.0, "verdict": Verdict.REPRODUCED, "verdict_half": Verdict.REPRODUCED}
    found = verdicts.cannot_be_judged(outcome | {"answer": Answer.HOLDS})
    assert (found["measured"], found["verdict"]) == (3.0, Verdict.CANNOT_BE_JUDGED)
    assert found["answer"] is Answer.CANNOT_TELL
    assert found["verdict_half"] is None


# Controls.

PIXELS, UNTRAINED, CHANCE = (at(method="control", variant=one) for one in gather.FLOORS)


@pytest.mark.parametrize(
    ("interval", "means", "floor"),
    [
        ((30.0, 40.0), {PIXELS: 29.9, UNTRAINED: 20.0, CHANCE: 10.0}, ""),
        (
            (30.0, 40.0),
            {PIXELS: 30.0, UNTRAINED: 20.0, CHANCE: 10.0},
            "pixels",
        ),  # level is not above
        ((30.0, 40.0), {PIXELS: 20.0, UNTRAINED: 35.0, CHANCE: 50.0}, "untrained"),  # the first
        ((30.0, 40.0), {PIXELS: 20.0, UNTRAINED: 25.0, CHANCE: 50.0}, "chance"),
        ((30.0, 40.0), {CHANCE: 10.0}, ""),  # one that is not at hand is not compared
        ((30.0, 40.0), {}, ""),
        (UNKNOWN, {CHANCE: 10.0}, "chance"),  # an unknown interval shows nothing
        (UNKNOWN, {}, ""),
    ],
)
def test_a_cell_is_above_its_controls_with_its_whole_interval(
    interval: tuple[float, float], means: dict[str, float], floor: str
) -> None:
    knn, error = MEASURES["knn_top1"], MEASURES["corruption_error"]
    assert verdicts.floor_of(at(), interval, knn, means, gather.FLOORS) == floor
    assert error.better == "lower"
    turned = {cell: -mean for cell, mean in means.items()}
    low, high = interval
    assert verdicts.floor_of(at(), (-high, -low), error, turned, gather.FLOORS) == floor


def measured(**of: Any) -> dict[str, Any]:
    """A row of measurements.csv."""
    cell = {"coordinates": at(), "method": "simclr", "variant": "default", "dataset": "ten"}
    cell |= {"setting": "", "measure": "knn_top1", "measured_on": "digits", "probed_on": "digits"}
    probe = {"epoch": 100, "final": True, "protocol": "knn", "protocol_digest": "d"}
    row = {"seed": 0, "run": "r", "value": 30.0, "n_test": 100, "status": "finished"}
    return cell | probe | row | of


def test_a_summary_by_hand() -> None:
    """Of 40, 50 and 60 the standard deviation is 10; one run diverged, and of one the measure is undefined."""
    values = [(0, 40.0, "finished"), (1, 50.0, "finished"), (2, 60.0, "finished")]
    values += [(3, NAN, "diverged"), (4, NAN, "undefined")]
    rows = [measured(seed=s, value=value, status=status) for s, value, status in values]
    rows[1]["n_test"] = 120
    lone = at(variant="cut3")
    rows += [measured(coordinates=lone, variant="cut3", value=30.0)]
    chance = {"coordinates": CHANCE, "method": "control", "variant": "chance", "seed": pd.NA}
    rows += [measured(**chance, value=30.0)]
    table = pd.DataFrame(rows).astype({"seed": "Int64", "n_test": "Int64"})
    found = gather.summary(table, 0.95, {at(): 7, lone: 2}, {"digits": "three twice"})
    cell, single, control = found.to_dict("records")
    half = stats.t.ppf(0.975, 2) * 10 / math.sqrt(3)
    assert (cell["mean"], cell["std"], cell["n"]) == (50.0, 10.0, 3)
    assert (cell["low"], cell["high"]) == pytest.approx((50 - half, 50 + half))
    assert (cell["n_diverged"], cell["n_undefined"], cell["n_declared"]) == (1, 1, 7)
    assert (cell["n_test"], cell["repeated"]) == (120, "three twice")
    assert cell["floor"] == "chance"  # 50 - 24.8 is below 30
    # a single run is compared by its value, and is not above what it equals; a control has no floor
    assert (single["n"], single["floor"]) == (1, "chance")
    assert np.isnan([single["std"], single["low"]]).all()
    assert (control["n"], control["floor"]) == (0, "")
    assert pd.isna(control["n_declared"])


@pytest.mark.parametrize(
    ("measure", "value", "floor"),
    [("knn_top1", 9.0, "chance"), ("knn_top1", 11.0, ""), ("norm", 9.0, ""), ("steps", 9.0, "")],
)
def test_only_accuracies_have_a_floor(measure: str, value: float, floor: str) -> None:
    cell, control = at(measure=measure), at(method="control", variant="chance", measure=measure)
    rows = [measured(coordinates=cell, measure=measure, value=value)]
    chance = {"coordinates": control, "method": "control", "variant": "chance"}
    rows += [measured(**chance, measure=measure, value=10.0)]
    found = gather.summary(pd.DataFrame(rows), 0.95, {cell: 1}, {})
    assert found["floor"].tolist() == [floor, ""]


@pytest.mark.parametrize(
    ("device", "numerics", "precision"),
    [
        ("cpu", {}, "float32"),
        ("cpu", {"tf32_convolutions": True}, "float32"),
        ("cuda", {"tf32_convolutions": False}, "float32"),
        ("cuda", {"tf32_convolutions": True}, "tf32"),
        ("cuda", {"precision": "bfloat16", "tf32_convolutions": True}, "bfloat16"),
    ],
)
def test_the_precision_of_a_run(device: str, numerics: dict[str, Any], precision: str) -> None:
    assert gather._precision({"device": {"type": device}, "numerics": numerics}) == precision


@pytest.mark.parametrize(
    ("value", "text"),
    [(NAN, ""), (math.inf, "inf"), (-0.0, "0"), (57.3 - 51.0, "6.3"), ("larger", "larger")],
)
def test_how_claims_write_a_number(value: float | str, text: str) -> None:
    """Never is ``inf``, and a difference has no binary dust."""
    rows = [dict.fromkeys(("reported", "measured"), value)]
    assert claim_rows.table(rows)["measured"].tolist() == [text]


def test_more_runs_of_one_spread_only_narrow_what_is_shown() -> None:
    widths = [np.ptp([judged(60.2, n, 0.4)[end] for end in ("low", "high")]) for n in (2, 3, 9, 99)]
    assert all(wide > narrow for wide, narrow in pairwise(widths))
