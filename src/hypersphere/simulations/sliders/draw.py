"""What one setting does to a gradient, with a slider for the setting: a margin's size, or an embedding's norm."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing, Panel, Slider, line
from hypersphere.report.style import COLOURS, DASHES

MARGIN = Slider(
    "Margin m",
    {
        "logit": Panel("Logit of the positive", "angle of the positive (rad)", "logit (nat)", 0.7854),
        "gradient": Panel("Gradient in the angle", "angle of the positive (rad)", "size (nat per rad)", 0.7854),
    },
    {"none": "no margin", "angular": "angular margin", "subtractive": "subtractive margin"},
    (0.2, 0.4, 0.8),
)
NORM = Slider(
    "Norm of the embedding",
    {
        "gradient": Panel("Gradient", "angle of the pair (rad)", "size", 1.571),
        "growth": Panel("Growth of the norm in a step", "angle of the pair (rad)", "growth", 1.571),
    },
    {"plain": "plain", "grad_scale": "GradScale (p = 1)"},
    (0.5, 1.0, 2.0),
)


def sliders(table: pd.DataFrame) -> Drawing:
    """What a margin does to the positive's logit and gradient, or a norm to its own gradient and growth."""
    stops = f"{table['stop'].min():g} to {table['stop'].max():g}."
    if "logit" in set(table["panel"]):
        slider, size = MARGIN, (7.0, 3.6)
        measured = "Logit of the positive and size of its gradient, by its angle to the anchor"
        note = (
            "InfoNCE (Eq. 5) with τ = 0.25 and 255 negatives at a right angle to the anchor. Either margin is of size "
            "m: m₁ in radians, m₂ in units of cosine. A subtractive margin lowers every logit alike; an angular one "
            "turns the curve, so that logits rise again beyond π − m₁. "
            f"{table['stop'].nunique()} margins from {stops}"
        )
    else:
        slider, size = NORM, (7.0, 3.4)
        measured = (
            "Size of the cosine's gradient, and growth of the norm in one step along it, by the angle of the pair"
        )
        note = (
            "A pair in the plane; the other embedding is fixed. The plain gradient falls as one over the norm, and a "
            "step along it (rate 1) lengthens the embedding, most where the norm is small. GradScale with p = 1 "
            f"multiplies the gradient by the norm. {table['stop'].nunique()} norms from {stops}"
        )
    return Drawing(size, measured, lambda figure: _panels(figure, table, slider), note, slider=slider)


def _panels(figure: Figure, table: pd.DataFrame, slider: Slider) -> None:
    """Panels side by side: a colour for each stop, a dash for each line; black where all stops are one line."""
    entries: dict[str, Any] = {}
    for axes, (name, panel) in zip(figure.subplots(1, len(slider.panels)), slider.panels.items(), strict=True):
        for dash, (key, label) in zip(DASHES, slider.lines.items(), strict=False):
            parts = {f"{label}, {stop:g}": line(table, name, key, stop) for stop in slider.stills}
            first, *others = parts.values()
            if all(np.allclose(other["y"], first["y"]) for other in others):
                entries[f"{label}, any"] = axes.plot(first["x"], first["y"], color="black", linestyle=dash)[0]
                continue
            for colour, (named, part) in zip(COLOURS, parts.items(), strict=False):
                entries[named] = axes.plot(part["x"], part["y"], color=colour, linestyle=dash)[0]
        axes.set(xlabel=panel.x, ylabel=panel.y)
        axes.set_title(panel.title, loc="left")
    title, columns = slider.setting, len(slider.stills)
    names = sorted(entries, key=lambda named: named.endswith("any"))
    handles = [entries[named] for named in names]
    figure.legend(handles, names, loc="outside lower center", ncols=columns, title=title, fontsize=7.5)
