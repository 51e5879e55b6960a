"""The answers of studies, against the words of their plans: made-up comparisons, counted by hand."""

import ast
import math
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config.study import Answers
from hypersphere.statistics import answers
from hypersphere.statistics.effects import Arms

from ...golden.released import ROOT, configured
from .world import RULES

CONFIG = configured("laptop")
OPEN_STUDIES = [
    (paper, name)
    for paper, document in CONFIG.papers.items()
    for name, study in document.studies.items()
    if study.closed is None
]
"""All that can have an answer."""

AHEAD = {"effect": 0.9, "low_holm": 0.1, "high_holm": 1.7}
BEYOND = {"effect": 1.5, "low_holm": 0.2, "high_holm": 3.0}
LEVEL = {"effect": 0.1, "low_holm": -0.4, "high_holm": 0.6, "equivalent": True}
BOTH = {"effect": 0.4, "low_holm": 0.1, "high_holm": 0.7, "equivalent": True}
BEHIND = {"effect": -2.0, "low_holm": -3.0, "high_holm": -1.0}
OPEN = {"effect": -1.0, "low_holm": -4.0, "high_holm": 2.0}
UNREAD = BEHIND | {"floored": "both"}


def row(
    said: dict[str, Any], arm: str = "method=m", baseline: str = "method=b", margin: float = 1.0
) -> dict[str, Any]:
    """A row of studies.csv with all its runs."""
    given = {
        "coordinates": arm,
        "baseline": baseline,
        "margin": margin,
        "mean": 50.0,
        "in_family": True,
    }
    return {
        "finished": True,
        "floored": "",
        "equivalent": False,
        "low": math.nan,
        "high": math.nan,
        **given,
        **said,
    }


def again(low: float, high: float) -> dict[str, Any]:
    own = {
        "effect": (low + high) / 2,
        "low": low,
        "high": high,
        "low_holm": math.nan,
        "high_holm": math.nan,
    }
    return row({**own, "in_family": False}, arm="method=b;variant=again")


def answer(
    study: str, rows: list[dict[str, Any]], values: Arms | None = None, paper: str = "ours"
) -> str:
    return answers.of_study(rule_of(paper, study), rows, values or {}, RULES)


@cache
def rule_of(paper: str, study: str) -> answers.Rule:
    return answers.rule_of(
        CONFIG.papers[paper].studies[study].answers, CONFIG.answers_file(paper), study
    )


def test_what_a_comparison_is_counted_as() -> None:
    for said, names in (
        (AHEAD, "ahead"),
        (BEYOND, "ahead beyond"),
        (BOTH, "ahead level"),
        (BEHIND, "behind"),
    ):
        assert answers.called(row(said)) == names.split()
        assert answers.called(row(said) | {"finished": False}) == []
        for one_arm in ("variant", "baseline"):
            assert answers.called(row(said) | {"floored": one_arm}) == names.split()
        assert answers.called(row(said) | {"floored": "both"}) == []
    assert (answers.called(row(LEVEL)), answers.called(row(OPEN))) == (["level"], [])


LOW, GAIN = {"margin": 0.5, "mean": 0.4}, {"margin": 0.5, "mean": 2.0}
"""A trained gain below the margin of ``confidence``, and above it."""


@pytest.mark.parametrize(
    ("study", "rows", "expected"),
    [
        # none is better, four are within the margin
        ("step_size", [LEVEL] * 4 + [OPEN] * 2, "yes"),
        # the plan says nothing of arms that are behind
        ("step_size", [LEVEL] * 4 + [BEHIND] * 2, "yes"),
        ("step_size", [LEVEL] * 3 + [OPEN] * 3, "unclear"),
        # one of the four is better, if by little
        ("step_size", [LEVEL] * 3 + [BOTH] + [OPEN] * 2, "unclear"),
        ("step_size", [LEVEL] * 4 + [AHEAD, OPEN], "unclear"),  # better, but not by the margin
        ("step_size", [LEVEL] * 4 + [BEYOND, OPEN], "no"),  # better by more than the margin
        ("step_size", [BEYOND] + [BEHIND] * 5, "no"),
        ("confidence", [BEYOND | GAIN] * 4, "yes"),
        # the trained gain itself is below the margin
        ("confidence", [BEYOND | LOW] * 4, "unclear"),
        ("confidence", [BEYOND | GAIN] * 3 + [OPEN | GAIN], "unclear"),
        ("confidence", [LEVEL | GAIN] * 2 + [BEHIND | GAIN] * 2, "no"),
        ("confidence", [LEVEL | GAIN] * 3 + [OPEN | GAIN], "unclear"),
        ("confidence", [BEYOND | GAIN] * 2 + [BEHIND | GAIN] * 2, "unclear"),
    ],
)
def test_an_answer_that_counts_comparisons(
    study: str, rows: list[dict[str, Any]], expected: str
) -> None:
    assert answer(study, [row(one) for one in rows]) == expected


@pytest.mark.parametrize(
    ("against_none", "against_uniform", "expected"),
    [
        ([AHEAD, AHEAD, OPEN], [AHEAD, OPEN, OPEN], "yes"),
        # behind on a task on which it is not ahead of none
        ([AHEAD, AHEAD, OPEN], [AHEAD, OPEN, BEHIND], "yes"),
        # ahead of uniformity on another task alone
        ([AHEAD, AHEAD, OPEN], [OPEN, OPEN, AHEAD], "unclear"),
        ([AHEAD, AHEAD, OPEN], [AHEAD, BEHIND, OPEN], "unclear"),
        ([AHEAD, OPEN, OPEN], [AHEAD, OPEN, OPEN], "unclear"),  # on one task of three
        ([OPEN, BEHIND, LEVEL], [AHEAD, AHEAD, AHEAD], "no"),  # ahead of none on none
        ([AHEAD, AHEAD, OPEN], [LEVEL, BEHIND, OPEN], "no"),  # uniformity is level, and ahead
        ([AHEAD, AHEAD, AHEAD], [LEVEL, BEHIND, OPEN], "unclear"),
        # ahead and level at once: yes and no both fit
        ([AHEAD, AHEAD, OPEN], [BOTH, LEVEL, OPEN], "unclear"),
    ],
)
def test_does_distance_polarization_help_sentences(
    against_none: list[dict[str, Any]], against_uniform: list[dict[str, Any]], expected: str
) -> None:
    """The family: + DP (summed) against none, uniformity against none (which no answer reads), and the first two."""
    said = {("dp_sum", "default"): against_none, ("uniform", "default"): [OPEN] * 3}
    said["dp_sum", "uniform"] = against_uniform
    cell, tasks = (
        "method=qt_dcl;variant={};dataset=bookcorpus;target={}",
        ["text_mr", "text_subj", "text_msrp"],
    )
    rows = [
        row(one, *(cell.format(arm, task) for arm in pair))
        for pair, of in said.items()
        for task, one in zip(tasks, of, strict=True)
    ]
    assert answer("sentences", rows) == expected


SEEDS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
"""By how much five seeds lie beside their mean."""


def family(
    study: str, paper: str = "ours"
) -> list[tuple[coordinates.Coordinates, coordinates.Coordinates]]:
    """The comparisons of a released study, without A/A ones."""
    pairs = CONFIG.papers[paper].measured[study].comparisons
    return [pair for pair in pairs if "again" not in (pair[0]["variant"], pair[1]["variant"])]


@pytest.mark.parametrize(
    ("early", "late", "expected"),
    [
        # (called, cut minus default) of SimCLR and SimSiam after the fewest steps, and after the most
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(LEVEL, -0.2), (BEHIND, -3.0)], "yes"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(LEVEL, -0.2), (AHEAD, 0.9)], "yes"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(LEVEL, -0.2), (OPEN, -1.0)], "unclear"),
        # level, but it has not risen
        ([(BEHIND, -0.3), (OPEN, 0.0)], [(LEVEL, -0.2), (OPEN, 0.0)], "unclear"),
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(BEHIND, -2.0), (LEVEL, 0.0)], "no"),
        ([(BEHIND, -3.0), (BEHIND, -3.0)], [(BEHIND, -2.0), (LEVEL, 0.0)], "unclear"),
        # behind nowhere at first
        ([(OPEN, 0.0), (LEVEL, 0.0)], [(BEHIND, -3.0), (BEHIND, -3.0)], "unclear"),
        # A comparison of which neither arm is above its controls is left out.
        ([(BEHIND, -3.0), (UNREAD, -3.0)], [(LEVEL, -0.2), (BEHIND, -3.0)], "yes"),
        ([(UNREAD, -3.0), (UNREAD, -3.0)], [(LEVEL, -0.2), (LEVEL, 0.0)], "unclear"),
        ([(BEHIND, -3.0), (OPEN, 0.0)], [(UNREAD, -2.0), (LEVEL, 0.0)], "unclear"),
    ],
)
def test_do_more_steps_make_up_for_a_cut(
    early: list[tuple[dict[str, Any], float]],
    late: list[tuple[dict[str, Any], float]],
    expected: str,
) -> None:
    rows, values = [], dict[str, pd.Series]()
    for arm, baseline in family("cut_by_steps"):
        at = ["simclr", "simsiam"].index(str(arm["method"]))
        said, difference = {95: early[at], 385: (OPEN, 0.0), 1540: late[at]}[
            int(arm["schedule.epochs"])
        ]
        rows.append(row(said, coordinates.text(arm), coordinates.text(baseline)))
        values |= {
            coordinates.text(point): pd.Series(mean + SEEDS / 10)
            for point, mean in ((arm, 30 + difference), (baseline, 30))
        }
    assert len(rows) == 6
    assert answer("cut_by_steps", rows, values) == expected


SAID = st.sampled_from([AHEAD, BEYOND, LEVEL, BOTH, BEHIND, OPEN])
FLOORED = st.sampled_from(["", "variant", "baseline"])


@pytest.mark.parametrize(("paper", "study"), OPEN_STUDIES)
@settings(deadline=None)
@given(data=st.data())
def test_no_floored_arm_changes_an_answer_and_two_take_their_comparison_alone(
    paper: str, study: str, data: st.DataObject
) -> None:
    """Of every study that can have an answer, whatever was found: there is one rule for all of them."""
    rows, values = list[dict[str, Any]](), dict[str, pd.Series]()
    for arm, baseline in family(study, paper):
        rows.append(row(data.draw(SAID), coordinates.text(arm), coordinates.text(baseline)))
        for point in (arm, baseline):
            values[coordinates.text(point)] = pd.Series(data.draw(st.integers(-9, 9)) + SEEDS)
    found = answer(study, rows, values, paper)
    assert found in ("yes", "no", "unclear")
    one_arm = [one | {"floored": data.draw(FLOORED)} for one in rows]
    assert answer(study, one_arm, values, paper) == found
    place = data.draw(st.integers(0, len(rows) - 1))
    both, nothing = (
        [*rows[:place], rows[place] | of, *rows[place + 1 :]]
        for of in ({"floored": "both"}, UNCALLED)
    )
    assert answer(study, both, values, paper) == answer(study, nothing, values, paper)


UNCALLED = OPEN | {"equivalent": False}
"""What is counted as nothing."""


def test_every_rule_in_words_is_of_a_study_that_needs_one() -> None:
    """The functions of each document's answers.py: that of a study with numbers, or of none, would never be called."""
    for paper, document in CONFIG.papers.items():
        file, own = CONFIG.answers_file(paper), set[str]()
        if file.is_file():
            own = {
                node.name
                for node in ast.parse(file.read_text(encoding="utf-8")).body
                if is_function(node)
            }
        assert own == {
            name
            for name, one in document.studies.items()
            if not (one.answers.numbers or one.closed)
        }


def is_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("_")


def test_no_module_names_a_study() -> None:
    """Neither with its document, ours/<study>, nor alone, where studies are answered, selected and shown."""
    names = {
        (paper, name)
        for paper, one in CONFIG.papers.items()
        for name in (*one.studies, *one.withdrawn)
    }
    about_studies = (
        "config/study",
        "config/deciding",
        "statistics/answers",
        "statistics/confirmed",
    )
    about_studies += ("statistics/selection", "report/confirmed")
    for file in sorted((ROOT / "src").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        assert [one for one in names if "/".join(one) in text] == [], file
        if file.with_suffix("").as_posix().endswith(about_studies):
            said = {
                node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)
            }
            assert not said & {name for _, name in names}, file


def test_the_rule_of_any_document_is_found_by_its_study(tmp_path: Path) -> None:
    """Where the plan has numbers, they decide, whatever the file says."""
    by_words = Answers(yes="a", no="b", unclear="c")
    says = "def mine(family, again, values, rules):\n    return 'ahead' in family[0].called, len(again) == 1\n"
    files.write_text(tmp_path / "answers.py", says)
    rule = answers.rule_of(by_words, tmp_path / "answers.py", "mine")
    assert answers.of_study(rule, [row(AHEAD)], {}, RULES) == "yes"
    assert answers.of_study(rule, [row(OPEN), again(-0.3, 0.3)], {}, RULES) == "no"
    assert answers.of_study(rule, [row(AHEAD), again(-0.3, 0.3)], {}, RULES) == "unclear"
    numbers = by_words.model_copy(update={"numbers": {"no": {"ahead": (1, 1)}}})
    counted = answers.rule_of(numbers, tmp_path / "answers.py", "mine")
    assert answers.of_study(counted, [row(AHEAD)], {}, RULES) == "no"
    assert answers.of_study(counted, [row(OPEN)], {}, RULES) == "unclear"


@pytest.mark.parametrize("name", ["sentences", "confidence"])
def test_a_rule_reads_the_coordinates_of_its_released_study(name: str) -> None:
    """The family as the plan declares it, every comparison ahead by more than the margin."""
    rows = [
        row(BEYOND, coordinates.text(arm), coordinates.text(baseline))
        for arm, baseline in family(name)
    ]
    assert answer(name, rows) == "yes"
