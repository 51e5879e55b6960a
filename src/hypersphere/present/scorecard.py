"""scorecard.html: every claim, its verdict and the runs behind it, on one page that needs no network."""

import base64
from pathlib import Path
from typing import Any

import jinja2

from hypersphere.declared import errata, rules
from hypersphere.declared.artifacts import Curves, Paper, Table
from hypersphere.declared.config import Config
from hypersphere.declared.measures import METRICS
from hypersphere.errors import HypersphereError
from hypersphere.files import write_json, write_text
from hypersphere.present import claims, figure, numbers, study, words
from hypersphere.present.cells import Sheet, sheet
from hypersphere.present.results import Results, settles

TEMPLATES = Path(__file__).parent / "templates"


def build(config: Config) -> None:
    """Write ``results/<scale>/scorecard.html`` and ``scorecard.json``; figures must have been built.

    Raises:
        HypersphereError: a results file is missing.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("scorecard.html").render(context(config))
    write_text(config.results / "scorecard.html", page.rstrip() + "\n")
    write_json(config.results / "scorecard.json", numbers.numbers(config))


def context(config: Config) -> dict[str, Any]:
    """Everything that the template shows."""
    results = Results(config)
    shown = claims.shown(config, results)
    measured, studied, stated = claims.apart(shown)
    return {
        "scale": {
            "name": config.scale_name,
            "level": config.scale.level,
            "describe": config.scale.describe,
            "notice": words.notice(config),
            "settles": settles(config),
            "seeds": words.seeds(config),
            "device": results.devices(),
            "torch": results.torch(),
        },
        "confidence": words.confidence(config),
        "rules": _rules(config),
        "counts": [
            ("printed numbers and comparisons", len(measured), claims.counts(measured)),
            ("claims answered by exact studies", len(studied), claims.counts(studied)),
            ("theorems and identities", len(stated), claims.counts(stated)),
        ],
        "papers": [_paper(config, paper, results, shown) for paper in config.papers.values()],
        "errata": ledger(config),
        "kinds": errata.KINDS,
        "runs": _runs(results),
    }


def ledger(config: Config) -> list[dict[str, Any]]:
    """The errata under the title of their document, in the order of config/papers; those of several come last."""
    entries = errata.load(config.root)
    titles = {key: paper.title for key, paper in config.papers.items()} | {errata.SEVERAL: "Across the documents"}
    listed = {title: [entry.model_dump() for entry in errata.of(key, entries)] for key, title in titles.items()}
    return [{"title": title, "entries": found} for title, found in listed.items() if found]


def _rules(config: Config) -> dict[str, str]:
    chosen = rules.load(config.root)
    return {
        "equivalence": f"{100 * chosen.equivalence:g} %",
        "high": f"{chosen.margin.high:g}",
        "at_least_high": f"{chosen.margin.at_least_high:g}",
        "below_high": f"{chosen.margin.below_high:g}",
        "relative": f"{100 * chosen.margin.relative:g} %",
    }


def _paper(config: Config, paper: Paper, results: Results, shown: list[claims.Shown]) -> dict[str, Any]:
    measured, studied, stated = claims.apart([claim for claim in shown if claim.paper == paper.paper])
    tables = {key: value for key, value in paper.artifacts.items() if isinstance(value, Table)}
    figures = {key: value for key, value in paper.artifacts.items() if isinstance(value, Curves)}
    sheets = [(key, sheet(config, paper, key, results)) for key in tables]
    return {
        "id": paper.paper,
        "title": paper.title,
        "protocols": _protocols(config, paper),
        "groups": _groups(paper, measured),
        "studied": _groups(paper, studied),
        "study_tables": study.tables(config, paper, results),
        "study_figures": _study_figures(config, paper, results),
        "theorems": stated,
        "tables": [{"id": key, "sheet": layout} for key, layout in sheets],
        "controls": [_controls(key, tables[key], layout) for key, layout in sheets],
        "figures": [_figure(config, paper, key, value, results) for key, value in figures.items()],
        "effects": _effects(paper, results),
        "choices": [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()],
    }


def _protocols(config: Config, paper: Paper) -> list[str]:
    texts = [words.protocol(config, paper, artifact) for artifact in paper.measured.values()]
    return list(dict.fromkeys(texts))


def _groups(paper: Paper, shown: list[claims.Shown]) -> list[dict[str, Any]]:
    """Claims under the table that prints them, or the sentence that makes them."""
    groups: dict[tuple[str, str, str], list[claims.Shown]] = {}
    for claim in shown:
        sentence = "" if claim.study else claim.sentence  # a study's claims carry theirs each
        groups.setdefault((claim.artifact, "" if claim.study else claim.kind, sentence), []).append(claim)
    found = []
    for (artifact, kind, sentence), members in groups.items():
        table = paper.artifacts.get(artifact)
        printed = getattr(table, "printed", None) or getattr(table, "title", artifact)
        found.append({"printed": printed, "kind": kind, "sentence": sentence, "claims": members})
    return found


def _controls(key: str, table: Table, layout: Sheet) -> dict[str, Any]:
    metric = METRICS[table.metric]
    rows = [row for row in layout.rows if row.control]
    return {"id": key, "metric": metric.label, "unit": metric.unit, "columns": layout.columns, "rows": rows}


def _figure(config: Config, paper: Paper, key: str, artifact: Curves, results: Results) -> dict[str, Any]:
    drawing = figure_file(config, paper, key).read_bytes()
    data = base64.b64encode(drawing).decode("ascii")
    caption = figure.caption(config, paper, artifact, results)
    title = f"{words.heading(config, None)}: {artifact.title}"
    # The drawing itself says scale, n, device and protocol; the text beside it need not repeat them.
    shown = f"{words.short_notice(config)} {caption[1]}"
    return {"id": key, "title": title, "data": data, "alt": " ".join(caption), "caption": shown}


def _study_figures(config: Config, paper: Paper, results: Results) -> list[dict[str, Any]]:
    found = study.figures(config, paper, results)
    drawings = [figure_file(config, paper, str(each["id"])).read_bytes() for each in found]
    return [each | {"data": base64.b64encode(data).decode("ascii")} for each, data in zip(found, drawings, strict=True)]


def figure_file(config: Config, paper: Paper, key: str) -> Path:
    """The svg of a figure.

    Raises:
        HypersphereError: it has not been built.
    """
    path = config.results / "figures" / paper.paper / f"{key}.svg"
    if not path.is_file():
        raise HypersphereError(f"{path}: the file is missing; `hypersphere figure` writes it")
    return path


def _effects(paper: Paper, results: Results) -> list[dict[str, Any]]:
    table = results.effects[results.effects["paper"] == paper.paper]
    rows = []
    for row in table.to_dict("records"):
        decimals = METRICS[row["metric"]].decimals
        bounds = {
            name: words.interval(row[low], row[high], decimals)
            for name, low, high in (
                ("holm", "low_holm", "high_holm"),
                ("welch", "welch_low", "welch_high"),
                ("paired", "paired_low", "paired_high"),
            )
        }
        rows.append(
            {
                "artifact": row["artifact"],
                "subject": f"{paper.label(row['method'])}, {paper.label(row['variant'])}",
                "baseline": paper.label(row["baseline"]),
                "dataset": paper.label(row["dataset"]),
                "measured_on": row["measured_on"],
                "metric": METRICS[row["metric"]].label,
                "effect": words.signed(row["effect"], decimals),
                "p": words.p_value(row["p_holm"]),
                "n": f"{words.number(row['n_variant'], 0)}, {words.number(row['n_baseline'], 0)}",
                "low_power": row["low_power"] == "True",
                "detectable": words.number(row["detectable"], decimals),
                **bounds,
            }
        )
    return rows


def _runs(results: Results) -> list[dict[str, str]]:
    """Every run, without its seconds: those differ from one machine, and one day, to the next."""
    shown = ("run", "status", "epochs", "device", "threads", "torch", "code", "data")
    rows = results.runs.sort_values("run", kind="stable").to_dict("records")
    return [{key: words.number(row[key], 0) if key == "epochs" else str(row[key]) for key in shown} for row in rows]
