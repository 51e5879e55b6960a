"""A figure of an exact study."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import drawn, sliders, studies
from hypersphere.report.shown import Context, Shown

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``."""
    table = studies.computed(context)
    drawn.write(context, lambda: draw(context, table), studies.source(context))


def shown(context: Context) -> Shown:
    """The figure's heading and caption."""
    table = studies.computed(context)
    drawing: studies.Drawing = studies.drawn_by_study(context, table)
    notes, heading = studies.sentences(context, drawing.note), studies.heading(context.artifact)
    stops = sliders.packed(table, drawing.slider) if drawing.slider else None
    return Shown(context.name, heading, notes, alt=" ".join(notes[:2]), inches=drawing.size[0], stops=stops)


def finding(context: Context) -> str:
    """What the figure shows, in a sentence with its numbers; empty if its study names nothing."""
    drawing: studies.Drawing = studies.drawn_by_study(context, studies.computed(context))
    return drawing.finding


def draw(context: Context, table: pd.DataFrame) -> Figure:
    """The drawing under its finding and what is measured, and over a line on its size."""
    drawing: studies.Drawing = studies.drawn_by_study(context, table)
    subject = context.artifact.title
    subtitle = f"{subject}. {drawing.measured}" if drawing.finding else drawing.measured
    frame = drawn.Frame(drawing.finding or subject, subtitle, f"{studies.SIZE_NOTICE} {studies.repeated(table)}")
    figure, part = drawn.framed(frame, *drawing.size)
    drawing.draw(part)
    return figure
