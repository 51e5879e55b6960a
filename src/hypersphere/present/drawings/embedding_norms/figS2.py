"""Norms paper, Fig. S2: eight latent classes in three dimensions, latent and learned."""  # noqa: N999

from typing import Any

import matplotlib
import pandas as pd
from matplotlib import patheffects
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

SIZE = (7.0, 6.6)
SPACES = {"latent": "latent points", "embedding": "learned, not normalised"}
DOTS = {"markersize": 2.5, "markeredgewidth": 0, "alpha": 0.6, "rasterized": True}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Readings of the noise in rows, spaces in columns."""
    panels = list(table["panel"].unique())
    for down, panel in enumerate(panels):
        for right, (space, name) in enumerate(SPACES.items()):
            place = 1 + right + down * len(SPACES)
            axis = figure.add_subplot(len(panels), len(SPACES), place, projection="3d")
            _scatter(axis, table[(table["panel"] == panel) & (table["space"] == space)])
            axis.set_title(f"{name} (noise: {panel})", fontsize=8.5)


def _scatter(axis: Any, rows: pd.DataFrame) -> None:
    """The points of each class, and a dashed line from the origin to its mean, which carries its number."""
    labels = sorted(rows["label"].unique())
    for label in labels:
        colour = matplotlib.colormaps["viridis"]((label - 1) / (len(labels) - 1))
        points = rows[(rows["label"] == label) & (rows["kind"] == "point")]
        axis.plot(points["x"], points["y"], points["z"], ".", color=colour, **DOTS)
        mean = rows[(rows["label"] == label) & (rows["kind"] == "mean")].iloc[0]
        axis.plot([0, mean["x"]], [0, mean["y"]], [0, mean["z"]], linestyle="--", color=colour)
        number = axis.text(mean["x"], mean["y"], mean["z"], f"{label}", fontsize=8, ha="center", va="center")
        number.set_path_effects([patheffects.withStroke(linewidth=2, foreground="white")])
    axis.set_aspect("equal")
    axis.tick_params(labelsize=7, pad=-2)
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
