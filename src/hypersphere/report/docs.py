"""Parts of the README and of docs/laptop.md that results/report writes: findings, and what small encoders say.

`make pages` makes what they are taken from, the report and the curves of tuned studies, and then writes them anew, with
their pictures in docs/images, by ``python -m hypersphere.report.docs``.
"""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import rules as rules_file
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Rules, Rung
from hypersphere.config.study import TUNING
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.report import confirmed, forest, pages, words
from hypersphere.report.claims import NOTHING, decimals_of
from hypersphere.report.questions import leads
from hypersphere.report.results import Known, Row
from hypersphere.statistics.known import REPORT, nothing_differs, of_studies
from hypersphere.wording import renewed

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by make pages -->"
END = "<!-- until here -->"
SMALL: Rung = "laptop"
"""The rung of small encoders."""
CRITERIA = ("compared", "same_sign", "clear", "printed_inside")
MOST_RUNS = 10
"""Runs an arm that a study has."""


def read(root: Path) -> Known:
    """The tables of results/report, as their manifests say."""
    folder, kinds = root / REPORT, {"claims": columns.KNOWN, "ladder": columns.LADDER, "criteria": columns.CRITERIA}
    check_files(tidy_manifest(folder / "claims.csv"), *(f"{name}.csv" for name in kinds))
    found = {name: tables.rows(tables.read(folder / f"{name}.csv", of)) for name, of in kinds.items()}
    findings = tables.rows(tables.read(check_tidy(folder, "findings.csv"), columns.FINDINGS))
    return Known(**found, findings=findings, studies=of_studies(root))


def lead(known: Known) -> str:
    """The findings of the first screen, each with its certainty."""
    return "\n".join(f"- {row['sentence']} *Certainty: {row['certainty']}.*" for row in leads(known.findings))


def laptop(config: Config, known: Known) -> str:
    """What small encoders say: the criteria of replication, then each question."""
    rules = rules_file.load(config.root)
    listed = {row["id"]: row for row in known.claims if row["kind"] == "comparison"}
    steps = [row for row in known.ladder if row["rung"] == SMALL and row["id"] in listed]
    small = {row["id"]: listed[row["id"]] | row for row in reversed(steps)}  # the best evidence comes first
    criteria = [
        [config.papers[row["paper"]].title, *(f"{row[name]:.0f}" for name in CRITERIA)]
        for row in known.criteria
        if row["rung"] == SMALL
    ]
    documents, studies = list[dict[str, Any]](), list(confirmed.studied(config, known.studies["studies"]))
    for name, paper in config.papers.items():
        asked, differs, answers = list[dict[str, Any]](), dict[str, None](), dict[str, str]()
        for row in (row for row in known.findings if row["paper"] == name):
            answers[row["id"]] = f"{row['sentence']} Certainty: {row['certainty']}."
            chosen = [small[one] for one in row["about"].split() if one in small]
            if chosen and row["id"] not in paper.studies:
                rows = [forest.listed(paper, one).values() for one in chosen]
                asked.append({"question": row["question"], "answer": answers[row["id"]], "rows": rows})
                differs |= dict.fromkeys(part for one in chosen for part in one["differs"].split("; ") if part)
        begun = []
        for study in (one for one in studies if one["paper"] == name):
            label = study["name"]
            selected = f"{name}/{label}" if config.selected.get((name, label)) else ""
            about = {"selected": selected, "image": f"{label}{TUNING}", "answer": answers.get(label, study["closed"])}
            begun += [study | about] if selected or study["comparisons"] else []
        documents.append({"title": paper.title, "questions": asked, "differs": "; ".join(differs), "studies": begun})
    progress = dict[tuple[str, str], str]()
    for row in tables.rows(known.studies["progress"]):
        progress[f"{row['paper']}/{row['study']}", row["part"]] = f"{row['recorded']:g} of {row['planned']:g}"
    head, *lines = confirmed.crossed("question", progress)
    asked_by = {
        f"{name}/{key}": one.question for name, paper in config.papers.items() for key, one in paper.studies.items()
    }
    shown = [head, *([asked_by[study], *counts] for study, *counts in lines)]
    splits, called = nothing_differs(known.studies, rules.confidence)
    values = {
        **{"criteria": criteria, "documents": documents, "progress": shown},
        "withdrawn": [one for paper in config.papers.values() for one in paper.withdrawn.values()],
        **{"splits": splits, "called": called, "confidence": words.confidence(config)},
        **{"prices": _prices(config, known.claims, rules), "rules": rules, "most": MOST_RUNS},
    }
    return pages.render("laptop.md", values).rstrip()


def _prices(config: Config, known: Sequence[Row], rules: Rules) -> list[tuple[str, ...]]:
    """The open comparisons that the runs of a study would not answer, with what they would take, the cheapest first."""
    margin, rows = rules.margin.at_least_high, list[tuple[float, tuple[str, ...]]]()
    for row in known:
        equal, paper, decimals = row["reported"] == "equal", config.papers[row["paper"]], decimals_of(row)
        needed = row["runs_to_equate" if equal else "runs_to_see"]
        clear = row["low_unadjusted"] > 0 or row["high_unadjusted"] < 0
        if row["rung"] != SMALL or not needed > MOST_RUNS or clear or math.isnan(row["core_hours"]):
            continue
        see, hours, equate = (
            f"{float(f'{value:.2g}'):,g}" for value in (needed, row["core_hours"], row["runs_to_equate"])
        )
        within = -margin < row["low_equal"] and row["high_equal"] < margin
        metric = MEASURES.get(row["metric"])
        now = words.interval(row["low_equal"], row["high_equal"], decimals, metric) + (" (equal)" if within else "")
        short, shown = paper.report.short if paper.report else paper.title, forest.listed(paper, row)
        named = f"{short}, {row['source'].split(';')[0]}: {shown['subject']}"
        spread = words.number(row["spread"], decimals)
        cells = (named, shown["printed"], spread, NOTHING if equal else see, hours, equate, now)
        rows.append((row["core_hours"], cells))
    return [cells for _, cells in sorted(rows)]


if __name__ == "__main__":
    config, known = planning.cfg.load(ROOT, {}), read(ROOT)
    parts = {ROOT / "README.md": lead(known), ROOT / "docs" / "laptop.md": laptop(config, known)}
    for page, part in parts.items():
        files.write_text(page, renewed(page.read_text(encoding="utf-8"), BEGIN, END, part))
    images = ROOT / "docs" / "images"
    for name, image in ((forest.NAMES[0], "forest"), (confirmed.NAME, confirmed.NAME)):
        shutil.copyfile(ROOT / REPORT / f"{name}.png", images / f"{image}.png")
    for paper, study in config.selected:
        scale = config.papers[paper].studies[study].scale
        drawn = planning.cfg.load(ROOT, {"scale": scale, "evidence_only": True}).results / "figures" / paper
        if config.selected[paper, study]:
            shutil.copyfile(drawn / f"{study}{TUNING}.png", images / f"{study}{TUNING}.png")
