"""Claims as the scorecard and the paper show them: text, and whether the verdict may carry a colour."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypersphere.config import Config, Paper
from hypersphere.metrics import METRICS
from hypersphere.present import theorems, words
from hypersphere.present.results import Results, settles

AGREE = ("reproduced", "exact", "exact (erratum)", "diverged as published")
DISAGREE = ("not reproduced", "refuted")
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


def tone(config: Config, kind: str, verdict: str) -> str:
    """``agree``, ``disagree`` or ``neutral``: below the published scale only theorems, which have no scale, are not."""
    if kind != "theorem" and not settles(config):
        return "neutral"
    return "agree" if verdict in AGREE else "disagree" if verdict in DISAGREE else "neutral"


def shown(config: Config, results: Results) -> list[Shown]:
    """Every claim in the order of claims.csv."""
    rows = results.claims.to_dict("records")
    return [_shown(config, results, {str(key): value for key, value in row.items()}) for row in rows]


def apart(claims: list[Shown]) -> tuple[list[Shown], list[Shown]]:
    """Printed numbers and comparisons; theorems and identities, which are never counted with them."""
    stated = [claim for claim in claims if claim.kind == "theorem"]
    return [claim for claim in claims if claim.kind != "theorem"], stated


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
        subject=row["sentence"] if stated else _subject(paper, row),
        dataset=paper.label(row["dataset"]),
        stand_in=words.stand_in(config, row["dataset"]) if row["dataset"] else "",
        metric=metric.label if metric else "",
        setting=row["setting"],
        published=_published(row, decimals, compares),
        ours=theorems.finding(row) if stated else _ours(row, decimals, compares),
        interval=words.interval(row["low"], row["high"], decimals, sign=compares),
        verdict=verdict,
        tone=tone(config, row["kind"], verdict),
        sensitivity=f"at D/2: {half}; at 2D: {double}" if varies else "",
        margin=row["margin"],
        reading=_reading(row),
        unstated=row["unstated"],
        source=row["source"],
        counterexample=theorems.counterexample(row["counterexample"]),
        runs=tuple(results.runs_behind(row)) if not stated and verdict != words.NOT_RUN else (),
    )


def _subject(paper: Paper, row: dict[str, Any]) -> str:
    text = f"{paper.label(row['method'])}, {paper.label(row['variant'])}"
    return f"{text} − {paper.label(row['baseline'])}" if row["kind"] == "comparison" else text


def _published(row: dict[str, Any], decimals: int, compares: bool) -> str:
    if not row["reported"]:
        return "–"
    if compares:
        return words.signed(float(row["reported"]), decimals)
    spread = f" ± {words.published(row['reported_std'], decimals)}" if row["reported_std"] else ""
    return words.published(row["reported"], decimals) + spread


def _ours(row: dict[str, Any], decimals: int, compares: bool) -> str:
    if math.isnan(row["measured"]):
        return words.NOT_RUN if row["verdict"] == words.NOT_RUN else "–"
    mean = (words.signed if compares else words.number)(row["measured"], decimals)
    spread = "" if math.isnan(row["measured_std"]) else f" ± {words.number(row['measured_std'], decimals)}"
    power = "; low power" if row["low_power"] == "True" else ""
    return f"{mean}{spread} (n = {int(row['n'])}{power})"


def _reading(row: dict[str, Any]) -> str:
    if row["verdict"] in DISAGREE and row["unstated"] not in ("", "0"):
        return f"under our reading: {row['reading']}"
    return str(row["reading"])
