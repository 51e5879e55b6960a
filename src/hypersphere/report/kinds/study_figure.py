"""A figure of an exact study."""

from typing import Any

from matplotlib.figure import Figure

from hypersphere.report import figures, sliders, studies
from hypersphere.report.artifact import Context

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")


notes, numbers = studies.sentences, studies.source


def about(context: Context) -> dict[str, Any]:
    """What a page says of the drawing besides its notes: its width, a text for it, and its slider."""
    module, said = studies.drawing(context.paper.paper, context.name), notes(context)
    stops = sliders.packed(studies.computed(context), module.SLIDER) if hasattr(module, "SLIDER") else None
    return {"alt": " ".join(said[:2]), "inches": module.SIZE[0], "stops": stops}


def draw(context: Context) -> Figure:
    """The drawing under its finding and what is measured, and over a line on its size."""
    module, table = studies.drawing(context.paper.paper, context.name), studies.computed(context)
    finding, subject = studies.finding(context, table), context.artifact.title
    subtitle = f"{subject}. {module.MEASURED}" if finding else module.MEASURED
    frame = figures.Frame(finding or subject, subtitle, f"{studies.SIZE_NOTICE} {studies.repeated(table)}")
    figure, part = figures.framed(frame, *module.SIZE)
    module.draw(part, table)
    return figure
