"""Parts that scorecard and paper share: artifacts with results, artifacts that were not run, effects, errata."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config import coordinates, errata
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.reasons import NOT_MADE_YET, why_not_made
from hypersphere.report import labels, words
from hypersphere.report.results import Results
from hypersphere.report.shown import Shown, show

NOT_DRAWN = "measured, but not drawn yet"


class Missing(NamedTuple):
    """An artifact without results."""

    id: str
    printed: str
    title: str
    reason: str


class Document(NamedTuple):
    """The artifacts of one paper."""

    measured: list[Shown]
    """Made from runs."""
    studied: list[Shown]
    """Made from exact studies."""
    missing: list[Missing]
    """All others."""


def document(results: Results, paper: str) -> Document:
    """The artifacts of a paper: those with results, and those without."""
    declared, made = results.config.papers[paper], results.made(paper)
    visible: dict[str, Shown] = {}
    for name in made:
        shown = show(results, paper, name)
        if shown.grid or drawing(results.config, paper, shown.id).is_file():
            visible[name] = shown
    missing = []
    for name, artifact in declared.artifacts.items():
        if name not in visible:
            reason = NOT_DRAWN if name in made else why_not_made(results.plan, paper, name) or NOT_MADE_YET
            missing.append(Missing(name, artifact.printed or "", artifact.title, reason))
    measured = [shown for name, shown in visible.items() if name in declared.measured]
    return Document(measured, [shown for name, shown in visible.items() if name in declared.studied], missing)


def drawing(config: Config, paper: str, name: str) -> Path:
    """The svg of a figure."""
    return config.results / "figures" / paper / f"{name}.svg"


def effects(results: Results, paper: str, names: Sequence[str]) -> tuple[list[dict[str, Any]], int]:
    """Effects of artifacts made from runs: a cell minus the one that it is compared with.

    Returns:
        Those that a test judges, in words; and the number of the others, which have too few runs for any.
    """
    document = results.config.papers[paper]
    rows = [(name, row) for name in names for row in results.artifact(paper, name).compared]
    tested = [_effect(document, name, row) for name, row in rows if row["test"]]
    return tested, len(rows) - len(tested)


def _effect(paper: Paper, name: str, row: dict[str, Any]) -> dict[str, Any]:
    other_test = {"welch": "pooled", "pooled": "welch"}.get(row["test"], "welch")
    where = f"{paper.paper}/{name}: effects.csv"
    point, other = (coordinates.parse(row[key], where) for key in ("coordinates", "baseline"))
    measure = MEASURES[str(point["measure"])]
    decimals, on = measure.decimals, row["measured_on"]
    keys = [key for key in point if key not in ("dataset", "target", "measure")]
    differing = [key for key in other if other[key] != point.get(key)]
    return {
        "artifact": name,
        "subject": labels.point(paper, point, keys),
        "baseline": labels.point(paper, other, differing),
        "dataset": labels.point(paper, point, ("dataset", "target")),
        "measured_on": on if on != point["dataset"] else "",
        "metric": measure.label,
        "effect": words.signed(row["effect"], decimals),
        "p": words.p_value(row["p_holm"]),
        "n": f"{words.number(row['n_variant'], 0)}, {words.number(row['n_baseline'], 0)}",
        "low_power": bool(row["low_power"]),
        "detectable": words.number(row["detectable"], decimals),
        "holm": words.interval(row["low_holm"], row["high_holm"], decimals),
        "test": row["test"],
        "other": words.interval(row[f"{other_test}_low"], row[f"{other_test}_high"], decimals),
        "paired": words.interval(row["paired_low"], row["paired_high"], decimals),
    }


def protocols(results: Results, paper: str, names: Sequence[str]) -> list[str]:
    """How the runs of artifacts were trained and probed; each sentence is listed once."""
    document = results.config.papers[paper]
    texts = [words.protocol(results.plan, document, name) for name in names if name in document.measured]
    return list(dict.fromkeys(texts))


def ledger(config: Config) -> list[dict[str, Any]]:
    """The errata by document, in the order of config/papers. Errata of several documents come last."""
    entries = errata.load(config.root)
    titles = {key: paper.title for key, paper in config.papers.items()} | {errata.SEVERAL: "Across the documents"}
    listed = {title: [entry.model_dump() for entry in errata.of(key, entries)] for key, title in titles.items()}
    return [{"title": title, "entries": group} for title, group in listed.items() if group]
