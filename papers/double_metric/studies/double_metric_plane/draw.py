"""Double-metric paper, Fig. 2: a pair of points, its cosine and chord, and the chord's part in the gradient."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY

BLUE, ORANGE = COLOURS[0], COLOURS[1]
LOSSES = {"DM1": COLOURS[0], "DM2": COLOURS[1], "DM3": COLOURS[2], "DM4": COLOURS[3]}
CIRCLES = {"1": 0.0, r"$1/\sqrt{\tau}$": 0.5, r"$1/\tau$": 1.0}
"""Powers of the temperature by which each circle's radius is divided."""
SIGNS: dict[str, tuple[Any, str]] = {
    "contrastive": (DASHES[0], r"$\alpha/\tau + \beta/|u-v|$ (opposite sign)"),
    "printed": (DASHES[1], r"$\alpha/\tau - \beta/|u-v|$ (as printed)"),
    "none": (DASHES[2], r"NT-Xent: $1/\tau$"),
}
RANGES = {0.07: (-12, 32), 1.0: (-4, 6)}


def fig2(table: pd.DataFrame) -> Drawing:
    part, zero = (table[table["panel"] == panel] for panel in ("numbers", "zero"))
    numbers = dict(zip(part["series"], part["y"], strict=True))
    note = (
        f"The drawn pair has cosine {numbers['cosine']:.2f}, arc {numbers['arc']:.2f} and chord "
        f"{numbers['chord']:.2f}. A dot is where a printed weight is 0."
    )
    measured = (
        "Left: both distances of a pair. Middle, right: the weight by which a loss multiplies the cosine's gradient"
    )

    def draw(figure: Figure) -> None:
        left, *panels = figure.subplots(1, 3)
        plane = dict(list(table[table["panel"] == "plane"].groupby("series")))
        features, units, arc = (plane[name][["x", "y"]].to_numpy() for name in ("features", "units", "arc"))
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        for text, power in CIRCLES.items():
            radius = numbers["temperature"] ** -power
            left.add_patch(Circle((0, 0), radius, fill=False, edgecolor=GREY, linewidth=1.0))
            left.annotate(text, (0, -radius), va="center", ha="center", bbox=background)
        left.plot(*arc.T, color=BLUE, linewidth=2.5)
        left.plot(*units.T, color=ORANGE, linewidth=2.5)
        for ends, colour in ((features, GREY), (units, "black")):
            arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.0}
            for end in ends:
                left.annotate("", end, (0, 0), arrowprops=arrow)
        beside: dict[str, Any] = {"textcoords": "offset points"}
        left.annotate("arc", arc[len(arc) // 2], (2, 3), color=BLUE, **beside)
        left.annotate("chord", units.mean(axis=0), (5, 2), color=ORANGE, va="bottom", ha="center", **beside)
        left.set_aspect("equal")
        title = rf"the pair, $\tau$ = {numbers['temperature']:g}"
        left.set(title=title, xlabel="first coordinate", ylabel="second coordinate")
        weights = table[table["panel"] == "weights"]
        for axes, (temperature, limits) in zip(panels, RANGES.items(), strict=True):
            curves = weights[weights["temperature"] == temperature]
            for (loss, sign), rows in curves.groupby(["series", "sign"]):
                colour = LOSSES.get(str(loss), GREY)
                axes.plot(rows["x"], rows["y"], color=colour, linestyle=SIGNS[str(sign)][0], linewidth=1.5)
            zeros = zero[(zero["temperature"] == temperature) & zero["x"].notna()]
            for loss, x in zip(zeros["series"], zeros["x"], strict=True):
                size = 9.0 if loss == "DM2" else 5.5  # DM2's lies under DM4's
                axes.plot(x, 0, marker="o", markersize=size, markeredgewidth=0, color=LOSSES[loss], zorder=3)
            axes.axhline(0, color="black", linewidth=0.7)
            axes.set_xscale("log")
            axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
            axes.set(xlim=(curves["x"].min(), curves["x"].max()), ylim=limits)
            axes.set(xlabel="angle of the pair (rad)", title=rf"$\tau$ = {temperature:g}")
        panels[0].set_ylabel("weight on the cosine")
        signs = [Line2D([], [], color="black", linestyle=dashes, label=label) for dashes, label in SIGNS.values()]
        dot = Line2D([], [], color="black", marker="o", linestyle="none", label="where the printed weight is 0")
        losses = [Line2D([], [], color=colour, label=loss) for loss, colour in LOSSES.items()]
        look: dict[str, Any] = {"ncols": 4, "handlelength": 2.4, "title": "weight on the cosine (middle and right)"}
        figure.legend(handles=[*signs, dot, *losses], loc="outside lower center", **look)

    return Drawing((7.2, 3.4), measured, draw, note)
