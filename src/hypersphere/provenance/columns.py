"""The columns of the tidy tables that theory/ and statistics/ write and report/ reads, each with what it holds."""

from hypersphere.provenance.tables import Columns, flags, numbers, texts

CELL: Columns = texts("coordinates", "method", "variant", "dataset", "setting", "measure", "measured_on", "probed_on")
PROBE: Columns = {**numbers("epoch"), **flags("final"), **texts("protocol", "protocol_digest")}
MEASUREMENTS: Columns = {
    **{**CELL, **PROBE, **numbers("seed"), **texts("run")},
    **{**numbers("value", "n_test"), **texts("status")},
}
SUMMARY: Columns = {
    **CELL,
    **PROBE,
    **numbers("mean", "std", "n", "low", "high", "n_diverged", "n_declared", "n_test"),
    **texts("level"),
}
RUNS: Columns = {
    **{**texts("run", "status"), **numbers("epochs"), **texts("device"), **numbers("threads")},
    **texts("torch", "code", "data", "kind", "precision", "plan"),
}
"""``kind`` is that of the device: cpu or cuda."""
EFFECTS: Columns = {
    **texts("coordinates", "baseline", "method", "variant", "dataset", "setting", "measure", "measured_on"),
    **numbers("effect", "low", "high", "p", "p_holm", "low_holm", "high_holm", "low_equal", "high_equal"),
    **texts("test"),
    **numbers("df", "pooled_std", "n_variant", "n_baseline", "n_declared", "n_missing"),
    **numbers("paired_low", "paired_high", "paired_p", "n_pairs", "correlation"),
    **flags("low_power"),
    **numbers("detectable", "margin"),
    **flags("in_family", "equivalent"),
    **texts("level"),
}
THEORY: Columns = {
    **texts("id", "paper", "reading"),
    **numbers("draws", "met", "violated", "worst"),
    **texts("counterexample", "verdict"),
}
CLAIMS: Columns = {
    **texts("id", "kind", "origin", "paper", "artifact", "method", "variant", "dataset", "setting", "metric"),
    **texts("reported"),
    **numbers("reported_std"),
    **texts("measured"),
    **numbers("measured_std", "n", "p"),
    **texts("scale", "reading", "verdict", "source", "direction", "why", "baseline"),
    **numbers("low", "high"),
    **flags("low_power"),
    **numbers("margin"),
    **texts("verdict_half", "verdict_double"),
    **numbers("n_diverged", "n_declared", "n_missing"),
    **texts("measured_on", "unstated", "sentence"),
    **numbers("draws", "met", "violated"),
    **texts("counterexample", "study", "runs", "device", "precision", "seeds"),
    **numbers("low_unadjusted", "high_unadjusted", "low_equal", "high_equal", "spread"),
    **texts("answered_by"),
}
"""``low`` and ``high``: of a comparison of encoders, after Holm's correction; ``…_unadjusted``: without it."""
DISTRIBUTION: Columns = {**texts("coordinates"), **numbers("seed"), **texts("run"), **numbers("quantile", "value")}
PICTURES: Columns = {
    **{**texts("coordinates"), **numbers("seed"), **texts("run", "row", "column", "caption")},
    **numbers("top", "height", "width"),
}
POINTS: Columns = {
    **{**texts("coordinates"), **numbers("seed"), **texts("run", "image", "class")},
    **numbers("x", "y", "z"),
}
TABLES = {
    **{"measurements": MEASUREMENTS, "summary": SUMMARY, "effects": EFFECTS, "runs": RUNS},
    **{"distribution": DISTRIBUTION, "pictures": PICTURES, "points": POINTS},
}
"""By name, the tables of an artifact that is made from runs."""
_EVIDENCE: Columns = {
    **texts("rung", "scale", "answer", "certainty", "reasons", "verdict", "direction", "measured"),
    **numbers("low", "high", "low_unadjusted", "high_unadjusted", "margin", "n", "n_missing", "p"),
    **texts("differs", "measured_on", "seeds", "device", "precision", "why", "counterexample", "study", "runs"),
    **numbers("draws", "met", "violated", "low_equal", "high_equal", "spread"),
}
LADDER: Columns = {**texts("id"), **_EVIDENCE}
"""results/report/ladder.csv: a row for each claim and each scale, or kind of computation, that says something of it."""
KNOWN: Columns = {
    **texts("id", "kind", "origin", "answered_by", "paper", "artifact", "method", "variant", "baseline", "dataset"),
    **texts("setting", "metric", "sentence", "source", "reading", "reported"),
    **numbers("reported_std", "reported_low", "reported_high"),
    **_EVIDENCE,
    **texts("settle"),
    **numbers("gpu_hours", "runs_to_see", "runs_to_equate", "core_hours"),
}
"""results/report/claims.csv: a row for each claim, with its best evidence. ``settle`` is the command that would settle
it, and ``gpu_hours`` what its table takes, stated and not measured (docs/cost.md). The last three are what an answer of
small encoders takes: runs an arm, and hours of one core for ``runs_to_see`` in both (``statistics/effects.py``)."""
CRITERIA: Columns = {
    **texts("paper", "rung"),
    **numbers("compared", "same_sign", "clear", "printed_inside", "with_interval", "ours_inside"),
}
"""results/report/criteria.csv: of the comparisons with a printed difference and an interval of ours, how many have the
printed sign; exclude zero on its side; have the printed effect inside our interval; and how many print an interval, and
have our effect inside it."""
FINDINGS: Columns = {
    **texts("id", "paper", "question", "outcome", "sentence", "lead", "about", "leading", "certainty", "reasons"),
    **numbers("holds", "fails", "opposite", "unknown"),
}
"""results/report/findings.csv: the questions of every findings.yaml, each with the sentence that its evidence bears."""
