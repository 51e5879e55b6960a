"""What is said of judged runs: on the terminal, as a page, as rows for a paper, as CSV, JSON and a picture.

All of them show one ``Shown``; their words are in templates/.
"""

import csv
import html
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from hypersphere import foreign
from hypersphere.judging.findings import Finding
from hypersphere.judging.judged import (
    BETTER,
    BY_LESS,
    NO_DIFFERENCE,
    UNDECIDED,
    WORSE,
    Judged,
    JudgedArm,
    JudgedEffect,
)
from hypersphere.report.numbers import interval, number, with_sign
from hypersphere.report.tex import escape
from hypersphere.statistics.effects import PAIRED
from hypersphere.wording import count_of

TEMPLATES = Path(__file__).with_name("templates")
STYLE = foreign.PACKAGE / "audit" / "templates" / "audit.css"
MOST_PLACES = 6
LINE = 24  # pixels of a row in the picture
WIDTH = 460  # pixels of its axis
CHARACTER = 7  # pixels of a letter, about
COLOURS = {"better": "#0072B2", "worse": "#D55E00", "no": "#009E73", "undecided": "#6B6B6B"}
"""The colour of an effect, by the first word of its answer."""
ORDER = (BETTER, BETTER + BY_LESS, NO_DIFFERENCE, UNDECIDED, WORSE + BY_LESS, WORSE)
"""Answers, the best first."""
LIMITS = (
    "Intervals are over runs, for this data and this test set. They do not know what was tried before, on which data a "
    "setting was chosen, or which runs were left out."
)


class Shown(NamedTuple):
    """Judged runs, with all that is said of them."""

    judged: Judged
    findings: Sequence[Finding]
    deviations: Sequence[str] = ()
    """Where the runs differ from their plan."""
    not_shown: Sequence[str] = ()
    """What the plan expects and the runs do not show."""
    plan: str = ""
    """The plan's digest; empty without a plan."""


def _source(name: str) -> str:
    """A template; a page and a picture are one line, so that those of their templates are joined."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    if name.endswith((".md", ".txt", ".tex")):
        return text
    return "".join(map(str.strip, text.splitlines()))


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FunctionLoader(_source),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
ENVIRONMENT.filters |= {"escape": html.escape, "tex": escape, "counted": count_of}
ENVIRONMENT.globals |= {
    "LIMITS": LIMITS,
    "STYLE": STYLE.read_text(encoding="utf-8").rstrip(),
}


def _fill(name: str, **values: Any) -> str:
    return ENVIRONMENT.get_template(name).render(values).rstrip() + "\n"


# Numbers in words


def places(judged: Judged, dataset: str) -> int:
    """Decimals that show two digits of the smallest spread over runs of a dataset."""
    spreads = [one.std for one in judged.arms if one.dataset == dataset and one.std > 0]
    smallest = min(spreads, default=1.0)
    return min(max(1 - math.floor(math.log10(smallest)), 0), MOST_PLACES)


def p_value(p: float) -> str:
    """``p = 0.012``, ``p < 0.001``; empty without a test."""
    if math.isnan(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def headline(judged: Judged) -> str:
    """What was found, in one sentence."""
    counts = Counter(one.answer for one in judged.effects)
    parts = [f"{counts[answer]} {answer}" for answer in ORDER if counts[answer]]
    compared = count_of(len(judged.effects), "comparison")
    return f"{compared} with {judged.question.baseline}: {', '.join(parts)}."


def sentence(judged: Judged, one: JudgedEffect) -> str:
    """What is said of an effect: the answer, then the numbers, then what would tell more."""
    digits = places(judged, one.dataset)
    baseline = judged.question.baseline
    where = f" on {one.dataset}" if one.dataset else ""
    margin = f"{judged.question.margin:g}" if judged.question.margin else ""
    effect = with_sign(one.effect, digits)
    if one.answer == NO_DIFFERENCE:
        within = interval(one.low_equal, one.high_equal, digits, None)
        return f"{one.arm} equals {baseline}{where} within {margin}: {effect} {within} (90 %, n = {_n(one)})."
    within = interval(one.low, one.high, digits, None)
    size_and_p = [f"n = {_n(one)}{' pairs' if one.test == PAIRED else ''}"]
    if not math.isnan(one.p_holm):
        size_and_p.append(f"Holm {p_value(one.p_holm)}")
    numbers = f"{effect} {within} ({'; '.join(size_and_p)})"
    if one.answer == UNDECIDED:
        return f"{one.arm} against {baseline}{where} is undecided: {numbers}{_needs(judged, one)}."
    word, _, by_less = one.answer.partition(" ")
    less = f", {by_less} of {margin}" if by_less else ""
    return f"{one.arm} is {word} than {baseline}{where}{less}: {numbers}{f'; {one.why}' if one.why else ''}."


def _n(one: JudgedEffect) -> str:
    return f"{one.n}" if one.n == one.n_baseline else f"{one.n} and {one.n_baseline}"


def _needs(judged: Judged, one: JudgedEffect) -> str:
    """Why an effect is undecided: a reason, or too few runs, and how many would do."""
    if one.why:
        return f"; {one.why}"
    margin = judged.question.margin
    effect = f"a true effect of {margin:g}" if margin else "an effect of this size, if it is true,"
    if math.isnan(one.runs_to_see):
        return ""
    says = f"; {one.runs_to_see:.0f} runs an arm find {effect} with 80 %"
    if not math.isnan(one.runs_to_equate):
        says += f", and {one.runs_to_equate:.0f} show equal arms to be equal"
    return says


def _arm_row(judged: Judged, one: JudgedArm) -> tuple[str, ...]:
    digits = places(judged, one.dataset)
    role = ""
    if one.arm == judged.question.baseline:
        role = "baseline"
    elif one.arm in judged.question.controls:
        role = "control"
    notes = [role, f"not shown to be above {one.below}" if one.below else ""]
    notes.append(f"{one.lost} without a value" if one.lost else "")
    mean_std = number(one.mean, digits)
    if not math.isnan(one.std):
        mean_std += f" ± {number(one.std, digits)}"
    within = interval(one.low, one.high, digits, None, sign=False)
    return (one.dataset, one.arm, str(one.n), mean_std, within, "; ".join(filter(None, notes)))


def _effect_row(judged: Judged, one: JudgedEffect) -> tuple[str, ...]:
    digits = places(judged, one.dataset)
    paired = interval(one.low_paired, one.high_paired, digits, None)
    correlation = number(one.correlation, 2)
    return (
        one.dataset,
        one.arm,
        one.answer + (" (low power)" if one.low_power and one.test else ""),
        with_sign(one.effect, digits),
        interval(one.low, one.high, digits, None),
        p_value(one.p_holm).removeprefix("p ").removeprefix("= ") or "–",
        number(one.detectable, digits),
        "–" if math.isnan(one.power) else f"{100 * one.power:.0f} %",
        f"{correlation} {paired}" if one.n_pairs > 1 else "–",
    )


ARM_HEAD = ("Dataset", "Arm", "n", "Mean ± std", "95 % interval", "")
EFFECT_HEAD = (
    "Dataset",
    "Arm",
    "Answer",
    "Effect",
    "Interval after Holm",
    "p after Holm",
    "Detectable",
    "Power at the margin",
    "Correlation and paired interval",
)


def _shown(shown: Shown) -> dict[str, Any]:
    """What the templates of words take."""
    judged = shown.judged
    arms = [ARM_HEAD, *(_arm_row(judged, one) for one in judged.arms)]
    effects = [EFFECT_HEAD, *(_effect_row(judged, one) for one in judged.effects)]
    return {
        "headline": headline(judged),
        "sentences": [sentence(judged, one) for one in judged.effects],
        "shown": shown,
        "arms": _said(arms),
        "effects": _said(effects),
        "question": judged.question,
        "runs": judged.runs,
    }


def _said(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows of a table, its head first, without columns that say nothing of any row."""
    kept = [column for column in zip(*rows, strict=True) if set(column[1:]) - {"", "–"}]
    return list(zip(*kept, strict=True))


# Files


def text(shown: Shown) -> str:
    """What the terminal shows."""
    return _fill("judge.txt", **_shown(shown))


def markdown(shown: Shown) -> str:
    """The whole answer as Markdown."""
    return _fill("judge.md", **_shown(shown))


def page(shown: Shown) -> str:
    """The whole answer as one self-contained page."""
    return _fill("judge.html", svg=svg(shown), **_shown(shown))


def tex(shown: Shown) -> str:
    """A row for each arm, with mean ± std, and the effect with its interval, on each dataset; better arms are bold."""
    judged = shown.judged
    datasets = list(judged.runs.arms)
    about = {(one.arm, one.dataset): one for one in judged.arms}
    effects = {(one.arm, one.dataset): one for one in judged.effects}
    rows = []
    for arm in dict.fromkeys(one.arm for one in judged.arms):
        cells = []
        for dataset in datasets:
            one, effect = about.get((arm, dataset)), effects.get((arm, dataset))
            mean_std = _arm_row(judged, one)[3] if one else ""
            is_better = effect is not None and effect.answer == BETTER
            cells.append(f"\\textbf{{{escape(mean_std)}}}" if is_better else escape(mean_std))
            cells.append(escape(" ".join(_effect_row(judged, effect)[3:5])) if effect else "")
        rows.append((escape(arm), *cells))
    head = ["arm"]
    for dataset in datasets:
        head += [dataset or judged.runs.measure, "effect"]
    return _fill("judge.tex", head=head, rows=rows, question=judged.question)


def _as_csv(rows: Sequence[JudgedArm] | Sequence[JudgedEffect]) -> str:
    """All fields of arms or effects; a number that is not known is empty."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(rows[0]._fields)
    for row in rows:
        writer.writerow(["" if _unknown(value) else value for value in row])
    return written.getvalue()


def _unknown(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _as_mapping(row: Any) -> dict[str, Any]:
    return {key: None if _unknown(value) else value for key, value in row._asdict().items()}


def as_json(shown: Shown) -> str:
    """The whole answer with every number at full length."""
    judged = shown.judged
    content = {
        "headline": headline(judged),
        "file": judged.runs.file.name,
        "source": judged.runs.source,
        "measure": judged.runs.measure,
        "question": _as_mapping(judged.question),
        "arms": [_as_mapping(one) for one in judged.arms],
        "effects": [_as_mapping(one) for one in judged.effects],
        "findings": [_as_mapping(one) for one in shown.findings],
        "plan": shown.plan or None,
        "deviations": list(shown.deviations),
        "not_shown": list(shown.not_shown),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


# The picture


def svg(shown: Shown) -> str:
    """Every effect with its interval after Holm, beside zero and the margin."""
    judged = shown.judged
    margin = judged.question.margin or 0.0
    ends = [margin, -margin, 0.0]
    for one in judged.effects:
        ends += [end for end in (one.effect, one.low, one.high) if math.isfinite(end)]
    least, most = min(ends), max(ends)
    step = tick_step(most - least)
    least = step * math.floor(least / step)
    most = max(step * math.ceil(most / step), least + step)
    names = [f"{one.arm}, {one.dataset}".rstrip(", ") for one in judged.effects]
    left = 12 + CHARACTER * max(map(len, names))

    def x(value: float) -> str:
        return f"{left + WIDTH * (value - least) / (most - least):.1f}"

    ticks = [step * at for at in range(round(least / step), round(most / step) + 1)]
    digits = max(-math.floor(math.log10(step)), 0)
    rows = [
        (name, one, COLOURS[one.answer.partition(" ")[0]], sentence(judged, one))
        for name, one in zip(names, judged.effects, strict=True)
    ]
    return _fill(
        "effects.svg",
        x=x,
        rows=rows,
        ticks=[(tick, with_sign(tick, digits)) for tick in ticks],
        margin=margin,
        names_end=left - 8,
        width=left + WIDTH + 24,
        bottom=LINE * len(rows) + 12,
        line=LINE,
        baseline=judged.question.baseline,
        finite=math.isfinite,
    )


def tick_step(span: float) -> float:
    """The distance of ticks, 1, 2 or 5 times a power of ten, of which four to eight fit a span."""
    if not span > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(step * power for step in (5, 2, 1) if step * power <= span / 4)


FILES: Mapping[str, Callable[[Shown], str]] = {
    "judge.html": page,
    "judge.md": markdown,
    "judge.tex": tex,
    "arms.csv": lambda shown: _as_csv(shown.judged.arms),
    "effects.csv": lambda shown: _as_csv(shown.judged.effects),
    "judge.json": as_json,
    "effects.svg": svg,
}
"""What is written to the folder ``--out``."""
