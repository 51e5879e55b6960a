"""A table of an exact study."""

from hypersphere.report import studies
from hypersphere.report.artifact import Context, Grid, Head, Line, Text

OF = "study"
FOLDER = "tables"

notes, numbers = studies.sentences, studies.source


def draw(context: Context) -> Grid:
    """The study's own rows, with printed numbers beside ours."""
    layout: studies.Layout = studies.of_artifact(context)
    lines = [Line((row[0],), tuple(map(Text, row[1:]))) for row in layout.body]
    return Grid((tuple(map(Head, layout.head[1:])),), (layout.head[0],), tuple(lines))
