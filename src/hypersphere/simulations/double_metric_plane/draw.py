"""Double metric paper, Fig. 2."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
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
    numbers = dict(zip(part["series"], part["y"].astype(float), strict=True))
    chords = {
        temperature: ", ".join(f"{loss} {chord:.2g}" for loss, chord in zip(rows["series"], rows["y"], strict=True))
        for temperature in RANGES
        for rows in [zero[zero["temperature"] == temperature]]
    }
    where = "; ".join(f"at τ = {temperature:g} {listed}" for temperature, listed in chords.items())
    note = (
        f"The drawn pair has cosine {numbers['cosine']:.2f}, arc {numbers['arc']:.2f} and chord "
        f"{numbers['chord']:.2f}; divided by τ = {numbers['temperature']:g} the cosine is "
        f"{numbers['scaled cosine']:.2f}, and the inner product on the circle of radius 1/τ is "
        f"{numbers['product at 1/tau']:.2f}. As printed, the weight is 0 at these chords (the longest possible chord "
        f"is 2): {where}."
    )

    def draw(figure: Figure) -> None:
        plane, *panels = figure.subplots(1, 3)
        _plane(plane, table[table["panel"] == "plane"], numbers["temperature"])
        for axes, temperature in zip(panels, RANGES, strict=True):
            _weights(axes, table[table["temperature"] == temperature], temperature)
        panels[0].set_ylabel("weight on the cosine")
        dashes: tuple[Any, ...] = DASHES
        signs = [
            Line2D([], [], color="black", linestyle=dashes[0], label=r"$\alpha/\tau + \beta/|u-v|$ (opposite sign)"),
            Line2D([], [], color="black", linestyle=dashes[1], label=r"$\alpha/\tau - \beta/|u-v|$ (as printed)"),
            Line2D([], [], color=GREY, linestyle=dashes[2], label=r"NT-Xent: $1/\tau$"),
            Line2D([], [], color="black", marker="o", linestyle="none", label="where the printed weight is 0"),
        ]
        losses = [Line2D([], [], color=colour, label=loss) for loss, colour in LOSSES.items()]
        look: dict[str, Any] = {"ncols": 4, "handlelength": 2.4, "title": "weight on the cosine (middle and right)"}
        figure.legend(handles=[*signs, *losses], loc="outside lower center", **look)

    return Drawing(
        (7.2, 3.4),
        "Left: both distances of a pair. Middle, right: the weight by which a loss multiplies the cosine's gradient",
        draw,
        note,
    )


def _plane(axes: Axes, part: pd.DataFrame, temperature: float) -> None:
    lines = {name: rows[["x", "y"]].to_numpy() for name, rows in part.groupby("series")}
    styles: dict[str, dict[str, Any]] = {
        "circle 1/tau": {"color": GREY, "linestyle": DASHES[1], "linewidth": 1.0},
        "circle 1/sqrt(tau)": {"color": GREY, "linestyle": DASHES[2], "linewidth": 1.0},
        "unit circle": {"color": "black", "linewidth": 1.0},
        "arc": {"color": BLUE, "linewidth": 2.5},
        "chord": {"color": ORANGE, "linewidth": 2.5},
    }
    for name, style in styles.items():
        axes.plot(*lines[name].T, **style)
    for number in "12":
        for name, colour in ((f"feature {number}", GREY), (f"unit {number}", "black")):
            arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.0}
            axes.annotate("", lines[name][1], (0, 0), arrowprops=arrow)
    middle = len(lines["arc"]) // 2
    axes.annotate("arc", lines["arc"][middle], (2, 3), textcoords="offset points", color=BLUE)
    axes.annotate(
        "chord", lines["chord"].mean(axis=0), (5, 2), textcoords="offset points", color=ORANGE, va="bottom", ha="center"
    )
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    for name, text in (("unit circle", "1"), ("circle 1/sqrt(tau)", r"$1/\sqrt{\tau}$"), ("circle 1/tau", r"$1/\tau$")):
        bottom = lines[name][lines[name][:, 1].argmin()]
        axes.annotate(text, bottom, va="center", ha="center", bbox=background)
    axes.set_aspect("equal")
    axes.set(title=rf"the pair, $\tau$ = {temperature:g}", xlabel="first coordinate", ylabel="second coordinate")


def _weights(axes: Axes, part: pd.DataFrame, temperature: float) -> None:
    curves = part[part["panel"] == "weights"]
    dashes: dict[Any, Any] = {"none": DASHES[2], "printed": DASHES[1], "contrastive": DASHES[0]}
    colours: dict[Any, str] = {"NT-Xent": GREY, **LOSSES}
    for (loss, sign), rows in curves.groupby(["series", "sign"]):
        axes.plot(rows["x"], rows["y"], color=colours[loss], linestyle=dashes[sign], linewidth=1.5)
    zeros = part[(part["panel"] == "zero") & part["x"].notna()]
    for loss, x in zip(zeros["series"], zeros["x"], strict=True):
        size = 9.0 if loss == "DM2" else 5.5  # DM2's lies under DM4's
        axes.plot(x, 0, marker="o", markersize=size, markeredgewidth=0, color=colours[loss], zorder=3)
    axes.axhline(0, color="black", linewidth=0.7)
    axes.set_xscale("log")
    axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axes.set(xlim=(curves["x"].min(), curves["x"].max()), ylim=RANGES[temperature])
    axes.set(xlabel="angle of the pair (rad)", title=rf"$\tau$ = {temperature:g}")
