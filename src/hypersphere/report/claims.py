"""Claims as both pages and both PDFs show them: text, and the colour of the verdict."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from hypersphere.config import coordinates
from hypersphere.config.claims import PRINTED, SIGNS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import GRADES, RUNGS, SHORTCOMINGS, Answer, Certainty, Verdict
from hypersphere.provenance import columns, tables
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Shown, Text
from hypersphere.report.results import Results, Row, settles
from hypersphere.wording import counted

NOTHING = "–"
"""Where there is no number."""
DIRECTIONS = (*SIGNS, "equal")
"""Reported by a comparison that prints no difference, or says that there is none."""
ORIGINS = {
    "printed": "printed",
    "implied": "implied by two printed numbers",
    "corrected": "corrected by an erratum",
    "ours": "of our own",
}
"""Origins of claims, in words. Claims of different origins are never counted together."""
SIDES = ("left", "right")
"""The keys of a counterexample for the two sides of the statement. All other keys are inputs."""
KINDS = {
    "theorem": "theorems and identities",
    "study": "claims that exact studies answer",
    "encoder": "numbers and comparisons of trained encoders",
    "sentence": "sentences compared only with their own document's table",
}
"""Kinds of claims by what answers them (``answered_by``), the firmest first; sentences, which say nothing of the world,
last. Claims of different kinds are never counted together."""


class Link(NamedTuple):
    """Where to look, and what is found there."""

    text: str
    href: str


@dataclass(frozen=True)
class Entry:
    row: Row
    """Its row of claims.csv, of one scale or of the report."""
    subject: str
    where: str
    """Measure, data, setting, origin and place in the document; a published number that cannot stand beside ours."""
    printed: str
    """The published number, where there is one that may stand beside ours: both are effects, or of the same setting."""
    found: str
    """The counterexample, or what was measured; empty where nothing was."""
    intervals: str
    """``Welch [+2.8, +5.2]; Holm [+2.5, +5.5]``; of anything but a comparison of encoders, its one interval."""
    reading: str
    says: str
    """What came of it: its verdict; in the report the result of encoders, and the answer of anything else."""
    second: str
    """The result of a comparison of encoders, where its verdict does not say it; of the report none."""
    tone: str
    """``agree``, ``disagree`` or ``neutral``, as every measured claim below the published scale; of the report none."""
    facts: Mapping[str, str]
    """What its line leaves out, by name."""
    steps: Sequence["Entry"]
    """The claim by each piece of evidence, the best first. Of the report."""

    @property
    def keys(self) -> Row:
        """What the filters of a page ask for, by their names; several values are apart by ``|``."""
        row, paper = self.row, self.row["paper"]
        table = f"{paper}/{'theorems' if row['kind'] == 'theorem' else row['artifact']}"
        verdicts = f"{row['verdict']}|{Answer.of(row['answer']).result}"
        return row | {"document": paper, "kind": row["answered_by"], "artifact": table, "verdict": verdicts}

    @property
    def discrepancy(self) -> str:
        """Points of accuracy between our effect and the printed one, to sort by; empty where there are not both."""
        row, metric = self.row, MEASURES.get(self.row["metric"])
        effect = row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["measured"]
        if not (effect and metric and metric.margin == "accuracy") or row["reported"] in ("", *SIGNS):
            return ""
        printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
        return f"{abs(float(row['measured']) - printed):.2f}"


def entries(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    return [entry(results.config, row) for row in tables.rows(results.claims)]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    config, path = results.config, results.plan.artifact_folder(paper, artifact) / "claims.csv"
    judged = tables.rows(tables.read(results.checked(path), columns.CLAIMS)) if path.is_file() else []
    every = [entry(config, row) for row in judged]
    answered = [claim for claim in every if claim.says != words.NOT_RUN]
    if not answered:
        return None
    reasons = Counter(claim.row["why"] for claim in every if claim.says == words.NOT_RUN)
    lines = []
    for claim in answered:
        result = Answer.of(claim.row["answer"]).result if claim.row["kind"] == "comparison" else ""
        cells = (claim.printed, claim.found, claim.intervals, claim.says, result)
        lines.append(Line((claim.subject, claim.where), tuple(Text(cell or NOTHING) for cell in cells)))
    head = ("published", "ours", f"{words.confidence(config)} interval; after Holm", "verdict", "result")
    make = "evidence" if config.settings.evidence_only else "reproduce"
    notes = (
        f"{counted(len(answered), 'claim')} of {len(every)} on it {'is' if len(answered) == 1 else 'are'} answered by "
        f"these runs. {words.notice(config)}",
        *(f"Not answered, {number}: {reason}." for reason, number in reasons.items()),
        f"All claims, theorems and exact studies: make {make} SCALE={config.settings.scale} writes scorecard.html.",
    )
    grid = Grid((tuple(map(Head, head)),), ("claim", "on"), tuple(lines))
    return Shown(f"{artifact}-claims", f"Verdicts on {artifact}", notes, grid)


def certainty_in_words(certainty: Certainty) -> list[dict[str, str]]:
    """The rules of certainty (config/certainty.yaml): each rung, its grade, and what lowers it."""
    rows = []
    for rung, rule in certainty.rungs.items():
        lowered = []
        for grade in GRADES:
            why = [SHORTCOMINGS[one] for one, most in rule.at_most.items() if most == grade]
            lowered += [f"to {grade}: {'; '.join(why)}"] if why else []
        rows.append({"rung": RUNGS[rung], "grade": rule.grade, "lowered": ". ".join(lowered) or NOTHING})
    return rows


def verdicts(claims: Iterable[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """The number of claims by kind, origin and verdict, settled verdicts first; what there is none of is left out."""
    found = Counter((row["answered_by"], row["origin"], row["verdict"]) for row in claims)
    counts: dict[str, dict[str, dict[str, int]]] = {kind: {} for kind in KINDS}
    for kind, by_origin in counts.items():
        for origin in ORIGINS:
            numbers = {str(verdict): found[kind, origin, verdict] for verdict in Verdict}
            if any(numbers.values()):
                by_origin[origin] = {verdict: number for verdict, number in numbers.items() if number}
    return counts


def address(**filters: str) -> str:
    """The address of a page filtered: ``#?document=margins&verdict=refuted``."""
    return f"#?{urlencode({key: value for key, value in filters.items() if value})}"


def in_words(claims: Iterable[Row]) -> Iterator[Link]:
    """``51 theorems and identities, printed: 29 no counterexample, 22 refuted``, a line for each kind and origin.

    Each with the address of the page filtered to these claims.
    """
    for kind, by_origin in verdicts(claims).items():
        for origin, numbers in by_origin.items():
            said = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())
            text = f"{sum(numbers.values())} {KINDS[kind]}, {ORIGINS[origin]}: {said}"
            yield Link(text, address(kind=kind, origin=origin))


def entry(config: Config, row: Row, steps: Iterable[Row] = ()) -> Entry:
    """A row of claims.csv in words: of one scale, or of the report, which has a rung and lacks some columns.

    ``steps`` are its rows of ladder.csv, the best first.
    """
    paper, metric = config.papers[row["paper"]], MEASURES.get(row["metric"])
    compares, stated, encoders = row["kind"] == "comparison", row["kind"] == "theorem", row["answered_by"] == "encoder"
    decimals = decimals_of(row)
    intervals = {"": words.interval(row["low"], row["high"], decimals, metric, sign=compares)}
    if compares and encoders:
        alone = words.interval(row["low_unadjusted"], row["high_unadjusted"], decimals, metric)
        intervals = {"Welch ": alone, "Holm ": intervals[""]}
    said = {"setting": "", "baseline": paper.phrases.get(row["baseline"]) or paper.label(row["baseline"])}
    for column in said:
        if "=" in row[column]:
            point = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
            said[column] = words.point(paper, point, point)
    named = (paper.phrases.get(row[name]) or paper.label(row[name]) for name in ("method", "variant") if row[name])
    subject = ", ".join(named)
    if compares:
        subject += f" against {said['baseline']}"
    if stated or (not encoders and row["sentence"]):
        subject = row["sentence"]
    measured = ""
    if metric and (row["variant"] or encoders):  # a sentence has no measure
        unit = "points" if compares and metric.unit == "%" else metric.unit
        measured = f"{metric.label} ({unit})" if unit else metric.label
    instead = f"measured on {row['measured_on']}" if encoders and row["measured_on"] not in ("", row["dataset"]) else ""
    verdict, settled, of_report = Verdict.of(row["verdict"]), not encoders or settles(config), "rung" in row
    answer = Answer.of(row["answer"])
    says, tone = str(verdict), str(answer.tone) if settled else "neutral"
    if of_report:
        says, tone = answer.result if encoders else str(answer), ""
    reading = str(row["reading"])
    if row["origin"] == "ours" and reading == PRINTED:
        reading = "ours"
    elif encoders and settled and answer.tone == "disagree" and row.get("unstated", "") not in ("", "0"):
        reading = f"under our reading: {reading}"
    found, failed, printed = ours(row), counterexample(row["counterexample"]), published(row).removeprefix(NOTHING)
    facts = _facts(row, subject, reading, found, failed)
    beside = compares or of_report or settled
    elsewhere = f"published: {printed}" if printed and not beside else ""
    origin = "" if row["origin"] == "printed" else ORIGINS[row["origin"]]
    about = (measured, paper.label(row["dataset"]), instead, row["repeated"], said["setting"], elsewhere, origin)
    return Entry(
        row=row,
        subject=subject or str(row["artifact"]),
        where="; ".join(filter(None, (*about, row["source"]))),
        printed=printed if beside else "",
        found=failed or ("" if found in (NOTHING, words.NOT_RUN) else found),
        intervals="; ".join(f"{name}{interval}" for name, interval in intervals.items() if interval != NOTHING),
        reading=reading,
        says=says,
        second="" if of_report or settled or not compares or says == words.NOT_RUN else f"result: {answer.result}",
        tone=tone,
        facts=facts,
        steps=[entry(config, row | step) for step in steps],
    )


def _facts(row: Row, subject: str, reading: str, found: str, failed: str) -> dict[str, str]:
    """What a claim's line leaves out. That a reading is as printed goes without saying."""
    waits = row["verdict"] == words.NOT_RUN
    half, double = row.get("verdict_half"), row.get("verdict_double")
    varies = half and double and (half, double) != (row["verdict"], row["verdict"])
    low, high = (row.get(f"reported_{end}", math.nan) for end in ("low", "high"))
    printed = words.interval(low, high, decimals_of(row), MEASURES.get(row["metric"]))
    silent = waits or row["answered_by"] != "encoder" or row.get("unstated", "0") == "0"
    facts = {
        "Checked": found if row["kind"] == "theorem" and not waits else "",
        "Counterexample": failed,
        "Sentence": row["sentence"] if row["sentence"] != subject else "",
        "Printed interval": f"{printed}, by the printed standard deviations" if printed != NOTHING else "",
        "Other margins": f"at D/2: {half}; at 2D: {double}" if varies else "",
        "Unlike the published run": row.get("differs", ""),
        "Device": ", ".join(filter(None, (row["device"], row["precision"]))),
        "Why not" if waits else "Mind": row["why"],
        "Reading": reading if reading != PRINTED else "",
        "Not stated": "" if silent else counted(row["unstated"], "open choice"),
        "Names of runs": row["runs"] if "rung" in row else "",
    }
    return {name: str(text) for name, text in facts.items() if text}


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

    Of a theorem ``9812 of 10000 draws meet the hypothesis, none violates it (relative deviation at most 3.1e-15)``.
    """
    if row["kind"] == "theorem":
        if math.isnan(row["draws"]):
            return "not checked"
        draws, met, violated = (int(row[name]) for name in ("draws", "met", "violated"))
        verb = counted(violated, "violates", "violate")
        outcome = f"{verb} it" if violated else "none violates it"
        most = f"relative deviation at most {max(0.0, float(row['measured'])):.2g}"
        return f"{met} of {draws} draws meet the hypothesis, {outcome} ({most})"
    measured, decimals = float(row["measured"] or "nan"), decimals_of(row)
    without, missing = words.lost(row), words.whole(row["n_missing"])
    if math.isnan(measured):
        return " or ".join(without) or (words.NOT_RUN if row["verdict"] == words.NOT_RUN else NOTHING)
    places = int(row["n"])
    if row["answered_by"] != "encoder" and row["metric"] == "share" and not row["baseline"]:
        held = round(measured * places / 100)
        return f"{'all' if held == places else held} of {places}"
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
