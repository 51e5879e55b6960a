"""The shared part of figures and tables of exact studies: what a drawing is, and notes on an artifact's claims.

The draw.py of a study has a function for each artifact that names the study, under the artifact's own name. A figure's
takes the study's table and returns a ``Drawing``; a table's also takes the artifact's claims and returns a ``Layout``.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import pandas as pd

from hypersphere.config import paper_code
from hypersphere.report import notes
from hypersphere.report.artifact import Context

SIZE_NOTICE = "Exact study at its published size, the same at every scale; one CPU thread, no trained encoder."


class Drawing(NamedTuple):
    """A figure of an exact study."""

    size: tuple[float, float]
    """Inches, as printed."""
    measured: str
    """What is drawn, in a few words."""
    draw: Callable[[Any], None]
    """Draws on a figure, or on a part of one."""
    note: str
    """Plain sentences on what was computed."""
    finding: str = ""
    """What the table shows, in a sentence, which becomes the title."""


class Layout(NamedTuple):
    """A table of an exact study, as text."""

    head: list[str]
    body: list[list[str]]
    note: str
    """Plain sentences on what was computed."""

    @classmethod
    def of_table(cls, table: pd.DataFrame, note: str) -> Self:
        """The layout of a table whose columns are called what stands above them."""
        return cls(list(table.columns), table.astype(str).to_numpy().tolist(), note)


def of_artifact(context: Context) -> Any:
    """The ``Drawing`` or ``Layout`` of an artifact, by the function of its study's draw.py."""
    code = context.config.study_code(context.paper.paper, context.artifact.study)
    function = paper_code.load(code.draw, context.name)
    table = computed_table(context)
    if context.artifact.draw == "study_figure":
        return function(table)
    claims = _judged_claims(context)
    for column in ("reported", "measured"):
        claims[column] = pd.to_numeric(claims[column], errors="coerce")
    return function(table, claims)


def _judged_claims(context: Context) -> pd.DataFrame:
    """The claims of an artifact that theorems and exact studies answer."""
    judged = context.results.judged_claims(context.paper.paper)
    return judged[judged["artifact"] == context.name].copy()


def computed_table(context: Context) -> pd.DataFrame:
    """The artifact's table, as its study returned it."""
    table = context.results.table(context.paper.paper, context.name)
    return pd.read_csv(context.results.checked_file(table))


def source(context: Context) -> str:
    """The study's own csv, as text."""
    return context.results.table(context.paper.paper, context.name).read_text(encoding="utf-8")


def sentences(context: Context) -> tuple[str, ...]:
    """The notes of an artifact: its size, what was computed, the verdicts on its claims, and on others that it shows.

    ``Its claims: 6 reproduced, 1 refuted.`` and ``It shows Theorem 3.4 (refuted).``
    """
    listed = [SIZE_NOTICE, of_artifact(context).note, notes.why_not_judged(context.artifact)]
    counts = Counter(_judged_claims(context)["verdict"])
    if counts:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        listed.append(f"Its claims: {verdicts}.")
    judged = context.results.judged_claims(context.paper.paper)
    shows = judged[judged["id"].isin(context.artifact.shows)]
    if len(shows):
        shown = shows["source"] + " (" + shows["verdict"] + ")"
        listed.append(f"It shows {', '.join(shown)}.")
    return tuple(filter(None, listed))
