"""paper.pdf: prose from paper/reproduction.typ, every number and table from content.json, figures as svg."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typst

from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import ERRATUM_KINDS
from hypersphere.config.coordinates import of_run
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.files import replacing, write_json
from hypersphere.report import claims, notes, pages, paper_text, studies, style, words, writer
from hypersphere.report.artifact import Context, Grid, Shown
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import Results, settles

SOURCE = "paper/reproduction.typ"
TIMESTAMP = 0
"""Seconds since 1970 in the PDF's metadata: fixed, so that equal content is equal bytes."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/paper/content.json`` and, from it, ``results/<scale>/paper.pdf``."""
    config = plan.config
    source = config.root / SOURCE
    if not source.is_file():
        raise HypersphereError(f"{source}: the file is missing")
    data = config.results / "paper" / "content.json"
    write_json(data, content(Results(plan)))
    try:
        pdf = _compiled(source, config.root, data)
    except typst.TypstError as error:
        place = " ".join(str(error.diagnostic).split()[:8])
        raise HypersphereError(f"{source}: {error} ({place})") from None
    with replacing(config.results / "paper.pdf") as temporary:
        temporary.write_bytes(pdf)


def _compiled(source: Path, root: Path, data: Path) -> bytes:
    """The PDF: with drawings that move to where there is room, or, where Typst fails to tag them, in their place."""
    given: dict[str, Any] = {"root": str(root), "ignore_system_fonts": True, "font_paths": [str(style.fonts())]}
    inputs = {"content": f"/{data.relative_to(root).as_posix()}"}
    try:
        made = typst.compile(str(source), timestamp=TIMESTAMP, sys_inputs=inputs, **given)
    except typst.TypstError as error:
        if "internal error" not in str(error):
            raise
        made = typst.compile(str(source), timestamp=TIMESTAMP, sys_inputs=inputs | {"floats": "no"}, **given)
    return bytes(made)


def content(results: Results) -> dict[str, Any]:
    """All numbers, tables and names in the prose."""
    config, entries, parts = results.config, claims.entries(results), paper_text.outline(results.config)
    kinds, scale, errors = claims.apart(entries), pages.scale(results), pages.ledger(config)
    measured, studied, stated = kinds
    papers = [_paper(results, paper, parts[name], entries) for name, paper in config.papers.items()]
    conditions = f"{scale['seeds']}; device {scale['device']}; torch {scale['torch']}."
    statements, corrections, studies = paper_text.of_exact(kinds)
    return {
        "scale": scale | {"line": words.scale_line(config), "conditions": conditions},
        "confidence": words.confidence(config),
        "runs": str(len(results.runs)),
        "claims": _counts(measured),
        "studied": _counts(studied),
        "statements": _counts(stated),
        "printed": {
            "all": str(len(paper_text.printed(entries))),
            "without_encoders": str(len(paper_text.printed([*studied, *stated]))),
        },
        "told": {
            "statements": words.joined(statements, corrections),
            "studies": studies,
            "encoders": words.joined(*paper_text.of_encoders(kinds, config.scale_name, settles(config))),
        },
        "matrix": paper_text.matrix(entries, {name: parts[name].short for name in config.papers}),
        "papers": papers,
        "choices": str(sum(len(items) for paper in config.papers.values() for items in paper.open_choices.values())),
        "missing": str(sum(len(paper["missing"]) for paper in papers)),
        "errata_count": str(sum(len(group["entries"]) for group in errors)),
        "errata": errors,
        "kinds": [{"kind": kind, "meaning": meaning} for kind, meaning in ERRATUM_KINDS.items()],
    }


def _paper(results: Results, paper: Paper, part: paper_text.Part, entries: list[claims.Entry]) -> dict[str, Any]:
    kinds = claims.apart([claim for claim in entries if claim.paper == paper.paper])
    measured, studied, stated = kinds
    document = pages.document(results, paper.paper)
    config = results.config
    encoders = paper_text.of_encoders(kinds, config.scale_name, settles(config))
    names = [artifact.id for artifact in document.measured]
    ready = {artifact.id: artifact for artifact in (*document.measured, *document.studied)}
    main = [ready[name] for name in part.main if name in ready]
    compared = [claim for claim in measured if claim.kind == "comparison" and claim.artifact in names]
    return {
        "id": paper.paper,
        "title": paper.title,
        "short": part.short,
        "told": words.joined(*paper_text.of_exact(kinds), *encoders),
        "findings": _findings(results, paper, [one for one in main if one in document.studied]),
        "telling": paper_text.telling(paper_text.printed([*stated, *studied]), part.telling),
        "failures": paper_text.failures(kinds),
        "main": _shown(results, paper, main),
        "theorems": [_fields(claim, *THEOREM) for claim in stated],
        "datasets": _datasets(results, paper, names),
        "protocol": _protocol(results.plan, paper, names),
        "choices": [
            {"scope": "" if key == "all" else paper.label(key), "items": items}
            for key, items in paper.open_choices.items()
            if names
        ],
        "shown": _shown(results, paper, [one for one in document.measured if one.id not in part.main]),
        "comparisons": [_fields(claim, *COMPARISON) for claim in compared if claim.verdict != words.NOT_RUN],
        "studied_shown": _shown(results, paper, [one for one in document.studied if one.id not in part.main]),
        "studied": [_fields(claim, *ANSWER) for claim in studied if claim.verdict != words.NOT_RUN],
        "missing": [artifact._asdict() for artifact in document.missing],
    }


THEOREM = ("subject", "source", "reading", "ours", "counterexample", "verdict")
COMPARISON = (
    *("subject", "setting", "dataset", "stand_in", "published", "ours", "interval", "verdict", "direction"),
    *("reading", "sentence", "source"),
)
ANSWER = (
    *("subject", "setting", "dataset", "published", "ours", "interval", "verdict", "reading", "source", "metric"),
)


def _fields(claim: claims.Entry, *shown: str) -> dict[str, str]:
    return {key: paper_text.quoted(getattr(claim, key)) for key in shown}


def _datasets(results: Results, paper: Paper, names: Sequence[str]) -> list[str]:
    """The published datasets of artifacts, with their stand-ins."""
    cells = [cell for name in names for cell in results.plan.artifacts.get((paper.paper, name), [])]
    published = dict.fromkeys(name for cell in cells for name in words.datasets(cell.coordinates))
    return [words.standing(results.config, paper, {"dataset": name}, ["dataset"]) for name in published]


def _counts(shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Counts by origin, printed claims first."""
    return [
        {
            "origin": count.origin,
            "total": str(count.total),
            "verdicts": [{"verdict": verdict, "count": str(number)} for verdict, _, number in count.verdicts],
        }
        for count in claims.counts(shown)
    ]


SETTINGS: dict[str, Callable[[Run], str]] = {
    "epochs": lambda run: str(run.schedule.epochs),
    "warm-up": lambda run: f"{100 * run.schedule.warmup:g} %",
    "batch": notes.batch,
    "learning rate": lambda run: _small(run.optimiser.learning_rate),
    "weight decay": lambda run: _small(run.optimiser.weight_decay),
    "objective": lambda run: _components(run.objective, run.logits, run.regulariser),
    "intervention": lambda run: _components(run.initialisation, run.gradient) or "none",
}


def _protocol(plan: Plan, paper: Paper, names: Sequence[str]) -> dict[str, Any]:
    """A row per variant: the settings of its runs at this scale, without sweeps unless it has nothing else."""
    cells = [cell for name in names for cell in notes.measured_cells(plan, paper.paper, name)]
    runs: dict[str, list[tuple[bool, Run]]] = {}
    for cell, run in cells:
        row = ", ".join(paper.label(str(cell.coordinates[key])) for key in ("method", "variant"))
        runs.setdefault(row, []).append((bool(of_run(cell.coordinates)), run))
    rows = []
    for row, swept_runs in runs.items():
        plain = [run for swept, run in swept_runs if not swept] or [run for _, run in swept_runs]
        rows.append([row, *(words.several(map(describe, plain)) for describe in SETTINGS.values())])
    encoders = dict.fromkeys(notes.component(run.encoder) for _, run in cells)
    return {"head": ["Run", *SETTINGS], "rows": rows, "encoders": list(encoders)}


def _components(*parts: Any) -> str:
    return ", ".join(notes.component(part) for part in parts if part is not None)


def _small(value: float) -> str:
    """``1e-6``, not ``1e-06``."""
    return f"{value:g}".replace("e-0", "e-")


def _findings(results: Results, paper: Paper, studied: Sequence[Shown]) -> list[str]:
    """What the drawings of exact studies show, a sentence each."""
    contexts = [Context(results, paper, one.id) for one in studied if one.grid is None]
    said = [study_figure.finding(about) for about in contexts]
    return [f"{text}." for text in said if text]


def _shown(results: Results, paper: Paper, ready: list[Shown]) -> list[dict[str, Any]]:
    """Artifacts as JSON. The paper itself says what its scale is worth and how exact studies are made."""
    config = results.config
    long, short = words.scale_note(config), words.short_notice(config)
    listed = []
    for artifact in ready:
        declared = paper.artifacts[artifact.id]
        notes = [short if note == long else note for note in artifact.notes if note != studies.SIZE_NOTICE]
        path = pages.drawing(config, paper.paper, artifact.id).relative_to(config.root).as_posix()
        about: dict[str, Any] = {
            "title": declared.title,
            "original": declared.printed or "",
            "notes": notes,
            "alt": artifact.alt,
            "inches": artifact.inches,
        }
        listed.append(about | ({"grid": _grid(artifact.grid)} if artifact.grid else {"path": f"/{path}"}))
    return listed


def _grid(grid: Grid) -> dict[str, Any]:
    """A table as JSON, with the alignment of its columns."""
    return {
        "head": [[head._asdict() for head in heads] for heads in grid.head],
        "corner": list(grid.corner),
        "sides": list(writer.alignment(grid)),
        "lines": [
            {"labels": list(line.labels), "cells": [cell._asdict() for cell in line.cells], "control": line.control}
            for line in grid.lines
        ],
    }
