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
from hypersphere.provenance.tables import Row
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Shown, Text
from hypersphere.report.results import Results, settles
from hypersphere.wording import counted

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
        row, metric = self.row, MEASURES.get(self.row["metric"])
        effect = row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["measured"]
        if not (effect and metric and metric.margin == "accuracy") or row["reported"] in (
            "",
            *SIGNS,
        ):
            return ""
        printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
        return f"{abs(float(row['measured']) - printed):.2f}"


def of_scale(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    return [entry(results.config, row) for row in tables.rows(results.claims)]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    config, path = results.config, results.config.artifact_folder(paper, artifact) / "claims.csv"
    judged = (
        tables.rows(tables.read(results.checked(path), columns.CLAIMS)) if path.is_file() else []
    )
    answered = [entry(config, row) for row in judged if row["verdict"] != Verdict.NOT_RUN]
    if not answered:
        return None
    lines = []
    for claim in answered:
        result = claim.result if claim.row["kind"] == "comparison" else ""
        cells = (claim.printed, claim.found, claim.intervals, claim.row["verdict"], result)
        lines.append(
            Line((claim.subject, claim.where), tuple(Text(cell or NOTHING) for cell in cells))
        )
    head = (
        "published",
        "ours",
        f"{words.confidence(config)} interval; after Holm",
        "verdict",
        "result",
    )
    grid = Grid((tuple(map(Head, head)),), ("claim", "on"), tuple(lines))
    some = f"{counted(len(answered), 'claim')} of {len(judged)} on it {'is' if len(answered) == 1 else 'are'}"
    make = "evidence" if config.settings.evidence_only else "reproduce"
    reasons = Counter(row["why"] for row in judged if row["verdict"] == Verdict.NOT_RUN)
    notes = (
        f"{some} answered by these runs. {words.notice(config)}",
        *(f"Not answered, {number}: {reason}." for reason, number in reasons.items()),
        f"All claims, theorems and exact studies: make {make} SCALE={config.settings.scale} writes scorecard.html.",
    )
    return Shown(f"{artifact}-claims", f"Verdicts on {artifact}", notes, grid)


def entry(config: Config, row: Row, steps: Iterable[Row] = ()) -> Entry:
    """A row of claims.csv in words: of one scale, or of the report, which has a rung and lacks some columns.

    ``steps`` are its rows of ladder.csv, the best first.
    """
    paper, of_report = config.papers[row["paper"]], "rung" in row
    answer = Answer.of(row["answer"])
    shown = published(row)
    printed = "" if shown == NOTHING else shown
    same_setting = of_report or row["answered_by"] != "encoder" or settles(config)
    beside = same_setting or row["kind"] == "comparison"
    elsewhere = f"published: {printed}" if printed and not beside else ""
    found = ours(row)
    if found in (NOTHING, words.NOT_RUN):
        found = ""
    return Entry(
        row=row,
        subject=_subject(paper, row) or str(row["artifact"]),
        setting=_where(paper, row, point(paper, row), elsewhere),
        where=_where(paper, row, _data(paper, row), elsewhere),
        printed=printed if beside else "",
        found=counterexample(row["counterexample"]) or found,
        intervals=_intervals(row),
        reading=_reading(config, row, answer),
        result=answer.result,
        tone=answer.tone if Verdict.of(row["verdict"]).settles else "neutral",
        worth=str(row["certainty"] if of_report else row["verdict"]),
        steps=[entry(config, row | step) for step in steps],
    )


def _subject(paper: Paper, row: Row) -> str:
    """``SimCLR, cut by 3 against default``, or the sentence of what is no number of encoders; empty: neither."""
    if row["kind"] == "theorem" or (row["answered_by"] != "encoder" and row["sentence"]):
        return str(row["sentence"])
    subject = arm(paper, row)
    if row["kind"] == "comparison":
        subject += f" against {baseline(paper, row)}"
    return subject


def arm(paper: Paper, row: Row) -> str:
    """``SimCLR, cut by 3``."""
    return ", ".join(_named(paper, row[key]) for key in ("method", "variant") if row[key])


def baseline(paper: Paper, row: Row) -> str:
    """``default``, or the coordinates that the baseline does not share with the variant."""
    return _setting(paper, row, "baseline") or _named(paper, row["baseline"])


def _named(paper: Paper, name: str) -> str:
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
    point = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
    return words.point(paper, point, point)


def _where(paper: Paper, row: Row, data: str, elsewhere: str) -> str:
    metric, measured = MEASURES.get(row["metric"]), ""
    is_measured = row["variant"] or row["answered_by"] == "encoder"  # a sentence is not
    if metric and is_measured:
        unit = metric.unit
        if row["kind"] == "comparison" and unit == "%":
            unit = "points"
        measured = f"{metric.label} ({unit})" if unit else metric.label
    origin = "" if row["origin"] == "printed" else ORIGINS[row["origin"]]
    return "; ".join(filter(None, (measured, data, elsewhere, origin, row["source"])))


def measured_on(row: Row) -> str:
    """``measured on digits``: what stood in for the published data; empty where nothing did."""
    if row["answered_by"] == "encoder" and row["measured_on"] not in ("", row["dataset"]):
        return f"measured on {row['measured_on']}"
    return ""


def _data(paper: Paper, row: Row) -> str:
    """``CIFAR-10; measured on digits; epoch 100``."""
    parts = (
        paper.label(row["dataset"]),
        measured_on(row),
        row["repeated"],
        _setting(paper, row, "setting"),
    )
    return "; ".join(filter(None, parts))


def _intervals(row: Row) -> str:
    compares, metric, decimals = (
        row["kind"] == "comparison",
        MEASURES.get(row["metric"]),
        decimals_of(row),
    )
    both = {"": words.interval(row["low"], row["high"], decimals, metric, sign=compares)}
    if compares and row["answered_by"] == "encoder":
        alone = words.interval(row["low_unadjusted"], row["high_unadjusted"], decimals, metric)
        both = {"Welch ": alone, "Holm ": both[""]}
    return "; ".join(f"{name}{interval}" for name, interval in both.items() if interval != NOTHING)


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
    """Of its measure."""
    return MEASURES[row["metric"]].decimals if row["metric"] in MEASURES else 2


def published(row: Mapping[str, Any]) -> str:
    """What a document prints, in words; a dash if it prints no number."""
    decimals = decimals_of(row)
    if not prints_number(row):
        return str(row["reported"]) if row["reported"] and row["origin"] != "ours" else NOTHING
    if row["kind"] == "comparison":
        return words.signed(float(row["reported"]), decimals)
    std = row["reported_std"]
    spread = "" if math.isnan(std) else f" ± {words.published(f'{std:.10g}', decimals)}"
    return words.published(row["reported"], decimals) + spread


def ours(row: Row) -> str:
    """What was found on a claim: ``+1.2 ± 0.3 (n = 5)``, ``6 of 7``; a dash where nothing was.

    Of a theorem ``holds in all 10,000 random tests (relative deviation at most 3.1e-15)``.
    """
    if row["kind"] == "theorem":
        if math.isnan(row["draws"]):
            return "not checked"
        draws, met, violated = (int(row[name]) for name in ("draws", "met", "violated"))
        outcome = f"fails in {violated:,} of" if violated else "holds in all"
        unmet = f"{draws - met:,} more do not meet its condition; " if met < draws else ""
        deviation = max(0.0, float(row["measured"]))
        return f"{outcome} {met:,} random tests ({unmet}relative deviation at most {deviation:.2g})"
    measured, decimals = float(row["measured"] or "nan"), decimals_of(row)
    without, missing = words.lost(row), words.whole(row["n_missing"])
    if math.isnan(measured):
        return " or ".join(without) or (
            words.NOT_RUN if row["verdict"] == words.NOT_RUN else NOTHING
        )
    places = int(row["n"])
    if row["answered_by"] != "encoder" and row["metric"] == "share" and not row["baseline"]:
        held = round(measured * places / 100)
        return f"{'all' if held == places else held or 'none'} of {places}"
    if row["answered_by"] != "encoder" and places == 1:
        return words.number(measured, decimals)
    mean = (words.signed if row["kind"] == "comparison" else words.number)(measured, decimals)
    std = row.get("measured_std", math.nan)
    spread = "" if math.isnan(std) else f" ± {words.number(std, decimals)}"
    counts = without | ({"missing": missing} if missing else {})
    lost = "".join(f"; {count} {how}" for how, count in counts.items())
    return f"{mean}{spread} (n = {places}{lost}{'; low power' if row.get('low_power') else ''})"


def counterexample(text: str) -> str:
    """``fails at tau = (1, 2), where the left side is 0.8 and the right side 0.5``; empty if there is none."""
    if not text:
        return ""
    inputs = json.loads(text)
    left, right = (_number(inputs.pop(side)) for side in SIDES)
    place = ", ".join(f"{name} = {_number(value)}" for name, value in inputs.items())
    return f"fails at {place}, where the left side is {left} and the right side {right}"


def _number(value: float | list[Any]) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_number, value))})"
    return f"{value + 0.0:.4g}".replace("-", "−")
