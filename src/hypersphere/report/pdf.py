"""report.pdf: the paper on what is known, set from paper/report.typ and the tables of results/report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import project, rules
from hypersphere.config import questions as ask
from hypersphere.config.artifacts import Paper, Section
from hypersphere.config.claims import load_errata
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.files import read_yaml, write_json
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, confirmed, figures, forest, pages, paper, questions, studies, words
from hypersphere.report.artifact import Context
from hypersphere.report.results import Results
from hypersphere.statistics.known import has_interval, is_level, of_studies
from hypersphere.wording import counted

SOURCE = "paper/report.typ"
MOST = 8
"""Comparisons in a document's own section; the appendix has all."""
OF_PRINTED_NUMBERS = "printed_numbers"
"""The exact study that audits what documents print."""
Claim = dict[str, Any]
"""A row of results/report/claims.csv."""


def build(plan: Plan, folder: Path) -> None:
    """Write ``content.json`` and, from it, ``report.pdf``, beside the tables and the forest in ``folder``."""
    write_json(folder / "content.json", content(plan, folder))
    paper.typeset(plan.config.root, SOURCE, folder / "content.json", folder / "report.pdf")


def content(plan: Plan, folder: Path) -> dict[str, Any]:
    """All numbers, tables and sentences of the paper."""
    config, compared = plan.config, of_studies(plan.config.root)["studies"]
    known = _table(folder, "claims", columns.KNOWN)
    findings = [_finding(folder, row) for row in _table(folder, "findings", columns.FINDINGS)]
    documents = {
        name: one for name, one in config.papers.items() if any(row["paper"] == name for row in _printed(known))
    }
    parts, mended = sections(config, documents, known), _errata(config)
    leads = questions.leads(findings)
    if not leads:
        raise HypersphereError(f"{folder / 'findings.csv'}: no question leads, so the abstract has no findings")
    named = {name: part.short for name, part in parts.items()}
    by_id, failed = {claim["id"]: claim for claim in known}, list[Any]()
    for name, about in documents.items():
        rows = [_statement(claim, mended) for claim in known if claim["paper"] == name and _fails(claim)]
        failed += [about.title, *rows] if rows else []
    return {
        "about": _about(config.root),
        "counts": counts(known) | {"documents": str(len(documents)), "errata": str(len(load_errata(config)))},
        "confidence": words.confidence(config),
        "leads": leads,
        "across": [one for one in findings if one["paper"] not in config.papers and not one["lead"]],
        **_studies(config, findings, compared),
        "forest": {
            "path": paper.address(config.root, folder / "forest.svg"),
            **{"title": "Printed effects and ours", "inches": figures.WIDTH, "alt": forest.caption(config, known)},
        },
        "studies_forest": {
            "path": paper.address(config.root, folder / f"{confirmed.NAME}.svg"),
            **{"title": "Studies of our own", "inches": figures.WIDTH, "alt": confirmed.caption(config, compared)},
        },
        "criteria": _criteria(_table(folder, "criteria", columns.CRITERIA), named),
        "evidence": _evidence(known, named),
        "papers": [
            _section(plan, documents[name], part, known, findings)
            | {"gravest": [_statement(by_id[one], mended) for one in part.gravest]}
            for name, part in parts.items()
        ],
        "failed": failed,
        "audit": _audit(plan, documents, named),
        "contradicted": [
            {"document": named[claim["paper"]], "sentence": paper.quoted(claim["sentence"]), "source": claim["source"]}
            for claim in _printed(known)
            if claim["answer"] == Verdict.CONTRADICTED
        ],
        "ladder": [list(row.values()) for row in claims.certainty_in_words(rules.load_certainty(config.root))],
        "scales": _scales(config.root, known),
    }


def _table(folder: Path, name: str, kinds: tables.Columns) -> list[Claim]:
    return tables.rows(tables.read(folder / f"{name}.csv", kinds))


def _printed(known: Sequence[Claim]) -> list[Claim]:
    """The claims as a document prints them, without corrections, implied differences and those of our own."""
    return [claim for claim in known if claim["origin"] == "printed"]


def _fails(claim: Claim) -> bool:
    """Whether it is a printed statement with a counterexample."""
    return (claim["answered_by"], claim["origin"], claim["answer"]) == ("theorem", "printed", "fails")


def sections(config: Config, documents: Mapping[str, Paper], known: Sequence[Claim]) -> dict[str, Section]:
    """The section of each document; one that declares none is named by its title."""
    failing = {claim["id"] for claim in known if _fails(claim)}
    parts = {name: one.report or Section(short=f"“{one.title}”") for name, one in documents.items()}
    for name, part in parts.items():
        if unknown := [one for one in part.gravest if one not in failing]:
            raise HypersphereError(
                f"{config.paper_file(name)}: report.gravest: {unknown[0]} is no printed statement with a counterexample"
            )
    return parts


def _about(root: Path) -> dict[str, str]:
    """Authors, version, date and address by CITATION.cff. The date is that of the release, so that bytes repeat."""
    given = read_yaml(root / "CITATION.cff") or {}
    people = [one.get("name") or f"{one['given-names']} {one['family-names']}" for one in given.get("authors", [])]
    fields = {"version": "version", "date": "date-released", "address": "repository-code"}
    return {"authors": ", ".join(people)} | {name: str(given.get(key, "")) for name, key in fields.items()}


def _finding(folder: Path, row: Claim) -> dict[str, str]:
    """A question with its sentence, which must be there."""
    if not row["sentence"].strip():
        raise HypersphereError(f"{folder / 'findings.csv'}: {row['id']}: the sentence is missing")
    asked = ("id", "paper", "question", "sentence", "outcome", "certainty", "lead", "about", "leading")
    return {key: paper.quoted(row[key]) for key in asked}


def counts(known: Sequence[Claim]) -> dict[str, str]:
    """How many claims there are of each kind, and what came of them: printed ones, unless the key says otherwise.

    ``compared``, and the directions, are of printed and implied differences with an interval of ours.
    """
    printed = _printed(known)
    compared = [claim for claim in known if _compared(claim) and claim["reported"] != "equal"]
    equal = [claim["answer"] for claim in known if _compared(claim) and claim["reported"] == "equal"]
    corrected = [claim for claim in known if (claim["answered_by"], claim["origin"]) == ("theorem", "corrected")]
    directions = Counter(forest.direction(claim) for claim in compared)
    names = {"same": "same", "opposite": "opposite", "no_effect": "no effect", "undecided": "unclear"}
    found = {"claims": len(printed), "compared": len(compared), **_by_answer(printed)}
    found |= {key: directions[name] for key, name in names.items()}
    found |= {"equal": len(equal), "equal_hold": equal.count("holds"), "equal_fail": equal.count("fails")}
    found |= {"corrected": len(corrected), "corrected_hold": sum(claim["answer"] == "holds" for claim in corrected)}
    found["published"] = sum(claim["rung"] == "published" for claim in printed)
    found["of_later_protocols"] = sum(claim["rung"] != "first_protocol" for claim in compared)
    return {key: _number(number) for key, number in found.items()}


def _number(count: int) -> str:
    """A count in a sentence: ``none`` or ``1,123``."""
    return f"{count:,}" if count else "none"


def _by_answer(shown: Sequence[Claim]) -> dict[str, int]:
    """The number of claims by what answers them and what the answer is."""
    found = Counter((claim["answered_by"], claim["answer"]) for claim in shown)
    asked = Counter(claim["answered_by"] for claim in shown)
    measured = [claim for claim in shown if claim["answered_by"] == "encoder" and claim["rung"] != "nothing"]
    clear = sum(claim["answer"] != "cannot tell" for claim in measured)
    study_fails = found["study", "fails"] + found["study", "opposite"]
    return {
        **{"statements": asked["theorem"], "statements_hold": found["theorem", "holds"]},
        **{"statements_fail": found["theorem", "fails"]},
        **{"studied": asked["study"], "studied_hold": found["study", "holds"], "studied_fail": study_fails},
        "studied_open": asked["study"] - found["study", "holds"] - study_fails,
        **{"encoders": asked["encoder"], "measured": len(measured), "nothing": asked["encoder"] - len(measured)},
        **{"clear": clear, "unclear": len(measured) - clear},
        **{"sentences": asked["sentence"], "borne": found["sentence", Verdict.BORNE]},
        "contradicted": found["sentence", Verdict.CONTRADICTED],
    }


EVIDENCE = (
    *("statements_hold", "statements_fail", "studied_hold", "studied_fail", "studied_open"),
    *("clear", "unclear", "nothing", "borne", "contradicted"),
)


def _evidence(known: Sequence[Claim], named: Mapping[str, str]) -> list[list[str]]:
    """Printed claims by document and kind of evidence, and a last row for all."""
    rows = [(short, [one for one in _printed(known) if one["paper"] == name]) for name, short in named.items()]
    found = [(short, shown, _by_answer(shown)) for short, shown in (*rows, ("all", _printed(known)))]
    return [[short, f"{len(shown):,}", *(f"{numbers[key]:,}" for key in EVIDENCE)] for short, shown, numbers in found]


def _criteria(rows: Sequence[Claim], named: Mapping[str, str]) -> list[list[str]]:
    """Each criterion as ``12 of 26``, by document and rung; a last row for all."""
    keys = ("compared", "same_sign", "clear", "printed_inside", "ours_inside", "with_interval")
    total = {key: sum(row[key] for row in rows) for key in keys}
    several = len({row["rung"] for row in rows}) > 1
    labels = [named[row["paper"]] + (f", {RUNGS[row['rung']]}" if several else "") for row in rows]
    listed = []
    for label, row in zip([*labels, "all"], [*rows, total], strict=True):
        of = {key: "with_interval" if key == "ours_inside" else "compared" for key in keys[1:5]}
        cells = [f"{row[key]:.0f} of {row[whole]:.0f}" if row[whole] else "–" for key, whole in of.items()]
        listed.append([label, f"{row['compared']:.0f}", *cells])
    return listed


# Sections


def _section(
    plan: Plan, about: Paper, part: Section, known: Sequence[Claim], findings: Sequence[Any]
) -> dict[str, Any]:
    own = [claim for claim in known if claim["paper"] == about.paper]
    asked = [one for one in findings if one["paper"] == about.paper]
    compared = [claim for claim in own if _compared(claim)]
    named = dict.fromkeys(name for one in asked for name in (one["leading"], *one["about"].split()))
    place = {name: at for at, name in enumerate(named)}
    first = sorted(compared, key=lambda claim: (claim["answer"] == "cannot tell", place.get(claim["id"], len(place))))
    once = sum(claim["answered_by"] == "encoder" and claim["n"] == 1 and claim["kind"] == "comparison" for claim in own)
    return {
        "id": about.paper,
        "title": about.title,
        "short": part.short,
        "counts": {key: _number(number) for key, number in _by_answer(_printed(own)).items()},
        "questions": asked,
        "figure": _figure(plan, about, part.figure),
        "effects": [_effect(about, claim) for claim in first[:MOST]],
        "all_effects": [_effect(about, claim) for claim in compared],
        "compared": str(len(compared)),
        "once": counted(once, "comparison") if once else "",
    }


def _compared(claim: Claim) -> bool:
    """Whether it is shown with its interval; people see no claims of our own."""
    return has_interval(claim) and claim["origin"] in ("printed", "implied")


def _effect(about: Paper, claim: Claim) -> dict[str, str]:
    """One comparison: the printed difference and ours, with both intervals."""
    decimals = MEASURES[claim["metric"]].decimals
    welch, holm = (words.interval(claim[f"low{end}"], claim[f"high{end}"], decimals) for end in ("_unadjusted", ""))
    return {
        "subject": forest.subject(about, claim),
        "on": "" if claim["origin"] == "printed" else "implied",
        "printed": claims.published(claim, decimals, compares=True),
        "ours": words.signed(float(claim["measured"]), decimals),
        **{"welch": welch, "holm": holm, "n": f"{claim['n']:.0f}", "direction": forest.direction(claim)},
        "why": "(level)" if is_level(claim) else "",
        "certainty": claim["certainty"],
    }


def _figure(plan: Plan, about: Paper, name: str | None) -> dict[str, Any] | None:
    """The exact figure of a section, if its study was run and it was drawn."""
    results = Results(plan)
    if name is None or not (file := pages.drawing(plan.config, about.paper, name)).is_file():
        return None
    if not results.simulated(about.paper, name).is_file():
        return None
    made: studies.Drawing = studies.made(Context(results, about, name))
    declared = about.artifacts[name]
    return {
        "title": made.finding or declared.title,
        "original": declared.printed or "",
        "notes": [made.note],
        **{"alt": made.note, "inches": made.size[0], "path": paper.address(plan.config.root, file)},
    }


def _errata(config: Config) -> dict[str, str]:
    """By statement, the errata that name it among their tests: ``M2: the right-hand side (and Eq. 5)``."""
    found: dict[str, list[str]] = {}
    for entry in load_errata(config):
        for name in entry.tests:
            found.setdefault(name, []).append(f"{entry.id}: {entry.chosen}")
    return {name: "; ".join(texts) for name, texts in found.items()}


def _statement(claim: Claim, mended: Mapping[str, str]) -> dict[str, str]:
    return {
        "statement": paper.quoted(claim["sentence"]),
        "source": claim["source"],
        "counterexample": claims.counterexample(claim["counterexample"]),
        "erratum": mended.get(claim["id"], ""),
    }


def _studies(config: Config, findings: Sequence[Any], compared: pd.DataFrame) -> dict[str, Any]:
    """Our own studies: those with confirmation runs, each with answer and tables, and the questions of the others."""
    answers = {(one["paper"], one["id"]): one for one in findings}
    limits = ask.limits(config)
    shown, planned = list[Any](), list[str]()
    for name, about in config.papers.items():
        for study, plan in about.studies.items():
            groups = [
                {"title": title, "rows": rows} for title, rows in confirmed.comparisons(config, name, study, compared)
            ]
            heads, rows = confirmed.checks(config, name, study, compared)
            if groups:
                shown.append(
                    {
                        **answers.get((name, study), {"question": plan.question, "sentence": "", "certainty": ""}),
                        **{"groups": groups, "head": confirmed.head(config, name, study)},
                        **{"measure": words.measure(plan.measure), "tuned": bool(plan.tuned)},
                        **{"checks": rows, "checks_head": heads, "limits": limits.get(study, [])},
                    }
                )
            else:
                planned.append(plan.question)
    return {"studies": shown, "planned": planned}


# The audit and the method


def _audit(plan: Plan, documents: Mapping[str, Paper], named: Mapping[str, str]) -> list[dict[str, str]]:
    """What exact studies say of the printed numbers: their figures' findings."""
    results, found = Results(plan), []
    for about in documents.values():
        for name, declared in about.studied.items():
            asked = declared.study == OF_PRINTED_NUMBERS and declared.draw == "study_figure"
            if asked and results.simulated(about.paper, name).is_file():
                finding = studies.made(Context(results, about, name)).finding
                found += [{"document": named[about.paper], "text": finding}] if finding else []
    return found


def _scales(root: Path, known: Sequence[Claim]) -> list[dict[str, str]]:
    """The scales that the evidence is of, with their devices; and why a protocol was left."""
    found = []
    for name in dict.fromkeys(claim["scale"] for claim in known if claim["scale"]):
        scale = project.load(root, {"scale": name}).scale
        own = [claim for claim in known if claim["scale"] == name]
        about = {
            key: words.distinct(one for claim in own for one in claim[key].split("; "))
            for key in ("device", "precision")
        }
        found.append(
            {"name": name, "describe": scale.describe, "superseded": scale.superseded or "", "count": str(len(own))}
            | about
        )
    return found
