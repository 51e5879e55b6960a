"""Double-metric paper, Fig. 2: a pair of points, its cosine and chord, and the chord's part in the gradient."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from hypersphere.exact.study import only
from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY

BLUE, ORANGE = COLOURS[0], COLOURS[1]
LOSSES = {"DM1": COLOURS[0], "DM2": COLOURS[1], "DM3": COLOURS[2], "DM4": COLOURS[3]}
CIRCLES = {"1": 0.0, r"$1/\sqrt{\tau}$": 0.5, r"$1/\tau$": 1.0}
"""Powers of the temperature by which each circle's radius is divided."""
SIGNS: dict[str, tuple[Any, str]] = {
    "contrastive": (DASHES[0], r"$\alpha/\tau + \beta/|u-v|$ (opposite sign)"),
    "printed": (DASHES[1], r"$\alpha/\tau - \beta/|u-v|$ (as published)"),
    "none": (DASHES[2], r"NT-Xent: $1/\tau$"),
}
RANGES = {0.07: (-12, 32), 1.0: (-4, 6)}


def fig2(table: pd.DataFrame) -> Drawing:
    panels = dict(list(table.groupby("panel")))
    numbers = panels["numbers"].set_index("series")["y"].to_dict()
    note = (
        f"The drawn pair has cosine {numbers['cosine']:.2f}, arc {numbers['arc']:.2f} and chord "
        f"{numbers['chord']:.2f}. A dot is where a published weight is 0."
    )
    measured = (
        "Left: both distances of a pair. "
        "Middle, right: the weight by which a loss multiplies the cosine's gradient"
    )

    def draw(figure: Figure) -> None:
        left, middle, right = figure.subplots(1, 3)
        _draw_pair(left, panels["plane"], numbers["temperature"])
        _draw_weights(middle, panels["weights"], panels["zero"], 0.07)
        _draw_weights(right, panels["weights"], panels["zero"], 1.0)
        middle.set_ylabel("weight on the cosine")
        figure.legend(
            handles=_legend(),
            loc="outside lower center",
            ncols=4,
            handlelength=2.4,
            title="middle and right",
        )

    return Drawing((7.2, 3.4), measured, draw, note)


def _draw_pair(axes: Axes, plane: pd.DataFrame, temperature: float) -> None:
    """A pair of features, their projections, the arc and the chord, among circles of three radii."""
    series = {name: rows[["x", "y"]].to_numpy() for name, rows in plane.groupby("series")}
    arc = series["arc"]
    units = series["units"]
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    for text, power in CIRCLES.items():
        radius = temperature**-power
        axes.add_patch(Circle((0, 0), radius, fill=False, edgecolor=GREY, linewidth=1.0))
        axes.annotate(text, (0, -radius), va="center", ha="center", bbox=background)
    axes.plot(*arc.T, color=BLUE, linewidth=2.5)
    axes.plot(*units.T, color=ORANGE, linewidth=2.5)
    for end in series["features"]:
        _draw_arrow(axes, end, GREY)
    for end in units:
        _draw_arrow(axes, end, "black")
    middle_of_arc = arc[len(arc) // 2]
    left_end = min(map(tuple, units))
    axes.annotate("arc", middle_of_arc, (2, 3), color=BLUE, textcoords="offset points")
    axes.annotate(
        "chord",
        left_end,
        (-5, -3),
        color=ORANGE,
        va="top",
        ha="right",
        bbox=background,
        textcoords="offset points",
    )
    axes.set(
        aspect="equal",
        title=rf"the pair, $\tau$ = {temperature:g}",
        xlabel="first coordinate",
        ylabel="second coordinate",
    )


def _draw_arrow(axes: Axes, end: Any, colour: str) -> None:
    """An arrow from 0."""
    arrow = {
        "arrowstyle": "-|>",
        "color": colour,
        "shrinkA": 0,
        "shrinkB": 0,
        "linewidth": 1.0,
    }
    axes.annotate("", end, (0, 0), arrowprops=arrow)


def _draw_weights(
    axes: Axes, weights: pd.DataFrame, zeros: pd.DataFrame, temperature: float
) -> None:
    """Curves of the weights at a temperature; dots where one is 0."""
    curves = only(weights, temperature=temperature)
    for (loss, sign), rows in curves.groupby(["series", "sign"]):
        colour = LOSSES.get(str(loss), GREY)
        dashes, _ = SIGNS[str(sign)]
        axes.plot(
            rows["x"],
            rows["y"],
            color=colour,
            linestyle=dashes,
            linewidth=1.5,
        )
    dots = only(zeros, temperature=temperature).dropna(subset="x")
    for loss, x in zip(dots["series"], dots["x"], strict=True):
        size = 9.0 if loss == "DM2" else 5.5  # DM2's lies under DM4's
        axes.plot(
            x,
            0,
            marker="o",
            markersize=size,
            markeredgewidth=0,
            color=LOSSES[loss],
            zorder=3,
        )
    axes.axhline(0, color="black", linewidth=0.7)
    axes.set_xscale("log")
    axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axes.set(
        xlim=(curves["x"].min(), curves["x"].max()),
        ylim=RANGES[temperature],
        xlabel="angle of the pair (rad)",
        title=rf"$\tau$ = {temperature:g}",
    )


def _legend() -> list[Line2D]:
    """Signs, dots and losses."""
    signs = [
        Line2D([], [], color="black", linestyle=dashes, label=label)
        for dashes, label in SIGNS.values()
    ]
    dot = Line2D(
        [],
        [],
        color="black",
        marker="o",
        linestyle="none",
        label="where the published weight is 0",
    )
    losses = [Line2D([], [], color=colour, label=loss) for loss, colour in LOSSES.items()]
    return [*signs, dot, *losses]
