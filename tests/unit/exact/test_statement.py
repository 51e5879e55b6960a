"""The machinery that judges theorems, on statements whose truth is known."""

import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from hypersphere.exact.statement import Inputs, Statement, at_most, equal, examine


def draw(generator: torch.Generator, draws: int) -> Inputs:
    """x uniform in [-1, 1]."""
    return {"x": 2 * torch.rand(draws, generator=generator, dtype=torch.float64) - 1}


def simple() -> Inputs:
    return {"x": torch.tensor([0.0, -1.0, 1.0, -0.5, 0.5], dtype=torch.float64)}


def bound(
    left: Callable[[Tensor], Tensor],
    right: Callable[[Tensor], Tensor],
    met: Callable[[Tensor], Tensor] | None = None,
) -> Statement:
    return Statement("t", lambda x: at_most(left(x), right(x), met=met and met(x)), draw, simple)


TRUE = bound(Tensor.square, Tensor.abs)
"""x² <= |x| on [-1, 1]."""
FALSE = bound(Tensor.square, lambda x: x)
"""x² <= x fails for every negative x."""


def test_a_true_statement_has_no_counterexample_and_a_corrected_one_says_so() -> None:
    found = examine(TRUE, 1000)
    assert (found.draws, found.met, found.violated, found.verdict) == (
        1000,
        1000,
        0,
        "no counterexample",
    )
    assert found.worst <= 0
    assert found.counterexample is None
    assert (
        examine(dataclasses.replace(TRUE, id="t.m1"), 1000).verdict == "no counterexample (erratum)"
    )


def test_a_false_statement_is_refuted_by_its_simplest_counterexample() -> None:
    found = examine(FALSE, 1000)
    assert found.verdict == "refuted"
    assert 400 < found.violated < 600  # half of the draws are negative
    assert found.worst == pytest.approx(2, abs=0.02)  # at x = -1: 1 - (-1)
    # 0 comes first, and does not contradict
    assert found.counterexample == {"x": -1.0, "left": 1.0, "right": -1.0}
    assert examine(dataclasses.replace(FALSE, id="t.m1"), 1000).verdict == "refuted"


def test_only_draws_that_meet_the_hypothesis_count() -> None:
    found = examine(bound(Tensor.square, lambda x: x, lambda x: x >= 0), 1000)
    assert 400 < found.met < 600
    assert (found.violated, found.counterexample, found.verdict) == (0, None, "no counterexample")


def test_one_simple_counterexample_is_enough() -> None:
    """x = 0.5 exactly is almost never drawn."""
    rare = bound(lambda x: (x == 0.5).double(), torch.zeros_like)
    found = examine(rare, 1000)
    assert (found.violated, found.verdict) == (0, "refuted")
    assert found.counterexample == {"x": 0.5, "left": 1.0, "right": 0.0}


def test_sides_are_shown_in_their_own_units_and_an_excess_is_that_of_the_worst_part_over_its_scale() -> (
    None
):
    """By hand: |1 - 2|/4 and |3 - 9|/4; 1 - 2 and 9 - 3 over 4."""
    left, right = torch.tensor([[1.0, 3.0], [1.0, 9.0]]), torch.tensor([[2.0, 9.0], [2.0, 3.0]])
    scales: tuple[float | Tensor, ...] = (4.0, torch.full((2,), 4.0), torch.full((2, 2), 4.0))
    for scale in scales:
        for check, excess in ((equal, [1.5, 1.5]), (at_most, [-0.25, 1.5])):
            found = check(left, right, scale)
            assert found.met.all()
            assert found.excess.tolist() == excess
            assert found.left.equal(left)
            assert found.right.equal(right)


@pytest.mark.parametrize(
    "statement",
    [bound(Tensor.abs, torch.zeros_like, lambda x: x > 2), bound(Tensor.log, torch.zeros_like)],
    ids=["a hypothesis that is never met", "a deviation that is no number"],
)
def test_what_shows_nothing_is_an_error(statement: Statement) -> None:
    with pytest.raises(ValueError, match=r"of 1000 draws|by NaN"):
        examine(statement, 1000)


def test_draws_are_keyed_by_the_statement() -> None:
    assert examine(FALSE, 1000) == examine(FALSE, 1000)
    assert examine(dataclasses.replace(FALSE, id="u"), 1000).worst != examine(FALSE, 1000).worst
