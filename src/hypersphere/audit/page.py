"""What an audit found, as Markdown, HTML, CSV, JSON and a picture of its effects."""

import csv
import html
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hypersphere.audit.checks import CHECKS, FITS, NEEDS, NOT, UNINFORMATIVE, Audit, Finding
from hypersphere.wording import counted

VERDICTS = (FITS, NOT, UNINFORMATIVE, NEEDS)
LISTED = 200
"""The findings of one check that a page lists; the CSV and JSON have all."""
DRAWN = 2000
"""The effects that the picture shows at most."""
LIMITS = (
    "A dropped last batch or a padded one changes the number of examples; a mean of accuracies by class, over splits "
    "or over datasets has another granularity and another floor. Numbers that are quoted from elsewhere may be of "
    "other runs. An audit says which assumptions the printed numbers fit. It cannot say how they came about. A table "
    "that fits everything may still be wrong."
)


def headline(audit: Audit) -> str:
    """What was found, in a sentence."""
    places = counted(len(audit.impossible), "finding")
    if audit.impossible:
        return f"{places} that no chance explains under the assumptions stated."
    return "Every printed number is possible under the assumptions stated."


def _told(audit: Audit) -> list[tuple[str, list[Finding]]]:
    """The findings of each check that a page lists, those that do not fit first; none that only need n_test."""
    told = []
    for check in CHECKS:
        found = [one for one in audit.findings if one.check == check and one.verdict != NEEDS]
        found = [one for one in found if check != "range" or one.verdict == NOT]
        told.append((check, sorted(found, key=lambda one: one.verdict != NOT)))
    return [(check, found) for check, found in told if found]


def _counts(audit: Audit) -> list[tuple[str, ...]]:
    counts = Counter((one.check, one.verdict) for one in audit.findings)
    rows = [(check, [counts[check, verdict] for verdict in VERDICTS]) for check in CHECKS]
    return [(CHECKS[check].title, *map(str, row), CHECKS[check].assumption) for check, row in rows if any(row)]


HEAD = ("Check", *VERDICTS, "Assumption")


def markdown(audit: Audit) -> str:
    """The counts of each check, and the findings that do not fit."""

    def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    parts = [f"# Audit of printed numbers\n\n{headline(audit)}\n", table(HEAD, _counts(audit))]
    for check, found in _told(audit):
        failing = [one for one in found if one.verdict == NOT]
        if failing:
            rest = f"\n{len(failing) - LISTED} more are in audit.csv.\n" if len(failing) > LISTED else ""
            rows = [(_place(one), one.says) for one in failing[:LISTED]]
            does_not_fit = f"## {CHECKS[check].title}\n\nNot so in {len(failing)}: {CHECKS[check].assumption}.\n"
            parts.append(f"{does_not_fit}\n{table(('Where', 'Found'), rows)}{rest}")
    return "\n".join([*parts, LIMITS]) + "\n"


def _place(finding: Finding) -> str:
    return ", ".join(filter(None, finding[1:5])) or "all"


def as_csv(audit: Audit) -> str:
    """All findings, one a line, each with its assumption."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Finding._fields, "assumption"])
    for one in audit.findings:
        value = "" if math.isnan(one.value) else f"{one.value:.6g}"
        writer.writerow([*one[:-1], value, CHECKS[one.check].assumption])
    return text.getvalue()


def as_json(audit: Audit) -> str:
    """All checks with their assumptions, and all findings."""
    found = (one._asdict() | {"value": None if math.isnan(one.value) else one.value} for one in audit.findings)
    findings = ",\n".join(map(json.dumps, found))  # one a line: an indent would make the encoder slow
    checks = json.dumps({name: check._asdict() for name, check in CHECKS.items()}, indent=1)
    return f'{{"headline": {json.dumps(headline(audit))},\n"checks": {checks},\n"findings": [\n{findings}\n]}}\n'


def svg(audit: Audit) -> str:
    """Effects in units of their floor, a column for each table; linear up to 2 and logarithmic beyond."""
    effects = [one for one in audit.findings if one.check == "floor" and math.isfinite(one.value)][:DRAWN]
    tables: dict[str, list[Finding]] = {}
    for one in effects:
        tables.setdefault(one.where, []).append(one)
    most = max([3.0, *(1.15 * abs(one.value) for one in effects)])
    left, right = 52, max(420, min(1100, 60 + 110 * len(tables)))
    column = (right - left) / max(len(tables), 1)

    def y(z: float) -> float:
        scaled = [v / 2 if abs(v) <= 2 else math.copysign(1 + math.log2(abs(v) / 2) / 1.5, v) for v in (z, most)]
        return 130 - 118 * scaled[0] / scaled[1]

    def write(x: float, at: float, said: str, anchor: str, turn: str = "") -> str:
        return f'<text x="{x:.1f}" y="{at:.1f}" text-anchor="{anchor}"{turn}>{html.escape(said)}</text>'

    parts = [f'<path d="M{left} {y(1.96):.1f}H{right}V{y(-1.96):.1f}H{left}Z" fill="#e9e9e9"/>']
    parts.append(write(14, 130, "effect / its floor", "middle", ' transform="rotate(-90 14 130)"'))
    for z in (-100, -50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50, 100):
        if abs(z) <= most:
            parts.append(f'<path d="M{left} {y(z):.1f}H{right}" stroke="#ccc" stroke-width=".6"/>')
            parts.append(write(left - 6, y(z) + 4, f"{z}".replace("-", "−"), "end"))
    for at, (table, of_table) in enumerate(tables.items()):
        start = left + at * column
        for place, one in enumerate(of_table):
            x = start + column * (0.1 + 0.8 * (place + 0.5) / len(of_table))
            marker = f'<circle cx="{x:.1f}" cy="{y(one.value):.1f}" r="3" fill="#3465a4" fill-opacity=".75">'
            parts.append(f"{marker}<title>{html.escape(f'{_place(one)}: {one.says}')}</title></circle>")
        room = int(column / 7)
        parts.append(write(start + column / 2, 268, table if len(table) <= room else f"{table[: room - 1]}…", "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 8} 280" width="{right + 8}" height="280" '
        'role="img" aria-label="Effects in units of their floor" font-family="sans-serif" font-size="12" fill="#222">'
        f"{''.join(parts)}</svg>\n"
    )


STYLE = """body{font:16px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .7rem;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums}tr.not td{font-weight:600}svg{max-width:100%;height:auto}
.note{color:#555;font-size:.9rem}"""


def page(audit: Audit) -> str:
    """One self-contained page."""

    def row(cells: Sequence[str], kind: str = "td", mark: str = "") -> str:
        counts = [' class="n"' if kind == "td" and cell.isdecimal() else "" for cell in cells]
        inside = "".join(f"<{kind}{of}>{html.escape(cell)}</{kind}>" for cell, of in zip(cells, counts, strict=True))
        return f"<tr{mark}>{inside}</tr>"

    parts = [f"<h1>Audit of printed numbers</h1><p>{headline(audit)}</p>"]
    parts.append(f"<table>{row(HEAD, 'th')}{''.join(map(row, _counts(audit)))}</table>")
    if drawn := sum(one.check == "floor" and math.isfinite(one.value) for one in audit.findings):
        parts.append(
            f"<h2>Effects in units of the test set's own error</h2>{svg(audit)}<p class='note'>A marker for each row "
            "less its baseline. Grey: within 1.96 standard errors, which the size of the test set alone gives one "
            "effect in twenty to be beyond. Linear up to 2, logarithmic beyond. "
            f"{f'The first {DRAWN} of {drawn}.' if drawn > DRAWN else ''}</p>"
        )
    for check, found in _told(audit):
        title, assumption, _ = CHECKS[check]
        body = [
            row((_place(one), one.verdict, one.says), mark=' class="not"' if one.verdict == NOT else "")
            for one in found[:LISTED]
        ]
        more = f"<p class='note'>{len(found) - LISTED} more are in audit.csv.</p>" if len(found) > LISTED else ""
        parts.append(
            f"<h2>{title}</h2><p>Assumption: {html.escape(assumption)}.</p>"
            f"<table>{row(('Where', 'Verdict', 'Found'), 'th')}{''.join(body)}</table>{more}"
        )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Audit of printed numbers</title>'
        f"<style>{STYLE}</style>{''.join(parts)}<h2>Limits</h2><p>{LIMITS}</p></html>\n"
    )


FILES: Mapping[str, Callable[[Audit], str]] = {
    "audit.html": page,
    "audit.md": markdown,
    "audit.csv": as_csv,
    "audit.json": as_json,
    "effects.svg": svg,
}


def write(audit: Audit, folder: Path) -> None:
    """Write all of them to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in FILES.items():
        (folder / name).write_text(made(audit), encoding="utf-8")
