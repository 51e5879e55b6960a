"""Claims as the scorecard and the paper show them: text, and the colour of the verdict."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED, SENTENCES, SIGNS
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.config.project import Config
from hypersphere.config.rules import GRADES, RUNGS, SHORTCOMINGS, Certainty, Verdict
from hypersphere.provenance import tables
from hypersphere.report import words
from hypersphere.report.artifact import Grid, Head, Line, Shown, Text
from hypersphere.report.results import Results, has_no_scale, settles
from hypersphere.wording import counted

DIRECTIONS = (*SIGNS, "equal")
"""Reported by a comparison that prints no difference, or says that there is none."""
ORDER: tuple[str, ...] = tuple(Verdict)
ORIGINS = {
    "printed": "printed",
    "implied": "implied by two printed numbers",
    "corrected": "corrected by an erratum",
    "ours": "of our own",
}
"""Origins of claims, in words. Claims of different origins are never counted together."""
AS_THEY_ARE = ("id", "paper", "artifact", "kind", "origin", "sentence", "verdict", "direction", "why", "source")
"""Columns of claims.csv that are shown as they are."""
INTERVALS = (("low_unadjusted", "high_unadjusted"), ("low", "high"))
EXCESS = "excess"
"""The key of a counterexample for the size of the failure. All other keys are inputs."""


class Kind(NamedTuple):
    """What answers a claim."""

    heading: str
    claims: str
    """The claims that it answers."""


KINDS = {
    "encoder": Kind("Trained encoders", "numbers and comparisons of trained encoders"),
    "study": Kind("Exact studies", "claims that exact studies answer"),
    "theorem": Kind("Theorems", "theorems and identities"),
    "sentence": Kind("Sentences", "sentences compared only with their own document's table"),
}
"""By name (``kind_of``). Claims of different kinds are never counted together."""


@dataclass(frozen=True)
class Entry:
    """One claim, ready to print."""

    id: str
    paper: str
    artifact: str
    kind: str
    origin: str
    sentence: str
    subject: str
    dataset: str
    stand_in: str
    metric: str
    setting: str
    published: str
    ours: str
    interval: str
    """Of a comparison of encoders by one test (Welch's), else of the number."""
    holm: str
    """Of a comparison of encoders, after Holm's correction over its table."""
    verdict: str
    tone: str
    sensitivity: str
    direction: str
    """``same``, ``opposite``, ``no effect`` or ``unclear``, for a comparison below the published scale."""
    why: str
    """Why it was not run, or what its verdict has to say: why it is no better, or seeds that are missing."""
    reading: str
    unstated: str
    source: str
    counterexample: str
    runs: tuple[str, ...]
    study: str
    """The exact study that answers it, if any."""


class Link(NamedTuple):
    """Where to look, and what is found there."""

    text: str
    href: str


class Count(NamedTuple):
    """The number of claims of one origin, by verdict."""

    origin: str
    total: int
    verdicts: list[tuple[str, str, int]]
    """(verdict, tone, number of claims), settled verdicts first."""


def tone(config: Config, row: dict[str, Any]) -> str:
    """``agree``, ``disagree`` or ``neutral``. Below the published scale, measured claims are always neutral."""
    return Verdict.of(row["verdict"]).tone if has_no_scale(row) or settles(config) else "neutral"


def entries(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    return [_entry(results.config, row) for row in tables.rows(results.claims)]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    judged, config = results.judged_of(paper, artifact), results.config
    every = [] if judged is None else [_entry(config, row) for row in tables.rows(judged)]
    answered = [claim for claim in every if claim.verdict != words.NOT_RUN]
    if not answered:
        return None
    reasons = Counter(claim.why for claim in every if claim.verdict == words.NOT_RUN)
    below = not settles(config)
    head = ["published, by its own run" if below else "published", "ours", "95 % interval", "after Holm", "verdict"]
    head += ["direction"] if below else []
    lines = []
    for claim in answered:
        where = ", ".join(filter(None, (claim.dataset, claim.stand_in, claim.metric, claim.setting)))
        cells = [claim.published, claim.ours, claim.interval, claim.holm, claim.verdict, claim.direction][: len(head)]
        lines.append(Line((claim.subject, where), tuple(Text(cell or "–") for cell in cells)))
    make = "evidence" if config.settings.evidence_only else "reproduce"
    notes = (
        f"{counted(len(answered), 'claim')} of {len(every)} on it {'is' if len(answered) == 1 else 'are'} answered by "
        f"these runs. {words.notice(config)}",
        "The interval of a comparison is Welch's, then Holm's over all comparisons of this table.",
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
        rows.append({"rung": RUNGS[rung], "grade": rule.grade, "lowered": ". ".join(lowered) or "–"})
    return rows


def kind_of(claim: Entry) -> str:
    """What answers a claim: a key of ``KINDS``."""
    if claim.kind == "theorem":
        return "theorem"
    return "encoder" if not claim.study else "sentence" if claim.study == SENTENCES else "study"


def apart(claims: list[Entry]) -> dict[str, list[Entry]]:
    """Claims by what answers them, in the order of ``KINDS``."""
    return {kind: [claim for claim in claims if kind_of(claim) == kind] for kind in KINDS}


def counts(claims: list[Entry]) -> list[Count]:
    """Counts by origin, printed claims first. Origins without claims are left out."""
    rank = {verdict: place for place, verdict in enumerate(ORDER)}
    found = []
    for origin in ORIGINS:
        numbers = Counter((claim.verdict, claim.tone) for claim in claims if claim.origin == origin)
        ordered = sorted(numbers.items(), key=lambda pair: (rank.get(pair[0][0], len(ORDER)), pair[0][0]))
        if ordered:
            found.append(Count(origin, numbers.total(), [(*verdict, number) for verdict, number in ordered]))
    return found


def address(**filters: str) -> str:
    """The address of a page filtered: ``#?document=margins&verdict=refuted``."""
    return f"#?{urlencode({key: value for key, value in filters.items() if value})}"


def in_words(claims: list[Entry]) -> Iterator[Link]:
    """``51 theorems and identities, printed: 29 no counterexample, 22 refuted``, a line for each kind and origin.

    Each with the address of the page filtered to these claims.
    """
    for kind, answered in apart(claims).items():
        for count in counts(answered):
            said = ", ".join(f"{number} {verdict}" for verdict, _, number in count.verdicts)
            text = f"{count.total} {KINDS[kind].claims}, {ORIGINS[count.origin]}: {said}"
            yield Link(text, address(kind=kind, origin=count.origin))


def _entry(config: Config, row: dict[str, Any]) -> Entry:
    paper = config.papers[row["paper"]]
    metric = MEASURES.get(row["metric"])
    decimals = metric.decimals if metric else 2
    compares, stated = row["kind"] == "comparison", row["kind"] == "theorem"
    verdict, half, double = row["verdict"], row["verdict_half"], row["verdict_double"]
    varies = half and double and (half, double) != (verdict, verdict)
    on, studied = row["measured_on"], paper.studied.get(row["artifact"])
    study = row["study"] or (studied.study if studied else "")
    intervals = [words.interval(row[low], row[high], decimals, sign=compares) for low, high in INTERVALS]
    interval, holm = intervals if compares and not study else (intervals[1], "")
    subject = ", ".join(paper.label(row[name]) for name in ("method", "variant") if row[name])
    if compares:
        cell = "=" in row["baseline"]
        subject += f" against {_in_words(paper, row, 'baseline') if cell else paper.label(row['baseline'])}"
    return Entry(
        **{name: row[name] for name in AS_THEY_ARE},
        subject=row["sentence"] if stated or (study and row["sentence"]) else subject,
        dataset=paper.label(row["dataset"]),
        stand_in=f"measured on {on}" if on and on != row["dataset"] and not row["study"] else "",
        metric=_metric(metric, compares) if metric and (row["variant"] or not study) else "",  # a sentence has none
        setting=_in_words(paper, row, "setting"),
        published=published(row, decimals, compares),
        ours=checked(row) if stated else _ours(row, decimals, compares),
        interval=interval,
        holm=holm,
        tone=tone(config, row),
        sensitivity=f"at D/2: {half}; at 2D: {double}" if varies else "",
        reading=_reading(row),
        unstated="" if row["study"] or row["unstated"] == "0" else counted(row["unstated"], "open choice"),
        counterexample=counterexample(row["counterexample"]),
        runs=tuple(row["runs"].split()),
        study=study,
    )


def _metric(metric: Measure, compares: bool) -> str:
    """``kNN accuracy (%)``, of a difference ``kNN accuracy (points)``."""
    unit = "points" if compares and metric.unit == "%" else metric.unit
    return f"{metric.label} ({unit})" if unit else metric.label


def _in_words(paper: Paper, row: dict[str, Any], column: str) -> str:
    """``batch size = 512, epoch 100``."""
    point = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
    return words.point(paper, point, point)


def prints_number(row: Mapping[str, Any]) -> bool:
    """Whether a document prints a number, and not only that something is larger, smaller or equal."""
    return row["reported"] not in ("", *DIRECTIONS)


def published(row: Mapping[str, Any], decimals: int, compares: bool) -> str:
    """What a document prints, in words; a dash if it prints no number."""
    if not row["reported"]:
        return "–"
    if row["reported"] in DIRECTIONS:
        return "–" if row["origin"] == "ours" else str(row["reported"])
    if compares:
        return words.signed(float(row["reported"]), decimals)
    std = row["reported_std"]
    spread = "" if math.isnan(std) else f" ± {words.published(f'{std:.10g}', decimals)}"
    return words.published(row["reported"], decimals) + spread


def _ours(row: dict[str, Any], decimals: int, compares: bool) -> str:
    measured = float(row["measured"] or "nan")
    diverged, missing = words.whole(row["n_diverged"]), words.whole(row["n_missing"])
    if row["study"] and row["metric"] == "share" and not row["baseline"]:
        places = int(row["n"])
        held = round(measured * places / 100)
        return f"{'all' if held == places else held} of {places}"
    if row["study"] and row["n"] == 1 and not math.isnan(measured):
        return words.number(measured, decimals)
    if math.isnan(measured):
        return "diverged" if diverged else words.NOT_RUN if row["verdict"] == words.NOT_RUN else "–"
    mean = (words.signed if compares else words.number)(measured, decimals)
    spread = "" if math.isnan(row["measured_std"]) else f" ± {words.number(row['measured_std'], decimals)}"
    lost = "".join(f"; {count} {how}" for count, how in ((diverged, "diverged"), (missing, "missing")) if count)
    return f"{mean}{spread} (n = {int(row['n'])}{lost}{'; low power' if row['low_power'] else ''})"


def _reading(row: dict[str, Any]) -> str:
    if row["origin"] == "ours" and row["reading"] == PRINTED:
        return "ours"
    if Verdict.of(row["verdict"]).tone == "disagree" and not row["study"] and row["unstated"] not in ("", "0"):
        return f"under our reading: {row['reading']}"
    return str(row["reading"])


def checked(row: dict[str, Any]) -> str:
    """``9812 of 10000 draws meet the hypothesis, none violates it (deviation at most 3.1e-15)``."""
    if math.isnan(row["draws"]):
        return "not checked"
    draws, met, violated = (int(row[name]) for name in ("draws", "met", "violated"))
    verb = counted(violated, "violates", "violate")
    outcome = f"{verb} it (by up to" if violated else "none violates it (deviation at most"
    return f"{met} of {draws} draws meet the hypothesis, {outcome} {max(0.0, float(row['measured'])):.2g})"


def counterexample(text: str) -> str:
    """``fails at theta = (1, 2), tau = 1, by 0.25``; empty if there is none."""
    if not text:
        return ""
    inputs = json.loads(text)
    by = inputs.pop(EXCESS)
    return f"fails at {', '.join(f'{name} = {_number(value)}' for name, value in inputs.items())}, by {by:.3g}"


def _number(value: float | list[Any]) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_number, value))})"
    return f"{value:.4g}".replace("-", "−")
