"""A figure of an exact study."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import drawn, sliders, studies
from hypersphere.report.shown import Context, Shown

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")


def build(context: Context) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: no study makes it at this scale, or a results file is missing.
    """
    table = studies.computed(context)
    drawn.write(context, lambda: draw(context, table), studies.source(context))


def shown(context: Context) -> Shown:
    """The figure's heading and caption.

    Raises:
        HypersphereError: no study makes it at this scale, or a results file is missing.
    """
    table = studies.computed(context)
    notes, module = studies.sentences(context, table), studies.drawing(context.paper.paper, context.name)
    stops = sliders.packed(table, module.SLIDER) if hasattr(module, "SLIDER") else None
    heading, alt = studies.heading(context.artifact), " ".join(notes[:2])
    return Shown(context.name, heading, notes, alt=alt, inches=module.SIZE[0], stops=stops)


def draw(context: Context, table: pd.DataFrame) -> Figure:
    """The drawing under its finding and what is measured, and over a line on its size."""
    module = studies.drawing(context.paper.paper, context.name)
    finding, subject = studies.finding(context, table), context.artifact.title
    subtitle = f"{subject}. {module.MEASURED}" if finding else module.MEASURED
    frame = drawn.Frame(finding or subject, subtitle, f"{studies.SIZE_NOTICE} {studies.repeated(table)}")
    figure, part = drawn.framed(frame, *module.SIZE)
    module.draw(part, table)
    return figure
