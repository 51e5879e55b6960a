"""A figure of an exact study."""

from typing import Any

from matplotlib.figure import Figure

from hypersphere.report import figures, studies, words
from hypersphere.report.artifact import Context

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")


notes, numbers = studies.sentences, studies.source


def about(context: Context) -> dict[str, Any]:
    """What a page says of the drawing besides its notes: its width, and a text for it."""
    drawing: studies.Drawing = studies.made(context)
    return {"alt": " ".join(notes(context)[:2]), "inches": drawing.size[0]}


def draw(context: Context) -> Figure:
    """The drawing under its finding and what is measured, and over a line on its size."""
    drawing: studies.Drawing = studies.made(context)
    subject = context.artifact.title
    subtitle = f"{subject}. {drawing.measured}" if drawing.finding else drawing.measured
    small = words.joined(studies.SIZE_NOTICE, studies.repeated(studies.computed(context)))
    figure, part = figures.framed(figures.Frame(drawing.finding or subject, subtitle, small), *drawing.size)
    drawing.draw(part)
    return figure
