"""The errata in words: each with the title of its document, and what is run under it."""

from typing import Any

from hypersphere.config import coordinates
from hypersphere.config.errata import Erratum, load_errata
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.validation import either
from hypersphere.report import rendering

ACROSS = "Across the papers"
"""The title of what is about several of them."""


def ledger(config: Config) -> list[dict[str, Any]]:
    """The errata with the titles of their papers, in the order of the papers; those of several come last."""
    titles = {key: paper.title for key, paper in config.papers.items()} | {SEVERAL: ACROSS}
    errata = load_errata(config)
    listed = []
    for document, title in titles.items():
        for erratum in errata:
            if erratum.document == document:
                listed.append(erratum.model_dump() | {"title": title, "run": what_is_run(erratum)})
    return listed


def what_is_run(erratum: Erratum) -> str:
    """``every run with variant curv or pos_curv has logits.curve=equation_10``; empty if no field has the choice."""
    runs = []
    for one in erratum.runs:
        when = {}
        for key, given in one.when.items():
            when[key] = either(
                [coordinates.show(value) for value in coordinates.alternatives(given)]
            )
        fields = {path: coordinates.show(value) for path, value in one.set.items()}
        runs.append((one.by, when, fields))
    return "; ".join(rendering.fill("run.txt", runs=runs).splitlines())
