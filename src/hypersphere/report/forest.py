"""The forest: each printed difference between encoders beside ours, with its intervals, on the best evidence there is.

It draws what results/report/claims.csv says and computes nothing. The short forest has the dozen rows that tell most.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import chain, starmap
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.certainty import RUNGS, SHORTCOMINGS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer
from hypersphere.provenance.claim_row import has_interval
from hypersphere.report import figures, findings, intervals, style, words
from hypersphere.report.entries import NOTHING, prints_number
from hypersphere.report.intervals import Estimate, Estimates, Layout, Mark
from hypersphere.wording import count_of

Claim = dict[str, Any]
"""A row of results/report/claims.csv."""
Line = tuple[str, list[Claim]]
"""A name, and its claim, or the claims on one variant at several settings."""
Rows = dict[str, list[Line]]
"""The rows of each document, by its title: names, each with its claim, or those of one variant at several settings."""
FARTHEST = 16.0
"""Points: the axis ends here, and an arrow stands for what lies beyond."""
APART = 3
"""A variant has a row for each dataset and setting of a table up to so many; more of them share one row."""
SHARED_ROW = (
    f"A variant with more than {APART} datasets, tasks or settings in one table has one row with every effect: its "
    "lines reach from the lowest to the highest end of the intervals."
)
VARIANT = ("artifact", "method", "variant", "baseline")
"""What claims on one variant of one table against one baseline share."""
ALWAYS_NAMED = ("dataset", "target", "epoch", "label")
"""The coordinates that a row names beside those in which it differs from the rows beside it."""
SHORT = 12
"""Rows of the short forest."""
NAMES = ("forest_short", "forest")
"""The names of the files: the short forest, and the whole one."""
FADED = 0.4
FLOORED = "\N{NO-BREAK SPACE}†"
"""The sign beside a claim with an arm that is not shown to be above its controls."""
PRINTED = Mark(0, "#222222", "D", hollow=True, size=4.6)


LOOKS = {
    Answer.HOLDS: Mark(0, "#0072B2", "o"),
    Answer.DIRECTION_ONLY: Mark(0, "#56A0D3", "P"),
    Answer.OPPOSITE: Mark(0, "#B8660B", "s"),
    Answer.FAILS: Mark(0, "#8A4F9E", "^"),
    Answer.CANNOT_TELL: Mark(0, style.GREY, "v"),
}
"""How an answer is drawn: hue and shape say the same, and neither says good or bad."""
EFFECTS = {
    Answer.HOLDS: "agrees",
    Answer.DIRECTION_ONLY: "in sign only",
    Answer.OPPOSITE: "opposite sign",
    Answer.FAILS: "less than half",
    Answer.CANNOT_TELL: "undecided",
}
"""What an answer says of an effect, beside its mark."""


def is_drawn(claim: Claim) -> bool:
    """Whether a claim prints a difference of accuracies, of which trained encoders give an interval."""
    metric = MEASURES.get(claim["metric"])
    prints = has_interval(claim) and prints_number(claim)
    return prints and metric is not None and metric.margin == "accuracy"


def answer(claim: Claim) -> Answer:
    """A key of ``LOOKS``."""
    return Answer.of(claim["answer"])


def rows(config: Config, claims: Sequence[Claim]) -> Rows:
    """All rows, sorted by our effect (of several claims, the middle one), the largest first.

    Claims on one variant of one table against one baseline are together.
    """
    shown = {}
    for name, paper in config.papers.items():
        variants = defaultdict(list)
        for claim in claims:
            if claim["paper"] == name and is_drawn(claim):
                variant = tuple(claim[key] for key in VARIANT)
                variants[variant].append(claim)
        lines: list[Line] = []
        for alike in variants.values():
            if len(alike) <= APART:
                lines += [(subject(paper, claim, alike), [claim]) for claim in alike]
            else:
                arms = _arms(paper, alike[0])
                settings = count_of(len(alike), "setting")
                lines.append((f"{arms}, {settings}", alike))
        if lines:
            shown[paper.title] = sorted(lines, key=_middle, reverse=True)
    return shown


def _middle(line: Line) -> float:
    """Our effect; of several claims, the middle one."""
    _, claims = line
    effects = sorted(float(claim["measured"]) for claim in claims)
    return effects[len(effects) // 2]


def short(every: Rows) -> Rows:
    """The dozen rows with an answer or, after them, the largest published effects; in their order."""
    telling = sorted(chain.from_iterable(every.values()), key=_rank)[:SHORT]
    shown = {}
    for title, lines in every.items():
        own = [line for line in lines if line in telling]
        if own:
            shown[title] = own
    return shown


def _rank(line: Line) -> tuple[bool, float]:
    """Lines with an answer first, and of these the largest published effect."""
    _, claims = line
    undecided = all(answer(claim) is Answer.CANNOT_TELL for claim in claims)
    largest = max(abs(float(claim["reported"])) for claim in claims)
    return undecided, -largest


def claims_of(shown: Rows) -> list[Claim]:
    """The claims of some rows."""
    lines = chain.from_iterable(shown.values())
    return list(chain.from_iterable(alike for _, alike in lines))


def subject(paper: Paper, claim: Claim, beside: Sequence[Claim] = ()) -> str:
    """``MoCo v3, positives emphasised, CIFAR-10``; of the settings, those that tell the claim from those beside it."""
    point = _point(claim)
    if beside:
        others = [_point(one) for one in beside]
        telling = {*ALWAYS_NAMED, *words.varying(others)}
        point = {key: value for key, value in point.items() if key in telling}
    return f"{_arms(paper, claim)}, {words.point(paper, point, point)}"


def in_numbers(paper: Paper, claim: Claim) -> dict[str, str]:
    """A comparison in numbers, as the article lists it: the printed difference, and ours."""
    shown = findings.numbers(claim)
    origin = "" if claim["origin"] == "printed" else f" ({claim['origin']})"
    return {
        "subject": subject(paper, claim) + origin,
        "printed": shown["published"],
        "ours": shown["effect"] or NOTHING,
        "welch": shown["interval"] or NOTHING,
        "holm": shown["adjusted"] or NOTHING,
        "n": shown["n"],
        "result": in_words(claim),
    }


def in_words(claim: Claim) -> str:
    """``disagrees: opposite sign †``; the dagger: an arm is not shown to be above its controls."""
    of_claim = answer(claim)
    text: str = of_claim.result
    if text == "disagrees" and claim["reported"] != "equal":
        text += f": {EFFECTS[of_claim]}"
    return text + (FLOORED if claim["floored"] else "")


def _point(claim: Claim) -> dict[str, Any]:
    setting = coordinates.parse(claim["setting"], claim["id"])
    return {"dataset": claim["dataset"], **setting}


def _arms(paper: Paper, claim: Claim) -> str:
    """Method and variant in words, and what they are compared with if it is not the table's own baseline."""
    method = paper.label(claim["method"])
    variant = _phrase(paper, claim["variant"])
    arms = f"{method}, {variant}"
    if "=" in claim["baseline"]:
        other = coordinates.parse(claim["baseline"], claim["id"])
        return f"{arms}, against {words.point(paper, other, other)}"
    baseline = paper.measured[claim["artifact"]].baseline or {}
    if claim["baseline"] == baseline.get("variant"):
        return arms
    return f"{arms}, against {_phrase(paper, claim['baseline'])}"


def _phrase(paper: Paper, variant: str) -> str:
    return paper.phrases.get(variant) or paper.label(variant)


def caption(claims: Sequence[Claim]) -> str:
    """Scale, protocol, n and device of what is drawn, and what it is worth."""
    shown = [claim for claim in claims if is_drawn(claim)]
    if not shown:
        return "Nothing is drawn: no trained encoders give an interval for a published difference of accuracies."
    sentences = []
    if any(claim["rung"] != "published" for claim in shown):
        sentences.append("Not a reproduction: small encoders on reduced data.")
    for claim in shown:
        rung = RUNGS[claim["rung"]]
        sentences.append(f"Scale {claim['scale']}, {rung}.")
    runs = _runs(shown, "n = {}", "n from {} to {}")
    device = words.distinct(claim["device"] for claim in shown)
    sentences.append(f"{runs} independent pretrainings of each variant; device {device}.")
    return " ".join(dict.fromkeys(sentences))


def _runs(claims: Sequence[Claim], one: str, several: str) -> str:
    """How many runs an arm has: in the words for one number, or for the least and the most."""
    runs = {int(claim["n"]) for claim in claims}
    if len(runs) == 1:
        return one.format(*runs)
    return several.format(min(runs), max(runs))


def build(config: Config, claims: Sequence[Claim], folder: Path) -> None:
    """Write forest.{svg,png} and forest_short.{svg,png}, and the same for a narrow window as png."""
    every = rows(config, claims)
    total = len(claims_of(every))
    for name, shown in zip(NAMES, (short(every), every), strict=True):
        drawn = partial(draw, config, shown, total)
        intervals.save(folder, name, drawn)


def draw(config: Config, shown: Rows, total: int, layout: Layout = intervals.PAGE) -> Figure:
    """Rows under the titles of their documents, on one axis of points of accuracy; some of ``total`` comparisons."""
    claims = claims_of(shown)
    some = str(total)
    if len(claims) < total:
        some = f"{len(claims)} of {total}"
    title = f"Published effects and ours: {some} differences in accuracy"
    small = caption(claims)
    if any(claim["floored"] for claim in claims):
        small += f" Pale, with a dagger: {SHORTCOMINGS['floored']}."
    rows_shown = sum(map(len, shown.values()))
    if rows_shown < len(claims):
        title += f", in {count_of(rows_shown, 'row')}"
        small += f" {SHARED_ROW}"
    subtitle = (
        f"Difference in accuracy, points. Ours with the {words.confidence(config)} interval by Welch (thick) and after "
        f"Holm's correction (thin). Axis cut at ±{FARTHEST:g}; an arrow stands for what lies beyond."
    )
    sections = []
    for document, lines in shown.items():
        sections.append(Estimates(document, list(starmap(_row, lines))))
    return intervals.draw(
        figures.Frame(title, subtitle, small),
        sections or [Estimates("No comparison has an interval yet.", ())],
        "difference from the baseline, points of accuracy",
        farthest=FARTHEST,
        legend={"published": PRINTED} | {EFFECTS[answer]: look for answer, look in LOOKS.items()},
        layout=layout,
    )


def _row(name: str, claims: Sequence[Claim]) -> Estimate:
    """Printed effects, ours on top, intervals from the lowest end to the highest; a dagger: all have a floored arm."""
    smaller = 0.75 if len(claims) > 1 else 1.0
    published: list[Mark] = []
    ours: list[Mark] = []
    beyond: list[str] = []
    for claim in claims:
        value = float(claim["reported"])
        alpha = FADED if claim["floored"] else 1.0
        ring = PRINTED._replace(
            value=value,
            size=PRINTED.size * smaller,
            alpha=max(alpha, 0.6),
        )
        published.append(ring)
        look = LOOKS[answer(claim)]
        mark = look._replace(
            value=float(claim["measured"]),
            size=look.size * smaller,
            alpha=alpha,
        )
        ours.append(mark)
        if abs(value) > FARTHEST:
            beyond.append(words.with_sign(value, 1))
    if beyond:
        name += f" (published {', '.join(beyond)})"
    floored = all(claim["floored"] for claim in claims)
    if floored:
        name += FLOORED
    leading = min(map(answer, claims), key=list(LOOKS).index)
    return Estimate(
        name,
        _runs(claims, "n = {}", "n = {} to {}"),
        [*published, *ours],
        LOOKS[leading].colour,
        thick=_ends(claims, "_unadjusted"),
        thin=_ends(claims, ""),
        alpha=FADED if floored else 1.0,
    )


def _ends(claims: Sequence[Claim], kind: str) -> tuple[float, float]:
    """The lowest end of the claims' intervals, and the highest."""
    lowest = min(claim[f"low{kind}"] for claim in claims)
    highest = max(claim[f"high{kind}"] for claim in claims)
    return lowest, highest
