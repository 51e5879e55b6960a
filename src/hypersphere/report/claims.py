"""Claims as both pages and both PDFs show them: text, and the colour of the verdict."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

Row = dict[str, Any]
NOTHING = "–"
"""Where there is no number."""
DIRECTIONS = (*SIGNS, "equal")
"""Reported by a comparison that prints no difference, or says that there is none."""
EFFECTS = {
    **{"same": "same direction", "opposite": "opposite direction", "no effect": "no effect"},
    "unclear": "direction unclear",
}
"""What our effect says of a published one below the published scale, in words."""
ORIGINS = {
    "printed": "printed",
    "implied": "implied by two printed numbers",
    "corrected": "corrected by an erratum",
    "ours": "of our own",
}
"""Origins of claims, in words. Claims of different origins are never counted together."""
EXCESS = "excess"
"""The key of a counterexample for the size of the failure. All other keys are inputs."""


class Kind(NamedTuple):
    """What answers a claim."""

    heading: str
    claims: str
    """The claims that it answers."""


KINDS = {
    "theorem": Kind("Theorems", "theorems and identities"),
    "study": Kind("Exact studies", "claims that exact studies answer"),
    "encoder": Kind("Trained encoders", "numbers and comparisons of trained encoders"),
    "sentence": Kind("Sentences", "sentences compared only with their own document's table"),
}
"""By name (``answered_by``), the firmest first; sentences, which say nothing of the world, last. Claims of different
kinds are never counted together."""


class Link(NamedTuple):
    """Where to look, and what is found there."""

    text: str
    href: str


@dataclass(frozen=True)
class Entry:
    """One claim, ready to print."""

    row: Row
    """Its row of claims.csv, of one scale or of the report, with what answers it (``answered_by``)."""
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
    counterexample: str
    reading: str
    says: str
    """What came of it: its verdict, or in the report the direction of encoders and the answer of anything else."""
    tone: str = ""
    """The colour of its verdict; empty in the report, which has none."""
    beside: bool = True
    """Whether ours may stand beside the published number: both are effects, or of the same setting."""
    facts: Sequence[tuple[str, str]] = ()
    """What its line leaves out, each with its name."""
    steps: Sequence[Mapping[str, str]] = ()
    """All evidence, the best first. Of the report."""
    discrepancy: str = ""
    """Points between our effect and the published one, to sort by. Of the report."""

    @property
    def printed(self) -> str:
        """The published number, where there is one that may stand beside ours."""
        return self.published.removeprefix(NOTHING) if self.beside else ""

    @property
    def found(self) -> str:
        """The counterexample, or what was measured; empty where nothing was."""
        nothing = self.ours in (NOTHING, words.NOT_RUN)
        return self.counterexample or ("" if nothing else self.ours)

    @property
    def where(self) -> str:
        """Measure, data, setting, origin and place in the document."""
        published = "" if self.beside or self.published == NOTHING else f"published: {self.published}"
        origin = "" if self.row["origin"] == "printed" else ORIGINS[self.row["origin"]]
        about = (self.metric, self.dataset, self.stand_in, self.setting, published, origin, self.row["source"])
        return "; ".join(filter(None, about))

    @property
    def intervals(self) -> str:
        """``Welch [+2.8, +5.2]; Holm [+2.5, +5.5]``; of anything but a comparison of encoders, its one interval."""
        if self.holm:
            named = {"Welch": self.interval, "Holm": self.holm}
            return "; ".join(f"{name} {interval}" for name, interval in named.items() if interval != NOTHING)
        return self.interval.removeprefix(NOTHING)


class Count(NamedTuple):
    """The number of claims of one origin, by verdict."""

    origin: str
    total: int
    verdicts: list[tuple[str, str, int]]
    """(verdict, tone, number of claims), settled verdicts first."""


def tone(config: Config, row: Row) -> str:
    """``agree``, ``disagree`` or ``neutral``. Below the published scale, measured claims are always neutral."""
    return Verdict.of(row["verdict"]).tone if has_no_scale(row) or settles(config) else "neutral"


def entries(results: Results) -> list[Entry]:
    """Every claim in the order of claims.csv."""
    return [entry(results.config, row) for row in tables.rows(results.claims)]


def of_artifact(results: Results, paper: str, artifact: str) -> Shown | None:
    """The verdicts on an artifact's claims as a table, which follows it; None if its runs answer none."""
    judged, config = results.judged_of(paper, artifact), results.config
    every = [] if judged is None else [entry(config, row) for row in tables.rows(judged)]
    answered = [claim for claim in every if claim.says != words.NOT_RUN]
    if not answered:
        return None
    reasons = Counter(claim.row["why"] for claim in every if claim.says == words.NOT_RUN)
    below = not settles(config)
    head = ["published, by its own run" if below else "published", "ours", "95 % interval", "after Holm", "verdict"]
    head += ["direction"] if below else []
    lines = []
    for claim in answered:
        where = ", ".join(filter(None, (claim.dataset, claim.stand_in, claim.metric, claim.setting)))
        cells = [claim.published, claim.ours, claim.interval, claim.holm, claim.says, claim.row["direction"]]
        lines.append(Line((claim.subject, where), tuple(Text(cell or NOTHING) for cell in cells[: len(head)])))
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


def apart(claims: list[Entry]) -> dict[str, list[Entry]]:
    """Claims by what answers them, in the order of ``KINDS``."""
    return {kind: [claim for claim in claims if claim.row["answered_by"] == kind] for kind in KINDS}


def counts(claims: list[Entry]) -> list[Count]:
    """Counts by origin, printed claims first. Origins without claims are left out."""
    rank: dict[str, int] = {verdict: place for place, verdict in enumerate(Verdict)}
    found = []
    for origin in ORIGINS:
        numbers = Counter((claim.says, claim.tone) for claim in claims if claim.row["origin"] == origin)
        ordered = sorted(numbers.items(), key=lambda pair: (rank.get(pair[0][0], len(rank)), pair[0][0]))
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


def entry(config: Config, row: Row) -> Entry:
    """A row of claims.csv, of one scale or of the report, in words. The report's lacks some columns."""
    paper, metric = config.papers[row["paper"]], MEASURES.get(row["metric"])
    studied = paper.studied.get(row["artifact"])
    study = row["study"] or (studied.study if studied else "")
    compares, stated = row["kind"] == "comparison", row["kind"] == "theorem"
    kind = "theorem" if stated else "encoder" if not study else "sentence" if study == SENTENCES else "study"
    row = {"answered_by": kind, **row, "study": study}
    decimals = metric.decimals if metric else 2
    interval, holm = words.interval(row["low"], row["high"], decimals, sign=compares), ""
    if compares and row["answered_by"] == "encoder":
        interval, holm = words.interval(row["low_unadjusted"], row["high_unadjusted"], decimals), interval
    subject = ", ".join(paper.label(row[name]) for name in ("method", "variant") if row[name])
    if compares:
        cell = "=" in row["baseline"]
        subject += f" against {_in_words(paper, row, 'baseline') if cell else paper.label(row['baseline'])}"
    on = row["measured_on"]
    made = Entry(
        row,
        subject=row["sentence"] if stated or (study and row["sentence"]) else subject,
        dataset=paper.label(row["dataset"]),
        stand_in=f"measured on {on}" if on and on != row["dataset"] and not study else "",
        metric=_metric(metric, compares) if metric and (row["variant"] or not study) else "",  # a sentence has none
        setting=_in_words(paper, row, "setting"),
        published=published(row, decimals, compares),
        ours=checked(row) if stated else ours(row, decimals, compares),
        interval=interval,
        holm=holm,
        counterexample=counterexample(row["counterexample"]),
        reading=_reading(row),
        says=row["verdict"],
        tone=tone(config, row),
        beside=compares or row["answered_by"] != "encoder" or settles(config),
    )
    return replace(made, facts=_facts(made, decimals))


def _facts(claim: Entry, decimals: int) -> list[tuple[str, str]]:
    """What a claim's line leaves out. That a reading is as printed goes without saying."""
    row, waits = claim.row, claim.row["verdict"] == words.NOT_RUN
    half, double = row.get("verdict_half"), row.get("verdict_double")
    varies = half and double and (half, double) != (row["verdict"], row["verdict"])
    printed = words.interval(row.get("reported_low", math.nan), row.get("reported_high", math.nan), decimals)
    silent = waits or row["study"] or row.get("unstated", "0") == "0"
    found = {
        "Checked": claim.ours if row["kind"] == "theorem" and not waits else "",
        "Counterexample": claim.counterexample,
        "Sentence": row["sentence"] if row["sentence"] != claim.subject else "",
        "Printed interval": f"{printed}, by the printed standard deviations" if printed != NOTHING else "",
        "Other margins": f"at D/2: {half}; at 2D: {double}" if varies else "",
        "Unlike the published run": row.get("differs", ""),
        "Device": ", ".join(filter(None, (row["device"], row["precision"]))),
        "Why not" if waits else "Mind": row["why"],
        "Reading": claim.reading if claim.reading != PRINTED else "",
        "Not stated": "" if silent else counted(row["unstated"], "open choice"),
    }
    return [(name, str(text)) for name, text in found.items() if text]


def _metric(metric: Measure, compares: bool) -> str:
    """``kNN accuracy (%)``, of a difference ``kNN accuracy (points)``."""
    unit = "points" if compares and metric.unit == "%" else metric.unit
    return f"{metric.label} ({unit})" if unit else metric.label


def _in_words(paper: Paper, row: Row, column: str) -> str:
    """``batch size = 512, epoch 100``."""
    point = coordinates.parse(row[column], f"claims.csv: {row['id']}: {column}")
    return words.point(paper, point, point)


def prints_number(row: Mapping[str, Any]) -> bool:
    """Whether a document prints a number, and not only that something is larger, smaller or equal."""
    return row["reported"] not in ("", *DIRECTIONS)


def published(row: Mapping[str, Any], decimals: int, compares: bool) -> str:
    """What a document prints, in words; a dash if it prints no number."""
    if not row["reported"]:
        return NOTHING
    if row["reported"] in DIRECTIONS:
        return NOTHING if row["origin"] == "ours" else str(row["reported"])
    if compares:
        return words.signed(float(row["reported"]), decimals)
    std = row["reported_std"]
    spread = "" if math.isnan(std) else f" ± {words.published(f'{std:.10g}', decimals)}"
    return words.published(row["reported"], decimals) + spread


def ours(row: Row, decimals: int, compares: bool) -> str:
    """What was found on a claim: ``+1.2 ± 0.3 (n = 5)``, ``6 of 7``; a dash where nothing was."""
    measured = float(row["measured"] or "nan")
    diverged, missing = words.whole(row.get("n_diverged", math.nan)), words.whole(row["n_missing"])
    if row["study"] and row["metric"] == "share" and not row["baseline"] and not math.isnan(measured):
        places = int(row["n"])
        held = round(measured * places / 100)
        return f"{'all' if held == places else held} of {places}"
    if row["study"] and row["n"] == 1 and not math.isnan(measured):
        return words.number(measured, decimals)
    if math.isnan(measured):
        return "diverged" if diverged else words.NOT_RUN if row["verdict"] == words.NOT_RUN else NOTHING
    mean, std = (words.signed if compares else words.number)(measured, decimals), row.get("measured_std", math.nan)
    spread = "" if math.isnan(std) else f" ± {words.number(std, decimals)}"
    lost = "".join(f"; {count} {how}" for count, how in ((diverged, "diverged"), (missing, "missing")) if count)
    return f"{mean}{spread} (n = {int(row['n'])}{lost}{'; low power' if row.get('low_power') else ''})"


def _reading(row: Row) -> str:
    if row["origin"] == "ours" and row["reading"] == PRINTED:
        return "ours"
    if Verdict.of(row["verdict"]).tone == "disagree" and not row["study"] and row.get("unstated", "") not in ("", "0"):
        return f"under our reading: {row['reading']}"
    return str(row["reading"])


def checked(row: Row) -> str:
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
