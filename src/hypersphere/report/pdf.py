"""report.pdf: the paper on what is known, set from paper/report.typ and the tables of results/report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import citation, project, rules
from hypersphere.config.artifacts import Paper, Section
from hypersphere.config.claims import load_errata
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Answer
from hypersphere.errors import HypersphereError
from hypersphere.files import write_json
from hypersphere.report import claims, confirmed, figures, forest, paper, questions, studies, style, words
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import Known, Results, Row
from hypersphere.statistics.known import has_interval

SOURCE = "paper/report.typ"
MOST = 8
"""Comparisons in a document's own section; the appendix has all."""
ABOUT = ("version", "date", "address")
"""What the paper says of itself, by CITATION.cff. The date is that of the release, so that bytes repeat."""
ASKED = ("id", "paper", "question", "sentence", "certainty", "lead", "about", "leading")
OF_EFFECTS = {
    "agree": Answer.HOLDS,
    "sign_only": Answer.DIRECTION_ONLY,
    "less": Answer.FAILS,
    "opposite": Answer.OPPOSITE,
    "undecided": Answer.CANNOT_TELL,
}
"""The answers of differences, by what the paper calls their counts."""
EVIDENCE = (
    *("statements_hold", "statements_fail", "studied_hold", "studied_fail", "studied_open"),
    *("clear", "unclear", "nothing", "borne", "contradicted"),
)
CRITERIA = {
    **{"same_sign": "compared", "clear": "compared", "printed_inside": "compared"},
    "ours_inside": "with_interval",
}
"""The criteria of replication, each with what it is counted of."""


def build(plan: Plan, shown: Known, folder: Path) -> None:
    """Write figures of exact studies, ``content.json`` and ``report.pdf``, beside the tables and forests."""
    write_json(folder / "content.json", content(plan, shown, folder))
    paper.typeset(plan.config.root, SOURCE, folder / "content.json", folder / "report.pdf")


def content(plan: Plan, shown: Known, folder: Path) -> dict[str, Any]:
    config, known, compared = plan.config, shown.claims, shown.studies["studies"]
    asked = []
    for row in shown.findings:
        if not row["sentence"].strip():
            raise HypersphereError(f"{folder / 'findings.csv'}: {row['id']}: the sentence is missing")
        asked.append({key: paper.quoted(row[key]) for key in ASKED})
    leads = questions.leads(asked)
    if not leads:
        raise HypersphereError(f"{folder / 'findings.csv'}: no question leads, so the abstract has no findings")
    printed = [claim for claim in known if claim["origin"] == "printed"]
    errata = load_errata(config)
    statements = {
        claim["id"]: {
            "statement": paper.quoted(claim["sentence"]),
            "source": claim["source"],
            "counterexample": claims.counterexample(claim["counterexample"]),
            "erratum": "; ".join(f"{one.id}: {one.chosen}" for one in errata if claim["id"] in one.tests),
        }
        for claim in printed
        if (claim["answered_by"], claim["answer"]) == ("theorem", Answer.FAILS)
    }
    papers, failed, audit = list[Any](), list[Any](), list[dict[str, str]]()
    named, evidence = dict[str, str](), list[list[str]]()
    for name, about in config.papers.items():
        own = [claim for claim in printed if claim["paper"] == name]
        if not own:
            continue
        part = about.report or Section(short=f"“{about.title}”")
        named[name] = part.short
        if unknown := [one for one in part.gravest if one not in statements]:
            raise HypersphereError(
                f"{config.paper_file(name)}: report.gravest: {unknown[0]} is no printed statement with a counterexample"
            )
        gravest = [statements[one] for one in part.gravest]
        figure = _figure(plan, about, folder) if name in config.report_figures else None
        papers.append(_section(about, part, known, asked) | {"gravest": gravest, "figure": figure})
        rows = [statements[claim["id"]] for claim in own if claim["id"] in statements]
        failed += [about.title, *rows] if rows else []
        for artifact, declared in about.studied.items():
            if declared.study == "printed_numbers" and declared.draw == "study_figure":
                drawing = _drawing(plan, about, artifact)
                audit += [{"document": part.short, "text": drawing.finding}] if drawing and drawing.finding else []
    for name, short in {**named, "": "all"}.items():
        own = [claim for claim in printed if name in ("", claim["paper"])]
        numbers = _by_answer(own)
        evidence.append([short, f"{len(own):,}", *(f"{numbers[key]:,}" for key in EVIDENCE)])
    cited = citation.read(config.root)
    authors = "" if cited is None else ", ".join(map(str, cited.authors))
    facts = (None, None, None) if cited is None else (cited.version, cited.date_released, cited.repository)
    return {
        "about": {"authors": authors} | {name: str(fact or "") for name, fact in zip(ABOUT, facts, strict=True)},
        "counts": counts(known) | {"documents": str(len(papers)), "errata": str(len(errata))},
        "confidence": words.confidence(config),
        "leads": leads,
        "across": [one for one in asked if one["paper"] not in config.papers and not one["lead"]],
        **_studies(config, asked, compared),
        "forest": {
            "path": paper.address(config.root, folder / "forest.svg"),
            **{"title": "Printed effects and ours", "inches": figures.WIDTH, "alt": forest.caption(known)},
        },
        "studies_forest": {
            "path": paper.address(config.root, folder / f"{confirmed.NAME}.svg"),
            **{"title": "Studies of our own", "inches": figures.WIDTH, "alt": confirmed.CAPTION},
        },
        "criteria": _criteria(shown.criteria, named),
        "evidence": evidence,
        "papers": papers,
        "failed": failed,
        "audit": audit,
        "contradicted": [
            {"document": named[claim["paper"]], "sentence": paper.quoted(claim["sentence"]), "source": claim["source"]}
            for claim in printed
            if claim["answer"] == Answer.CONTRADICTED
        ],
        "ladder": [list(row.values()) for row in claims.certainty_in_words(rules.load_certainty(config.root))],
        "scales": _scales(config, known),
    }


# Counts


def counts(known: Sequence[Row]) -> dict[str, str]:
    """How many claims there are of each kind, and what came of them: printed ones, unless the key says otherwise.

    ``compared``, and the results, are of printed and implied differences with an interval of ours.
    """
    printed = [claim for claim in known if claim["origin"] == "printed"]
    compared = [claim for claim in known if _compared(claim) and claim["reported"] != "equal"]
    equal = [claim["answer"] for claim in known if _compared(claim) and claim["reported"] == "equal"]
    corrected = [one["answer"] for one in known if (one["origin"], one["answered_by"]) == ("corrected", "theorem")]
    answers = Counter(forest.answer(claim) for claim in compared)
    found = {"claims": len(printed), "compared": len(compared), **_by_answer(printed)}
    found |= {key: answers[answer] for key, answer in OF_EFFECTS.items()}
    found["drawn"] = sum(forest.drawn(claim) for claim in known)
    found |= {"equal": len(equal), "equal_hold": equal.count(Answer.HOLDS), "equal_fail": equal.count(Answer.FAILS)}
    found |= {"corrected": len(corrected), "corrected_hold": corrected.count(Answer.HOLDS)}
    found["published"] = sum(claim["rung"] == "published" for claim in printed)
    return {key: _in_a_sentence(number) for key, number in found.items()}


def _in_a_sentence(count: int) -> str:
    """``none`` or ``1,123``."""
    return f"{count:,}" if count else "none"


def _by_answer(shown: Sequence[Row]) -> dict[str, int]:
    """The number of claims by what answers them and what the answer is; empty: there is no evidence."""
    found = Counter((claim["answered_by"], Answer.of(claim["answer"])) for claim in shown)
    results = Counter((claim["answered_by"], Answer.of(claim["answer"]).result) for claim in shown)
    asked = Counter(claim["answered_by"] for claim in shown)
    values = sum(_measured_value(claim) for claim in shown)
    nothing, unclear = found["encoder", Answer.NOT_TESTED], found["encoder", Answer.CANNOT_TELL]
    agree, fail = results["study", "agrees"], results["study", "disagrees"]
    return {
        **{"statements": asked["theorem"], "statements_hold": found["theorem", Answer.HOLDS]},
        **{"statements_fail": found["theorem", Answer.FAILS]},
        **{"studied": asked["study"], "studied_hold": agree, "studied_fail": fail},
        "studied_open": asked["study"] - agree - fail,
        **{"encoders": asked["encoder"], "measured": asked["encoder"] - nothing, "nothing": nothing},
        **{"clear": asked["encoder"] - nothing - unclear, "unclear": unclear, "values": values},
        "comparisons": asked["encoder"] - nothing - values,
        **{"sentences": asked["sentence"], "borne": found["sentence", Answer.BORNE]},
        "contradicted": found["sentence", Answer.CONTRADICTED],
    }


def _measured_value(claim: Row) -> bool:
    """Whether a number of encoders was measured. Below the published scale it is not compared with the printed one."""
    return (claim["answered_by"], claim["kind"]) == ("encoder", "value") and claim["rung"] != "nothing"


def _criteria(rows: Sequence[Row], named: Mapping[str, str]) -> list[list[str]]:
    """Each criterion as ``12 of 26``, by document and rung; a last row for all."""
    total = {key: sum(row[key] for row in rows) for key in (*CRITERIA, *CRITERIA.values())}
    labels = [f"{named[row['paper']]}, {RUNGS[row['rung']]}" for row in rows]
    listed = []
    for label, row in zip([*labels, "all"], [*rows, total], strict=True):
        cells = [f"{row[key]:.0f} of {row[whole]:.0f}" if row[whole] else "–" for key, whole in CRITERIA.items()]
        listed.append([label, f"{row['compared']:.0f}", *cells])
    return listed


# Sections


def _section(about: Paper, part: Section, known: Sequence[Row], findings: Sequence[dict[str, str]]) -> dict[str, Any]:
    """A document with its questions and its comparisons."""
    own = [claim for claim in known if claim["paper"] == about.paper]
    asked = [one for one in findings if one["paper"] == about.paper]
    compared = [claim for claim in own if _compared(claim)]
    effects = {
        claim["id"]: forest.listed(about, claim) | {"id": claim["id"], "certainty": claim["certainty"]}
        for claim in compared
    }
    place = [name for one in asked for name in (one["leading"], *one["about"].split())] + list(effects)
    first = sorted(compared, key=lambda claim: (claim["answer"] == Answer.CANNOT_TELL, place.index(claim["id"])))
    numbers = _by_answer([claim for claim in own if claim["origin"] == "printed"])
    return {
        "id": about.paper,
        "title": about.title,
        "short": part.short,
        "counts": {key: _in_a_sentence(number) for key, number in numbers.items()},
        "questions": asked,
        "effects": [effects[claim["id"]] for claim in first[:MOST]],
        "all_effects": list(effects.values()),
    }


def _compared(claim: Row) -> bool:
    """Whether it is shown with its interval; people see no claims of our own."""
    return has_interval(claim) and claim["origin"] in ("printed", "implied")


def _figure(plan: Plan, about: Paper, folder: Path) -> dict[str, Any] | None:
    """Draw the figure of a document's exact study, if that was run, and say what it shows.

    It is drawn for the report alone: whether a scale has drawn it too must not change the report.
    """
    name = plan.config.report_figures[about.paper]
    made = _drawing(plan, about, name)
    if made is None:
        return None
    declared, context = about.studied[name], Context(Results(plan, shared=True), about, name)
    path = folder / "figures" / about.paper / f"{name}.svg"
    with style.applied():
        figures.save(study_figure.draw(context), [path], "")
    figure: dict[str, Any] = {"title": made.finding or declared.title, "original": declared.printed or ""}
    figure |= {"notes": [made.note], "alt": made.note, "inches": made.size[0]}
    return figure | {"path": paper.address(plan.config.root, path)}


def _drawing(plan: Plan, about: Paper, name: str) -> studies.Drawing | None:
    """The figure of an exact study, if that was run."""
    results = Results(plan, shared=True)
    ran = results.simulated(about.paper, name).is_file()
    return studies.made(Context(results, about, name)) if ran else None


def _studies(config: Config, findings: Sequence[dict[str, str]], compared: pd.DataFrame) -> dict[str, Any]:
    """Our own studies: those with confirmation runs, each with answer and tables, and the questions of the others."""
    answers = {(one["paper"], one["id"]): one for one in findings}
    shown, planned = list[Any](), list[str]()
    for one in confirmed.studied(config, compared):
        question, tables, (head, *rows) = one["plan"].question, one["comparisons"], one["checks"]
        if not tables:
            planned.append(question)
            continue
        answer = answers.get(
            (one["paper"], one["name"]), {"question": question, "sentence": one["closed"], "certainty": ""}
        )
        groups = [{"title": title, "rows": table[1:]} for title, table in tables]
        about = {"measure": one["measure"], "tuned": bool(one["plan"].tuned), "limits": one["limits"]}
        shown.append(answer | about | {"head": tables[0][1][0], "groups": groups, "checks_head": head, "checks": rows})
    return {"studies": shown, "planned": planned}


def _scales(config: Config, known: Sequence[Row]) -> list[dict[str, str]]:
    """The scales that the evidence is of, with their devices."""
    found = []
    for name in dict.fromkeys(claim["scale"] for claim in known if claim["scale"]):
        scale, own = project.load(config.root, {"scale": name}).scale, [one for one in known if one["scale"] == name]
        about = {"name": name, "describe": scale.describe}
        for key in ("device", "precision"):
            about[key] = words.distinct(value for one in own for value in one[key].split("; "))
        found.append(about)
    return found
