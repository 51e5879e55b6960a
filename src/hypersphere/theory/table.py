"""theory.csv as others read it: its columns and its verdicts. No torch here, for statistics/ reads them."""

COLUMNS = ["id", "paper", "reading", "draws", "met", "violated", "worst", "counterexample", "verdict"]

NO_COUNTEREXAMPLE = "no counterexample"
"""A statement, as printed, that held on all draws: a test, and no proof."""
NO_COUNTEREXAMPLE_ERRATUM = "no counterexample (erratum)"
"""The same of a corrected reading."""
REFUTED = "refuted"
"""A statement with a counterexample."""
