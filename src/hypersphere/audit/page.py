"""What an audit found, as Markdown, HTML, CSV, JSON and a picture of its effects; their words are in templates/."""

import csv
import html
import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from hypersphere.audit.checks import (
    BEYOND_RUNS,
    BEYOND_TEST_SET,
    CHECKS,
    EXACT,
    FITS,
    NEEDS,
    NOT,
    UNINFORMATIVE,
    Finding,
)
from hypersphere.wording import count_of

VERDICTS = (FITS, BEYOND_TEST_SET, BEYOND_RUNS, NOT, UNINFORMATIVE, NEEDS)
TOLD = (NOT, BEYOND_TEST_SET, BEYOND_RUNS)
"""Verdicts whose findings the Markdown lists."""
LISTED = 200  # the findings of one check that a page lists; the CSV and JSON have all
DRAWN = 2000  # the effects that the picture shows at most
ROWS = 40  # effects that have a row of their own in the picture
LINE = 20  # pixels of a row
LONGEST = 48  # characters of a row's name in the picture
WIDTH = 480.0  # pixels between the names of rows and the right margin
TICKS = (-100, -50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50, 100)
LIMITS = (
    "A dropped last batch or a padded one changes the number of examples; a mean of accuracies by class, over splits "
    "or over datasets has another granularity and another floor. Numbers that are quoted from elsewhere may be of "
    "other runs. An audit says which assumptions the published numbers fit. It cannot say how they came about. A table "
    "that fits everything may still be wrong."
)
TEMPLATES = Path(__file__).with_name("templates")
Findings = Sequence[Finding]


def _source(name: str) -> str:
    """A template. A page and a picture are one line, so that those of their templates are joined."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return text if name == "audit.md" else "".join(map(str.strip, text.splitlines()))


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FunctionLoader(_source), trim_blocks=True, undefined=jinja2.StrictUndefined
)
ENVIRONMENT.filters["escape"] = html.escape
ENVIRONMENT.globals |= {
    "NOT": NOT,
    "LISTED": LISTED,
    "DRAWN": DRAWN,
    "LINE": LINE,
    "LONGEST": LONGEST,
    "LIMITS": LIMITS,
    "STYLE": (TEMPLATES / "audit.css").read_text(encoding="utf-8").rstrip(),
}


def _fill(name: str, **values: Any) -> str:
    return ENVIRONMENT.get_template(name).render(values) + "\n"


def headline(findings: Findings) -> str:
    """What an audit says in one sentence."""
    impossible = sum(one.impossible for one in findings)
    if impossible:
        return f"{count_of(impossible, 'finding')} that no chance explains under the assumptions stated."
    return "Every published number is possible under the assumptions stated."


def _counts(findings: Findings) -> dict[str, Any]:
    """The head and a row for each check that found something, with a column for each verdict that was given."""
    counts = Counter((one.check, one.verdict) for one in findings)
    given = {one.verdict for one in findings}
    verdicts = [verdict for verdict in VERDICTS if verdict in given]
    rows = []
    for check, (title, assumption) in CHECKS.items():
        numbers = [counts[check, verdict] for verdict in verdicts]
        if any(numbers):
            rows.append((title, *map(str, numbers), assumption))
    return {"head": ("Check", *verdicts, "Assumption"), "counts": rows}


def markdown(findings: Findings) -> str:
    """The counts of each check, and the findings that do not fit, or exceed noise, which is good news."""
    by_verdict: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in findings:
        by_verdict[one.check, one.verdict].append((one.place, one.says))
    sections = []
    for check, about in CHECKS.items():
        for verdict in TOLD:
            if (check, verdict) in by_verdict:
                sections.append((*about, verdict, by_verdict[check, verdict]))
    headed = headline(findings)
    return _fill("audit.md", headline=headed, sections=sections, **_counts(findings))


def as_csv(findings: Findings) -> str:
    """All findings, one a line, each with its assumption."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Finding._fields, "assumption"])
    for one in findings:
        value = "" if math.isnan(one.value) else f"{one.value:.6g}"
        _, assumption = CHECKS[one.check]
        writer.writerow([*one[:-1], value, assumption])
    return text.getvalue()


def as_json(findings: Findings) -> str:
    """All checks with their assumptions, and all findings."""
    checks = {
        name: {"title": title, "assumption": assumption, "exact": name in EXACT}
        for name, (title, assumption) in CHECKS.items()
    }
    found = [
        one._asdict() | {"value": None if math.isnan(one.value) else one.value} for one in findings
    ]
    return json.dumps({"headline": headline(findings), "checks": checks, "findings": found}) + "\n"


def _effects(findings: Findings) -> list[Finding]:
    return [one for one in findings if one.check == "floor" and math.isfinite(one.value)]


def svg(findings: Findings) -> str:
    """Effects in units of their floor, linear up to 2 and logarithmic beyond.

    Each has a row; if there are more than ``ROWS``, each table has one.
    """
    effects = _effects(findings)[:DRAWN]
    rows: dict[str, list[Finding]] = defaultdict(list)
    for one in effects:
        rows[one.place if len(effects) <= ROWS else one.where].append(one)
    most = max([3.0, *(1.1 * abs(one.value) for one in effects)])
    longest = max(map(len, rows), default=0)
    left = 12 + 6.6 * min(longest, LONGEST)

    def scaled(z: float) -> float:
        if abs(z) <= 2:
            return z / 2
        return math.copysign(1 + math.log2(abs(z) / 2) / 1.5, z)

    def x(z: float) -> str:
        return f"{left + WIDTH / 2 * (1 + scaled(z) / scaled(most)):.1f}"

    return _fill(
        "effects.svg",
        x=x,
        rows=rows,
        ticks=[z for z in TICKS if abs(z) <= most],
        names_end=f"{left - 6:.1f}",
        width=round(left + WIDTH + 12),
        bottom=LINE * len(rows) + 8,
    )


def page(findings: Findings) -> str:
    """One self-contained page: the counts, the picture, and what each check found, what does not fit first."""
    sections = []
    for check, about in CHECKS.items():
        quiet = (NEEDS, FITS) if check == "range" else (NEEDS,)
        shown = [one for one in findings if one.check == check and one.verdict not in quiet]
        shown.sort(key=lambda one: one.verdict not in TOLD)
        if shown:
            sections.append((*about, [(one.place, one.verdict, one.says) for one in shown]))
    return _fill(
        "audit.html",
        headline=headline(findings),
        sections=sections,
        drawn=len(_effects(findings)),
        svg=svg(findings),
        **_counts(findings),
    )


FILES: Mapping[str, Callable[[Findings], str]] = {
    "audit.html": page,
    "audit.md": markdown,
    "audit.csv": as_csv,
    "audit.json": as_json,
    "effects.svg": svg,
}
"""What an audit writes to its folder."""
