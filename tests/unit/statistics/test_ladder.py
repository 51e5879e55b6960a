"""The ladder: the best evidence speaks."""

import itertools

import pytest

from hypersphere.config.rules import RUNGS, Rung
from hypersphere.statistics import ladder


@pytest.mark.parametrize(("first", "second"), list(itertools.product(RUNGS, repeat=2)))
def test_the_best_rung_counts_and_on_it_the_most_runs(first: Rung, second: Rung) -> None:
    best = ladder.sort(
        [{"rung": first, "n": 2.0, "scale": ""}, {"rung": second, "n": 7.0, "scale": ""}]
    )[0]
    higher = min(first, second, key=list(RUNGS).index)
    assert (best["rung"], best["n"]) == (higher, 7.0 if higher == second else 2.0)
