"""A figure of an exact study."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import figures, studies
from hypersphere.report.artifact import Context

OF = "study"
FOLDER = "figures"


REPEATED = {"n": "seeds", "trials": "trials", "starts": "starts"}
"""How often a study was repeated: the columns that say it, and of what."""

notes = studies.sentences
numbers = studies.source


def draw(context: Context) -> Figure:
    """The drawing under its finding and what is measured, over a line on its size and how often it was repeated."""
    drawing: studies.Drawing = studies.of_artifact(context)
    title, subtitle = context.artifact.title, drawing.measured
    if drawing.finding:
        title, subtitle = drawing.finding, f"{title}. {subtitle}"
    frame = figures.Frame(
        title, subtitle, studies.SIZE_NOTICE + _repeats(studies.computed_table(context))
    )
    figure, part = figures.figure_in_frame(frame, *drawing.size)
    drawing.draw(part)
    return figure


def _repeats(table: pd.DataFrame) -> str:
    """`` n = 20 trials.``; empty for what was done once."""
    for column, repeated in REPEATED.items():
        if column in table:
            most = pd.to_numeric(table[column], errors="coerce").max()
            if most > 1:
                return f" n = {most:.0f} {repeated}."
    return ""
