"""Claims as the scorecard and the paper show them: text, and the colour of the verdict."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.verdicts import Verdict
from hypersphere.report import labels, theorems, words
from hypersphere.report.results import Results, has_no_scale, settles
from hypersphere.report.shown import Grid, Head, Line, Shown, Text
from hypersphere.wording import counted

AGREE = tuple(verdict for verdict in Verdict if verdict.tone == "agree")
DISAGREE = tuple(verdict for verdict in Verdict if verdict.tone == "disagree")
DIRECTIONS = ("larger", "equal")
"""Reported by a comparison that prints no difference, or says that there is none."""
ORDER: tuple[str, ...] = tuple(Verdict)
OURS = "ours"
"""The reading of a claim that no document prints."""
ORIGINS = {"printed": "printed", "corrected": "corrected by an erratum", "ours": "of our own"}
"""Origins of claims, in words. Claims of different origins are never counted together."""


KINDS = ("numbers and comparisons", "claims answered by exact studies", "theorems and identities")
"""What ``Apart`` holds, in words."""


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
    verdict: str
    tone: str
    sensitivity: str
    direction: str
    """``same``, ``opposite`` or ``unclear``, for a comparison below the published scale."""
    why: str
    """Why it was not run, or what its verdict has to say: why it is no better, or seeds that are missing."""
    reading: str
    unstated: str
    source: str
    counterexample: str
    runs: tuple[str, ...]
    study: str
    """The exact study that answers it, if any."""


class Apart(NamedTuple):
    """Claims by what answers them. The three kinds are never counted together."""

    measured: list[Entry]
    """Numbers and comparisons that need trained encoders."""
    studied: list[Entry]
    """Claims that an exact study answers."""
    stated: list[Entry]
    """Theorems and identities."""


class Count(NamedTuple):
    """The number of claims of one origin, by verdict."""

    origin: str
    total: int
    verdicts: list[tuple[str, str, int]]
    """(verdict, tone, number of claims), settled verdicts first."""


def tone(config: Config, row: dict[str, Any]) -> str:
    """``agree``, ``disagree`` or ``neutral``. Below the published scale, measured claims are always neutral."""
    verdict = row["verdict"]
    if not has_no_scale(row) and not settles(config):
        return "neutral"
    return "agree" if verdict in AGREE else "disagree" if verdict in DISAGREE else "neutral"


def entries(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    rows = results.claims.to_dict("records")
    return [_entry(results.config, {str(key): value for key, value in row.items()}) for row in rows]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    judged, config = results.judged_of(paper, artifact), results.config
    if judged is None or judged.empty:
        return None
    every = [_entry(config, {str(key): value for key, value in row.items()}) for row in judged.to_dict("records")]
    answered = [claim for claim in every if claim.verdict != words.NOT_RUN]
    if not answered:
        return None
    reasons = Counter(claim.why for claim in every if claim.verdict == words.NOT_RUN)
    below = not settles(config)
    head = ["published, by its own run" if below else "published", "ours", "95 % interval", "verdict"]
    lines = []
    for claim in answered:
        where = ", ".join(filter(None, (claim.dataset, claim.stand_in, claim.metric, claim.setting)))
        cells = [claim.published, claim.ours, claim.interval, claim.verdict, *([claim.direction] if below else [])]
        lines.append(Line((claim.subject, where), tuple(Text(cell or "–") for cell in cells)))
    heads = tuple(map(Head, [*head, *(["direction"] if below else [])]))
    make = "evidence" if config.settings.evidence_only else "reproduce"
    notes = [
        f"{counted(len(answered), 'claim')} of {len(every)} on it {'is' if len(answered) == 1 else 'are'} answered by "
        f"these runs. {words.notice(config)}",
        "Intervals of comparisons are Holm's, over all comparisons of this table.",
        *(f"Not answered, {number}: {reason}." for reason, number in reasons.items()),
        f"All claims, theorems and exact studies: make {make} SCALE={config.settings.scale} writes scorecard.html.",
    ]
    return Shown(
        f"{artifact}-claims", f"Verdicts on {artifact}", tuple(notes), Grid((heads,), ("claim", "on"), tuple(lines))
    )


def kind_of(claim: Entry) -> str:
    """What answers a claim: ``theorem``, ``study`` or ``encoder``."""
    return "theorem" if claim.kind == "theorem" else "study" if claim.study else "encoder"


def apart(claims: list[Entry]) -> Apart:
    """Claims by what answers them."""
    by_kind = {kind: [claim for claim in claims if kind_of(claim) == kind] for kind in ("encoder", "study", "theorem")}
    return Apart(measured=by_kind["encoder"], studied=by_kind["study"], stated=by_kind["theorem"])


def counts(claims: list[Entry]) -> list[Count]:
    """Counts by origin, printed claims first. Origins without claims are left out."""
    counted = []
    for origin in ORIGINS:
        of_origin = [claim for claim in claims if claim.origin == origin]
        if of_origin:
            counted.append(Count(origin, len(of_origin), _verdicts(of_origin)))
    return counted


def by_kind(claims: list[Entry]) -> list[tuple[str, list[Count]]]:
    """What is counted, in words, and its counts: those of the scorecard and of the command ``claims``."""
    return list(zip(KINDS, map(counts, apart(claims)), strict=True))


def in_words(claims: list[Entry]) -> list[str]:
    """``51 theorems and identities, printed: 29 no counterexample, 22 refuted``, a line for each kind and origin."""
    return [
        f"{count.total} {what}, {ORIGINS[count.origin]}: "
        + ", ".join(f"{number} {verdict}" for verdict, _, number in count.verdicts)
        for what, by_origin in by_kind(claims)
        for count in by_origin
    ]


def _verdicts(claims: list[Entry]) -> list[tuple[str, str, int]]:
    numbers = Counter((claim.verdict, claim.tone) for claim in claims)
    rank = {verdict: place for place, verdict in enumerate(ORDER)}
    ordered = sorted(numbers, key=lambda pair: (rank.get(pair[0], len(ORDER)), pair[0]))
    return [(verdict, colour, numbers[verdict, colour]) for verdict, colour in ordered]


def _entry(config: Config, row: dict[str, Any]) -> Entry:
    paper = config.papers[row["paper"]]
    metric = MEASURES.get(row["metric"])
    decimals = metric.decimals if metric else 2
    compares, stated = row["kind"] == "comparison", row["kind"] == "theorem"
    verdict, half, double = row["verdict"], row["verdict_half"], row["verdict_double"]
    varies = half and double and (half, double) != (verdict, verdict)
    on, studied = row["measured_on"], paper.studied.get(row["artifact"])
    study = row["study"] or (studied.study if studied else "")
    return Entry(
        id=row["id"],
        paper=row["paper"],
        artifact=row["artifact"],
        kind=row["kind"],
        origin=row["origin"],
        sentence=row["sentence"],
        subject=row["sentence"] if stated or (study and row["sentence"]) else _subject(paper, row),
        dataset=paper.label(row["dataset"]),
        stand_in=f"measured on {on}" if on and on != row["dataset"] and not row["study"] else "",
        metric=metric.label if metric and (row["variant"] or not study) else "",  # a sentence has none
        setting=_in_words(paper, row, "setting"),
        published=_published(row, decimals, compares),
        ours=theorems.finding(row) if stated else _ours(row, decimals, compares),
        interval=words.interval(row["low"], row["high"], decimals, sign=compares),
        verdict=verdict,
        tone=tone(config, row),
        sensitivity=f"at D/2: {half}; at 2D: {double}" if varies else "",
        direction=row["direction"],
        why=row["why"],
        reading=_reading(row),
        unstated="" if row["study"] or row["unstated"] == "0" else counted(row["unstated"], "open choice"),
        source=row["source"],
        counterexample=theorems.counterexample(row["counterexample"]),
        runs=tuple(row["runs"].split()),
        study=study,
    )


def _in_words(paper: Paper, row: dict[str, Any], column: str) -> str:
    """``batch size = 512, epoch 100``."""
    point = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
    return labels.point(paper, point, point)


def _subject(paper: Paper, row: dict[str, Any]) -> str:
    text = ", ".join(paper.label(row[name]) for name in ("method", "variant") if row[name])
    if row["kind"] != "comparison":
        return text
    other = _in_words(paper, row, "baseline") if "=" in row["baseline"] else paper.label(row["baseline"])
    return f"{text} − {other}"


def _published(row: dict[str, Any], decimals: int, compares: bool) -> str:
    if not row["reported"]:
        return "–"
    if row["reported"] in DIRECTIONS:
        return str(row["reported"])
    if compares:
        return words.signed(float(row["reported"]), decimals)
    spread = row["reported_std"]
    return words.published(row["reported"], decimals) + (
        "" if math.isnan(spread) else f" ± {words.published(f'{spread:.10g}', decimals)}"
    )


def _ours(row: dict[str, Any], decimals: int, compares: bool) -> str:
    measured = float(row["measured"] or "nan")
    diverged = 0 if math.isnan(row["n_diverged"]) else int(row["n_diverged"])
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
    missing = 0 if math.isnan(row["n_missing"]) else int(row["n_missing"])
    lost = "".join(f"; {count} {how}" for count, how in ((diverged, "diverged"), (missing, "missing")) if count)
    return f"{mean}{spread} (n = {int(row['n'])}{lost}{'; low power' if row['low_power'] else ''})"


def _reading(row: dict[str, Any]) -> str:
    if row["origin"] == "ours" and row["reading"] == PRINTED:
        return OURS
    if row["verdict"] in DISAGREE and not row["study"] and row["unstated"] not in ("", "0"):
        return f"under our reading: {row['reading']}"
    return str(row["reading"])
