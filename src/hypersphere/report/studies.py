"""The shared part of figures and tables of exact studies: their drawing modules, and notes on their claims.

A drawing module is drawings/<paper>/<artifact>.py, or drawings/shared/<artifact>.py if several papers have it.
It has ``note(table)``, plain sentences on what was computed. A figure also has ``SIZE`` (inches, as printed),
``MEASURED`` (what is drawn, in a few words) and ``draw(figure, table)``; if the table has a finding, ``finding(table)``
puts it into a sentence, which becomes the title. With a ``SLIDER`` (sliders.py), the scorecard lets readers move it.
A table has ``rows(table, claims)``, which returns head and body as text.
"""

import importlib
from collections import Counter
from types import ModuleType

import pandas as pd

from hypersphere.config import kinds
from hypersphere.config.artifacts import Studied
from hypersphere.errors import HypersphereError
from hypersphere.report import notes
from hypersphere.report.artifact import Context

SIZE_NOTICE = "Exact study at its published size, the same at every scale; one CPU thread, no trained encoder."


def drawing(paper: str, artifact: str) -> ModuleType:
    """The drawing module of an artifact.

    Raises:
        HypersphereError: it does not exist.
    """
    name = kinds.drawing(paper, artifact)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise HypersphereError(f"report/drawings/{paper}/{artifact}.py: the file is missing") from None


def heading(declared: Studied) -> str:
    """``Figure 2a: steps to convergence``, or ``… (ours)`` for an artifact that is printed nowhere."""
    return f"{declared.printed}: {declared.title}" if declared.printed else f"{declared.title} (ours)"


def finding(context: Context, table: pd.DataFrame) -> str:
    """What a drawing shows, in a sentence with its numbers; empty if its module names nothing."""
    module = drawing(context.paper.paper, context.name)
    return module.finding(table) if hasattr(module, "finding") else ""


def repeated(table: pd.DataFrame) -> str:
    """``n = 8 seeds.``: how often a study was repeated."""
    for column in ("n", "trials", "starts"):
        if column in table and (most := pd.to_numeric(table[column], errors="coerce").max()) > 1:
            return f"n = {most:.0f} {'seeds' if column == 'n' else column}."
    return "n = 1 (not repeated)."


def computed(context: Context) -> pd.DataFrame:
    """The artifact's table, as its study returned it.

    Raises:
        HypersphereError: no study makes it at this scale, or its file is missing or altered.
    """
    config, paper = context.results.config, context.paper.paper
    if context.name not in config.studied(paper):
        raise HypersphereError(f"{paper}: no exact study makes '{context.name}' at scale {config.scale_name}")
    return pd.read_csv(context.results.checked(context.results.simulated(paper, context.name)))


def source(context: Context) -> str:
    """The study's own csv, as text."""
    return context.results.simulated(context.paper.paper, context.name).read_text(encoding="utf-8")


def sentences(context: Context) -> tuple[str, ...]:
    """The notes of an artifact: its size, what was computed, and the verdicts on its claims."""
    note = drawing(context.paper.paper, context.name).note(computed(context))
    return tuple(filter(None, (SIZE_NOTICE, note, notes.unjudged(context.artifact), *_verdicts(context))))


def _verdicts(context: Context) -> list[str]:
    """``Its claims: 6 reproduced, 1 refuted.`` and ``It shows Theorem 3.4 (refuted).``."""
    judged = context.results.judged(context.paper.paper)
    counts = Counter(judged[judged["artifact"] == context.name]["verdict"])
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    texts = [f"Its claims: {listed}."] if counts else []
    shows = judged[judged["id"].isin(context.artifact.shows)]
    shown = [f"{row['source']} ({row['verdict']})" for row in shows.to_dict("records")]
    return texts + ([f"It shows {', '.join(shown)}."] if shown else [])
