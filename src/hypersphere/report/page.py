"""results/report/: what is known of every claim, from all evidence at hand, as tables, a page and a paper.

The page is index.html, which needs no network and no script. It shows the tables and computes no statistics. Claims of
different kinds and origins are counted apart, and no colour says good or bad.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import plan as planning
from hypersphere.config import questions as ask
from hypersphere.config import rules
from hypersphere.config.claims import SIGNS
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.rules import RUNGS
from hypersphere.files import write_text
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, confirmed, forest, pages, pdf, questions, words
from hypersphere.report.claims import ANSWERS, ORIGINS, Entry, address
from hypersphere.report.proofs import Proofs
from hypersphere.report.results import Known, Row
from hypersphere.statistics import known
from hypersphere.wording import counted

HOURS = 10.0
"""Of a GPU: the page says what they would settle first."""
FEW = 12
"""Claims of a question that are seen at once; more are folded."""
FILTERS = ("document", "kind", "rung", "answer", "certainty", "origin")
BY_KIND = {
    "theorem": {
        "holds": ("met no counterexample (no proof)", "met no counterexample (no proof)"),
        "fails": ("fails by a counterexample", "fail by a counterexample"),
    },
    "encoder": {
        "holds": ("has the printed direction", "have the printed direction"),
        "opposite": ("has the opposite direction", "have the opposite direction"),
    },
}
"""Where a kind of claim has words of its own for ``ANSWERS``: draws prove nothing, small encoders show a direction."""


def build(plan: Plan) -> None:
    """Write claims.csv, ladder.csv, criteria.csv and findings.csv, and then the page and the paper that show them."""
    config, folder = plan.config, plan.config.root / known.REPORT
    table, ladder = known.build(plan)
    studies = known.of_studies(config.root)
    findings = questions.answered(config, table, studies)
    tables.write(folder, {"findings": (findings, columns.FINDINGS)})
    forest.build(config, table, folder)
    confirmed.build(config, studies["studies"], folder)
    rows = [tables.rows(one) for one in (table, ladder, known.criteria(table), findings)]
    shown = Known(rows[0], rows[1], rows[2], rows[3], studies)
    write(plan, shown, folder)
    pdf.build(plan, shown, folder)


def write(plan: Plan, shown: Known, folder: Path) -> None:
    """Write index.html, beside the pictures of the two forests."""
    config, listed = plan.config, shown.claims
    titles = {name: paper.title for name, paper in config.papers.items()}
    published = planning.make(config.root, {"scale": "paper"})
    proofs = Proofs(plan, frozenset(row["id"] for row in listed), config.root / known.REPORT, published)
    steps: dict[str, list[Row]] = {}
    for step in shown.ladder:
        steps.setdefault(step["id"], []).append(step)
    entries = {row["id"]: _entry(config, row, steps.get(row["id"], [])) for row in listed}
    limits = {name: one.limits for name, (_, one) in ask.load(config).items()}
    asked = [
        {**row, "claims": [entries[name] for name in row["about"].split()], "limits": limits.get(row["id"], [])}
        for row in shown.findings
    ]
    printed = [row for row in listed if row["origin"] == "printed"]
    counts = claims.answers(printed)
    documents = []
    for name, title in titles.items():
        own = [claim for claim in entries.values() if claim.row["paper"] == name]
        about = {"id": name, "title": title, "groups": pages.groups(config, own)}
        documents.append(about | {"idle": [], "total": len(own), "anchors": []})
    certainty = rules.load_certainty(config.root)
    values = {
        "titles": titles,
        "lead": questions.leads(asked),
        "forests": _forests(config, listed, folder),
        "studies": {
            "file": f"{confirmed.NAME}.svg",
            "data": pages.webp(folder / f"{confirmed.NAME}.png"),
            "alt": confirmed.caption(config, shown.studies["studies"]),
        },
        "criteria": shown.criteria,
        "counts": [_counts(kind, counts) for kind in claims.KINDS],
        "other_origins": [(said, sum(row["origin"] == origin for row in listed)) for origin, said in ORIGINS.items()],
        "questions": [
            (title, found)
            for name, title in ({SEVERAL: "Across the documents"} | titles).items()
            if (found := [question for question in asked if question["paper"] == name])
        ],
        "settling": [
            (name, pages.printed_as(config, name)[0], number, hours)
            for name, number, hours in known.settling(pd.DataFrame(listed), HOURS)
        ],
        "hours": HOURS,
        "papers": documents,
        "documents": [title for name, title in titles.items() if name in {row["paper"] for row in printed}],
        "printed": len(printed),
        "choices": pages.choices(config, list(entries.values()), FILTERS),
        "rungs": RUNGS,
        "errata": proofs.errata_by_kind(),
        "proofs": proofs,
        "certainty": claims.certainty_in_words(certainty),
        "enough": certainty.enough_runs,
        "confidence": words.confidence(config),
        "rules": rules.load(config.root),
        "few": FEW,
        "graded": True,
    }
    write_text(folder / "index.html", pages.render("report.html", values))


def _entry(config: Config, row: Row, steps: Sequence[Row]) -> Entry:
    """A claim on its best evidence, with all its evidence."""
    made, paper, metric = claims.entry(config, row), config.papers[row["paper"]], MEASURES.get(row["metric"])
    subject, apart = made.subject or str(row["artifact"]), ""
    if row["kind"] == "comparison" and row["answered_by"] == "encoder":
        if row["artifact"] in paper.measured:
            made, subject = replace(made, dataset="", setting=""), forest.subject(paper, row)
        if row["measured"] and metric and metric.margin == "accuracy" and row["reported"] not in ("", *SIGNS):
            printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
            apart = f"{abs(float(row['measured']) - printed):.2f}"
    evidence = [claims.entry(config, row | step) for step in steps]
    return replace(made, subject=subject, steps=evidence, discrepancy=apart)


def _counts(kind: str, counts: Counter[tuple[str, str]]) -> dict[str, Any]:
    """How the printed claims of a kind are answered: each number with what it counts and the page filtered to it."""
    everything, parts, total = {"kind": kind, "origin": "printed"}, [], 0
    for answer, (one, many) in (ANSWERS | BY_KIND.get(kind, {})).items():
        if number := counts[kind, answer]:
            link = address(**everything, **({"answer": answer} if answer else {"rung": "nothing"}))
            total += number
            parts.append({"number": number, "says": one if number == 1 else many, "link": link})
    noun = f"printed {claims.KINDS[kind]}"
    return {"kind": kind, "total": total, "noun": noun, "parts": parts, "link": address(**everything)}


def _forests(config: Config, listed: Sequence[Row], folder: Path) -> list[dict[str, Any]]:
    """The pictures of the short and the whole forest, with what is in them; one, if there is nothing to leave out."""
    every, found = forest.rows(config, listed), []
    for name, rows in ((forest.NAMES[1], forest.short(every)), (forest.NAMES[0], every)):
        compared = [claim for row in rows for claim in row.claims]
        directions = Counter(map(forest.direction, compared))
        said = ", ".join(f"{directions[key]} {look.words}" for key, look in forest.LOOKS.items() if directions[key])
        alt = f"Printed effect and ours for {counted(len(compared), 'comparison')}: {said}. Numbers: Claims."
        found.append({"file": f"{name}.svg", "data": pages.webp(folder / f"{name}.png"), "alt": alt})
    return found[1:] if len(forest.short(every)) == len(every) else found
