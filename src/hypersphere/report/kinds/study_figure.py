"""A figure of an exact study."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import figures, studies
from hypersphere.report.artifact import Context

OF = "study"
FOLDER = "figures"


notes, numbers = studies.sentences, studies.source


def draw(context: Context) -> Figure:
    """The drawing under its finding and what is measured, over a line on its size and how often it was repeated."""
    drawing: studies.Drawing = studies.of_artifact(context)
    subject = context.artifact.title
    subtitle = f"{subject}. {drawing.measured}" if drawing.finding else drawing.measured
    table, small = studies.computed(context), studies.SIZE_NOTICE
    for column, counted in {"n": "seeds", "trials": "trials", "starts": "starts"}.items():
        if column in table and (most := pd.to_numeric(table[column], errors="coerce").max()) > 1:
            small += f" n = {most:.0f} {counted}."
            break
    figure, part = figures.framed(
        figures.Frame(drawing.finding or subject, subtitle, small), *drawing.size
    )
    drawing.draw(part)
    return figure
