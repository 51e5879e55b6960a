"""index.html: what is known of every claim, on one page that needs no network and no script.

It shows the tables of results/report/ and computes no statistics. Claims of different kinds and origins are counted
apart, and no colour says good or bad.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import plan as planning
from hypersphere.config import questions as ask
from hypersphere.config import rules
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import SIGNS
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.rules import GRADES, RUNGS
from hypersphere.provenance import tables
from hypersphere.report import claims, confirmed, forest, pages, questions, words
from hypersphere.report.claims import EFFECTS, Entry, Row, address
from hypersphere.report.pages import Choice
from hypersphere.report.proofs import Proofs
from hypersphere.statistics import known
from hypersphere.wording import counted

HOURS = 10.0
"""Of a GPU: the page says what they would settle first."""
FEW = 12
"""Claims of a question that are seen at once; more are folded."""
ANSWERS = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "opposite": ("is the opposite of ours", "are the opposite of ours"),
    "its table bears it": ("is borne by its table", "are borne by their tables"),
    "its table contradicts it": ("is contradicted by its table", "are contradicted by their tables"),
    "cannot tell": ("is undecided on the evidence at hand", "are undecided on the evidence at hand"),
    "": ("has no evidence yet", "have no evidence yet"),
}
"""Answers in the order in which they are counted, of one claim and of several; the last: no evidence."""
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
"""The same where a kind of claim has words of its own: draws prove nothing, and small encoders show a direction."""


def build(
    plan: Plan, table: pd.DataFrame, ladder: pd.DataFrame, findings: pd.DataFrame, compared: pd.DataFrame, folder: Path
) -> None:
    """Write index.html, of the tables of results/report/ and studies.csv, beside the pictures of the two forests."""
    pages.render("report.html", context(plan, table, ladder, findings, compared, folder), folder / "index.html")


def context(
    plan: Plan, table: pd.DataFrame, ladder: pd.DataFrame, findings: pd.DataFrame, compared: pd.DataFrame, folder: Path
) -> dict[str, Any]:
    """The values of the template."""
    config, listed = plan.config, tables.rows(table)
    published, ids = planning.make(config.root, {"scale": "paper"}), frozenset(row["id"] for row in listed)
    proofs = Proofs(plan, pages.ledger(config), ids, config.root / known.REPORT, published)
    steps: dict[str, list[Row]] = {}
    for step in tables.rows(ladder):
        steps.setdefault(step["id"], []).append(step)
    entries = {row["id"]: _entry(config, row, steps.get(row["id"], [])) for row in listed}
    limits = ask.limits(config)
    asked = [
        {**row, "claims": [entries[name] for name in row["about"].split()], "limits": limits.get(row["id"], [])}
        for row in tables.rows(findings)
    ]
    titles = {name: paper.title for name, paper in config.papers.items()}
    order = {SEVERAL: "Across the documents", **titles}
    printed = [row["paper"] for row in listed if row["origin"] == "printed"]
    chosen, certainty = rules.load(config.root), rules.load_certainty(config.root)
    return {
        "titles": titles,
        "lead": questions.leads(asked),
        "forests": _forests(plan, listed, folder),
        "studies": {
            "file": f"{confirmed.NAME}.svg",
            "data": pages.webp(folder / f"{confirmed.NAME}.png"),
            "alt": confirmed.caption(config, compared),
        },
        "criteria": tables.rows(known.criteria(table)),
        "counts": [_counts(kind, listed) for kind in claims.KINDS],
        "other_origins": [
            (said, sum(row["origin"] == origin for row in listed)) for origin, said in claims.ORIGINS.items()
        ],
        "questions": [
            (title, found) for name, title in order.items() if (found := [q for q in asked if q["paper"] == name])
        ],
        "settling": _settling(plan, table),
        "hours": HOURS,
        "papers": [_paper(config, paper, list(entries.values()), proofs) for paper in config.papers.values()],
        "documents": [title for name, title in titles.items() if name in printed],
        "printed": len(printed),
        "choices": _choices(titles, list(entries.values())),
        "rungs": RUNGS,
        "errata": proofs.errata_by_kind(),
        "proofs": proofs,
        "certainty": claims.certainty_in_words(certainty),
        "enough": certainty.enough_runs,
        "confidence": words.confidence(config),
        "equivalence": f"{100 * chosen.equivalence:g} %",
        "margin": chosen.margin,
        "root": proofs.root,
        "few": FEW,
        "graded": True,
    }


def _entry(config: Config, row: Row, steps: Sequence[Row]) -> Entry:
    """A claim on its best evidence, with all its evidence. No colour says good or bad."""
    made, paper = claims.entry(config, row), config.papers[row["paper"]]
    subject = made.subject or str(row["artifact"])
    if row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["artifact"] in paper.measured:
        made, subject = replace(made, dataset="", setting=""), forest.subject(paper, row)
    return replace(
        made,
        subject=subject,
        says="not measured" if row["rung"] == "nothing" else _says(row, row),
        tone="",
        beside=True,
        facts=[*made.facts, *([("Names of runs", row["runs"])] if row["runs"] else [])],
        steps=[_step(config, row, step) for step in steps],
        discrepancy=_discrepancy(row),
    )


def _says(row: Row, step: Row) -> str:
    """The direction of encoders; else the answer. A claim without evidence has only the direction that is printed."""
    direction = str(step["direction"]) if row["answered_by"] == "encoder" else ""
    return EFFECTS.get(direction, str(step["answer"]))


def _discrepancy(row: Row) -> str:
    metric = MEASURES.get(row["metric"])
    pair = row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["measured"]
    if not pair or not metric or metric.margin != "accuracy" or row["reported"] in ("", *SIGNS):
        return ""
    printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
    return f"{abs(float(row['measured']) - printed):.2f}"


def _step(config: Config, row: Row, step: Row) -> dict[str, str]:
    """A rung of a claim's ladder in words."""
    shown = claims.entry(config, {**row, **{name: step[name] for name in step if name in row}})
    return {
        **{"rung": RUNGS[step["rung"]], "scale": step["scale"], "answer": _says(row, step)},
        **{"ours": "" if row["kind"] == "theorem" else shown.found, "intervals": shown.intervals},
        **{"certainty": step["certainty"], "reasons": step["reasons"]},
    }


def _counts(kind: str, listed: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How the printed claims of a kind are answered: each number with what it counts and the page filtered to it."""
    shown = [row for row in listed if row["answered_by"] == kind and row["origin"] == "printed"]
    found = Counter("" if row["rung"] == "nothing" else row["answer"] for row in shown)
    parts = []
    for answer, (one, many) in (ANSWERS | BY_KIND.get(kind, {})).items():
        if found[answer]:
            where = {"answer": answer} if answer else {"rung": "nothing"}
            link = address(kind=kind, origin="printed", **where)
            parts.append({"number": found[answer], "says": one if found[answer] == 1 else many, "link": link})
    everything = address(kind=kind, origin="printed")
    return {
        "kind": kind,
        "total": len(shown),
        "noun": f"printed {claims.KINDS[kind].claims}",
        "parts": parts,
        "link": everything,
    }


def _settling(plan: Plan, table: pd.DataFrame) -> list[dict[str, Any]]:
    """What ``HOURS`` hours of a GPU would settle first."""
    found = []
    for name, number, hours in known.settling(table, HOURS):
        title, (printed, _) = plan.config.papers[name.partition("/")[0]].title, pages.printed_as(plan.config, name)
        command = f"make reproduce SCALE=paper ONLY={name}"
        found.append({"anchor": name.replace("/", "-"), "title": title, "printed": printed, "claims": number})
        found[-1] |= {"hours": words.number(hours, 1), "command": command}
    return found


def _paper(config: Config, paper: Paper, entries: Sequence[Entry], proofs: Proofs) -> dict[str, Any]:
    """A document's claims by the table, figure or statement that has them."""
    own = [claim for claim in entries if claim.row["paper"] == paper.paper]
    listed = []
    for group in pages.groups(config, own):
        settle = next((claim.row for claim in group.claims if claim.row["settle"]), None)
        hours = words.number(settle["gpu_hours"], 1) if settle else ""
        known_of = {"links": proofs.of(group.claims), "settle": settle["settle"] if settle else "", "hours": hours}
        listed.append({**group._asdict(), "anchor": group.anchor, **known_of})
    return {"id": paper.paper, "title": paper.title, "groups": listed, "idle": [], "total": len(own)}


def _choices(titles: dict[str, str], entries: Sequence[Entry]) -> list[Choice]:
    """What each filter offers, of what there is."""
    kinds = {name: kind.heading for name, kind in claims.KINDS.items()}
    answers = {answer: answer for answer in ANSWERS if answer}
    rungs = {str(rung): heading for rung, heading in RUNGS.items()}

    def of(column: str) -> Callable[[Entry], str]:
        return lambda claim: str(claim.row[column])

    offered = [
        Choice("document", "Document", "All documents", pages.document_of, titles),
        Choice("kind", "Kind", "All kinds", of("answered_by"), kinds),
        Choice("rung", "Evidence", "All evidence", of("rung"), rungs),
        Choice("answer", "Answer", "All answers", of("answer"), answers),
        Choice("certainty", "Certainty", "Any certainty", of("certainty"), {grade: grade for grade in GRADES}),
        Choice("origin", "Origin", "All origins", of("origin"), claims.ORIGINS),
    ]
    return pages.choices(entries, offered)


def _forests(plan: Plan, listed: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The pictures of the short and the whole forest, with what is in them."""
    every = forest.rows(plan.config, listed)
    found = []
    for name, rows in ((forest.NAMES[1], forest.short(every)), (forest.NAMES[0], every)):
        compared = [claim for row in rows for claim in row.claims]
        directions = Counter(map(forest.direction, compared))
        said = ", ".join(f"{directions[key]} {look.words}" for key, look in forest.LOOKS.items() if directions[key])
        found.append(
            {
                "file": f"{name}.svg",
                "data": pages.webp(folder / f"{name}.png"),
                "alt": f"Printed effect and ours for {counted(len(compared), 'comparison')}: {said}. Numbers: Claims.",
                "same": len(rows) == len(every),
            }
        )
    return found[1:] if found[0]["same"] else found
