"""Claims as the scorecard and the paper show them: text, and whether the verdict may carry a colour."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypersphere.declared.artifacts import Paper
from hypersphere.declared.config import Config
from hypersphere.declared.measures import METRICS
from hypersphere.present import theorems, words
from hypersphere.present.results import Results, has_no_scale, settles

AGREE = ("reproduced", "exact", "exact (erratum)", "diverged as published")
DISAGREE = ("not reproduced", "refuted")
LARGER = "larger"
"""What a comparison reports that prints no difference."""
ORDER = (*AGREE, *DISAGREE, "inconclusive", "laptop only", "quick only", "not run")


@dataclass(frozen=True)
class Shown:
    """One claim, ready to print."""

    id: str
    paper: str
    artifact: str
    kind: str
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
    margin: str
    reading: str
    unstated: str
    source: str
    counterexample: str
    runs: tuple[str, ...]
    study: str
    """The exact study that answered it, if one did."""


class Apart(NamedTuple):
    """Claims by what answers them; they are never counted together."""

    measured: list[Shown]
    """Printed numbers and comparisons that need trained encoders."""
    studied: list[Shown]
    """Those that an exact study answers."""
    stated: list[Shown]
    """Theorems and identities."""


def tone(config: Config, row: dict[str, Any]) -> str:
    """``agree``, ``disagree`` or ``neutral``: below the published scale only what has no scale can be other."""
    verdict = row["verdict"]
    if not has_no_scale(row) and not settles(config):
        return "neutral"
    return "agree" if verdict in AGREE else "disagree" if verdict in DISAGREE else "neutral"


def shown(config: Config, results: Results) -> list[Shown]:
    """Every claim in the order of claims.csv."""
    rows = results.claims.to_dict("records")
    return [_shown(config, results, {str(key): value for key, value in row.items()}) for row in rows]


def apart(claims: list[Shown]) -> Apart:
    """Claims by what answers them."""
    stated = [claim for claim in claims if claim.kind == "theorem"]
    studied = [claim for claim in claims if claim.study]
    return Apart([claim for claim in claims if claim.kind != "theorem" and not claim.study], studied, stated)


def counts(claims: list[Shown]) -> list[tuple[str, str, int]]:
    """Verdict, tone and how many, settled ones first."""
    found = Counter((claim.verdict, claim.tone) for claim in claims)
    known = {verdict: at for at, verdict in enumerate(ORDER)}
    ordered = sorted(found, key=lambda pair: (known.get(pair[0], len(ORDER)), pair[0]))
    return [(verdict, colour, found[verdict, colour]) for verdict, colour in ordered]


def _shown(config: Config, results: Results, row: dict[str, Any]) -> Shown:
    paper = config.papers[row["paper"]]
    metric = METRICS.get(row["metric"])
    decimals = metric.decimals if metric else 2
    compares, stated = row["kind"] == "comparison", row["kind"] == "theorem"
    verdict, half, double = row["verdict"], row["verdict_half"], row["verdict_double"]
    varies = half and double and (half, double) != (verdict, verdict)
    return Shown(
        id=row["id"],
        paper=row["paper"],
        artifact=row["artifact"],
        kind=row["kind"],
        sentence=row["sentence"],
        subject=row["sentence"] if stated or (row["study"] and row["sentence"]) else _subject(paper, row),
        dataset=paper.label(row["dataset"]),
        stand_in=words.stand_in(config, row["dataset"]) if row["dataset"] and not row["study"] else "",
        metric=metric.label if metric and (row["variant"] or not row["study"]) else "",  # a sentence has none
        setting=row["setting"],
        published=_published(row, decimals, compares),
        ours=theorems.finding(row) if stated else _ours(row, decimals, compares),
        interval=words.interval(row["low"], row["high"], decimals, sign=compares),
        verdict=verdict,
        tone=tone(config, row),
        sensitivity=f"at D/2: {half}; at 2D: {double}" if varies else "",
        margin=row["margin"],
        reading=_reading(row),
        unstated="" if row["study"] else row["unstated"],
        source=row["source"],
        counterexample=theorems.counterexample(row["counterexample"]),
        runs=tuple(results.runs_behind(row)) if not has_no_scale(row) and verdict != words.NOT_RUN else (),
        study=row["study"],
    )


def _subject(paper: Paper, row: dict[str, Any]) -> str:
    text = ", ".join(paper.label(row[name]) for name in ("method", "variant") if row[name])
    return f"{text} − {paper.label(row['baseline'])}" if row["kind"] == "comparison" else text


def _published(row: dict[str, Any], decimals: int, compares: bool) -> str:
    if not row["reported"]:
        return "–"
    if row["reported"] == LARGER:
        return LARGER
    if compares:
        return words.signed(float(row["reported"]), decimals)
    spread = f" ± {words.published(row['reported_std'], decimals)}" if row["reported_std"] else ""
    return words.published(row["reported"], decimals) + spread


def _ours(row: dict[str, Any], decimals: int, compares: bool) -> str:
    if row["study"] and row["metric"] == "share" and not row["baseline"]:
        places = int(row["n"])
        held = round(row["measured"] * places / 100)
        return f"{'all' if held == places else held} of {places}"
    if row["study"] and row["n"] == 1 and not math.isnan(row["measured"]):
        return words.number(row["measured"], decimals)
    if math.isnan(row["measured"]):
        return words.NOT_RUN if row["verdict"] == words.NOT_RUN else "–"
    mean = (words.signed if compares else words.number)(row["measured"], decimals)
    spread = "" if math.isnan(row["measured_std"]) else f" ± {words.number(row['measured_std'], decimals)}"
    power = "; low power" if row["low_power"] == "True" else ""
    return f"{mean}{spread} (n = {int(row['n'])}{power})"


def _reading(row: dict[str, Any]) -> str:
    if row["verdict"] in DISAGREE and not row["study"] and row["unstated"] not in ("", "0"):
        return f"under our reading: {row['reading']}"
    return str(row["reading"])
