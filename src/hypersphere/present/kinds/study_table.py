"""A table of an exact study."""

import pandas as pd

from hypersphere.files import write_text
from hypersphere.present import studies, writer
from hypersphere.present.shown import Context, Grid, Head, Line, Shown, Text

OF = "study"
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")


def build(context: Context) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``.

    Raises:
        HypersphereError: no study makes it at this scale, or a results file is missing.
    """
    _, title, said, grid, *_ = shown(context)
    assert grid is not None
    texts = {
        ".csv": studies.source(context),
        ".md": writer.as_markdown(title, grid, said),
        ".tex": writer.as_tex(title, grid, said, f"tab:{context.paper.paper}-{context.name}"),
    }
    for path in context.results.plan.outputs(context.paper.paper, context.name):
        write_text(path, texts[path.suffix])


def shown(context: Context) -> Shown:
    """The table as scorecard and paper show it, printed numbers beside ours.

    Raises:
        HypersphereError: no study makes it at this scale, or a results file is missing.
    """
    table = studies.computed(context)
    judged = context.results.judged(context.paper.paper)
    claims = judged[judged["artifact"] == context.name]
    numbers = {name: pd.to_numeric(claims[name], errors="coerce") for name in ("reported", "measured")}
    head, body = studies.drawing(context.paper.paper, context.name).rows(table, claims.assign(**numbers))
    grid = Grid(
        (tuple(Head(text) for text in head[1:]),),
        tuple(head[:1]),
        tuple(Line(tuple(row[:1]), tuple(Text(text) for text in row[1:])) for row in body),
    )
    return Shown(context.name, studies.heading(context.artifact), studies.said(context, table), grid)
