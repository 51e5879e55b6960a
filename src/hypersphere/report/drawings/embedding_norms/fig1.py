"""Norms paper, Fig. 1: outputs and their projections, the gradient field of the cosine, the growth of norms."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

SIZE = (7.0, 2.75)
MEASURED = "Points in the plane, the gradient of the cosine, and norms over steps of descent"
BLUE, ORANGE = COLOURS[0], COLOURS[4]


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Left, middle and right, as printed."""
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.12, 1, 0.95))
    _outputs(figure, left, table[table["panel"] == "left"])
    _field(middle, table[table["panel"] == "middle"])
    _growth(right, table[table["panel"] == "right"])
    for axes in (left, middle):
        axes.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        axes.set(xlabel="$z_1$", ylabel="$z_2$")
        axes.grid(visible=False)
    handles, labels = (of_left + of_middle for of_left, of_middle in zip(*_entries(left, middle), strict=True))
    figure.legend(handles, labels, loc="outside lower left", ncols=5, handlelength=1.6, columnspacing=1.2)


def _entries(left: Axes, middle: Axes) -> tuple[tuple[list[Any], list[Any]], tuple[list[Any], list[Any]]]:
    return left.get_legend_handles_labels(), middle.get_legend_handles_labels()


def _outputs(figure: Figure, axes: Axes, part: pd.DataFrame) -> None:
    outputs, projections = (part[part["kind"] == kind] for kind in ("output", "projection"))
    axes.add_patch(Circle((0, 0), 1, fill=False, color=GREY, linewidth=0.8))
    for (x, y), (a, b) in zip(outputs[["x", "y"]].to_numpy(), projections[["x", "y"]].to_numpy(), strict=True):
        axes.plot([x, a], [y, b], color="#C8C8C8", linewidth=0.5, zorder=1)
    dots: dict[str, Any] = {"s": 15, "cmap": "Blues", "vmin": 0, "vmax": 1.75, "linewidth": 0, "zorder": 3}
    shown = axes.scatter(outputs["x"], outputs["y"], c=outputs["norm"], label="output", **dots)
    axes.scatter(
        projections["x"], projections["y"], s=12, color="white", edgecolor=GREY, linewidth=0.6, label="projection"
    )
    bar = figure.colorbar(shown, ax=axes, aspect=20, pad=0.02, ticks=[0, 0.5, 1, 1.5])
    bar.set_label("norm")
    bar.ax.grid(visible=False)
    axes.set_title("outputs", loc="left")


def _field(axes: Axes, part: pd.DataFrame) -> None:
    field, highlighted, path = (part[part["kind"] == kind] for kind in ("field", "highlighted", "trajectory"))
    far = field[field["length"] < 2]  # near the origin, long arrows would hide the rest
    look: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 3, "units": "inches"}
    axes.plot([0, 0], [0, 2.1], color=ORANGE, linewidth=2.2, label="direction")
    axes.quiver(*(far[name] for name in "xyuv"), color="#9C9C9C", width=0.011, zorder=2, **look)
    axes.quiver(
        *(highlighted[name] for name in "xyuv"), color="black", width=0.02, zorder=4, label="highlighted", **look
    )
    axes.plot(path["x"], path["y"], "o-", color=BLUE, markersize=3.2, linewidth=0.8, label="descent", zorder=3)
    axes.set_title("gradient of the cosine", loc="left")


def _growth(axes: Axes, part: pd.DataFrame) -> None:
    for place, (rate, line) in enumerate(part.groupby("rate")):
        look: dict[str, Any] = {
            "color": COLOURS[place],
            "linestyle": DASHES[place],
            "marker": MARKERS[place],
            "markevery": 10,
        }
        axes.plot(line["step"], line["norm"], **look)
        axes.fill_between(line["step"], line["low"], line["high"], color=COLOURS[place], alpha=0.15, linewidth=0)
        axes.annotate(
            f"{rate:g}",
            (line["step"].iloc[-1], line["norm"].iloc[-1]),
            (4, -7 if place == 0 else -3),  # the lowest two lines end close together
            textcoords="offset points",
            color=COLOURS[place],
            annotation_clip=False,
        )
    axes.set(xlabel="step", ylabel=r"$\|z\|$", xlim=(0, part["step"].max()))
    axes.set_title("norm, by step size", loc="left")


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    outputs, path = (table[table["kind"] == kind] for kind in ("output", "trajectory"))
    starts, steps = (int(table[name].max()) for name in ("starts", "step"))
    return (
        f"Left: {len(outputs)} random points stand for outputs. Middle: gradients by autograd, drawn at a third of "
        f"their length, highlighted at norms 0.5, 1 and 2 (gradients longer than 2 are left out), and {len(path) - 1} "
        f"steps of descent at rate {path['rate'].iloc[0]:g}. Right: mean and range over {starts} random starts of norm "
        f"1, {steps} steps."
    )
