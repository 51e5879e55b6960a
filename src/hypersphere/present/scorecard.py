"""scorecard.html: every claim, its verdict and the runs behind it, on one page that needs no network."""

import base64
from pathlib import Path
from typing import Any

import jinja2

from hypersphere.declared import errata, rules
from hypersphere.declared.artifacts import Paper
from hypersphere.declared.config import Config
from hypersphere.declared.plan import Plan
from hypersphere.files import write_json, write_text
from hypersphere.nouns import counted
from hypersphere.present import claims, numbers, pages, words, writer
from hypersphere.present.results import Results, settles
from hypersphere.present.shown import Grid, Line, Shown

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
    results = Results(plan)
    page = environment.get_template("scorecard.html").render(context(results))
    write_text(plan.config.results / "scorecard.html", page.rstrip() + "\n")
    write_json(plan.config.results / "scorecard.json", numbers.numbers(results))


def context(results: Results) -> dict[str, Any]:
    """The values of the template."""
    config, entries = results.config, claims.entries(results)
    ledger = pages.ledger(config)
    return {
        "scale": {
            "name": config.scale_name,
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
        "origins": claims.ORIGINS,
        "counts": claims.by_kind(entries),
        "papers": [_paper(results, paper, entries) for paper in config.papers.values()],
        "errata": ledger,
        "errata_ids": [entry["id"] for group in ledger for entry in group["entries"]],
        "kinds": errata.KINDS,
        "runs": _runs(results),
    }


def _rules(config: Config) -> dict[str, str]:
    chosen = rules.load(config.root)
    return {
        "equivalence": f"{100 * chosen.equivalence:g} %",
        "high": f"{chosen.margin.high:g}",
        "at_least_high": f"{chosen.margin.at_least_high:g}",
        "below_high": f"{chosen.margin.below_high:g}",
        "relative": f"{100 * chosen.margin.relative:g} %",
    }


def _paper(results: Results, paper: Paper, entries: list[claims.Entry]) -> dict[str, Any]:
    measured, studied, stated = claims.apart([claim for claim in entries if claim.paper == paper.paper])
    document = pages.document(results, paper.paper)
    names = [artifact.id for artifact in document.measured]
    return {
        "id": paper.paper,
        "title": paper.title,
        "protocols": pages.protocols(results, paper.paper, names),
        "groups": _groups(paper, measured),
        "studied": _groups(paper, studied),
        "theorems": stated,
        "measured_shown": [_shown(results.config, paper, artifact) for artifact in document.measured],
        "studied_shown": [_shown(results.config, paper, artifact) for artifact in document.studied],
        "controls": [control for artifact in document.measured for control in _controls(artifact)],
        "effects": pages.effects(results, paper.paper, names),
        "missing": document.missing,
        "choices": [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()],
    }


def _groups(paper: Paper, shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Claims, grouped by the artifact that prints them or the sentence that makes them."""
    groups: dict[tuple[str, str, str], list[claims.Entry]] = {}
    for claim in shown:
        sentence = "" if claim.study else claim.sentence  # each claim of a study shows its own sentence
        groups.setdefault((claim.artifact, "" if claim.study else claim.kind, sentence), []).append(claim)
    listed = []
    for (name, kind, sentence), members in groups.items():
        artifact = paper.artifacts.get(name)
        printed = (artifact.printed or artifact.title) if artifact else name
        idle = all(claim.verdict == words.NOT_RUN for claim in members)
        listed.append({"printed": printed, "kind": kind, "sentence": sentence, "claims": members, "idle": idle})
    return listed


def _shown(config: Config, paper: Paper, artifact: Shown) -> dict[str, Any]:
    """A table with the alignment of its columns, or a figure with its drawing."""
    page: dict[str, Any] = {**artifact._asdict(), "table": _table(artifact.grid) if artifact.grid else None, "data": ""}
    if artifact.grid is None:
        drawn = pages.drawing(config, paper.paper, artifact.id).read_bytes()
        page["data"] = base64.b64encode(drawn).decode("ascii")
    return page


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


def _runs(results: Results) -> list[dict[str, str]]:
    """Every run, without its duration, which differs between machines and days."""
    shown = ("run", "status", "epochs", "device", "threads", "torch", "code", "data")
    rows = results.runs.sort_values("run", kind="stable").to_dict("records")
    return [{key: words.number(row[key], 0) if key == "epochs" else str(row[key]) for key in shown} for row in rows]
