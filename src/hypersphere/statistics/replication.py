"""Replication by several criteria: of how many comparisons is the sign the printed one, the interval clear of zero …"""

import numpy as np
import pandas as pd

from hypersphere.provenance import tables
from hypersphere.provenance.claim_row import has_interval


def criteria(known: pd.DataFrame) -> pd.DataFrame:
    """criteria.csv, by document and rung, from the claims.csv of the report."""
    reported = pd.to_numeric(known["reported"], errors="coerce")
    measured = pd.to_numeric(known["measured"], errors="coerce")
    low, high = known["low_unadjusted"], known["high_unadjusted"]
    answered = [has_interval(row) for row in tables.rows(known)]
    compared = (reported.abs() > 0) & np.array(answered, dtype=bool)
    sign = np.sign(reported)
    flags = pd.DataFrame(
        {
            "compared": compared,
            "same_sign": measured * sign > 0,
            "clear": (low * sign > 0) & (high * sign > 0),
            "printed_inside": reported.between(low, high),
            "with_interval": known["reported_low"].notna(),
            "ours_inside": measured.between(known["reported_low"], known["reported_high"]),
        }
    )[compared]
    counts = flags.groupby([known["paper"], known["rung"]], sort=False).sum().reset_index()
    return counts.astype(dict.fromkeys(flags, "int64"))
