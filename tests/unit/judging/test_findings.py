"""What is said of runs besides their effects; expected numbers are from order statistics and from hand."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hypersphere.judging import findings, judged
from hypersphere.judging.judged import Question
from hypersphere.judging.reading import Runs
from hypersphere.statistics.effects import Sample

EVEN = {0: 90.0, 1: 91.0, 2: 92.0}


def said(
    question: Question, arms: dict[str, dict[int, float]], **about: object
) -> list[tuple[str, str]]:
    samples: dict[str, Sample] = {**arms}
    runs = Runs(Path("r.csv"), "a table", "acc", {"": samples}, Counter(), True, {})
    by_rules = judged.judge(runs._replace(**about), question, judged.rules())
    return [(one.kind, one.says) for one in findings.of(by_rules)]


BASE = Question("base")


def test_alike_runs_with_consecutive_seeds_are_said_nothing_of() -> None:
    assert said(BASE, {"base": EVEN, "ours": EVEN}) == []


def test_seeds_that_look_picked_are_named_with_what_picking_would_gain() -> None:
    found = dict(said(BASE, {"base": EVEN, "ours": {3: 92.0, 17: 93.0, 42: 94.0}}))
    assert "3, 17, 42" in found["seeds"]
    assert f"{findings.best_of(3, 40):.2g}" in found["seeds"]


def test_a_lost_run_may_have_the_seed_between() -> None:
    found = said(
        BASE, {"base": EVEN, "ours": {0: 90.0, 1: 91.0, 3: 92.0}}, lost=Counter({("", "ours"): 1})
    )
    assert [says for _, says in found if "consecutive" in says] == []


def test_seeds_that_lie_far_apart_do_not_tell_how_many_were_tried() -> None:
    apart = {1: 92.0, 42: 93.0, 2026: 94.0}
    found = said(BASE, {"base": apart, "ours": apart})
    assert len(found) == 2
    assert all("best" not in says for _, says in found)


def test_words_are_seeds_and_follow_no_order() -> None:
    runs = {0: 90.0, 1: 91.0, "b": 92.0}
    assert said(BASE, {"base": runs, "ours": runs}) == []


@pytest.mark.parametrize(("n", "tried"), [(1, 2), (3, 40), (5, 6)])
def test_the_best_of_many_are_too_high_by_the_mean_of_their_order_statistics(
    n: int, tried: int
) -> None:
    drawn = np.sort(np.random.default_rng(0).standard_normal((200_000, tried)))[:, -n:]
    assert findings.best_of(n, tried) == pytest.approx(drawn.mean(), abs=0.03)


def test_different_numbers_of_runs_and_lost_ones_are_said() -> None:
    few = {0: 90.0, 1: 91.0}
    found = said(BASE, {"base": EVEN, "ours": few}, lost=Counter({("", "ours"): 1}))
    assert [kind for kind, _ in found] == ["n", "lost", "seeds"]
    assert "ours lost 1 of 3 runs" in found[1][1]
    assert "base: 0 to 2" in found[2][1]


def test_a_control_has_its_own_number_of_runs() -> None:
    arms = {"base": EVEN, "ours": EVEN, "pixels": {0: 95.0}}
    found = said(Question("base", controls=("pixels",)), arms)
    assert found == [("controls", "Not shown to be above the control pixels: base, ours.")]


def test_runs_that_ended_at_different_steps_are_said() -> None:
    steps = {("", "base"): {100.0}, ("", "ours"): {100.0, 90.0}}
    ((kind, says),) = said(BASE, {"base": EVEN, "ours": EVEN}, last_steps=steps)
    assert kind == "steps"
    assert "ours 90 and 100" in says


def test_a_column_of_best_values_is_said() -> None:
    ((kind, _),) = said(BASE, {"base": EVEN, "ours": EVEN}, measure="best_val_acc")
    assert kind == "best"


def test_an_effect_within_the_error_of_the_test_set_is_said() -> None:
    """At 91 % of 10,000 the error of a difference is 0.40, so that 0.5 is within 1.96 of it, and 2 is not."""
    arms = {"base": EVEN, "near": {k: v + 0.5 for k, v in EVEN.items()}}
    arms["far"] = {k: v + 2 for k, v in EVEN.items()}
    ((kind, says),) = said(Question("base", test_size=10_000), arms)
    assert kind == "test set"
    assert "near" in says
    assert "far" not in says
    assert "error of 0.4 (unpaired)" in says
