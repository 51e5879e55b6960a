"""index.html: what is known of every claim, on one page that needs no network and no script.

It shows the tables of results/report/ and computes no statistics. Claims of different kinds and origins are counted
apart, and no colour says good or bad.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import coordinates, registry, rules
from hypersphere.config import plan as planning
from hypersphere.config import questions as ask
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED, SENTENCES, SIGNS
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL
from hypersphere.config.records import FOLDER
from hypersphere.config.rules import GRADES, RUNGS
from hypersphere.provenance import tables
from hypersphere.report import claims, confirmed, forest, pages, questions, words
from hypersphere.report.claims import Link, address
from hypersphere.report.proofs import Proofs, exact_code, hosted, of_file
from hypersphere.report.proofs import printed as claims_of
from hypersphere.statistics import known
from hypersphere.wording import counted

HOURS = 10.0
"""Of a GPU: the page says what they would settle first."""
FEW = 12
"""Claims of a question that are seen at once; more are folded."""
NOTHING = "–"
KINDS = ("theorem", "study", "encoder", "sentence")
"""What answers a claim (``claims.KINDS``), the firmest first; sentences, which say nothing of the world, last."""
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
DIRECTIONS = {
    **{"same": "same direction", "opposite": "opposite direction", "no effect": "no effect"},
    "unclear": "direction unclear",
}


@dataclass(frozen=True)
class Line:
    """One claim, ready to print."""

    row: dict[str, Any]
    subject: str
    where: str
    """Measure, dataset, setting and place in the document."""
    printed: str
    ours: str
    welch: str
    holm: str
    n: str
    says: str
    """The direction of a comparison of encoders; else the answer."""
    discrepancy: str
    """Points between our effect and the printed one, as a number to sort by; empty where the two are no such pair."""
    steps: list[dict[str, str]]
    facts: list[tuple[str, str]]
    links: list[Link]


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
    proofs = Proofs(plan, pages.ledger(config), frozenset(row["id"] for row in listed))
    shown = Shown(plan, ladder)
    lines = {row["id"]: shown.line(row) for row in listed}
    limits = ask.limits(config)
    asked = [
        {**row, "claims": [lines[name] for name in row["about"].split()], "limits": limits.get(row["id"], [])}
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
        "counts": [_counts(kind, listed) for kind in KINDS],
        "other_origins": [
            (said, sum(row["origin"] == origin for row in listed)) for origin, said in claims.ORIGINS.items()
        ],
        "questions": [
            (title, found) for name, title in order.items() if (found := [q for q in asked if q["paper"] == name])
        ],
        "settling": _settling(plan, table),
        "hours": HOURS,
        "papers": [_paper(shown, paper, lines) for paper in config.papers.values()],
        "documents": [title for name, title in titles.items() if name in printed],
        "printed": len(printed),
        "choices": _choices(titles, listed),
        "rungs": RUNGS,
        "errata": proofs.errata_by_kind(),
        "proofs": proofs,
        "certainty": claims.certainty_in_words(certainty),
        "enough": certainty.enough_runs,
        "confidence": words.confidence(config),
        "equivalence": f"{100 * chosen.equivalence:g} %",
        "margin": chosen.margin,
        "root": shown.root,
        "few": FEW,
        "nothing": NOTHING,
    }


@dataclass(frozen=True)
class Shown:
    """Turns rows of claims.csv into lines, with links relative to the page."""

    plan: Plan
    ladder: pd.DataFrame

    @cached_property
    def root(self) -> str:
        """Where the repository is: on a code host, or two folders above the page."""
        return hosted(self.plan.config.root) or "../.."

    @cached_property
    def _steps(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in tables.rows(self.ladder):
            found.setdefault(row["id"], []).append(row)
        return found

    @cached_property
    def _parts(self) -> dict[tuple[str, ...], list[str]]:
        """The files of objectives that a method and variant of a document use when published."""
        published = planning.make(self.plan.config.root, {"scale": "paper"})
        found: dict[tuple[str, ...], list[str]] = {}
        for cell in published.cells:
            if cell.run is None:
                continue
            key = (cell.paper, str(cell.coordinates["method"]), str(cell.coordinates["variant"]))
            if key not in found:
                parts = (part for part in cell.run.components if part[0] in registry.OBJECTIVES)
                found[key] = [place for kind, name in parts if (place := registry.components(kind)[name].place)]
        return found

    def line(self, row: dict[str, Any]) -> Line:
        """A claim with all that is said of it."""
        paper, compares = self.plan.config.papers[row["paper"]], row["kind"] == "comparison"
        measure = MEASURES.get(row["metric"])
        decimals = measure.decimals if measure else 2
        measured = compares and row["answered_by"] == "encoder"
        steps = [_step(row, step, decimals) for step in self._steps.get(row["id"], [])]
        subject = self._subject(paper, row)
        places = [measure.label if measure and row["answered_by"] == "encoder" else "", _where(paper, row, measured)]
        places += [row["source"], claims.ORIGINS[row["origin"]] if row["origin"] != "printed" else ""]
        return Line(
            row=row,
            subject=subject,
            where="; ".join(filter(None, places)),
            printed=claims.published(row, decimals, compares).removeprefix(NOTHING),
            ours=_ours(row, decimals).removeprefix(NOTHING),
            welch=words.interval(row["low_unadjusted"], row["high_unadjusted"], decimals, sign=compares),
            holm=words.interval(row["low"], row["high"], decimals, sign=compares),
            n=f"{int(row['n'])}" if row["answered_by"] == "encoder" and row["n"] > 0 else "",
            says="not measured" if row["rung"] == "nothing" else _says(row, row["answered_by"] == "encoder"),
            discrepancy=_discrepancy(row),
            steps=steps,
            facts=_facts(row, subject, decimals),
            links=self._links(row, [step["scale"] for step in self._steps.get(row["id"], [])]),
        )

    def _subject(self, paper: Paper, row: dict[str, Any]) -> str:
        if row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["artifact"] in paper.measured:
            return forest.subject(paper, row)
        if row["sentence"]:
            return str(row["sentence"])
        named = [paper.label(row["method"]), paper.phrase(row["variant"])]
        return ", ".join(filter(None, named)) or str(row["artifact"])

    def _links(self, row: dict[str, Any], scales: Sequence[str]) -> list[Link]:
        """Proof, study or records of a claim, and the code of what it is about."""
        paper, results = row["paper"], f"../{self.plan.config.results.name}"
        if row["kind"] == "theorem":
            return [*exact_code(self.root, self.plan.config, paper), Link("all draws", f"{results}/theory.csv")]
        if row["study"]:
            tabled = row["study"] != SENTENCES and row["artifact"] in self.plan.config.studied(paper)
            table = [Link("its table", f"{results}/simulations/{paper}/{row['artifact']}.csv")] if tabled else []
            return exact_code(self.root, self.plan.config, paper, row["study"]) + table
        recorded = [Link(f"records, {scale}", self._records(scale)) for scale in dict.fromkeys(scales) if scale]
        parts = self._parts.get((paper, row["method"], row["variant"]), [])
        return recorded + [Link("/".join(place.split("/")[-2:]), f"{self.root}/{place}") for place in parts]

    def _records(self, scale: str) -> str:
        """The records of a scale in the repository, or the claims of one that was finished here."""
        recorded = f"{FOLDER}/{scale}/runs.csv"
        here = (self.plan.config.root / recorded).is_file()
        return f"{self.root}/{recorded}" if here else f"../{scale}/claims.csv"


def _where(paper: Paper, row: dict[str, Any], named: bool) -> str:
    """Dataset and setting in words; empty where the subject has them (``named``)."""
    if named:
        return ""
    point = coordinates.parse(row["setting"], row["id"])
    point = {"dataset": row["dataset"], **point} if row["dataset"] else point
    return words.point(paper, point, point)


def _says(row: dict[str, Any], of_encoders: bool) -> str:
    """The direction of encoders; else the answer. A claim without evidence has only the direction that is printed."""
    direction = str(row["direction"]) if of_encoders else ""
    return DIRECTIONS.get(direction, str(row["answer"]))


def _ours(row: dict[str, Any], decimals: int) -> str:
    """What was found, in a few words: a number, ``6 of 7 places``, or what the draws of a theorem say."""
    if row["kind"] == "theorem":
        if not math.isnan(row["violated"]) and row["violated"]:
            return "counterexample"
        return "no counterexample" if row["rung"] == "proof" else NOTHING
    measured = float(row["measured"] or "nan")
    if math.isnan(measured):
        return NOTHING
    if row["study"] and row["metric"] == "share" and not row["baseline"]:
        return f"{round(measured * row['n'] / 100)} of {int(row['n'])} places"
    return (words.signed if row["kind"] == "comparison" else words.number)(measured, decimals)


def _discrepancy(row: dict[str, Any]) -> str:
    metric = MEASURES.get(row["metric"])
    pair = row["kind"] == "comparison" and row["answered_by"] == "encoder" and row["measured"]
    if not pair or not metric or metric.margin != "accuracy" or row["reported"] in ("", *SIGNS):
        return ""
    printed = 0.0 if row["reported"] == "equal" else float(row["reported"])
    return f"{abs(float(row['measured']) - printed):.2f}"


def _step(row: dict[str, Any], step: dict[str, Any], decimals: int) -> dict[str, str]:
    """A rung of a claim's ladder in words."""
    compares = row["kind"] == "comparison"
    kept = {**row, **{name: step[name] for name in step if name in row}}
    return {
        "rung": RUNGS[step["rung"]],
        "scale": step["scale"],
        "answer": _says(step, row["answered_by"] == "encoder"),
        "ours": _ours(kept, decimals),
        "welch": words.interval(step["low_unadjusted"], step["high_unadjusted"], decimals, sign=compares),
        "holm": words.interval(step["low"], step["high"], decimals, sign=compares),
        "n": f"{int(step['n'])}" if step["n"] > 0 else NOTHING,
        "certainty": step["certainty"],
        "reasons": step["reasons"],
    }


def _facts(row: dict[str, Any], subject: str, decimals: int) -> list[tuple[str, str]]:
    """What a claim's line and its ladder leave out, each with its name."""
    stated = row["kind"] == "theorem"
    printed = words.interval(row["reported_low"], row["reported_high"], decimals)
    found = {
        "Sentence": row["sentence"] if row["sentence"] != subject else "",
        "Checked": claims.checked(row) if stated and row["rung"] != "nothing" else "",
        "Counterexample": claims.counterexample(row["counterexample"]),
        "Printed interval": f"{printed}, by the printed standard deviations" if printed != NOTHING else "",
        "Unlike the published run": row["differs"],
        "Measured on": row["measured_on"] if row["measured_on"] != row["dataset"] and not row["study"] else "",
        "Device": ", ".join(filter(None, (row["device"], row["precision"]))),
        "Mind": row["why"],
        "Reading": row["reading"] if row["reading"] != PRINTED else "",
        "Runs": row["runs"],
    }
    return [(name, str(text)) for name, text in found.items() if text]


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
        key, artifact = name.split("/")
        paper = plan.config.papers[key]
        printed = _printed(paper, artifact)
        command = f"make reproduce SCALE=paper ONLY={name}"
        found.append({"anchor": f"{key}-{artifact}", "title": paper.title, "printed": printed, "claims": number})
        found[-1] |= {"hours": words.number(hours, 1), "command": command}
    return found


def _printed(paper: Paper, artifact: str) -> str:
    declared = paper.artifacts.get(artifact)
    return (declared.printed or declared.title) if declared else artifact.replace("_", " ")


def _paper(shown: Shown, paper: Paper, lines: dict[str, Line]) -> dict[str, Any]:
    """A document's claims by the table, figure or statement that has them."""
    groups: dict[str, list[Line]] = {}
    for line in lines.values():
        if line.row["paper"] == paper.paper:
            groups.setdefault("theorems" if line.row["kind"] == "theorem" else line.row["artifact"], []).append(line)
    listed = []
    for name, members in groups.items():
        printed = "Theorems and identities" if name == "theorems" else _printed(paper, name)
        links = claims_of(shown.root, shown.plan.config, paper.paper)
        if name in paper.artifacts:
            links.append(
                Link(
                    "how it is set up",
                    of_file(shown.root, shown.plan.config, shown.plan.config.paper_file(paper.paper)),
                )
            )
        settle = next((line.row for line in members if line.row["settle"]), None)
        hours = words.number(settle["gpu_hours"], 1) if settle else ""
        listed.append(
            {
                **{"anchor": f"{paper.paper}-{name}", "printed": printed, "links": links, "claims": members},
                **{"settle": settle["settle"] if settle else "", "hours": hours},
            }
        )
    return {"id": paper.paper, "title": paper.title, "groups": listed, "total": sum(map(len, groups.values()))}


def _choices(titles: dict[str, str], listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What each filter offers, of what there is."""
    kinds = {name: claims.KINDS[name].heading for name in KINDS}
    answers = {answer: answer for answer in ANSWERS if answer}
    offered: list[tuple[str, str, str, str, dict[str, str]]] = [
        ("document", "paper", "Document", "All documents", titles),
        ("kind", "answered_by", "Kind", "All kinds", kinds),
        ("rung", "rung", "Evidence", "All evidence", {str(rung): heading for rung, heading in RUNGS.items()}),
        ("answer", "answer", "Answer", "All answers", answers),
        ("certainty", "certainty", "Certainty", "Any certainty", {grade: grade for grade in GRADES}),
        ("origin", "origin", "Origin", "All origins", claims.ORIGINS),
    ]
    found = []
    for name, column, label, every, options in offered:
        present = {row[column] for row in listed}
        kept = [(value, text) for value, text in options.items() if value in present]
        found.append({"name": name, "label": label, "all": every, "options": kept})
    return found


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
