"""What figures and tables of exact studies share: their drawings, and what is said of the claims that they bear on.

A drawing module, drawings/<paper>/<artifact>.py, has ``note(table)``, plain sentences on what was computed, and either
``SIZE`` (inches, as printed) and ``draw(figure, table)``, or ``rows(table, claims)``, a head and a body of text.
"""

import importlib
from collections import Counter
from pathlib import Path
from types import ModuleType

import pandas as pd

from hypersphere.declared.artifacts import Studied
from hypersphere.errors import HypersphereError
from hypersphere.present import notes
from hypersphere.present.shown import Context

SIZE_NOTICE = "Exact study at its published size, the same at every scale; one CPU thread, no trained encoder."


def drawing(paper: str, artifact: str) -> ModuleType:
    """drawings/<paper>/<artifact>.py.

    Raises:
        HypersphereError: there is none.
    """
    name = f"hypersphere.present.drawings.{paper}.{artifact}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise HypersphereError(f"present/drawings/{paper}/{artifact}.py: the file is missing") from None


def heading(declared: Studied) -> str:
    """``Figure 2a: steps to convergence``, or that it is ours."""
    return f"{declared.printed}: {declared.title}" if declared.printed else f"{declared.title} (ours)"


def computed(context: Context) -> pd.DataFrame:
    """What the study handed over.

    Raises:
        HypersphereError: no study makes it at this scale, or its file is missing or altered.
    """
    config, paper = context.results.config, context.paper.paper
    if context.name not in config.studied(paper):
        raise HypersphereError(f"{paper}: no exact study makes '{context.name}' at scale {config.scale_name}")
    return context.results.simulated(paper, context.name)


def source(context: Context) -> str:
    """The study's own csv, as text."""
    path: Path = context.results.config.results / "simulations" / context.paper.paper / f"{context.name}.csv"
    return path.read_text(encoding="utf-8")


def said(context: Context, table: pd.DataFrame) -> tuple[str, ...]:
    """At which size, what was computed, and what the claims that it bears on came to."""
    note = drawing(context.paper.paper, context.name).note(table)
    return tuple(filter(None, (SIZE_NOTICE, note, notes.unjudged(context.artifact), *_bound(context))))


def _bound(context: Context) -> list[str]:
    """``Its claims: 6 reproduced, 1 refuted.`` and ``It shows Theorem 3.4 (refuted).``."""
    judged = context.results.judged(context.paper.paper)
    own = Counter(judged[judged["artifact"] == context.name]["verdict"])
    texts = [f"Its claims: {', '.join(f'{count} {verdict}' for verdict, count in own.items())}."] if own else []
    shows = judged[judged["id"].isin(context.artifact.shows)]
    shown = [f"{row['source']} ({row['verdict']})" for row in shows.to_dict("records")]
    return texts + ([f"It shows {', '.join(shown)}."] if shown else [])
