"""Norms paper, Fig. S2: eight latent classes in three dimensions, latent and learned."""  # noqa: N999

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from hypersphere.report.style import COLOURS, GREY

PALETTE = (*COLOURS, GREY)

SIZE = (7.0, 5.8)
MEASURED = "Single points by class; dashed: from the origin to the mean of a class"
SPACES = {"latent": "latent points", "embedding": "learned, not normalised"}
DOTS = {"markersize": 3.2, "markeredgewidth": 0, "alpha": 0.55, "rasterized": True}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Readings of the noise in rows, spaces in columns."""
    panels = list(table["panel"].unique())
    for down, panel in enumerate(panels):
        for right, (space, name) in enumerate(SPACES.items()):
            place = 1 + right + down * len(SPACES)
            axis = figure.add_subplot(len(panels), len(SPACES), place, projection="3d")
            _scatter(axis, table[(table["panel"] == panel) & (table["space"] == space)])
            axis.set_title(f"{name} (noise: {panel})", pad=0)
    handles = [
        Line2D([], [], color=colour, marker="o", linestyle="--", linewidth=1, label=f"{label:.0f}")
        for label, colour in zip(sorted(table["label"].unique()), PALETTE, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), title="class", handlelength=2)


def _scatter(axis: Any, rows: pd.DataFrame) -> None:
    """The points of each class, and a dashed line from the origin to its mean."""
    labels = sorted(rows["label"].unique())
    for label, colour in zip(labels, PALETTE, strict=False):
        points = rows[(rows["label"] == label) & (rows["kind"] == "point")]
        axis.plot(points["x"], points["y"], points["z"], ".", color=colour, **DOTS)
        mean = rows[(rows["label"] == label) & (rows["kind"] == "mean")].iloc[0]
        ends = ([0, mean["x"]], [0, mean["y"]], [0, mean["z"]])
        axis.plot(*ends, color="white", linewidth=2.6, zorder=20)
        axis.plot(*ends, linestyle="--", color=colour, linewidth=1.5, zorder=21)
        axis.plot(*([end[1]] for end in ends), "o", color=colour, markeredgecolor="black", markersize=5, zorder=22)
    axis.set_aspect("equal")
    axis.set_box_aspect(axis.get_box_aspect() if hasattr(axis, "get_box_aspect") else None, zoom=1.2)
    axis.tick_params(labelsize=7.5, pad=-2)
    for side in (axis.xaxis, axis.yaxis, axis.zaxis):
        side.set_pane_color((1, 1, 1, 0))
    for line in (axis.xaxis, axis.yaxis, axis.zaxis):
        line.set_major_locator(MaxNLocator(4))


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    points = (table["kind"] == "point").sum() / (table["panel"].nunique() * table["space"].nunique())
    return (
        f"{table['label'].nunique()} classes of {table['per_class'].iloc[0]:,} points, one seed, "
        f"{table['epochs'].iloc[0]} epochs; {points:,.0f} of the points are drawn. Dashed: from the origin to each "
        "class's mean. Top: noise of variance 0.1 as printed. Bottom: of standard deviation 0.1 as in the authors' "
        "code. Axes have no unit."
    )
