"""Columns and verdicts of theory.csv. This file imports no torch, because statistics/ reads it."""

COLUMNS = ["id", "paper", "reading", "draws", "met", "violated", "worst", "counterexample", "verdict"]

NO_COUNTEREXAMPLE = "no counterexample"
"""A printed statement held on all draws: a test, and no proof."""
NO_COUNTEREXAMPLE_ERRATUM = "no counterexample (erratum)"
"""A statement held on all draws as an erratum corrects it."""
REFUTED = "refuted"
"""A statement has a counterexample."""
