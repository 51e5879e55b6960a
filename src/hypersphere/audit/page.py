"""What an audit found, as Markdown, HTML, CSV, JSON and a picture of its effects."""

import csv
import html
import io
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

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
from hypersphere.wording import counted

VERDICTS = (FITS, BEYOND_TEST_SET, BEYOND_RUNS, NOT, UNINFORMATIVE, NEEDS)
TOLD = (NOT, BEYOND_TEST_SET, BEYOND_RUNS)
"""Verdicts whose findings the Markdown lists."""
LISTED = 200  # the findings of one check that a page lists; the CSV and JSON have all
DRAWN = 2000  # the effects that the picture shows at most
ROWS = 40  # effects that have a row of their own in the picture
LONGEST = 48  # characters of a row's name in the picture
LIMITS = (
    "A dropped last batch or a padded one changes the number of examples; a mean of accuracies by class, over splits "
    "or over datasets has another granularity and another floor. Numbers that are quoted from elsewhere may be of "
    "other runs. An audit says which assumptions the published numbers fit. It cannot say how they came about. A table "
    "that fits everything may still be wrong."
)


Findings = Sequence[Finding]


def headline(findings: Findings) -> str:
    if impossible := sum(one.impossible for one in findings):
        return f"{counted(impossible, 'finding')} that no chance explains under the assumptions stated."
    return "Every published number is possible under the assumptions stated."


def _counts(findings: Findings) -> list[tuple[str, ...]]:
    """The head and a row for each check that found something, with a column for each verdict that was given."""
    counts = Counter((one.check, one.verdict) for one in findings)
    given = {one.verdict for one in findings}
    verdicts = [verdict for verdict in VERDICTS if verdict in given]
    lines: list[tuple[str, ...]] = [("Check", *verdicts, "Assumption")]
    for check, (title, assumption) in CHECKS.items():
        row = [counts[check, verdict] for verdict in verdicts]
        if any(row):
            lines.append((title, *map(str, row), assumption))
    return lines


def _listed(verdict: str, number: int, assumption: str) -> str:
    """The sentence above findings of a verdict. An effect that exceeds noise is good news, and no misfit."""
    if verdict == NOT:
        return f"Not so in {number}: {assumption}."
    return f"{verdict.capitalize()} in {number}. The check supposes that {assumption}."


def markdown(findings: Findings) -> str:
    """The counts of each check, and the findings that do not fit, or exceed noise."""

    def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        lines = [
            head,
            ["---"] * len(head),
            *([cell.replace("|", "\\|") for cell in row] for row in rows),
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    head, *counts = _counts(findings)
    parts = [f"# Audit of published numbers\n\n{headline(findings)}\n", table(head, counts)]
    for (name, (title, assumption)), verdict in itertools.product(CHECKS.items(), TOLD):
        told = [one for one in findings if one.check == name and one.verdict == verdict]
        if told:
            rest = f"\n{len(told) - LISTED} more are in audit.csv.\n" if len(told) > LISTED else ""
            rows = table(("Where", "Found"), ((one.place, one.says) for one in told[:LISTED]))
            parts.append(f"## {title}\n\n{_listed(verdict, len(told), assumption)}\n\n{rows}{rest}")
    return "\n".join([*parts, LIMITS]) + "\n"


def as_csv(findings: Findings) -> str:
    """All findings, one a line, each with its assumption."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Finding._fields, "assumption"])
    for one in findings:
        value = "" if math.isnan(one.value) else f"{one.value:.6g}"
        writer.writerow([*one[:-1], value, CHECKS[one.check][1]])
    return text.getvalue()


def as_json(findings: Findings) -> str:
    """All checks with their assumptions, and all findings."""
    found = [
        one._asdict() | {"value": None if math.isnan(one.value) else one.value} for one in findings
    ]
    checks = {
        name: {"title": title, "assumption": assumption, "exact": name in EXACT}
        for name, (title, assumption) in CHECKS.items()
    }
    return json.dumps({"headline": headline(findings), "checks": checks, "findings": found}) + "\n"


def svg(findings: Findings) -> str:
    """Effects in units of their floor, linear up to 2 and logarithmic beyond.

    Each has a row; if there are more than ``ROWS``, each table has one.
    """
    effects = [one for one in findings if one.check == "floor" and math.isfinite(one.value)][:DRAWN]
    rows: dict[str, list[Finding]] = {}
    for one in effects:
        rows.setdefault(one.place if len(effects) <= ROWS else one.where, []).append(one)
    most = max([3.0, *(1.1 * abs(one.value) for one in effects)])
    left, width, line = 12 + 6.6 * min(max(map(len, rows), default=0), LONGEST), 480.0, 20
    bottom = line * len(rows) + 8

    def x(z: float) -> float:
        scaled = [
            v / 2 if abs(v) <= 2 else math.copysign(1 + math.log2(abs(v) / 2) / 1.5, v)
            for v in (z, most)
        ]
        return left + width / 2 * (1 + scaled[0] / scaled[1])

    def write(at: float, y: float, said: str, anchor: str = "middle") -> str:
        return f'<text x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(said)}</text>'

    parts = [f'<path d="M{x(-1.96):.1f} 4H{x(1.96):.1f}V{bottom}H{x(-1.96):.1f}Z" fill="#e9e9e9"/>']
    for z in (-100, -50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50, 100):
        if abs(z) <= most:
            parts.append(f'<path d="M{x(z):.1f} 4V{bottom}" stroke="#ccc" stroke-width=".6"/>')
            parts.append(write(x(z), bottom + 16, f"{z}".replace("-", "−")))
    parts.append(
        write(
            left + width / 2,
            bottom + 36,
            "effect / the error that the size of the test set gives it",
        )
    )
    for at, (name, of_row) in enumerate(rows.items()):
        y = line * at + 18
        parts.append(
            write(
                left - 6, y + 4, name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…", "end"
            )
        )
        for one in of_row:
            marker = f'<circle cx="{x(one.value):.1f}" cy="{y}" r="3.5" fill="#3465a4" fill-opacity=".75">'
            parts.append(
                f"{marker}<title>{html.escape(f'{one.place}: {one.says}')}</title></circle>"
            )
    right, height = round(left + width + 12), bottom + 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {height}" width="{right}" height="{height}" '
        'role="img" aria-label="Effects in units of their floor" font-family="sans-serif" font-size="12" fill="#222">'
        f"{''.join(parts)}</svg>\n"
    )


STYLE = """body{font:16px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .7rem;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums}tr.not td{font-weight:600}svg{max-width:100%;height:auto}
.note{color:#555;font-size:.9rem}"""


def page(findings: Findings) -> str:
    """One self-contained page: the counts, the picture, and what each check found, what does not fit first."""

    def row(cells: Sequence[str], kind: str = "td") -> str:
        counts = [' class="n"' if kind == "td" and cell.isdecimal() else "" for cell in cells]
        inside = "".join(
            f"<{kind}{of}>{html.escape(cell)}</{kind}>"
            for cell, of in zip(cells, counts, strict=True)
        )
        mark = ' class="not"' if NOT in cells[1:2] else ""
        return f"<tr{mark}>{inside}</tr>"

    parts = [f"<h1>Audit of published numbers</h1><p>{headline(findings)}</p>"]
    head, *counts = _counts(findings)
    parts.append(f"<table>{row(head, 'th')}{''.join(map(row, counts))}</table>")
    if drawn := sum(one.check == "floor" and math.isfinite(one.value) for one in findings):
        parts.append(
            f"<h2>Effects in units of the test set's own error</h2>{svg(findings)}<p class='note'>A marker for each "
            "row less its baseline. Grey: within 1.96 standard errors, which the size of the test set alone gives one "
            "effect in twenty to be beyond. Linear up to 2, logarithmic beyond. "
            f"{f'The first {DRAWN} of {drawn}.' if drawn > DRAWN else ''}</p>"
        )
    for name, (title, assumption) in CHECKS.items():
        quiet = (NEEDS, FITS) if name == "range" else (NEEDS,)
        told = [one for one in findings if one.check == name and one.verdict not in quiet]
        told.sort(key=lambda one: one.verdict not in TOLD)
        if told:
            rows = "".join(row((one.place, one.verdict, one.says)) for one in told[:LISTED])
            more = (
                f"<p class='note'>{len(told) - LISTED} more are in audit.csv.</p>"
                if len(told) > LISTED
                else ""
            )
            parts.append(
                f"<h2>{title}</h2><p>Assumption: {html.escape(assumption)}.</p>"
                f"<table>{row(('Where', 'Verdict', 'Found'), 'th')}{rows}</table>{more}"
            )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Audit of published numbers</title>'
        f"<style>{STYLE}</style>{''.join(parts)}<h2>Limits</h2><p>{LIMITS}</p></html>\n"
    )


FILES: Mapping[str, Callable[[Findings], str]] = {
    "audit.html": page,
    "audit.md": markdown,
    "audit.csv": as_csv,
    "audit.json": as_json,
    "effects.svg": svg,
}
"""What an audit writes to its folder."""
