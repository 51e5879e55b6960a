"""The forest: each printed difference between encoders beside ours, with its intervals, on the best evidence there is.

It draws what results/report/claims.csv says and computes nothing. The short forest has the dozen rows that tell most.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.config import coordinates, project
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS
from hypersphere.provenance import tables
from hypersphere.report import figures, intervals, style, words
from hypersphere.report.claims import prints_number
from hypersphere.report.intervals import Mark, Section
from hypersphere.statistics import known
from hypersphere.wording import counted

Claim = dict[str, Any]
"""A row of results/report/claims.csv."""
FARTHEST = 16.0
"""Points: the axis ends here, and an arrow stands for what lies beyond."""
APART = 3
"""A variant has a row for each dataset and setting of a table up to so many; more of them share one row."""
SHORT = 12
"""Rows of the short forest."""
NAMES = ("forest", "forest_short")
"""Of the files: the whole forest, and the short one."""
FADED = 0.4
PRINTED = Mark(0, "#222222", "D", hollow=True, size=4.6)


class Look(NamedTuple):
    """How a direction is drawn: hue and shape say the same, and neither says good or bad."""

    words: str
    colour: str
    marker: str


LOOKS = {
    "same": Look("the printed direction", "#0072B2", "o"),
    "opposite": Look("the opposite direction", "#B8660B", "s"),
    "no effect": Look("no effect", "#8A4F9E", "^"),
    "unclear": Look("unclear", style.GREY, "v"),
}


class Row(NamedTuple):
    """One line of the forest: a comparison, or those of one variant at several settings."""

    paper: str
    name: str
    claims: tuple[Claim, ...]


def drawn(claim: Claim) -> bool:
    """Whether a claim prints a difference of accuracies, of which trained encoders give an interval."""
    metric = MEASURES.get(claim["metric"])
    return compared(claim) and metric is not None and metric.margin == "accuracy"


def compared(claim: Claim) -> bool:
    """Whether a claim prints a difference, in any unit, of which trained encoders give an interval."""
    return known.has_interval(claim) and prints_number(claim)


def direction(claim: Claim) -> str:
    """A key of ``LOOKS``; at the published scale, where a verdict stands in its place, what the answer says."""
    said = {"holds": "same", "opposite": "opposite"}.get(claim["answer"], "unclear")
    return str(claim["direction"] or said)


def rows(config: Config, claims: Sequence[Claim]) -> list[Row]:
    """The rows by document, and within it by our effect (of several claims, the middle one), the largest first."""

    def effect(row: Row) -> float:
        return sorted(float(claim["measured"]) for claim in row.claims)[len(row.claims) // 2]

    found = []
    for name, paper in config.papers.items():
        groups: dict[tuple[str, ...], list[Claim]] = {}
        for claim in claims:
            if claim["paper"] == name and drawn(claim):
                key = tuple(claim[column] for column in ("artifact", "method", "variant", "baseline"))
                groups.setdefault(key, []).append(claim)
        lines: list[Row] = []
        for alike in groups.values():
            if len(alike) <= APART:
                lines += [Row(name, subject(paper, claim, alike), (claim,)) for claim in alike]
                continue
            several = counted(len(alike), "task")
            if len({_point(claim).get("target") for claim in alike}) == 1:
                datasets = ", ".join(dict.fromkeys(paper.label(claim["dataset"]) for claim in alike))
                several = f"{datasets}, {counted(len(alike), 'setting')}"
            lines.append(Row(name, f"{_arms(paper, alike[0])}, {several}", tuple(alike)))
        found += sorted(lines, key=effect, reverse=True)
    return found


def subject(paper: Paper, claim: Claim, beside: Sequence[Claim] = ()) -> str:
    """``MoCo v3, positives emphasised, CIFAR-10``; of the settings, those that tell the claim from those beside it."""
    points = [_point(one) for one in beside]
    told = {"dataset", "target", "epoch", "label", *words.varying(points)} if points else set(_point(claim))
    point = {key: value for key, value in _point(claim).items() if key in told}
    return f"{_arms(paper, claim)}, {words.point(paper, point, point)}"


def _point(claim: Claim) -> dict[str, Any]:
    return {"dataset": claim["dataset"], **coordinates.parse(claim["setting"], claim["id"])}


def _arms(paper: Paper, claim: Claim) -> str:
    """Method and variant in words, and what they are compared with if it is not the table's own baseline."""
    baseline = paper.measured[claim["artifact"]].baseline
    variant, against = (paper.phrases.get(claim[key]) or paper.label(claim[key]) for key in ("variant", "baseline"))
    said = f"{paper.label(claim['method'])}, {variant}"
    if "=" in claim["baseline"]:
        other = coordinates.parse(claim["baseline"], claim["id"])
        return f"{said}, against {words.point(paper, other, other)}"
    plain = baseline.get("variant") if baseline else None
    return said if claim["baseline"] == plain else f"{said}, against {against}"


def short(listed: Sequence[Row]) -> list[Row]:
    """The dozen rows with a clear direction or, after them, the largest printed effects; in their order."""
    largest = sorted(listed, key=lambda row: -max(abs(float(claim["reported"])) for claim in row.claims))
    chosen = sorted(largest, key=lambda row: all(direction(claim) == "unclear" for claim in row.claims))[:SHORT]
    return [row for row in listed if row in chosen]


def caption(config: Config, claims: Sequence[Claim]) -> str:
    """Scale, protocol, n and device of what is drawn, and what it is worth."""
    shown = [claim for claim in claims if drawn(claim)]
    other = sum(compared(claim) for claim in claims) - len(shown)
    if not shown:
        return "Nothing is drawn: no trained encoders give an interval for a printed difference of accuracies."
    runs = sorted({int(claim["n"]) for claim in shown})
    few = f"n = {runs[0]}" if len(runs) == 1 else f"n from {runs[0]} to {runs[-1]}"
    protocols = []
    for scale, rung in dict.fromkeys((claim["scale"], claim["rung"]) for claim in shown):
        flaw = project.load(config.root, {"scale": scale}).scale.superseded
        protocols.append(f"Scale {scale}, {RUNGS[rung]}{f' ({flaw})' if flaw else ''}.")
    published = all(claim["rung"] == "published" for claim in shown)
    return words.joined(
        "" if published else "Not a reproduction: small encoders on reduced data.",
        *protocols,
        f"{few} independent pretrainings an arm; device {words.distinct(claim['device'] for claim in shown)}.",
        f"Left out: {counted(other, 'comparison')} in another unit." if other else "",
    )


def build(config: Config, claims: pd.DataFrame, folder: Path) -> None:
    """Write forest.{svg,png} and forest_short.{svg,png}."""
    listed = tables.rows(claims)
    every = rows(config, listed)
    for name, chosen in zip(NAMES, (every, short(every)), strict=True):
        with style.applied():
            figures.save(draw(config, chosen, listed), [folder / f"{name}.svg", folder / f"{name}.png"], "")


def draw(config: Config, shown: Sequence[Row], claims: Sequence[Claim]) -> Figure:
    """Rows under the titles of their documents, on one axis of points of accuracy."""
    drawn_claims = [claim for row in shown for claim in row.claims]
    total = sum(map(drawn, claims))
    some = f"{len(drawn_claims)} of {total}" if len(drawn_claims) < total else str(total)
    level = "Pale, with an asterisk: an arm is level with raw pixels or its untrained encoder."
    folded = (
        f"A variant with more than {APART} datasets, tasks or settings in one table has one row with every effect: "
        "its lines reach from the lowest to the highest end of the intervals."
    )
    frame = figures.Frame(
        f"Printed effects and ours: {some} comparisons of trained encoders",
        f"Difference in accuracy, points. Ours with the {words.confidence(config)} interval by Welch (thick) and after "
        f"Holm's correction (thin). Axis cut at ±{FARTHEST:g}; an arrow stands for what lies beyond.",
        words.joined(
            caption(config, claims),
            level if any(map(known.is_level, drawn_claims)) else "",
            folded if len(drawn_claims) > len(shown) else "",
        ),
    )
    by_paper = {paper.title: [_row(row) for row in shown if row.paper == name] for name, paper in config.papers.items()}
    sections = [Section(title, lines) for title, lines in by_paper.items() if lines]
    legend = {"printed": PRINTED} | {f"ours: {one.words}": Mark(0, one.colour, one.marker) for one in LOOKS.values()}
    nothing = [Section("No comparison has an interval yet.", ())]
    label = "difference from the baseline, points of accuracy"
    return intervals.drawn(frame, sections or nothing, label, farthest=FARTHEST, legend=legend)


def _row(row: Row) -> intervals.Row:
    """Printed effects, ours on top, intervals from the lowest end to the highest; an asterisk: an arm is level."""
    leading = min(map(direction, row.claims), key=list(LOOKS).index)
    level = all(map(known.is_level, row.claims))
    smaller = 0.75 if len(row.claims) > 1 else 1.0
    printed, ours, beyond = list[Mark](), list[Mark](), list[str]()
    for claim in row.claims:
        look, pale, value = LOOKS[direction(claim)], FADED if known.is_level(claim) else 1.0, float(claim["reported"])
        printed.append(PRINTED._replace(value=value, size=PRINTED.size * smaller, alpha=max(pale, 0.6)))
        ours.append(Mark(float(claim["measured"]), look.colour, look.marker, size=5.5 * smaller, alpha=pale))
        beyond += [words.signed(value, 1)] if abs(value) > FARTHEST else []
    runs = sorted({int(claim["n"]) for claim in row.claims})
    few = f"n = {runs[0]}" if len(runs) == 1 else f"n = {runs[0]} to {runs[-1]}"
    name = row.name + (f" (printed {', '.join(beyond)})" if beyond else "") + ("\N{NO-BREAK SPACE}*" if level else "")
    thick, thin = (
        (min(claim[f"low{kind}"] for claim in row.claims), max(claim[f"high{kind}"] for claim in row.claims))
        for kind in ("_unadjusted", "")
    )
    alpha = FADED if level else 1.0
    return intervals.Row(name, few, [*printed, *ours], LOOKS[leading].colour, thick, thin, alpha)
