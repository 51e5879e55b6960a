"""A table of an exact study."""

import pandas as pd

from hypersphere.report import studies, writer
from hypersphere.report.shown import Context, Grid, Head, Line, Shown, Text

OF = "study"
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")


def build(context: Context) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``."""
    writer.write(context, shown(context), studies.source(context))


def shown(context: Context) -> Shown:
    """The table as scorecard and paper show it, with printed numbers beside ours."""
    table = studies.computed(context)
    judged = context.results.judged(context.paper.paper)
    claims = judged[judged["artifact"] == context.name]
    numbers = {name: pd.to_numeric(claims[name], errors="coerce") for name in ("reported", "measured")}
    layout: studies.Layout = studies.drawn_by_study(context, table, claims.assign(**numbers))
    grid = Grid(
        (tuple(Head(text) for text in layout.head[1:]),),
        tuple(layout.head[:1]),
        tuple(Line(tuple(row[:1]), tuple(Text(text) for text in row[1:])) for row in layout.body),
    )
    return Shown(context.name, studies.heading(context.artifact), studies.sentences(context, layout.note), grid)
