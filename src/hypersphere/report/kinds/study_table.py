"""A table of an exact study."""

import pandas as pd

from hypersphere.report import studies
from hypersphere.report.artifact import Context, Grid, Head, Line, Text

OF = "study"
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")

notes, numbers = studies.sentences, studies.source


def draw(context: Context) -> Grid:
    """The study's own rows, with printed numbers beside ours."""
    judged = context.results.judged(context.paper.paper)
    claims = judged[judged["artifact"] == context.name]
    reported, measured = (pd.to_numeric(claims[name], errors="coerce") for name in ("reported", "measured"))
    module = studies.drawing(context.paper.paper, context.name)
    head, body = module.rows(studies.computed(context), claims.assign(reported=reported, measured=measured))
    lines = [Line((row[0],), tuple(map(Text, row[1:]))) for row in body]
    return Grid((tuple(map(Head, head[1:])),), (head[0],), tuple(lines))
