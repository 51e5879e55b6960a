"""results/report/: what is known of every claim, from all evidence at hand, as tables, a page and a paper.

The page is index.html, which needs no network and no script. It shows the tables and computes no statistics. Claims of
different kinds and origins are counted apart, and no colour says good or bad.
"""

from pathlib import Path

import pandas as pd

from hypersphere.config import questions as ask
from hypersphere.config import rules
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL
from hypersphere.config.rules import RUNGS
from hypersphere.files import write_text
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, confirmed, forest, pages, pdf, questions, words
from hypersphere.report.proofs import Proofs
from hypersphere.report.results import Known, Row
from hypersphere.statistics import known

HOURS = 10.0
"""Of a GPU: the page says what they would settle first."""
WIDTH, QUALITY = 1440, 60
"""Of the pictures: pixels, and quality of WebP out of 100, at which letters stay sharp."""
FEW = 12
"""Claims of a question that are seen at once; more are folded."""
FILTERS = ("document", "kind", "rung", "answer", "certainty", "origin")


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
    """Write index.html, beside the pictures of the forests."""
    config, listed = plan.config, shown.claims
    titles = {name: paper.title for name, paper in config.papers.items()}
    proofs = Proofs(plan, frozenset(row["id"] for row in listed), config.root / known.REPORT)
    steps: dict[str, list[Row]] = {}
    for step in shown.ladder:
        steps.setdefault(step["id"], []).append(step)
    entries = {row["id"]: claims.entry(config, row, steps.get(row["id"], [])) for row in listed}
    limits = {name: one.limits for name, (_, one) in ask.load(config).items()}
    asked = [
        {**row, "claims": [entries[name] for name in row["about"].split()], "limits": limits.get(row["id"], [])}
        for row in shown.findings
    ]
    printed = [row for row in listed if row["origin"] == "printed"]
    every = forest.rows(config, listed)
    forests = (forest.caption(forest.compared(shown)) for shown in (forest.short(every), every))
    documents = []
    for name, title in titles.items():
        own = [claim for claim in entries.values() if claim.row["paper"] == name]
        about = {"id": name, "title": title, "groups": pages.groups(config, own)}
        documents.append(about | {"idle": [], "total": len(own), "anchors": []})
    certainty = rules.load_certainty(config.root)
    values = {
        "titles": titles,
        "lead": questions.leads(asked),
        "pictures": [
            {"file": f"{name}.svg", "data": pages.webp(folder / f"{name}.png", WIDTH, QUALITY), "alt": alt}
            for name, alt in zip((*forest.NAMES, confirmed.NAME), (*forests, confirmed.CAPTION), strict=True)
        ],
        "criteria": shown.criteria,
        "told": list(claims.in_words(listed)),
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
