"""Claims as every page shows them: what is published and what was found, in words."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED, SIGNS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer, Result, Tone, Verdict
from hypersphere.provenance import columns, tables
from hypersphere.provenance.claim_row import compares_encoders
from hypersphere.provenance.tables import Row
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Shown, Text
from hypersphere.report.rendering import Sentences
from hypersphere.report.results import Results, settles

NOTHING = "–"
"""Where there is no number."""
DIRECTIONS = (*SIGNS, "equal")
"""Reported by a comparison that prints no difference, or says that there is none."""
ORIGINS = {
    "printed": "published",
    "implied": "implied by two published numbers",
    "corrected": "corrected by an erratum",
    "ours": "of our own",
}
"""Origins of claims, in words."""
SIDES = ("left", "right")
"""The keys of a counterexample for the two sides of the statement. All other keys are inputs."""


SENTENCES = Sentences("""
{% macro answered(number, every, notice) %}
{{ number | counted("claim") }} of {{ every }} on it {{ "is" if number == 1 else "are" }} answered by these runs.
{{ notice }}
{% endmacro %}

{% macro not_answered(number, why) %}
Not answered, {{ number }}: {{ why }}.
{% endmacro %}

{% macro tested(draws, met, violated, deviation) %}
{{ "fails in {:,} of".format(violated) if violated else "holds in all" }} {{ "{:,}".format(met) }} random tests (
{{- "{:,} more do not meet its condition; ".format(draws - met) if met < draws -}}
relative deviation at most {{ "%.2g" | format(deviation) }})
{% endmacro %}

{% macro share(held, places) %}
{{ "all" if held == places else held or "none" }} of {{ places }}
{% endmacro %}

{% macro mean(mean, std, n, lost, low_power) %}
{{ mean }}{{ " ± " ~ std if std != "–" }} (n = {{ n -}}
{% for how, count in lost.items() if count %}; {{ count }} {{ how }}{% endfor %}
{{- "; low power" if low_power }})
{% endmacro %}

{% macro counterexample(place, left, right) %}
fails at {% for name, value in place.items() %}{{ name }} = {{ value }}, {% endfor -%}
where the left side is {{ left }} and the right side {{ right }}
{% endmacro %}
""")


@dataclass(frozen=True)
class Entry:
    """A claim in words."""

    row: Row
    """Its row of claims.csv, of one scale or of the report."""
    subject: str
    setting: str
    """Measure, data, setting, origin and place in the paper; a published number that cannot stand beside ours."""
    where: str
    """The same, and what stood in for the data."""
    printed: str
    """The published number, where there is one that may stand beside ours: both are effects, or of the same setting."""
    found: str
    """The counterexample, or what was measured; empty where nothing was."""
    intervals: str
    """``Welch [+2.8, +5.2]; Holm [+2.5, +5.5]``; of anything but a comparison of encoders, its one interval."""
    reading: str
    result: Result
    """What came of it."""
    tone: Tone
    """The colour of its result: neutral unless the evidence settles the claim."""
    worth: str
    """The certainty of the report's claims, and the verdict on those of one scale."""
    steps: Sequence["Entry"]
    """The claim by each piece of evidence, the best first. Of the report."""

    @property
    def group(self) -> str:
        """``mine/table2``: the table or figure that prints it, or the theorems of its document."""
        name = "theorems" if self.row["kind"] == "theorem" else self.row["artifact"]
        return f"{self.row['paper']}/{name}"

    @property
    def discrepancy(self) -> str:
        """Points of accuracy between our effect and the printed one, to sort by; empty where there are not both."""
        row = self.row
        metric = MEASURES.get(row["metric"])
        of_accuracy = metric is not None and metric.margin == "accuracy"
        if not (of_accuracy and compares_encoders(row) and row["measured"]):
            return ""
        if row["reported"] in ("", *SIGNS):
            return ""
        printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
        return f"{abs(float(row['measured']) - printed):.2f}"


def of_scale(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    return [entry(results.config, row) for row in tables.rows(results.claims)]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    config = results.config
    path = config.artifact_folder(paper, artifact) / "claims.csv"
    if not path.is_file():
        return None
    judged = tables.rows(tables.read(results.checked_file(path), columns.CLAIMS))
    answered = [entry(config, row) for row in judged if row["verdict"] != Verdict.NOT_RUN]
    reasons = Counter(row["why"] for row in judged if row["verdict"] == Verdict.NOT_RUN)
    if not answered:
        return None
    make = "evidence" if config.settings.evidence_only else "reproduce"
    command = f"make {make} SCALE={config.settings.scale}"
    notes = [
        SENTENCES("answered", len(answered), len(judged), words.notice(config)),
        *(SENTENCES("not_answered", number, why) for why, number in reasons.items()),
        f"All claims, theorems and exact studies: {command} writes scorecard.html.",
    ]
    after_holm = f"{words.confidence(config)} interval; after Holm"
    head = tuple(map(Head, ("published", "ours", after_holm, "verdict", "result")))
    grid = Grid((head,), ("claim", "on"), tuple(map(_line, answered)))
    title = f"Verdicts on {artifact}"
    return Shown(f"{artifact}-claims", title, tuple(notes), grid)


def _line(claim: Entry) -> Line:
    """A claim beside its verdict; only comparisons have a result."""
    result = claim.result if claim.row["kind"] == "comparison" else ""
    cells = (claim.printed, claim.found, claim.intervals, claim.row["verdict"], result)
    return Line((claim.subject, claim.where), tuple(Text(cell or NOTHING) for cell in cells))


def entry(config: Config, row: Row, steps: Iterable[Row] = ()) -> Entry:
    """A row of claims.csv in words: of one scale, or of the report, which has a rung and lacks some columns.

    ``steps`` are its rows of ladder.csv, the best first.
    """
    paper = config.papers[row["paper"]]
    of_report = "rung" in row
    answer = Answer.of(row["answer"])
    printed = published_words(row).removeprefix(NOTHING)
    same_setting = of_report or row["answered_by"] != "encoder" or settles(config)
    beside = same_setting or row["kind"] == "comparison"
    elsewhere = "" if beside or not printed else f"published: {printed}"
    return Entry(
        row=row,
        subject=_subject(paper, row) or str(row["artifact"]),
        setting=_where(row, point(paper, row), elsewhere),
        where=_where(row, _data(paper, row), elsewhere),
        printed=printed if beside else "",
        found=counterexample(row["counterexample"]) or ours(row),
        intervals=_intervals(row),
        reading=_reading(config, row, answer),
        result=answer.result,
        tone=answer.tone if Verdict.of(row["verdict"]).settles else "neutral",
        worth=str(row["certainty"] if of_report else row["verdict"]),
        steps=[entry(config, row | step) for step in steps],
    )


def _subject(paper: Paper, row: Row) -> str:
    """``SimCLR, cut by 3 against default``, or the sentence of what is no number of encoders; empty: neither."""
    if row["answered_by"] != "encoder" and row["sentence"]:
        return str(row["sentence"])
    subject = arm(paper, row)
    return f"{subject} against {baseline(paper, row)}" if row["kind"] == "comparison" else subject


def arm(paper: Paper, row: Row) -> str:
    """``SimCLR, cut by 3``."""
    return ", ".join(_phrase_for(paper, row[key]) for key in ("method", "variant") if row[key])


def baseline(paper: Paper, row: Row) -> str:
    """``default``, or the coordinates that the baseline does not share with the variant."""
    return _setting(paper, row, "baseline") or _phrase_for(paper, row["baseline"])


def _phrase_for(paper: Paper, name: str) -> str:
    return paper.phrases.get(name) or paper.label(name)


def point(paper: Paper, row: Row) -> str:
    """``CIFAR-10 → CIFAR-100, epoch 100``: the data and the setting of a claim."""
    data = {"dataset": row["dataset"]} if row["dataset"] else {}
    given = data | coordinates.parse(row["setting"], f"claims.csv: {row['id']}: setting")
    return words.point(paper, given, given)


def _setting(paper: Paper, row: Row, column: str) -> str:
    """Coordinates of a column in words; empty where it has none."""
    if "=" not in row[column]:
        return ""
    given = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
    return words.point(paper, given, given)


def _where(row: Row, data: str, elsewhere: str) -> str:
    """Measure, data, origin and place of a claim; what is measured of a sentence is not said."""
    metric = MEASURES.get(row["metric"])
    measured = ""
    if metric and (row["variant"] or row["answered_by"] == "encoder"):
        unit = unit_of(row)
        measured = f"{metric.label} ({unit})" if unit else metric.label
    return join(measured, data, elsewhere, origin(row), row["source"])


def origin(row: Row) -> str:
    """Whose claim it is, where no paper publishes it as it stands."""
    return "" if row["origin"] == "printed" else ORIGINS[row["origin"]]


def join(*parts: str) -> str:
    """The parts that are not empty."""
    return "; ".join(filter(None, parts))


def measured_on(row: Row) -> str:
    """``measured on digits``: what stood in for the published data; empty where nothing did."""
    if row["answered_by"] == "encoder" and row["measured_on"] not in ("", row["dataset"]):
        return f"measured on {row['measured_on']}"
    return ""


def _data(paper: Paper, row: Row) -> str:
    """``CIFAR-10; measured on digits; epoch 100``."""
    dataset = paper.label(row["dataset"])
    return join(dataset, measured_on(row), row["repeated"], _setting(paper, row, "setting"))


def _intervals(row: Row) -> str:
    if not compares_encoders(row):
        return interval(row)
    alone, adjusted = interval(row, "{}_unadjusted"), interval(row)
    return join(alone and f"Welch {alone}", adjusted and f"Holm {adjusted}")


def interval(row: Row, ends: str = "{}") -> str:
    """``[+2.8, +5.2]`` from two columns of a claim, ``low`` and ``high`` in ``ends``; empty where there is none."""
    low, high = (row.get(ends.format(end), math.nan) for end in ("low", "high"))
    compares = row["kind"] == "comparison"
    metric = MEASURES.get(row["metric"])
    return words.interval(low, high, decimals_of(row), metric, compares).removeprefix(NOTHING)


def _reading(config: Config, row: Row, answer: Answer) -> str:
    """Whose reading of the document was measured, and that it is ours where choices are open and it disagrees."""
    reading = str(row["reading"])
    if row["origin"] == "ours" and reading == PRINTED:
        return "ours"
    has_choices = row.get("unstated", "") not in ("", "0")
    of_encoders = row["answered_by"] == "encoder" and settles(config)
    if of_encoders and has_choices and answer.result == "disagrees":
        return f"under our reading: {reading}"
    return reading


def prints_number(row: Mapping[str, Any]) -> bool:
    """Whether a document prints a number, and not only that something is larger, smaller or equal."""
    return row["reported"] not in ("", *DIRECTIONS)


def decimals_of(row: Mapping[str, Any]) -> int:
    """The decimals of the measure of a claim."""
    return MEASURES[row["metric"]].decimals if row["metric"] in MEASURES else 2


def unit_of(row: Row) -> str:
    """``points`` of a difference in percent, else the unit of the measure; empty where it has none."""
    metric = MEASURES.get(row["metric"])
    unit = metric.unit if metric else ""
    return "points" if unit == "%" and row["kind"] == "comparison" else unit


def published_words(row: Mapping[str, Any]) -> str:
    """What a document prints, in words; a dash if it prints no number."""
    decimals = decimals_of(row)
    if not prints_number(row):
        return str(row["reported"]) if row["reported"] and row["origin"] != "ours" else NOTHING
    if row["kind"] == "comparison":
        return words.with_sign(float(row["reported"]), decimals)
    std = row["reported_std"]
    spread = "" if math.isnan(std) else f" ± {words.with_decimals(f'{std:.10g}', decimals)}"
    return words.with_decimals(row["reported"], decimals) + spread


def ours(row: Row) -> str:
    """What was found on a claim: ``+1.2 ± 0.3 (n = 5)``, ``6 of 7``; empty where nothing was."""
    if row["kind"] == "theorem":
        return _test_result(row)
    measured = float(row["measured"] or "nan")
    decimals = decimals_of(row)
    lost = words.seeds_without_value(row)
    if math.isnan(measured):
        return " or ".join(lost)
    places = int(row["n"])
    if row["answered_by"] != "encoder":
        if row["metric"] == "share" and not row["baseline"]:
            return SENTENCES("share", round(measured * places / 100), places)
        if places == 1:
            return words.number(measured, decimals)
    shown = words.with_sign if row["kind"] == "comparison" else words.number
    std = words.number(row.get("measured_std", math.nan), decimals)
    counts = lost | {"missing": words.whole(row["n_missing"])}
    low_power = row.get("low_power", False)
    return SENTENCES("mean", shown(measured, decimals), std, places, counts, low_power)


def _test_result(row: Row) -> str:
    """``holds in all 10,000 random tests (relative deviation at most 3.1e-15)``, of a theorem."""
    if math.isnan(row["draws"]):
        return "not checked"
    counts = (int(row[name]) for name in ("draws", "met", "violated"))
    return SENTENCES("tested", *counts, max(0.0, float(row["measured"])))


def counterexample(text: str) -> str:
    """``fails at tau = (1, 2), where the left side is 0.8 and the right side 0.5``; empty if there is none."""
    if not text:
        return ""
    shown = {name: _number(value) for name, value in json.loads(text).items()}
    sides = [shown.pop(side) for side in SIDES]
    return SENTENCES("counterexample", shown, *sides)


def _number(value: float | list[Any]) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_number, value))})"
    return f"{value + 0.0:.4g}".replace("-", "−")
