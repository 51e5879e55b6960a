"""Bags of words on examples made by hand, and what they say of Table 4's columns."""

import numpy as np
import pandas as pd
import pytest

from hypersphere_text.datasets.reading.text_tasks import Example
from papers.lmcl.studies.word_counts import draw
from papers.lmcl.studies.word_counts.compute import TASKS, Counted, answers, bag_of_words, distance
from tests.unit.printed import table

SWAP = {"subj": "mpqa", "mpqa": "subj"}


def sentences(good: int, bad: int) -> list[Example]:
    kinds = [("fine", 1)] * good + [("dull", 0)] * bad
    return [Example((f"a {word} film {i}",), label) for i, (word, label) in enumerate(kinds)]


def test_words_tell_classes_apart_that_the_majority_does_not() -> None:
    """Thirty of forty are of one class, in each of ten folds three of four."""
    assert bag_of_words({"train": sentences(30, 10)}) == Counted(40, 75, 100)


def test_a_task_with_a_test_set_is_fitted_on_the_other_part() -> None:
    """The most frequent class to train on is the rarer one of the test, and one test example has words of both."""
    test = [*sentences(2, 1), Example(("dull dull dull",), 1)]
    assert bag_of_words({"train": sentences(5, 6), "test": test}) == Counted(4, 25, 75)


def test_of_a_pair_it_counts_which_words_are_shared() -> None:
    """A pair is of class 1 if both sentences have the same word; no word by itself says so."""
    names = [f"word{chr(97 + i)}" for i in range(8)]
    same = [Example((one, one), 1) for one in names] * 3
    other = [Example((names[i], names[(i + k) % 8]), 0) for i in range(8) for k in (1, 2, 3)]
    assert bag_of_words({"train": same + other, "test": same + other}).words == 100


def printed() -> dict[str, list[float]]:
    by_task = table("lmcl", "table4", "method.variant", "target")
    return {name: list(by_task[f"text_{name}"]) for name in TASKS}


@pytest.mark.parametrize("swapped", [False, True])
def test_the_order_whose_words_are_a_point_below_the_columns_holds(swapped: bool) -> None:
    """Words made up from the printed means, as they are or swapped: 719 other orders are no nearer."""
    columns = {name: SWAP.get(name, name) if swapped else name for name in TASKS}
    found = {
        name: Counted(1000, 50, float(np.mean(printed()[column])) - 1)
        for name, column in columns.items()
    }
    right, wrong = (
        ("subj.l20", "order.l20") if swapped else ("subj", "order"),
        ("order" if swapped else "order.l20"),
    )
    arms = {one.id.removeprefix("lmcl.word_counts."): one.arms for one in answers(found, printed())}
    held = {name: (of["held"][0], of["places"][0]) for name, of in arms.items()}
    assert (held[right[0]], held[right[1]]) == ((6, 6), (719, 719))
    assert held[wrong][0] < 719
    assert held["subj"] == ((0, 6) if swapped else (6, 6))


def test_the_distance_is_numpys_variance_of_the_gains() -> None:
    found = {name: Counted(1000, 50, 10.0 * k) for k, name in enumerate(TASKS)}
    gains = [np.mean(printed()[name]) - 10 * k for k, name in enumerate(TASKS)]
    assert distance(found, printed(), TASKS) == pytest.approx(np.var(gains))


def test_the_table_says_how_far_columns_are_above_the_words() -> None:
    given = pd.DataFrame(
        [("subj", 10_000, 50.0, 90.7, 86.6, 87.2), ("mpqa", 10_606, 68.8, 84.2, 93.4, 94.0)],
        columns=["task", "examples", "majority", "words", "least", "most"],
    )
    head, body, note = draw.word_counts(given, pd.DataFrame())
    assert dict(zip(head, body[0], strict=True))["Above the words"] == "−4.1 to −3.5"
    assert "2.7 and 2.4 points above the words" in note
