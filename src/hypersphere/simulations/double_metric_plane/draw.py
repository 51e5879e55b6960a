"""Double metric paper, Fig. 2."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY

BLUE, ORANGE = COLOURS[0], COLOURS[1]
LOSSES = {"DM1": COLOURS[0], "DM2": COLOURS[1], "DM3": COLOURS[2], "DM4": COLOURS[3]}
RANGES = {0.07: (-12, 32), 1.0: (-4, 6)}


def fig2(table: pd.DataFrame) -> Drawing:
    """Two embeddings on the unit circle with cosine and chord, and the chord's part in the gradient."""
    part, zero = (table[table["panel"] == panel] for panel in ("numbers", "zero"))
    numbers = dict(zip(part["series"], part["y"], strict=True))
    where = "; ".join(
        f"at τ = {temperature:g} "
        + ", ".join(f"{loss} {y:.2g}" for loss, y in zip(rows["series"], rows["y"], strict=True))
        for temperature, rows in zero.groupby("temperature")
    )
    note = (
        f"The drawn pair has cosine {numbers['cosine']:.2f}, arc {numbers['arc']:.2f} and chord "
        f"{numbers['chord']:.2f}; divided by τ = {numbers['temperature']:g} the cosine is "
        f"{numbers['scaled cosine']:.2f}, and the inner product on the circle of radius 1/τ is "
        f"{numbers['product at 1/tau']:.2f}. As printed, the weight is 0 at these chords (the longest possible chord "
        f"is 2): {where}."
    )

    measured = (
        "Left: both distances of a pair. Middle, right: the weight by which a loss multiplies the cosine's gradient"
    )

    def draw(figure: Figure) -> None:
        left, *panels = figure.subplots(1, 3)
        plane = table[table["panel"] == "plane"]
        lines = {name: rows[["x", "y"]].to_numpy() for name, rows in plane.groupby("series")}
        circles = {"unit circle": "1", "circle 1/sqrt(tau)": r"$1/\sqrt{\tau}$", "circle 1/tau": r"$1/\tau$"}
        left.plot(*lines["circle 1/tau"].T, color=GREY, linestyle=DASHES[1], linewidth=1.0)
        left.plot(*lines["circle 1/sqrt(tau)"].T, color=GREY, linestyle=DASHES[2], linewidth=1.0)
        left.plot(*lines["unit circle"].T, color="black", linewidth=1.0)
        left.plot(*lines["arc"].T, color=BLUE, linewidth=2.5)
        left.plot(*lines["chord"].T, color=ORANGE, linewidth=2.5)
        for number in "12":
            for name, colour in ((f"feature {number}", GREY), (f"unit {number}", "black")):
                arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.0}
                left.annotate("", lines[name][1], (0, 0), arrowprops=arrow)
        beside: dict[str, Any] = {"textcoords": "offset points"}
        left.annotate("arc", lines["arc"][len(lines["arc"]) // 2], (2, 3), color=BLUE, **beside)
        middle = lines["chord"].mean(axis=0)
        left.annotate("chord", middle, (5, 2), color=ORANGE, va="bottom", ha="center", **beside)
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        for name, text in circles.items():
            bottom = lines[name][lines[name][:, 1].argmin()]
            left.annotate(text, bottom, va="center", ha="center", bbox=background)
        left.set_aspect("equal")
        title = rf"the pair, $\tau$ = {numbers['temperature']:g}"
        left.set(title=title, xlabel="first coordinate", ylabel="second coordinate")
        dashes: tuple[Any, ...] = DASHES
        by_sign = {"none": dashes[2], "printed": dashes[1], "contrastive": dashes[0]}
        weights = table[table["panel"] == "weights"]
        for axes, (temperature, ends) in zip(panels, RANGES.items(), strict=True):
            curves = weights[weights["temperature"] == temperature]
            for (loss, sign), rows in curves.groupby(["series", "sign"]):
                colour = LOSSES.get(str(loss), GREY)
                axes.plot(rows["x"], rows["y"], color=colour, linestyle=by_sign[str(sign)], linewidth=1.5)
            zeros = zero[(zero["temperature"] == temperature) & zero["x"].notna()]
            for loss, x in zip(zeros["series"], zeros["x"], strict=True):
                size = 9.0 if loss == "DM2" else 5.5  # DM2's lies under DM4's
                axes.plot(x, 0, marker="o", markersize=size, markeredgewidth=0, color=LOSSES[loss], zorder=3)
            axes.axhline(0, color="black", linewidth=0.7)
            axes.set_xscale("log")
            axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
            axes.set(xlim=(curves["x"].min(), curves["x"].max()), ylim=ends)
            axes.set(xlabel="angle of the pair (rad)", title=rf"$\tau$ = {temperature:g}")
        panels[0].set_ylabel("weight on the cosine")
        signs = [
            Line2D([], [], color="black", linestyle=dashes[0], label=r"$\alpha/\tau + \beta/|u-v|$ (opposite sign)"),
            Line2D([], [], color="black", linestyle=dashes[1], label=r"$\alpha/\tau - \beta/|u-v|$ (as printed)"),
            Line2D([], [], color=GREY, linestyle=dashes[2], label=r"NT-Xent: $1/\tau$"),
            Line2D([], [], color="black", marker="o", linestyle="none", label="where the printed weight is 0"),
        ]
        losses = [Line2D([], [], color=colour, label=loss) for loss, colour in LOSSES.items()]
        look: dict[str, Any] = {"ncols": 4, "handlelength": 2.4, "title": "weight on the cosine (middle and right)"}
        figure.legend(handles=[*signs, *losses], loc="outside lower center", **look)

    return Drawing((7.2, 3.4), measured, draw, note)
