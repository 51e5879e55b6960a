"""Columns and verdicts of theory.csv. This file imports no torch, because statistics/ reads it."""

from hypersphere.provenance import tables

COLUMNS: tables.Columns = {
    **tables.texts("id", "paper", "reading"),
    **tables.numbers("draws", "met", "violated", "worst"),
    **tables.texts("counterexample", "verdict"),
}

NO_COUNTEREXAMPLE = "no counterexample"
"""A printed statement held on all draws: a test, and no proof."""
NO_COUNTEREXAMPLE_ERRATUM = "no counterexample (erratum)"
"""A statement held on all draws as an erratum corrects it."""
REFUTED = "refuted"
"""A statement has a counterexample."""
