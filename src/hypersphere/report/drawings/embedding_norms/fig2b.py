"""Norms paper, Fig. 2b: norm of an embedding against the distance to its tenth neighbour."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.report.style import COLOURS

SIZE = (7.0, 3.0)
MEASURED = "Norm of each point, and distance to its tenth neighbour, in three readings of the data"
DOTS: dict[str, Any] = {"markersize": 2.5, "markeredgewidth": 0, "alpha": 0.5, "rasterized": True}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A panel for each reading: the first seed's points by class, and the quarters' means over seeds."""
    panels = list(table["panel"].unique())
    axes = figure.subplots(1, len(panels))
    for axis, panel in zip(axes, panels, strict=True):
        _panel(axis, table[table["panel"] == panel])
        axis.set_title(panel)
    axes[0].set_ylabel(r"embedding norm $\|z\|$")
    labels = sorted(table.loc[table["kind"] == "point", "label"].unique())
    handles = [
        Line2D([], [], linestyle="", marker="o", color=colour, label=f"class {label:.0f}")
        for label, colour in zip(labels, COLOURS, strict=False)
    ]
    quarters = Line2D([], [], marker="D", color="black", linewidth=1, label="quarters, over seeds")
    figure.legend(handles=[*handles, quarters], loc="outside lower center", ncols=len(handles) + 1)


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    points, quarters = rows[rows["kind"] == "point"], rows[rows["kind"] == "quarter"]
    for label, colour in zip(sorted(points["label"].unique()), COLOURS, strict=False):
        of_class = points[points["label"] == label]
        axis.plot(of_class["distance"], of_class["value"], ".", color=colour, **DOTS)
    error = [quarters["value"] - quarters["low"], quarters["high"] - quarters["value"]]
    axis.errorbar(quarters["distance"], quarters["value"], error, fmt="D-", color="black", linewidth=1, capsize=2)
    axis.set(xscale="log", ylim=(0, None), xlabel="1 − cos to the 10th neighbour")


def note(table: pd.DataFrame) -> str:
    """What was computed, and the rank correlations over seeds."""
    points = table[(table["kind"] == "point") & (table["panel"] == table["panel"].iloc[0])]
    trained, untrained = (table[table["kind"] == kind] for kind in ("rank", "rank_untrained"))
    columns = zip(*(trained[name] for name in ("panel", "value", "low", "high")), untrained["value"], strict=True)
    ranks = "; ".join(
        f"{panel}: {value:.2f} ({low:.2f} to {high:.2f}), {before:.2f} before training"
        for panel, value, low, high, before in columns
    )
    return (
        f"{points['label'].nunique()} classes, {len(points):,} points, {table['epochs'].iloc[0]:.0f} epochs, "
        f"{table['n'].max():.0f} seeds with 95 % intervals; dots: the first seed. Left: noise of variance 0.1 as "
        "printed. Middle: of standard deviation 0.1 as in the authors' code. Right: the authors' notebook, where the "
        f"last network of Fig. 2c embeds new classes under a new matrix. Rank correlation of norm and density: {ranks}."
    )
