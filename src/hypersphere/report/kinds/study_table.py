"""A table of an exact study."""

from hypersphere.report import studies
from hypersphere.report.artifact import Context, Grid, Head, Line, Text

OF = "study"
FOLDER = "tables"

notes = studies.sentences
numbers = studies.source


def draw(context: Context) -> Grid:
    """The study's own rows, with printed numbers beside ours."""
    layout: studies.Layout = studies.of_artifact(context)
    corner, *heads = layout.head
    lines = []
    for label, *cells in layout.body:
        texts = tuple(map(Text, cells))
        lines.append(Line((label,), texts))
    head = tuple(map(Head, heads))
    return Grid((head,), (corner,), tuple(lines))
