"""How often a difference is called where nothing differs."""

import pandas as pd
import pytest

from hypersphere.statistics import false_calls


def test_shares_are_averaged_over_sets_of_one_size_and_comparisons_are_counted() -> None:
    splits = pd.DataFrame(
        {"n": [5, 5, 5], "margin": 1.0, "arms": [2, 4, 2], "called": [4.0, 6.0, 5.0], "level": 50.0}
    )
    ends = {
        "low": [-1.0, 0.1, -2.0, -2.0],
        "high": [1.0, 0.4, -0.1, -0.1],
        "effect": [0.0, 0.2, -1.0, -1.0],
    }
    artifacts = {"paper": "p", "study": "s", "artifact": ["s", "s", "s", "s_printed"]}
    rows = pd.DataFrame({**artifacts, "in_family": False, "finished": True, **ends})
    others = [rows.assign(in_family=True), rows.assign(artifact="s_checks", effect=5.0)]
    others += [rows.assign(finished=False, effect=6.0)]
    two, four = false_calls.of_splits(splits)
    compared = false_calls.of_again(pd.concat([rows, *others]), 0.95)
    assert (two["sets"], two["arms"], two["called"], two["called_least"], two["called_most"]) == (
        2,
        2,
        4.5,
        4,
        5,
    )
    assert (four["sets"], four["arms"], four["called"], four["level_most"]) == (1, 4, 6, 50)
    assert (compared.comparisons, compared.called) == (3, 2)
    # Clopper and Pearson (1934), by hand: the share at which P(X >= 2 of 3) = 3 p^2 - 2 p^3 is 0.025
    share = compared.low / 100
    assert 3 * share**2 - 2 * share**3 == pytest.approx(0.025)
