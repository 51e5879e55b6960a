"""The criteria of replication, counted by hand."""

import math

import pandas as pd

from hypersphere.provenance import columns
from hypersphere.statistics import replication


def test_criteria_count_by_hand() -> None:
    """Four effects of a printed gain of 2: (effect, interval) as the reader would sort them."""
    nan = math.nan
    rows = [
        # the sign, clear, holds the printed one; within the printed interval
        ("3", 1.0, 5.0, 1.0, 3.5),
        ("0.5", -1.0, 1.9, nan, nan),  # the sign alone
        ("-1", -5.0, 3.0, nan, nan),  # holds the printed one
        ("9", nan, nan, nan, nan),  # of one run: not compared
    ]
    ends = ["low_unadjusted", "high_unadjusted", "reported_low", "reported_high"]
    table = pd.DataFrame(rows, columns=["measured", *ends])
    about = {
        "kind": "comparison",
        "answered_by": "encoder",
        "reported": "2",
        "paper": "p",
        "rung": "laptop",
    }
    (found,) = replication.criteria(table.assign(**about)).to_dict("records")
    counted = {
        "compared": 3,
        "same_sign": 2,
        "clear": 1,
        "printed_inside": 2,
        "with_interval": 1,
        "ours_inside": 1,
    }
    assert found == {"paper": "p", "rung": "laptop", **counted}
    assert list(found) == list(columns.CRITERIA)
