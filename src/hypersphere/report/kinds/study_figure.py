"""A figure of an exact study."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hypersphere.report import figures, studies, words
from hypersphere.report.artifact import Context

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")


notes, numbers = studies.sentences, studies.source


def about(context: Context) -> dict[str, Any]:
    """What a page says of the drawing besides its notes: its width, a text for it, and its slider."""
    drawing: studies.Drawing = studies.made(context)
    stops = packed(studies.computed(context), drawing.slider) if drawing.slider else None
    return {"alt": " ".join(notes(context)[:2]), "inches": drawing.size[0], "stops": stops}


def packed(table: pd.DataFrame, slider: studies.Slider) -> dict[str, Any]:
    """All stops, as the page's script reads them: ``y`` by line, stop and place. Nothing is computed."""
    stops = [float(stop) for stop in sorted(table["stop"].unique())]
    ticks, lines = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]), list(slider.lines)
    panels = []
    for name, panel in slider.panels.items():
        part = table[table["panel"] == name]
        low, high = part["x"].min(), part["x"].max()
        across = [tick for tick in ticks.tick_values(low, high) if low - 0.1 <= tick <= high]
        panels.append(
            panel._asdict()
            | {
                "places": studies.line(part, name, lines[0], stops[0])["x"].tolist(),
                "values": [[studies.line(part, name, line, stop)["y"].tolist() for stop in stops] for line in lines],
                "across": [round(float(tick), 6) for tick in across],
                "up": [round(float(tick), 6) for tick in ticks.tick_values(part["y"].min(), part["y"].max())],
            }
        )
    first = stops.index(slider.stills[len(slider.stills) // 2])
    said = {"setting": slider.setting, "stops": stops, "first": first, "lines": list(slider.lines.values())}
    return said | {"panels": panels}


def draw(context: Context) -> Figure:
    """The drawing under its finding and what is measured, and over a line on its size."""
    drawing: studies.Drawing = studies.made(context)
    subject = context.artifact.title
    subtitle = f"{subject}. {drawing.measured}" if drawing.finding else drawing.measured
    small = words.joined(studies.SIZE_NOTICE, studies.repeated(studies.computed(context)))
    figure, part = figures.framed(figures.Frame(drawing.finding or subject, subtitle, small), *drawing.size)
    drawing.draw(part)
    return figure
