"""Limits of a softmax's entropy, against other ways to compute them: by hand, in a plain loop, and by brute force."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from papers.lecture.studies.entropy_limits.compute import (
    EXAMPLES,
    TEMPERATURES,
    entropy_limits,
    limits,
)
from tests.unit.exact.shared import context


@pytest.mark.parametrize("temperature", [0.2, 0.7, 3.0])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_no_logits_on_a_grid_do_better_and_some_do_as_well(n: int, temperature: float) -> None:
    """All n-tuples of nine levels, the ends among them."""
    levels = np.linspace(-1, 1, 9) / temperature
    found = entropy(softmax(np.array(list(product(levels, repeat=n))), axis=1), axis=1)
    lowest, highest, at_top = limits(n, temperature)
    assert found.min() == pytest.approx(lowest, rel=1e-12)
    assert found.max() == pytest.approx(highest, rel=1e-12)
    best = np.array(list(product(levels, repeat=n)))[found.argmin()]
    assert (best == levels[-1]).sum() == at_top
    assert (best == levels[0]).sum() == n - at_top


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0])
def test_limits_over_4096_by_a_plain_loop(temperature: float) -> None:
    ratio, found = math.exp(2 / temperature), {}
    for k in range(1, 4096):
        total = k * ratio + 4096 - k
        top, rest = ratio / total, 1 / total
        found[k] = -k * top * math.log(top) - (4096 - k) * rest * math.log(rest)
    best = min(found, key=found.__getitem__)
    lowest, highest, at_top = limits(4096, temperature)
    assert (at_top, highest) == (best, 12 * math.log(2))
    assert lowest == pytest.approx(found[best], rel=1e-9, abs=1e-13)


def test_the_study_answers_each_row_and_two_sentences() -> None:
    """The printed values as the slide has them; 4095 examples, without the anchor, move no limit by 0.001."""
    study = entropy_limits(context("lecture"))
    table = study.tables["table5_limits"]
    assert table["printed"].tolist() == [1.0, 4.5, 8.2, 8.3, 0.5, 0.5]
    assert table["temperature"].tolist() == [0.05, 0.1, 0.5, 1, 10, 100]
    ranges, sentences = study.answers[:6], study.answers[6:]
    assert [answer.arms["low"][0] for answer in ranges] == table["lowest"].tolist()
    assert [dict(answer.arms) for answer in sentences] == [
        {"held": [6.0], "places": [6.0]},
        {"held": [1.0], "places": [1.0]},
    ]
    assert table["normalised"].tolist() == [True] * 4 + [False] * 2
    assert table["lowest"].tolist()[4:] == [0, 0]
    for temperature in table["temperature"][:4]:
        with_anchor, without = limits(EXAMPLES, temperature), limits(EXAMPLES - 1, temperature)
        assert with_anchor[:2] == pytest.approx(without[:2], abs=1e-3)


def test_curves_are_in_order() -> None:
    """The lowest entropy rises with the temperature, up to ln n."""
    table = entropy_limits(context("lecture")).tables["table5_entropy"]
    lines = {name: rows["entropy"].to_numpy() for name, rows in table.groupby("series")}
    assert len(lines["lowest"]) == len(TEMPERATURES)
    assert (lines["lowest"] < lines["highest"]).all()
    assert (np.diff(lines["lowest"]) > 0).all()
