"""What exact studies share: places counted, ends of claims' ids, rows by value; expected values are counted by hand."""

import numpy as np
import pandas as pd
import pytest
import torch

from hypersphere.exact.study import PRINTED, ending, everywhere, only, stack

HOLDS = [[True, False, True], [True, True, False]]


@pytest.mark.parametrize(
    "places", [HOLDS, np.array(HOLDS), torch.tensor(HOLDS), pd.DataFrame(HOLDS)]
)
def test_places_are_counted_of_every_kind_of_array(places: object) -> None:
    answer = everywhere("a", places, "N6")
    assert (answer.id, answer.reading) == ("a", "N6")
    assert answer.arms == {"held": [4.0], "places": [6.0]}


def test_one_place_is_a_place() -> None:
    assert everywhere("a", np.bool_(True)).arms == {"held": [1.0], "places": [1.0]}


def test_only_a_corrected_reading_ends_an_id() -> None:
    assert [ending(reading) for reading in (PRINTED, "N6")] == ["", ".n6"]


def test_rows_have_all_the_values_that_are_asked_for() -> None:
    """A column may be called ``table``, like the argument."""
    rows = pd.DataFrame({"table": ["a", "a", "b"], "k": [1, 2, 1], "value": [10, 20, 30]})
    assert only(rows, table="a", k=1)["value"].tolist() == [10]
    assert only(rows, k=1)["value"].tolist() == [10, 30]
    assert only(rows).equals(rows)


def test_tables_are_numbered_anew() -> None:
    one = pd.DataFrame({"x": [1, 2]})
    both = stack([one, one[::-1]])
    assert both["x"].tolist() == [1, 2, 2, 1]
    assert both.index.tolist() == [0, 1, 2, 3]
