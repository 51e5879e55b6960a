"""One answer in seven files: every file is well formed, says the same, and shows text that could be code as text."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from hypersphere.judging import findings, judged, page
from hypersphere.judging.judged import Question
from hypersphere.judging.reading import Runs
from hypersphere.statistics.effects import Sample

from ...prose import other_words

BASE: dict[object, float] = {0: 90.1, 1: 90.4, 2: 89.9, 3: 90.3}
NAMES = ("base", "ours_<b>&", "a|b")


def shown(question: Question, **about: object) -> page.Shown:
    arms: dict[str, Sample] = {"base": BASE}
    arms["ours_<b>&"] = {seed: value + 2 for seed, value in BASE.items()}
    noise = (0.12, 0.08, 0.08, 0.12)
    arms["a|b"] = {seed: BASE[seed] + more for seed, more in enumerate(noise)}
    runs = Runs(Path("r.csv"), "a table", "acc", {"c_1": arms}, Counter(), True, {})
    by_rules = judged.judge(runs._replace(**about), question, judged.rules())
    return page.Shown(by_rules, findings.of(by_rules))


ASKED = Question("base", margin=1.0, test_size=10_000)


def test_sentences_say_the_answer_and_then_the_numbers() -> None:
    """The numbers are Welch's, which test_judged.py compares with other implementations."""
    better, equal = (page.sentence(shown(ASKED).judged, one) for one in shown(ASKED).judged.effects)
    assert better.startswith("ours_<b>& is better than base on c_1: +2.00 [+1.")
    assert better.endswith("(n = 4; Holm p < 0.001).")
    assert equal.startswith("a|b equals base on c_1 within 1: +0.10 [−0.")
    assert (
        page.headline(shown(ASKED).judged) == "2 comparisons with base: 1 better, 1 no difference."
    )


def test_an_undecided_effect_says_how_many_runs_would_tell() -> None:
    undecided = page.sentence(*both(Question("base", margin=0.1)))
    assert "runs an arm find a true effect of 0.1 with 80 %" in undecided
    assert "show equal arms to be equal" in undecided
    paired = page.sentence(*both(Question("base", margin=0.01, paired=True)))
    assert "(n = 4 pairs; Holm p" in paired
    assert "runs an arm" not in paired
    assert "if it is true" in page.sentence(*both(Question("base")))


def both(question: Question) -> tuple[judged.Judged, judged.JudgedEffect]:
    by_rules = shown(question).judged
    return by_rules, by_rules.effects[1]


@pytest.mark.parametrize("name", ["judge.html", "effects.svg"])
def test_marks_of_a_name_are_text_on_a_page(name: str) -> None:
    written = page.FILES[name](shown(ASKED))
    assert "ours_&lt;b&gt;&amp;" in written
    assert "ours_<b>" not in written


def test_the_picture_is_well_formed_and_has_every_effect_in_its_frame() -> None:
    root = ET.fromstring(page.svg(shown(ASKED)))
    width = float(root.attrib["width"])
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 2
    assert all(0 < float(circle.attrib["cx"]) < width for circle in circles)
    lefts = [float(circle.attrib["cx"]) for circle in circles]
    assert lefts[0] > lefts[1]  # +2 is to the right of +0.1


def test_a_page_needs_nothing_from_elsewhere() -> None:
    written = page.page(shown(ASKED))
    assert "<svg" in written
    assert not any(mark in written for mark in ("<script", "src=", "@import", "<link"))


def test_rows_of_a_paper_are_escaped_and_of_one_length() -> None:
    head, *rows = page.tex(shown(ASKED)).splitlines()
    assert head.startswith("% arm & c_1 & effect")
    assert rows[1].startswith("ours\\_$<$b$>$\\& & \\textbf{92.17 $\\pm$ 0.22} & +2.00 ")
    assert rows[0] == "base & 90.17 $\\pm$ 0.22 &  \\\\"
    assert {row.replace("\\&", "").count("&") for row in rows} == {2}


def test_tables_hold_every_number_and_an_unknown_one_is_empty() -> None:
    found = shown(ASKED)
    for name, rows in (("arms.csv", found.judged.arms), ("effects.csv", found.judged.effects)):
        read = list(csv.DictReader(io.StringIO(page.FILES[name](found))))
        assert [row["arm"] for row in read] == [one.arm for one in rows]
        assert [float(row[key]) for row in read for key in ("low", "high")] == [
            end for one in rows for end in (one.low, one.high)
        ]
    without = page.FILES["effects.csv"](shown(Question("base")))
    assert {row["power"] for row in csv.DictReader(io.StringIO(without))} == {""}
    content = json.loads(page.as_json(shown(Question("base"))))
    assert content["effects"][0]["power"] is None
    assert content["effects"][0]["answer"] == "better"


def test_markdown_has_a_line_for_each_arm_whose_columns_say_something() -> None:
    written = page.markdown(shown(ASKED))
    assert written.count("| c_1 |") == 5
    assert "a\\|b" in written
    assert "Power at the margin" in written
    assert "Power at the margin" not in page.markdown(shown(Question("base")))


def test_a_plan_is_said_with_its_deviations() -> None:
    planned = shown(ASKED)._replace(plan="0123abcd")
    assert "as planned (plan 0123abcd)" in page.text(planned)
    deviated = planned._replace(deviations=["x was not planned."])
    for name in ("judge.html", "judge.md"):
        written = page.FILES[name](deviated)
        assert "deviated" in written
        assert "x was not planned." in written


def test_every_word_is_the_projects() -> None:
    for question in (ASKED, Question("base"), Question("base", margin=0.1, paired=True)):
        assert other_words(page.markdown(shown(question))) == []


@pytest.mark.parametrize(
    ("span", "step"), [(1.0, 0.2), (4.0, 1.0), (8.0, 2.0), (0.03, 0.005), (0.0, 1.0), (70.0, 10.0)]
)
def test_ticks_are_round(span: float, step: float) -> None:
    assert page.tick_step(span) == pytest.approx(step)
