"""Parts of the README and of docs/laptop.md that results/report writes: findings, and what small encoders say.

``python -m hypersphere.report.docs`` writes them anew, with their pictures in docs/images, after `make report` and, for
the curves of tuned studies, `make evidence SCALE=laptop ONLY=ours`.
"""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config import plan as planning
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Rules, Rung
from hypersphere.config.study import TUNING, read_curve, selection_file
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.report import confirmed, forest, pages, words
from hypersphere.report.claims import DIRECTIONS, NOTHING, decimals_of
from hypersphere.report.questions import leads, numbers, spanned
from hypersphere.report.results import Known, Row
from hypersphere.statistics.known import REPORT, is_level, nothing_differs, of_studies
from hypersphere.wording import counted, renewed

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by python -m hypersphere.report.docs -->"
END = "<!-- until here -->"
SMALL: tuple[Rung, ...] = ("laptop", "first_protocol")
"""The rungs of small encoders, the better first."""
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
    steps = [row for row in known.ladder if row["rung"] in SMALL and row["id"] in listed]
    steps.sort(key=lambda row: -SMALL.index(row["rung"]))  # the better protocol replaces the other
    small = {row["id"]: listed[row["id"]] | row for row in steps}
    scales = {one["scale"] for one in small.values()}
    flaws = (planning.cfg.load(config.root, {"scale": scale}).scale.superseded for scale in scales)
    superseded = list(filter(None, flaws))
    criteria = [
        [config.papers[row["paper"]].title, RUNGS[row["rung"]], *(f"{row[name]:.0f}" for name in CRITERIA)]
        for row in known.criteria
        if row["rung"] in SMALL
    ]
    documents, studies = list[dict[str, Any]](), list(confirmed.studied(config, known.studies["studies"]))
    for name, paper in config.papers.items():
        asked, differs, answers = list[dict[str, Any]](), dict[str, None](), dict[str, str]()
        for row in (row for row in known.findings if row["paper"] == name):
            reasons, of_study = f" ({row['reasons']})" if row["reasons"] else "", row["id"] in paper.studies
            for protocol in () if of_study else superseded:
                reasons = reasons.replace(protocol, "first protocol")
            answers[row["id"]] = f"{row['sentence']} Certainty: {row['certainty']}{reasons}."
            chosen = [small[one] for one in row["about"].split() if one in small]
            if chosen and not of_study:
                asked.append({"question": row["question"], "answer": answers[row["id"]], **_compared(paper, chosen)})
                differs |= dict.fromkeys(part for one in chosen for part in one["differs"].split("; ") if part)
        begun = []
        for study in (one for one in studies if one["paper"] == name):
            label, plan = study["name"], study["plan"]
            about = {"curves": _curves(config, paper, label), "image": f"{label}{TUNING}"}
            about |= {"tuned": " and ".join(map(paper.label, plan.tuned)), "answer": answers.get(label, "")}
            begun += [study | about] if about["curves"] or study["comparisons"] else []
        documents.append({"title": paper.title, "questions": asked, "differs": "; ".join(differs), "studies": begun})
    progress = dict[tuple[str, str], str]()
    for row in tables.rows(known.studies["progress"]):
        progress[f"{row['paper']}/{row['study']}", row["part"]] = f"{row['recorded']:g} of {row['planned']:g}"
    head, *lines = confirmed.crossed("question", progress)
    asked_by = {
        f"{name}/{key}": one.question for name, paper in config.papers.items() for key, one in paper.studies.items()
    }
    splits, called = nothing_differs(known.studies, rules.confidence)
    values = {
        **{
            "criteria": criteria,
            "documents": documents,
            "progress": [head, *([asked_by[study], *counts] for study, *counts in lines)],
        },
        **{"splits": splits, "called": called, "confidence": words.confidence(config)},
        **{"prices": _prices(config, known.claims, rules), "rules": rules, "most": MOST_RUNS},
    }
    return pages.render("laptop.md", values).rstrip()


def _compared(paper: Paper, chosen: Sequence[Row]) -> dict[str, Any]:
    """The comparisons of a question, as rows that are named by what differs between them; and what is left out.

    One tells nothing if it has no interval, or one (Welch's) that holds both zero and the printed difference.
    """
    shown, left = list[Row](), list[tuple[float, int]]()
    for one in chosen:
        low, high = one["low_unadjusted"], one["high_unadjusted"]
        printed = 0.0 if one["reported"] in DIRECTIONS else float(one["reported"])
        if math.isnan(low) or (low <= min(0.0, printed) and max(0.0, printed) <= high and printed != 0):
            left += [(float(one["measured"]), decimals_of(one))] if one["measured"] else []
        else:
            shown.append(one)
    settings, rows = [coordinates.parse(one["setting"], one["id"]) for one in shown], list[tuple[str, ...]]()
    several = [name for name in ("method", "variant", "dataset") if len({one[name] for one in shown}) > 1]
    for one, setting in zip(shown, settings, strict=True):
        keys = words.varying(settings) if len(shown) > 1 else tuple(setting)
        named = [paper.label(one[name]) for name in several or ("dataset",)]
        name = ", ".join(filter(None, (*named, words.point(paper, setting, keys))))
        said, direction = numbers(one), one["direction"] + (" (level)" if is_level(one) else "")
        cells = (said[key] for key in ("printed", "effect", "interval"))
        rows.append((name, *cells, said["adjusted"] or NOTHING, said["n"], direction))
    count = counted(len(left), "comparison")
    return {"rows": rows, "left": f"{spanned(left)} in {count}" if left and len(chosen) > 1 else ""}


def _curves(config: Config, paper: Paper, name: str) -> list[list[str]]:
    """The curves that the arms of a study were tuned by, if any; the first row is the head."""
    study, file = paper.studies[name], selection_file(config.root, paper.paper, name)
    tried, cells = read_curve(file, study) if file.is_file() else [], dict[tuple[str, str], str]()
    points = {text: coordinates.parse(text, str(file)) for one in tried for text in (one.arm, one.value)}
    alone = len({key for one in tried for key in points[one.value]}) == 1  # which the line above the table names
    for one in tried:
        shown = words.number(one.mean, MEASURES[study.measure].decimals) if one.n else "diverged"
        arm, value = (words.point(paper, points[text], points[text]) for text in (one.arm, one.value))
        head = ", ".join(map(coordinates.show, points[one.value].values())) if alone else value
        cells[arm, head] = f"**{shown}**" if one.chosen else shown
    return confirmed.crossed("arm", cells) if tried else []


def _prices(config: Config, known: Sequence[Row], rules: Rules) -> list[tuple[str, ...]]:
    """The open comparisons that the runs of a study would not answer, with what they would take, the cheapest first."""
    margin, rows = rules.margin.at_least_high, list[tuple[float, tuple[str, ...]]]()
    for row in known:
        equal, paper, decimals = row["reported"] == "equal", config.papers[row["paper"]], decimals_of(row)
        needed = row["runs_to_equate" if equal else "runs_to_see"]
        clear = row["low_unadjusted"] > 0 or row["high_unadjusted"] < 0
        if row["rung"] not in SMALL or not needed > MOST_RUNS or clear or math.isnan(row["core_hours"]):
            continue
        see, hours, equate = (
            f"{float(f'{value:.2g}'):,g}" for value in (needed, row["core_hours"], row["runs_to_equate"])
        )
        within = -margin < row["low_equal"] and row["high_equal"] < margin
        now = words.interval(row["low_equal"], row["high_equal"], decimals) + (" (equal)" if within else "")
        short = paper.report.short if paper.report else paper.title
        named = f"{short}, {row['source'].split(';')[0]}: {forest.subject(paper, row)}"
        shown = (numbers(row)["printed"], words.number(row["spread"], decimals), NOTHING if equal else see, hours)
        rows.append((row["core_hours"], (named, *shown, equate, now)))
    return [cells for _, cells in sorted(rows)]


if __name__ == "__main__":
    config, known = planning.cfg.load(ROOT, {}), read(ROOT)
    parts = {ROOT / "README.md": lead(known), ROOT / "docs" / "laptop.md": laptop(config, known)}
    for page, part in parts.items():
        files.write_text(page, renewed(page.read_text(encoding="utf-8"), BEGIN, END, part))
    images = ROOT / "docs" / "images"
    shutil.copyfile(ROOT / REPORT / "forest_short.png", images / "forest.png")
    shutil.copyfile(ROOT / REPORT / f"{confirmed.NAME}.png", images / f"{confirmed.NAME}.png")
    for paper, study in config.selected:
        scale = config.papers[paper].studies[study].scale
        drawn = planning.cfg.load(ROOT, {"scale": scale, "evidence_only": True}).results / "figures" / paper
        if config.selected[paper, study]:
            shutil.copyfile(drawn / f"{study}{TUNING}.png", images / f"{study}{TUNING}.png")
