"""The columns of the tidy tables that theory/ and statistics/ write and report/ reads, each with what it holds."""

from hypersphere.provenance.tables import Columns, flags, numbers, texts

CELL = texts(
    "coordinates", "method", "variant", "dataset", "setting", "measure", "measured_on", "probed_on"
)
PROBE = numbers("epoch") | flags("final") | texts("protocol", "protocol_digest")
MEASUREMENTS = (
    CELL | PROBE | numbers("seed") | texts("run") | numbers("value", "n_test") | texts("status")
)
SUMMARY = CELL | PROBE | numbers("mean", "std", "n", "low", "high", "n_diverged", "n_undefined")
SUMMARY |= numbers("n_declared", "n_test") | texts("floor", "repeated")
RUNS = texts("run", "status") | numbers("epochs") | texts("device") | numbers("threads")
RUNS |= texts("torch", "code", "data", "kind", "precision", "plan", "weights", "alike") | numbers(
    "records"
)
"""``kind`` is that of the device: cpu or cuda. ``weights``: how their checksum begins. ``alike``: another run, as
which it trained by their records. ``records``: how many it has; 1 if it was made here."""
EFFECTS = texts(
    "coordinates", "baseline", "method", "variant", "dataset", "setting", "measure", "measured_on"
)
EFFECTS |= numbers(
    "effect", "low", "high", "p", "p_holm", "low_holm", "high_holm", "low_equal", "high_equal"
)
EFFECTS |= texts("test") | numbers(
    "df", "pooled_std", "n_variant", "n_baseline", "n_declared", "n_missing"
)
EFFECTS |= numbers("paired_low", "paired_high", "paired_p", "n_pairs", "correlation") | flags(
    "low_power"
)
EFFECTS |= numbers("detectable", "margin") | flags("in_family", "equivalent") | texts("floored")
THEORY = texts("id", "paper", "reading") | numbers("draws", "met", "violated", "worst")
THEORY |= texts("counterexample", "verdict")
CLAIMS = texts(
    "id", "kind", "origin", "paper", "artifact", "method", "variant", "dataset", "setting", "metric"
)
CLAIMS |= (
    texts("reported")
    | numbers("reported_std")
    | texts("measured")
    | numbers("measured_std", "n", "p")
)
CLAIMS |= texts(
    "scale", "reading", "verdict", "source", "answer", "direction", "floored", "why", "baseline"
)
CLAIMS |= numbers("low", "high")
CLAIMS |= flags("low_power") | numbers("margin") | texts("verdict_half", "verdict_double")
CLAIMS |= numbers("n_diverged", "n_undefined", "n_declared", "n_missing")
CLAIMS |= texts("measured_on", "unstated", "sentence") | numbers("draws", "met", "violated")
CLAIMS |= texts("counterexample", "study", "runs", "device", "precision", "seeds")
CLAIMS |= numbers("low_unadjusted", "high_unadjusted", "low_equal", "high_equal", "spread")
CLAIMS |= texts("answered_by", "repeated")
"""``low`` and ``high``: of a comparison of encoders, after Holm's correction; ``…_unadjusted``: without it."""
_OF_CELL = texts("coordinates") | numbers("seed") | texts("run")
DISTRIBUTION = _OF_CELL | numbers("quantile", "value")
PICTURES = _OF_CELL | texts("row", "column", "caption") | numbers("top", "height", "width")
POINTS = _OF_CELL | texts("image", "class") | numbers("x", "y", "z")
TABLES: dict[str, Columns] = {
    "measurements": MEASUREMENTS,
    "summary": SUMMARY,
    "effects": EFFECTS,
    "runs": RUNS,
}
TABLES |= {"distribution": DISTRIBUTION, "pictures": PICTURES, "points": POINTS}
"""By name, the tables of an artifact that is made from runs."""
_EVIDENCE = texts(
    "rung", "scale", "answer", "certainty", "reasons", "verdict", "direction", "floored", "measured"
)
_EVIDENCE |= numbers(
    "low", "high", "low_unadjusted", "high_unadjusted", "margin", "n", "n_missing", "p"
)
_EVIDENCE |= texts(
    "differs",
    "measured_on",
    "seeds",
    "device",
    "precision",
    "why",
    "counterexample",
    "study",
    "runs",
)
_EVIDENCE |= numbers("draws", "met", "violated", "low_equal", "high_equal", "spread") | texts(
    "repeated"
)
LADDER = texts("id") | _EVIDENCE
"""results/report/ladder.csv: a row for each claim and each scale, or kind of computation, that says something of it."""
KNOWN = texts(
    "id",
    "kind",
    "origin",
    "answered_by",
    "paper",
    "artifact",
    "method",
    "variant",
    "baseline",
    "dataset",
)
KNOWN |= texts("setting", "metric", "sentence", "source", "reading", "reported")
KNOWN |= numbers("reported_std", "reported_low", "reported_high") | _EVIDENCE | texts("settle")
KNOWN |= numbers("gpu_hours", "runs_to_see", "runs_to_equate", "core_hours")
"""results/report/claims.csv: a row for each claim, with its best evidence. ``settle`` is the command that would settle
it, and ``gpu_hours`` what its table takes, stated and not measured (docs/cost.md). The last three are what an answer of
small encoders takes: runs an arm, and hours of one core for ``runs_to_see`` in both (``statistics/effects.py``)."""
CRITERIA = texts("paper", "rung")
CRITERIA |= numbers(
    "compared", "same_sign", "clear", "printed_inside", "with_interval", "ours_inside"
)
"""results/report/criteria.csv: of the comparisons with a printed difference and an interval of ours, how many have the
printed sign; exclude zero on its side; have the printed effect inside our interval; and how many print an interval, and
have our effect inside it."""
FINDINGS = texts(
    "id", "paper", "question", "outcome", "headline", "sentence", "lead", "about", "leading"
)
FINDINGS |= texts("certainty", "reasons")
FINDINGS |= numbers("holds", "direction_only", "fails", "opposite", "cannot_tell", "not_tested")
"""results/report/findings.csv: the questions of every findings.yaml, each with the sentence that its evidence bears."""
