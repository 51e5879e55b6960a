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
from hypersphere.present import claims, numbers, pages, words, writer
from hypersphere.present.results import Results, settles
from hypersphere.present.shown import Grid, Line, Shown

TEMPLATES = Path(__file__).parent / "templates"


def build(plan: Plan) -> None:
    """Write ``results/<scale>/scorecard.html`` and ``scorecard.json`` of whatever has been made.

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
    results = Results(plan)
    page = environment.get_template("scorecard.html").render(context(results))
    write_text(plan.config.results / "scorecard.html", page.rstrip() + "\n")
    write_json(plan.config.results / "scorecard.json", numbers.numbers(results))


def context(results: Results) -> dict[str, Any]:
    """Everything that the template shows."""
    config, every = results.config, claims.entries(results)
    measured, studied, stated = claims.apart(every)
    ledger = pages.ledger(config)
    return {
        "scale": {
            "name": config.scale_name,
            "level": config.scale.level,
            "describe": config.scale.describe,
            "notice": words.notice(config),
            "settles": settles(config),
            "seeds": words.seeds_of_scale(config),
            "device": words.distinct(results.runs["device"]),
            "torch": words.distinct(results.runs["torch"]),
        },
        "confidence": words.confidence(config),
        "rules": _rules(config),
        "origins": claims.ORIGINS,
        "counts": [
            ("numbers and comparisons", claims.counts(measured)),
            ("claims answered by exact studies", claims.counts(studied)),
            ("theorems and identities", claims.counts(stated)),
        ],
        "papers": [_paper(results, paper, every) for paper in config.papers.values()],
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


def _paper(results: Results, paper: Paper, every: list[claims.Entry]) -> dict[str, Any]:
    measured, studied, stated = claims.apart([claim for claim in every if claim.paper == paper.paper])
    there = pages.document(results, paper.paper)
    names = [one.id for one in there.measured]
    return {
        "id": paper.paper,
        "title": paper.title,
        "protocols": pages.protocols(results, paper.paper, names),
        "groups": _groups(paper, measured),
        "studied": _groups(paper, studied),
        "theorems": stated,
        "measured_shown": [_shown(results.config, paper, one) for one in there.measured],
        "studied_shown": [_shown(results.config, paper, one) for one in there.studied],
        "controls": [control for one in there.measured for control in _controls(one)],
        "effects": pages.effects(results, paper.paper, names),
        "missing": there.missing,
        "choices": [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()],
    }


def _groups(paper: Paper, shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Claims under the artifact that prints them, or the sentence that makes them."""
    groups: dict[tuple[str, str, str], list[claims.Entry]] = {}
    for claim in shown:
        sentence = "" if claim.study else claim.sentence  # a study's claims carry theirs each
        groups.setdefault((claim.artifact, "" if claim.study else claim.kind, sentence), []).append(claim)
    found = []
    for (name, kind, sentence), members in groups.items():
        artifact = paper.artifacts.get(name)
        printed = (artifact.printed or artifact.title) if artifact else name
        idle = all(claim.verdict == words.NOT_RUN for claim in members)
        found.append({"printed": printed, "kind": kind, "sentence": sentence, "claims": members, "idle": idle})
    return found


def _shown(config: Config, paper: Paper, one: Shown) -> dict[str, Any]:
    """A table with the side that each column is set to, or a figure with its drawing."""
    found: dict[str, Any] = {**one._asdict(), "table": _table(one.grid) if one.grid else None, "data": ""}
    if one.grid is None:
        drawn = pages.drawing(config, paper.paper, one.id).read_bytes()
        found["data"] = base64.b64encode(drawn).decode("ascii")
    return found


def _table(grid: Grid) -> dict[str, Any]:
    """Which side each column is set to, and each heading: over several columns in the middle (``group``)."""
    sides = ["num" if side == "r" else "" for side in writer.alignment(grid)[len(grid.corner) :]]
    head = []
    for depth, heads in enumerate(grid.head):
        last, at, row = depth == len(grid.head) - 1, 0, []
        for one in heads:
            row.append({**one._asdict(), "side": sides[at] if last and one.span == 1 else "group"})
            at += one.span
        head.append(row)
    return {"head": head, "corner": grid.corner, "lines": grid.lines, "sides": sides}


def _controls(one: Shown) -> list[dict[str, Any]]:
    """The lines of a table that are controls, as a table of their own."""
    lines: list[Line] = [line for line in one.grid.lines if line.control] if one.grid else []
    if not lines or one.grid is None:
        return []
    return [{"id": one.id, "title": one.title, "table": _table(one.grid._replace(lines=tuple(lines)))}]


def _runs(results: Results) -> list[dict[str, str]]:
    """Every run, without its seconds: those differ from one machine, and one day, to the next."""
    shown = ("run", "status", "epochs", "device", "threads", "torch", "code", "data")
    rows = results.runs.sort_values("run", kind="stable").to_dict("records")
    return [{key: words.number(row[key], 0) if key == "epochs" else str(row[key]) for key in shown} for row in rows]
