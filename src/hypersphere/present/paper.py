"""paper.pdf: prose from paper/reproduction.typ, every number and table from content.json, figures as svg."""

from typing import Any

import typst

from hypersphere.declared import errata
from hypersphere.declared.artifacts import Curves, Paper, Table
from hypersphere.declared.config import Config
from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.files import replacing, write_json
from hypersphere.present import claims, figure, study, words
from hypersphere.present.cells import Cell, Row, Sheet, sheet
from hypersphere.present.results import Results, settles
from hypersphere.present.scorecard import figure_file, ledger

SOURCE = "paper/reproduction.typ"
TIMESTAMP = 0
"""Seconds since 1970 in the PDF's metadata: fixed, so that equal content is equal bytes."""


def build(config: Config) -> None:
    """Write ``results/<scale>/paper/content.json`` and, from it, ``results/<scale>/paper.pdf``.

    Raises:
        HypersphereError: a results file or figure is missing, or the source does not compile.
    """
    source = config.root / SOURCE
    if not source.is_file():
        raise HypersphereError(f"{source}: the file is missing")
    data = config.results / "paper" / "content.json"
    write_json(data, content(config))
    try:
        pdf = typst.compile(
            str(source),
            root=str(config.root),
            ignore_system_fonts=True,
            timestamp=TIMESTAMP,
            sys_inputs={"content": f"/{data.relative_to(config.root).as_posix()}"},
        )
    except typst.TypstError as error:
        place = " ".join(str(error.diagnostic).split()[:8])
        raise HypersphereError(f"{source}: {error} ({place})") from None
    with replacing(config.results / "paper.pdf") as temporary:
        temporary.write_bytes(pdf)


def content(config: Config) -> dict[str, Any]:
    """All that the prose leaves blank."""
    results = Results(config)
    shown = claims.shown(config, results)
    measured, studied, stated = claims.apart(shown)
    return {
        "scale": {
            "name": config.scale_name,
            "level": config.scale.level,
            "describe": config.scale.describe,
            "line": words.scale_line(config),
            "notice": words.notice(config),
            "settles": settles(config),
            "conditions": words.conditions(config, results),
            "seeds": words.seeds(config),
            "device": results.devices(),
            "torch": results.torch(),
        },
        "confidence": words.confidence(config),
        "runs": str(len(results.runs)),
        "claims": str(len(measured)),
        "verdicts": _counts(measured),
        "studied": str(len(studied)),
        "studied_verdicts": _counts(studied),
        "statements": str(len(stated)),
        "statement_verdicts": _counts(stated),
        "papers": [_paper(config, paper, results, shown) for paper in config.papers.values()],
        "errata": ledger(config),
        "kinds": [{"kind": kind, "meaning": meaning} for kind, meaning in errata.KINDS.items()],
    }


def _paper(config: Config, paper: Paper, results: Results, shown: list[claims.Shown]) -> dict[str, Any]:
    tables = {key: value for key, value in paper.artifacts.items() if isinstance(value, Table)}
    figures = {key: value for key, value in paper.artifacts.items() if isinstance(value, Curves)}
    measured, studied, stated = claims.apart([claim for claim in shown if claim.paper == paper.paper])
    compared = [claim for claim in measured if claim.kind == "comparison" and claim.artifact in paper.artifacts]
    return {
        "id": paper.paper,
        "title": paper.title,
        "theorems": [_theorem(claim) for claim in stated],
        "printed": [table.printed for table in tables.values() if table.printed],
        "datasets": _datasets(config, paper),
        "protocol": _protocol(config, paper),
        "choices": [_choice(paper, key, items) for key, items in paper.open_choices.items()],
        "tables": [_table(sheet(config, paper, key, results), first=at == 0) for at, key in enumerate(tables)],
        "figures": [_figure(config, paper, key, value, results) for key, value in figures.items()],
        "comparisons": [_comparison(claim) for claim in compared],
        "study_tables": study.tables(config, paper, results),
        "study_figures": _study_figures(config, paper, results),
        "studied": [_answered(claim) for claim in studied],
    }


def _datasets(config: Config, paper: Paper) -> list[str]:
    columns = dict.fromkeys(column for artifact in paper.measured.values() for column in artifact.columns)
    return [words.standing_in(config, column, paper) for column in columns]


def _counts(shown: list[claims.Shown]) -> list[dict[str, str]]:
    return [{"verdict": verdict, "count": str(count)} for verdict, _, count in claims.counts(shown)]


def _theorem(claim: claims.Shown) -> dict[str, str]:
    return {key: getattr(claim, key) for key in ("subject", "source", "reading", "ours", "counterexample", "verdict")}


def _choice(paper: Paper, key: str, items: list[str]) -> dict[str, Any]:
    return {"scope": "" if key == "all" else paper.label(key), "items": items}


def _protocol(config: Config, paper: Paper) -> dict[str, Any]:
    """A row per variant: what was really run, at this scale."""
    head = ["Run", "epochs", "warm-up", "batch", "learning rate", "weight decay", "objective", "intervention"]
    rows: dict[str, list[str]] = {}
    encoders: dict[str, None] = {}
    for artifact in paper.measured.values():
        datasets = words.used_datasets(config, artifact)
        for row in artifact.rows if datasets else []:
            run = words.run_of(config, paper, row, datasets[0])
            method, _, variant = row.partition(".")
            rows.setdefault(row, [f"{paper.label(method)}, {paper.label(variant)}", *_settings(run)])
            encoders[words.component(run.encoder)] = None
    return {"head": head, "rows": list(rows.values()), "encoders": list(encoders)}


def _settings(run: Run) -> list[str]:
    losses = [part for part in (run.objective, run.logits, run.regulariser) if part is not None]
    changes = [part for part in (run.initialisation, run.gradient) if part is not None]
    return [
        str(run.schedule.epochs),
        f"{100 * run.schedule.warmup:g} %",
        words.batch(run),
        _small(run.optimiser.learning_rate),
        _small(run.optimiser.weight_decay),
        ", ".join(words.component(part) for part in losses),
        ", ".join(words.component(part) for part in changes) or "none",
    ]


def _small(value: float) -> str:
    """``1e-6``, not ``1e-06``."""
    return f"{value:g}".replace("e-0", "e-")


def _table(layout: Sheet, first: bool) -> dict[str, Any]:
    columns = [
        {"label": column.label, "note": column.note, "published": column.has_published} for column in layout.columns
    ]
    return {
        "title": layout.title,
        "scale": layout.scale,
        "columns": columns,
        "rows": [_row(row) for row in layout.rows],
        "notes": list(layout.notes) if first else [layout.short],
    }


def _row(row: Row) -> dict[str, Any]:
    cells = [_cell(cell) for cell in row.cells]
    return {"labels": list(row.labels), "control": row.control, "cells": cells}


def _cell(cell: Cell) -> dict[str, str]:
    return {"ours": cell.ours, "difference": cell.difference, "published": cell.printed}


def _figure(config: Config, paper: Paper, key: str, artifact: Curves, results: Results) -> dict[str, str]:
    path = figure_file(config, paper, key).relative_to(config.root).as_posix()
    caption = figure.caption(config, paper, artifact, results)
    title = f"{words.heading(config, None)}: {artifact.title}"
    # The drawing itself says scale, n, device and protocol; the caption need not repeat them.
    shown = f"{words.short_notice(config)} {caption[1]}"
    return {"path": f"/{path}", "title": title, "alt": " ".join(caption), "caption": shown}


def _study_figures(config: Config, paper: Paper, results: Results) -> list[dict[str, Any]]:
    found = study.figures(config, paper, results)
    paths = [figure_file(config, paper, str(each["id"])).relative_to(config.root).as_posix() for each in found]
    return [each | {"path": f"/{path}"} for each, path in zip(found, paths, strict=True)]


def _answered(claim: claims.Shown) -> dict[str, str]:
    shown = ("subject", "setting", "dataset", "published", "ours", "interval", "verdict", "reading", "source", "metric")
    return {key: getattr(claim, key) for key in shown}


def _comparison(claim: claims.Shown) -> dict[str, str]:
    shown = ("subject", "dataset", "stand_in", "published", "ours", "interval", "verdict", "sentence", "source")
    return {key: getattr(claim, key) for key in shown}
