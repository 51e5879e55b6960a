"""scorecard.html: every claim, its verdict and the proof behind it, on one page that needs no network."""

from pathlib import Path
from typing import Any

import jinja2

from hypersphere.config import rules
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.files import write_json, write_text
from hypersphere.report import claims, embedded, findings, numbers, pages, words, writer
from hypersphere.report.proofs import Proofs, by_kind
from hypersphere.report.results import Results, settles
from hypersphere.report.shown import Grid, Line, Shown
from hypersphere.wording import counted

TEMPLATES = Path(__file__).parent / "templates"


def build(plan: Plan) -> None:
    """Write ``results/<scale>/scorecard.html`` and ``scorecard.json`` from all results that exist.

    Raises:
        HypersphereError: claims.csv is missing, or a results file is not as expected.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    results = Results(plan)
    page = environment.get_template("scorecard.html").render(context(results))
    write_text(plan.config.results / "scorecard.html", page.rstrip() + "\n")
    write_json(plan.config.results / "scorecard.json", numbers.numbers(results))


def context(results: Results) -> dict[str, Any]:
    """The values of the template."""
    config, entries = results.config, claims.entries(results)
    proofs = Proofs(results.plan, pages.ledger(config), frozenset(claim.id for claim in entries))
    papers = [_paper(results, paper, entries, proofs) for paper in config.papers.values()]
    origins = [origin for origin in claims.ORIGINS if any(claim.origin == origin for claim in entries)]
    present = {claim.verdict for claim in entries}
    return {
        "scale": {
            "name": config.scale_name,
            "folder": config.results.name,
            "level": config.scale.level,
            "describe": config.scale.describe,
            "notice": words.notice(config),
            "settles": settles(config),
            "seeds": words.seeds_of_scale(results.plan),
            "device": words.distinct(results.runs["device"]),
            "torch": words.distinct(results.runs["torch"]),
        },
        "confidence": words.confidence(config),
        "rules": _rules(config),
        "told": findings.sentences(config, entries),
        "matrices": [findings.matrix(config, entries, origin) for origin in origins],
        "exact_matrices": [findings.matrix(config, entries, origin, exact=True) for origin in origins],
        "origins": claims.ORIGINS,
        "kinds": findings.KINDS,
        "outcomes": [one for one in findings.OUTCOMES.values() if present & set(one.verdicts)],
        "outcomes_all": findings.OUTCOMES,
        "verdicts": [verdict for verdict in claims.ORDER if verdict in present],
        "signs": findings.MARKS,
        "papers": papers,
        "anchors": {f"{paper['id']}-{name}" for paper in papers for name in paper["anchors"]},
        "proofs": proofs,
        "kind_of": claims.kind_of,
        "outcome_of": findings.outcome_of,
        "said": _said,
        "beside": lambda claim: claim.published != NOTHING and _comparable(config, claim),
        "published_in_words": lambda claim: _in_words(config, claim),
        "errata": by_kind(proofs),
        "runs": len(results.runs),
    }


NOTHING = "–"
"""The published number of a claim that prints none."""


def _comparable(config: Config, claim: claims.Entry) -> bool:
    """Whether ours may stand beside the published number: both are of the same setting."""
    return claims.kind_of(claim) != "encoder" or settles(config)


def _in_words(config: Config, claim: claims.Entry) -> str:
    return f"published: {claim.published}" if claim.published != NOTHING and not _comparable(config, claim) else ""


def _said(claim: claims.Entry) -> list[tuple[str, str]]:
    """What a claim's line leaves out, each with its name. That a reading is as printed goes without saying."""
    found = {
        "Checked": claim.ours if claim.kind == "theorem" else "",
        "Counterexample": claim.counterexample,
        "Sentence": claim.sentence if claim.sentence != claim.subject else "",
        "Interval": claim.interval if claim.interval != NOTHING else "",
        "Other margins": claim.sensitivity,
        "Direction": f"direction: {claim.direction}" if claim.direction else "",
        "Why not" if claim.verdict == words.NOT_RUN else "Mind": claim.why,
        "Reading": claim.reading if claim.reading != PRINTED else "",
        "Not stated": claim.unstated if claim.verdict != words.NOT_RUN else "",
    }
    return [(name, text) for name, text in found.items() if text]


def _rules(config: Config) -> dict[str, str]:
    chosen = rules.load(config.root)
    return {
        "equivalence": f"{100 * chosen.equivalence:g} %",
        "high": f"{chosen.margin.high:g}",
        "at_least_high": f"{chosen.margin.at_least_high:g}",
        "below_high": f"{chosen.margin.below_high:g}",
        "relative": f"{100 * chosen.margin.relative:g} %",
    }


def _paper(results: Results, paper: Paper, entries: list[claims.Entry], proofs: Proofs) -> dict[str, Any]:
    of_paper = [claim for claim in entries if claim.paper == paper.paper]
    document = pages.document(results, paper.paper)
    names = [artifact.id for artifact in document.measured]
    idle = [claim for claim in of_paper if claim.verdict == words.NOT_RUN]
    claimed = {claim.artifact for claim in of_paper}
    shown = [
        _shown(results.config, paper, artifact, proofs, artifact.id in claimed)
        for artifact in (*document.studied, *document.measured)
    ]
    tested, untested = pages.effects(results, paper.paper, names)
    return {
        "id": paper.paper,
        "title": paper.title,
        "protocols": pages.protocols(results, paper.paper, names),
        "examples": findings.examples(entries, paper.paper),
        "squares": _groups(paper, [claim for claim in of_paper if claim.origin == "printed"]),
        "settled": _groups(paper, [claim for claim in of_paper if claim.verdict != words.NOT_RUN]),
        "idle": _groups(paper, idle),
        "idle_count": len(idle),
        "artifacts": [(f"{paper.paper}/{one['artifact']}", one["printed"]) for one in _groups(paper, of_paper)],
        "shown": [one for one in shown if not one["stops"]],
        "movable": [one for one in shown if one["stops"]],
        "controls": [control for artifact in document.measured for control in _controls(artifact)],
        "effects": tested,
        "untested": untested,
        "missing": document.missing,
        "anchors": [one.id for one in (*document.studied, *document.measured)] + [one.id for one in document.missing],
        "choices": [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()],
    }


STATED = "theorems"
"""The group of all theorems and identities of a document: none of them is an artifact."""


def _groups(paper: Paper, shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Claims by the artifact that prints them, in the order of claims.csv."""
    groups: dict[str, list[claims.Entry]] = {}
    for claim in shown:
        groups.setdefault(STATED if claim.kind == "theorem" else claim.artifact, []).append(claim)
    return [
        {"artifact": name, "anchor": f"{paper.paper}-{name}", **_named(paper, name), "claims": members}
        for name, members in groups.items()
    ]


def _named(paper: Paper, name: str) -> dict[str, str]:
    """``Table 5`` and its title."""
    artifact = paper.artifacts.get(name)
    if artifact is None:
        return {"printed": "Theorems and identities" if name == STATED else name, "title": ""}
    return {"printed": artifact.printed or artifact.title, "title": artifact.title if artifact.printed else ""}


def _shown(config: Config, paper: Paper, artifact: Shown, proofs: Proofs, claimed: bool) -> dict[str, Any]:
    """A table with the alignment of its columns, or a figure with its drawing, and their files."""
    drawn = artifact.grid is None
    long = f"{words.scale_line(config)} {words.notice(config)}"  # stands at the top of the page
    return {
        **artifact._asdict(),
        "notes": [
            f"Scale {config.scale_name}. {words.short_notice(config)}" if note == long else note
            for note in artifact.notes
        ],
        "table": _table(artifact.grid) if artifact.grid else None,
        "data": embedded.data(pages.drawing(config, paper.paper, artifact.id)) if drawn else "",
        "links": proofs.artifact(paper, artifact.id, drawn),
        "answers": findings.address(artifact=f"{paper.paper}/{artifact.id}") if claimed else "",
    }


def _table(grid: Grid) -> dict[str, Any]:
    """The alignment of each column and heading; headings over several columns are centred (``group``)."""
    sides = ["num" if side == "r" else "" for side in writer.alignment(grid)[len(grid.corner) :]]
    head = []
    for depth, heads in enumerate(grid.head):
        last, column, row = depth == len(grid.head) - 1, 0, []
        for heading in heads:
            row.append({**heading._asdict(), "side": sides[column] if last and heading.span == 1 else "group"})
            column += heading.span
        head.append(row)
    return {"head": head, "corner": grid.corner, "lines": grid.lines, "sides": sides}


def _controls(artifact: Shown) -> list[dict[str, Any]]:
    """The controls of a table, as a table of their own."""
    lines: list[Line] = [line for line in artifact.grid.lines if line.control] if artifact.grid else []
    if not lines or artifact.grid is None:
        return []
    return [{"id": artifact.id, "title": artifact.title, "table": _table(artifact.grid._replace(lines=tuple(lines)))}]
