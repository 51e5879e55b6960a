"""The forest: each printed difference between encoders beside ours, with its intervals, on the best evidence there is.

It draws what results/report/claims.csv says and computes nothing. The short forest has the dozen rows that tell most.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from hypersphere.config import coordinates, project
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Rung
from hypersphere.provenance import tables
from hypersphere.report import figures, style, words
from hypersphere.report.claims import prints_number
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
LINE, AROUND, LETTERS = 0.185, 0.75, 56
"""Inches of a row and of all that surrounds the rows; letters in a line of a row's name."""
FADED = 0.4


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


@dataclass(frozen=True)
class Row:
    """One line of the forest: a comparison, or those of one variant at several settings."""

    paper: str
    name: str
    claims: tuple[Claim, ...]

    @property
    def ours(self) -> float:
        """What rows are sorted by: our effect, and of several the middle one."""
        effects = sorted(float(claim["measured"]) for claim in self.claims)
        return effects[len(effects) // 2]

    @property
    def runs(self) -> str:
        """``5``, or ``3 to 5``: independent pretrainings in the smaller arm."""
        counts = sorted({int(claim["n"]) for claim in self.claims})
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


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
    """The rows by document, and within it by our effect, the largest first."""
    found = []
    for name, paper in config.papers.items():
        groups: dict[tuple[str, ...], list[Claim]] = {}
        for claim in claims:
            if claim["paper"] == name and drawn(claim):
                key = tuple(claim[column] for column in ("artifact", "method", "variant", "baseline"))
                groups.setdefault(key, []).append(claim)
        lines = []
        for alike in groups.values():
            if len(alike) > APART:
                lines.append(Row(name, f"{_subject(paper, alike[0])}, {_settings(paper, alike)}", tuple(alike)))
            else:
                lines += [Row(name, subject(paper, claim, alike), (claim,)) for claim in alike]
        found += sorted(lines, key=lambda row: -row.ours)
    return found


def _settings(paper: Paper, claims: Sequence[Claim]) -> str:
    """What a folded row is of: ``18 tasks``, ``4 settings, CIFAR-100``."""
    targets = {coordinates.parse(claim["setting"], claim["id"]).get("target") for claim in claims}
    if len(targets) > 1:
        return counted(len(claims), "task")
    datasets = ", ".join(dict.fromkeys(paper.label(claim["dataset"]) for claim in claims))
    return f"{datasets}, {counted(len(claims), 'setting')}"


def subject(paper: Paper, claim: Claim, beside: Sequence[Claim] = ()) -> str:
    """``MoCo v3, positives emphasised, CIFAR-10``; of the settings, those that tell the claim from those beside it."""
    points = [_point(one) for one in beside]
    told = {"dataset", "target", "epoch", "label", *words.varying(points)} if points else set(_point(claim))
    point = {key: value for key, value in _point(claim).items() if key in told}
    return f"{_subject(paper, claim)}, {words.point(paper, point, point)}"


def _point(claim: Claim) -> dict[str, Any]:
    return {"dataset": claim["dataset"], **coordinates.parse(claim["setting"], claim["id"])}


def _subject(paper: Paper, claim: Claim) -> str:
    """Method and variant in words, and what they are compared with if it is not the table's own baseline."""
    artifact = paper.measured[claim["artifact"]]
    said = f"{paper.label(claim['method'])}, {paper.phrase(claim['variant'])}"
    if "=" in claim["baseline"]:
        other = coordinates.parse(claim["baseline"], claim["id"])
        return f"{said}, against {words.point(paper, other, other)}"
    plain = artifact.baseline.get("variant") if artifact.baseline else None
    return said if claim["baseline"] == plain else f"{said}, against {paper.phrase(claim['baseline'])}"


def short(listed: Sequence[Row]) -> list[Row]:
    """The dozen rows with a clear direction or, after them, the largest printed effects; in their order."""

    def weight(row: Row) -> tuple[bool, float]:
        clear = any(direction(claim) != "unclear" for claim in row.claims)
        return clear, max(abs(float(claim["reported"])) for claim in row.claims)

    chosen = sorted(listed, key=weight, reverse=True)[:SHORT]
    return [row for row in listed if row in chosen]


def caption(config: Config, claims: Sequence[Claim]) -> str:
    """Scale, protocol, n and device of what is drawn, and what it is worth."""
    shown = [claim for claim in claims if drawn(claim)]
    other = sum(compared(claim) for claim in claims) - len(shown)
    if not shown:
        return "Nothing is drawn: no trained encoders give an interval for a printed difference of accuracies."
    runs = sorted({int(claim["n"]) for claim in shown})
    few = f"n = {runs[0]}" if len(runs) == 1 else f"n from {runs[0]} to {runs[-1]}"
    protocols = [_protocol(config, *one) for one in dict.fromkeys((claim["scale"], claim["rung"]) for claim in shown)]
    published = all(claim["rung"] == "published" for claim in shown)
    return words.joined(
        "" if published else "Not a reproduction: small encoders on reduced data.",
        *protocols,
        f"{few} independent pretrainings an arm; device {words.distinct(claim['device'] for claim in shown)}.",
        f"Left out: {counted(other, 'comparison')} in another unit." if other else "",
    )


def _protocol(config: Config, scale: str, rung: Rung) -> str:
    """A scale of the evidence, and its protocol's defect if it was found to have one."""
    flaw = project.load(config.root, {"scale": scale}).scale.superseded
    return f"Scale {scale}, {RUNGS[rung]}{f' ({flaw})' if flaw else ''}."


FOLDED = (
    f"A variant with more than {APART} datasets, tasks or settings in one table has one row with every effect: "
    "its lines reach from the lowest to the highest end of the intervals."
)
LEVEL = "Pale, with an asterisk: an arm is level with raw pixels or its untrained encoder."


def build(config: Config, claims: pd.DataFrame, folder: Path) -> None:
    """Write forest.{svg,png} and forest_short.{svg,png}."""
    listed = tables.rows(claims)
    every = rows(config, listed)
    for name, chosen in zip(NAMES, (every, short(every)), strict=True):
        with style.applied():
            figures.save(draw(config, chosen, listed), [folder / f"{name}.svg", folder / f"{name}.png"], "")


def draw(config: Config, shown: Sequence[Row], claims: Sequence[Claim]) -> Figure:
    """Rows under the titles of their documents, on one axis of points of accuracy."""
    total = sum(len(row.claims) for row in rows(config, claims))
    here = sum(len(row.claims) for row in shown)
    some = f"{here} of {total}" if here < total else str(total)
    lines = _lines(config, shown) or ["No comparison has an interval yet."]
    frame = figures.Frame(
        f"Printed effects and ours: {some} comparisons of trained encoders",
        f"Difference in accuracy, points. Ours with the {words.confidence(config)} interval by Welch (thick) and after "
        f"Holm's correction (thin). Axis cut at ±{FARTHEST:g}; an arrow stands for what lies beyond.",
        words.joined(
            caption(config, claims),
            LEVEL if any(known.is_level(claim) for row in shown for claim in row.claims) else "",
            FOLDED if any(len(row.claims) > 1 for row in shown) else "",
        ),
    )
    places, height = [], 0.0
    for line in lines:  # a name of two lines has more room
        room = 1.0 if isinstance(line, str) else 0.35 + 0.65 * len(_name(line))
        places.append(height + room / 2)
        height += room
    figure, part = figures.framed(frame, figures.WIDTH, AROUND + LINE * height)
    axis = part.subplots()
    axis.axvline(0, color=style.GREY, linewidth=1)
    from_the_left = blended_transform_factory(part.transSubfigure, axis.transData)
    small: dict[str, Any] = {"fontsize": 8, "color": "#444444", "clip_on": False}
    for at, line in zip(places, lines, strict=True):
        if isinstance(line, str):
            title = axis.text(0.012, at, line, transform=from_the_left, va="center", fontweight="bold", fontsize=8.5)
            title.set_in_layout(False)
        else:
            _row(axis, at, line)
            axis.text(FARTHEST * 1.07, at, line.runs, va="center", **small)
    axis.text(FARTHEST * 1.07, places[0], "n", va="center", **small)
    named = [(at, "\n".join(_name(line))) for at, line in zip(places, lines, strict=True) if isinstance(line, Row)]
    axis.set_yticks([at for at, _ in named], [name for _, name in named], fontsize=8.2, linespacing=1.0)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(height, 0)
    axis.spines["left"].set_visible(False)
    axis.set_xlim(-FARTHEST, FARTHEST)
    axis.set_xlabel("difference from the baseline, points of accuracy")
    axis.grid(visible=False, axis="y")
    part.legend(handles=_key(), loc="outside lower center", ncols=len(LOOKS) + 1, handletextpad=0.3, columnspacing=1.4)
    return figure


def _name(row: Row) -> list[str]:
    """The lines of a row's name, with printed effects beyond the axis, and an asterisk where an arm is level."""
    printed = [float(claim["reported"]) for claim in row.claims]
    beyond = ", ".join(words.signed(value, 1) for value in printed if abs(value) > FARTHEST)
    name = row.name + (f" (printed {beyond})" if beyond else "")
    return textwrap.wrap(name + ("\N{NO-BREAK SPACE}*" if all(map(known.is_level, row.claims)) else ""), LETTERS)


def _lines(config: Config, shown: Sequence[Row]) -> list[Row | str]:
    """The rows, each document's after its title."""
    lines: list[Row | str] = []
    for name, paper in config.papers.items():
        own = [row for row in shown if row.paper == name]
        lines += [paper.title, *own] if own else []
    return lines


def _key() -> list[Line2D]:
    look: dict[str, Any] = {"linestyle": "", "markersize": 5.5}
    printed = Line2D([], [], marker="D", markerfacecolor="white", markeredgecolor="#222222", label="printed", **look)
    return [
        printed,
        *(
            Line2D([], [], marker=one.marker, color=one.colour, label=f"ours: {one.words}", **look)
            for one in LOOKS.values()
        ),
    ]


def _row(axis: Axes, at: float, row: Row) -> None:
    """The intervals of a row, our effects and the printed ones."""
    leading = min(row.claims, key=lambda claim: list(LOOKS).index(direction(claim)))
    several = len(row.claims) > 1
    faded = FADED if all(map(known.is_level, row.claims)) else 1.0
    colour = LOOKS[direction(leading)].colour
    for ends, width in ((("low", "high"), 0.9), (("low_unadjusted", "high_unadjusted"), 2.6)):
        lowest, highest = _ends(row.claims, *ends)
        axis.plot(
            [_inside(lowest), _inside(highest)],
            [at, at],
            color=colour,
            linewidth=width,
            alpha=faded,
            solid_capstyle="butt",
            zorder=2,
        )
        for end, sign in ((lowest, -1), (highest, 1)):
            if end * sign > FARTHEST:
                _arrow(axis, at, sign, colour, faded)
    for claim in row.claims:
        look, printed, ours = LOOKS[direction(claim)], float(claim["reported"]), float(claim["measured"])
        pale = FADED if known.is_level(claim) else 1.0
        axis.plot(
            _inside(printed),
            at,
            marker="D",
            markersize=3.6 if several else 4.6,
            markerfacecolor="white",
            markeredgecolor="#222222",
            markeredgewidth=0.8,
            alpha=max(pale, 0.6),
            zorder=3,
            clip_on=False,
        )
        axis.plot(
            _inside(ours),
            at,
            marker=look.marker,
            color=look.colour,
            markersize=4 if several else 5.5,
            markeredgecolor="white",
            markeredgewidth=0.4,
            alpha=pale,
            zorder=4,
            clip_on=False,
        )
        if abs(printed) > FARTHEST:
            _arrow(axis, at, 1 if printed > 0 else -1, "#222222", 1.0)


def _ends(claims: Sequence[Mapping[str, Any]], low: str, high: str) -> tuple[float, float]:
    """The lowest and the highest end of intervals."""
    return min(claim[low] for claim in claims), max(claim[high] for claim in claims)


def _inside(value: float) -> float:
    return min(max(value, -FARTHEST), FARTHEST)


def _arrow(axis: Axes, at: float, sign: int, colour: str, alpha: float) -> None:
    """A small arrow at an end of the axis."""
    marker = ">" if sign > 0 else "<"
    axis.plot(sign * FARTHEST, at, marker=marker, color=colour, markersize=5, alpha=alpha, zorder=5, clip_on=False)
