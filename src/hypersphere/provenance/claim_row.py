"""What a row of claims.csv is about, for statistics and report alike."""

import math
from collections.abc import Mapping
from typing import Any


def compares_encoders(row: Mapping[str, Any]) -> bool:
    """Whether it is a comparison that trained encoders answer, or would."""
    return (row["kind"], row["answered_by"]) == ("comparison", "encoder")


def has_interval(row: Mapping[str, Any]) -> bool:
    """Whether trained encoders give an interval for a comparison."""
    return compares_encoders(row) and not math.isnan(row["low_unadjusted"])
