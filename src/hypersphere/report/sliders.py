"""A figure with a slider: one setting at several stops. The drawing shows a few stops, the scorecard all of them.

A study's table has the columns panel, line, stop, x, y. A drawing's ``slider`` says what they are called.
"""

from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hypersphere.report.style import COLOURS, DASHES


class Panel(NamedTuple):
    """The axes of one panel."""

    title: str
    x: str
    y: str
    at: float
    """The place where the page reads the values at first."""


class Slider(NamedTuple):
    """The names of what a study's table holds. Panels and lines are by their names in it, in the order shown."""

    setting: str
    panels: dict[str, Panel]
    lines: dict[str, str]
    stills: tuple[float, ...]
    """The stops that the drawing shows, the page's first stop in the middle."""


def draw(figure: Figure, table: pd.DataFrame, slider: Slider) -> None:
    """Panels side by side: a colour for each stop, a dash for each line."""
    for axes, (name, panel) in zip(figure.subplots(1, len(slider.panels)), slider.panels.items(), strict=True):
        for colour, stop in zip(COLOURS, slider.stills, strict=False):
            for dash, (line, label) in zip(DASHES, slider.lines.items(), strict=False):
                part = _line(table, name, line, stop)
                named = f"{stop:g}" + (f", {label}" if len(slider.lines) > 1 else "")
                axes.plot(part["x"], part["y"], color=colour, linestyle=dash, label=named)
        axes.set(xlabel=panel.x, ylabel=panel.y)
        axes.set_title(panel.title, loc="left")
    handles, labels = axes.get_legend_handles_labels()
    title, columns = slider.setting, len(slider.stills)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, title=title, fontsize=7.5)


def packed(table: pd.DataFrame, slider: Slider) -> dict[str, Any]:
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
                "places": _line(part, name, lines[0], stops[0])["x"].tolist(),
                "values": [[_line(part, name, line, stop)["y"].tolist() for stop in stops] for line in lines],
                "across": [round(float(tick), 6) for tick in across],
                "up": [round(float(tick), 6) for tick in ticks.tick_values(part["y"].min(), part["y"].max())],
            }
        )
    first = stops.index(slider.stills[len(slider.stills) // 2])
    said = {"setting": slider.setting, "stops": stops, "first": first, "lines": list(slider.lines.values())}
    return said | {"panels": panels}


def _line(table: pd.DataFrame, panel: str, line: str, stop: float) -> pd.DataFrame:
    return table[(table["panel"] == panel) & (table["line"] == line) & (table["stop"] == stop)]
