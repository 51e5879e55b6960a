"""The answers of studies, against the words of their plans: made-up comparisons, counted by hand."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.config import coordinates, project
from hypersphere.statistics import answers
from hypersphere.statistics.effects import Arms

from ...golden.released import ROOT
from .world import RULES

CONFIG = project.load(ROOT, {"scale": "laptop"})
STUDIES = CONFIG.papers["ours"].studies

AHEAD = {"effect": 0.9, "low_holm": 0.1, "high_holm": 1.7}
BEYOND = {"effect": 1.5, "low_holm": 0.2, "high_holm": 3.0}
LEVEL = {"effect": 0.1, "low_holm": -0.4, "high_holm": 0.6, "equivalent": True}
BOTH = {"effect": 0.4, "low_holm": 0.1, "high_holm": 0.7, "equivalent": True}
BEHIND = {"effect": -2.0, "low_holm": -3.0, "high_holm": -1.0}
OPEN = {"effect": -1.0, "low_holm": -4.0, "high_holm": 2.0}
UNREAD = BEHIND | {"floored": "both"}


def row(said: dict[str, Any], arm: str = "method=m", baseline: str = "method=b", margin: float = 1.0) -> dict[str, Any]:
    """A row of studies.csv with all its runs."""
    given = {"coordinates": arm, "baseline": baseline, "margin": margin, "mean": 50.0, "in_family": True}
    return {"n_missing": 0, "floored": "", "equivalent": False, "low": math.nan, "high": math.nan, **given, **said}


def again(low: float, high: float) -> dict[str, Any]:
    own = {"effect": (low + high) / 2, "low": low, "high": high, "low_holm": math.nan, "high_holm": math.nan}
    return row({**own, "in_family": False}, arm="method=b;variant=again")


def answer(study: str, rows: list[dict[str, Any]], values: Arms | None = None) -> str:
    return answers.of_study(f"ours/{study}", STUDIES[study].answers, rows, len(rows), values or {}, RULES)


def test_what_a_comparison_is_counted_as() -> None:
    for said, names in ((AHEAD, "ahead"), (BEYOND, "ahead beyond"), (BOTH, "ahead level"), (BEHIND, "behind")):
        assert answers.called(row(said)) == names.split()
        assert answers.called(row(said) | {"n_missing": 1}) == []
        assert answers.called(row(said) | {"floored": "both"}) == []
        assert answers.called(row(said) | {"floored": "variant"}) == answers.called(row(said))
    assert (answers.called(row(LEVEL)), answers.called(row(OPEN))) == (["level"], [])


LOW, GAIN = {"margin": 0.5, "mean": 0.4}, {"margin": 0.5, "mean": 2.0}
"""A trained gain below the margin of ``confidence``, and above it."""


@pytest.mark.parametrize(
    ("study", "rows", "expected"),
    [
        ("step_size", [LEVEL] * 4 + [OPEN] * 2, "yes"),  # none is better, four are within the margin
        ("step_size", [LEVEL] * 4 + [BEHIND] * 2, "yes"),  # the plan says nothing of arms that are behind
        ("step_size", [LEVEL] * 3 + [OPEN] * 3, "unclear"),
        ("step_size", [LEVEL] * 3 + [BOTH] + [OPEN] * 2, "unclear"),  # one of the four is better, if by little
        ("step_size", [LEVEL] * 4 + [AHEAD, OPEN], "unclear"),  # better, but not by the margin
        ("step_size", [LEVEL] * 4 + [BEYOND, OPEN], "no"),  # better by more than the margin
        ("step_size", [BEYOND] + [BEHIND] * 5, "no"),
        ("confidence", [BEYOND | GAIN] * 4, "yes"),
        ("confidence", [BEYOND | LOW] * 4, "unclear"),  # the trained gain itself is below the margin
        ("confidence", [BEYOND | GAIN] * 3 + [OPEN | GAIN], "unclear"),
        ("confidence", [LEVEL | GAIN] * 2 + [BEHIND | GAIN] * 2, "no"),
        ("confidence", [LEVEL | GAIN] * 3 + [OPEN | GAIN], "unclear"),
        ("confidence", [BEYOND | GAIN] * 2 + [BEHIND | GAIN] * 2, "unclear"),
        ("losses", [*[LEVEL] * 14, BEYOND, again(-0.3, 0.3)], "yes"),
        ("losses", [*[LEVEL] * 14, BEYOND, again(0.1, 0.7)], "unclear"),  # the A/A interval is clear of zero
        ("losses", [*[LEVEL] * 14, AHEAD, again(-0.3, 0.3)], "unclear"),
        ("losses", [*[LEVEL] * 14, BEHIND, again(0.1, 0.7)], "no"),  # every upper end is below a point
        ("losses", [*[LEVEL] * 14, OPEN, again(-0.3, 0.3)], "unclear"),
    ],
)
def test_an_answer_that_counts_comparisons(study: str, rows: list[dict[str, Any]], expected: str) -> None:
    assert answer(study, [row(one) for one in rows]) == expected


@pytest.mark.parametrize(
    ("against_none", "against_uniform", "expected"),
    [
        ([AHEAD, AHEAD, OPEN], [AHEAD, OPEN, OPEN], "yes"),
        ([AHEAD, AHEAD, OPEN], [AHEAD, OPEN, BEHIND], "yes"),  # behind on a task on which it is not ahead of none
        ([AHEAD, AHEAD, OPEN], [OPEN, OPEN, AHEAD], "unclear"),  # ahead of uniformity on another task alone
        ([AHEAD, AHEAD, OPEN], [AHEAD, BEHIND, OPEN], "unclear"),
        ([AHEAD, OPEN, OPEN], [AHEAD, OPEN, OPEN], "unclear"),  # on one task of three
        ([OPEN, BEHIND, LEVEL], [AHEAD, AHEAD, AHEAD], "no"),  # ahead of none on none
        ([AHEAD, AHEAD, OPEN], [LEVEL, BEHIND, OPEN], "no"),  # uniformity is level, and ahead
        ([AHEAD, AHEAD, AHEAD], [LEVEL, BEHIND, OPEN], "unclear"),
        ([AHEAD, AHEAD, OPEN], [BOTH, LEVEL, OPEN], "unclear"),  # ahead and level at once: yes and no both fit
    ],
)
def test_does_distance_polarization_help_sentences(
    against_none: list[dict[str, Any]], against_uniform: list[dict[str, Any]], expected: str
) -> None:
    """The family: + DP (summed) against none, uniformity against none (which no answer reads), and the first two."""
    said = {("dp_sum", "default"): against_none, ("uniform", "default"): [OPEN] * 3}
    said["dp_sum", "uniform"] = against_uniform
    cell, tasks = "method=qt_dcl;variant={};dataset=bookcorpus;target={}", ["text_mr", "text_subj", "text_msrp"]
    rows = [
        row(one, *(cell.format(arm, task) for arm in pair))
        for pair, of in said.items()
        for task, one in zip(tasks, of, strict=True)
    ]
    assert answer("sentences", rows) == expected


SEEDS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
"""By how much five seeds lie beside their mean."""


def family(study: str) -> list[tuple[coordinates.Coordinates, coordinates.Coordinates]]:
    """The comparisons of a released study, without A/A ones."""
    pairs = CONFIG.papers["ours"].measured[study].comparisons
    return [pair for pair in pairs if "again" not in (pair[0]["variant"], pair[1]["variant"])]


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [
        # (called, cut minus default) of SimCLR and SimSiam after the fewest steps, and after the most
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(LEVEL, -0.2), (BEHIND, -3.0)], "yes"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(LEVEL, -0.2), (AHEAD, 0.9)], "yes"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(LEVEL, -0.2), (OPEN, -1.0)], "unclear"),
        ([(BEHIND, -0.3), (OPEN, 0.0)], [(LEVEL, -0.2), (OPEN, 0.0)], "unclear"),  # level, but it has not risen
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(BEHIND, -2.0), (LEVEL, 0.0)], "no"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(BEHIND, -2.0), (LEVEL, 0.0)], "unclear"),
        ([(OPEN, 0.0), (LEVEL, 0.0)], [(BEHIND, -3.0), (BEHIND, -3.0)], "unclear"),  # behind nowhere at first
        # A comparison with an arm that is level with a control is left out.
        ([(BEHIND, -3.0), (UNREAD, -3.0)], [(LEVEL, -0.2), (BEHIND, -3.0)], "yes"),
        ([(UNREAD, -3.0), (UNREAD, -3.0)], [(LEVEL, -0.2), (LEVEL, 0.0)], "unclear"),
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(UNREAD, -2.0), (LEVEL, 0.0)], "unclear"),
    ],
)
def test_do_more_steps_make_up_for_a_cut(
    early: list[tuple[dict[str, Any], float]], late: list[tuple[dict[str, Any], float]], expected: str
) -> None:
    rows, values = [], dict[str, pd.Series]()
    for arm, baseline in family("cut_by_steps"):
        at = ["simclr", "simsiam"].index(str(arm["method"]))
        said, difference = {95: early[at], 385: (OPEN, 0.0), 1540: late[at]}[int(arm["schedule.epochs"])]
        rows.append(row(said, coordinates.text(arm), coordinates.text(baseline)))
        values |= {
            coordinates.text(point): pd.Series(mean + SEEDS / 10)
            for point, mean in ((arm, 30 + difference), (baseline, 30))
        }
    assert len(rows) == 6
    assert answer("cut_by_steps", rows, values) == expected


EARLY, LATE, NOWHERE = 42.0, 67.0, math.inf
"""Sizes, in pixels, around which the reading of the first digit falls."""


@pytest.mark.parametrize(
    ("said", "falls_at", "expected"),
    [
        (BEHIND, (EARLY, EARLY, LATE), "yes"),
        (BEHIND, (LATE, EARLY, EARLY), "yes"),  # they differ, in either direction
        (BEHIND, (EARLY, LATE, EARLY), "no"),  # the same size at half loss at both ends
        (BEHIND, (EARLY, NOWHERE, LATE), "unclear"),  # one slope is not below zero
        (OPEN, (NOWHERE, NOWHERE, NOWHERE), "no"),  # behind at no temperature
        ({0.05: BEHIND, 0.2: OPEN, 0.5: BEHIND}, (EARLY, EARLY, LATE), "unclear"),
    ],
)
def test_does_a_larger_digit_suppress_the_first(
    said: dict[Any, Any], falls_at: tuple[float, ...], expected: str
) -> None:
    """``said`` of the largest digit, at every temperature or by it; the sizes between decide nothing."""
    temperatures = (0.05, 0.2, 0.5)
    by_temperature = said if 0.05 in said else dict.fromkeys(temperatures, said)
    rows, values = [], dict[str, pd.Series]()
    for arm, baseline in family("multidigits"):
        temperature = float(arm["objective.temperature"])
        fall = falls_at[temperatures.index(temperature)]
        cell, other = map(coordinates.text, (arm, baseline))
        rows.append(row(by_temperature[temperature] if "_80;" in cell else OPEN, cell, other))
        for point, name in ((arm, cell), (baseline, other)):
            size = float(str(point["dataset"])[-2:])
            values[name] = pd.Series(90 + SEEDS - 60 / (1 + np.exp((fall + SEEDS - size) / 5)))
    assert len(rows) == 15
    assert answer("multidigits", rows, values) == expected


def test_the_size_at_half_loss_is_where_the_line_first_falls_to_the_middle() -> None:
    """By hand: of two seeds, one falls by a point a pixel; the other rises, falls below the middle, and rises again."""
    values = {30: [90, 80], 40: [80, 90], 50: [70, 50], 60: [60, 70], 70: [50, 45], 80: [40, 60]}
    curve = {size: pd.Series(of, dtype=float) for size, of in values.items()}
    assert list(answers.half_loss_sizes(curve)) == pytest.approx([55, 45])  # at 65 and at 70
    grown = curve | {80: pd.Series([95.0, 60.0])}
    assert np.isnan(answers.half_loss_sizes(grown)[0])


def test_a_study_has_no_answer_before_every_arm_can_bear_one() -> None:
    rows = [row(LEVEL)] * 5 + [row(OPEN)]
    assert answer("step_size", rows) == "yes"  # the control
    assert answer("step_size", [*rows[:-1], row(OPEN | {"n_missing": 3})]) == ""
    assert answer("step_size", [*rows[:-1], row(OPEN | {"floored": "both"})]) == "level"
    assert answers.of_study("ours/step_size", STUDIES["step_size"].answers, rows, len(rows) + 1, {}, RULES) == ""


def test_every_study_has_a_rule_of_one_kind() -> None:
    by_numbers = [name for name, study in STUDIES.items() if study.answers.numbers]
    assert sorted([*by_numbers, *(name.removeprefix("ours/") for name in answers.RULES)]) == sorted(STUDIES)


def test_a_study_of_another_document_takes_no_rule_of_ours_and_may_state_one_answer_in_numbers() -> None:
    words = STUDIES["losses"].answers
    rows = [row(BEYOND), again(-0.3, 0.3)]
    assert answers.of_study("ours/losses", words, rows, 2, {}, RULES) == "yes"  # the control
    assert answers.of_study("mine/losses", words, rows, 2, {}, RULES) == ""
    one = words.model_copy(update={"numbers": {"yes": {"ahead": (1, 1)}}})
    assert answers.of_study("mine/losses", one, rows, 2, {}, RULES) == "yes"
    assert answers.of_study("mine/losses", one, [row(OPEN)], 1, {}, RULES) == "unclear"


@pytest.mark.parametrize("name", ["sentences", "confidence", "losses"])
def test_a_rule_reads_the_coordinates_of_its_released_study(name: str) -> None:
    """The family as the plan declares it, every comparison ahead by more than the margin."""
    rows = [row(BEYOND, coordinates.text(arm), coordinates.text(baseline)) for arm, baseline in family(name)]
    assert answer(name, rows) == "yes"
