"""Norms paper, Fig. 2(a): steps to convergence against the norm and against the angle."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

SIZE = (7.0, 2.7)
MEASURED = "Steps until the mean cosine exceeds 0.999, mean over seeds"
NORM = {"both": "both sets", "second": "second set alone", "static": "both, first static"}
ANGLE = {"normalised": "normalised again", "printed": "as printed"}
BOTH = {"3": "norm 3", "2": "norm 2", "1": "norm 1"}
ANGLES = ([0, 1.5707963, 3.1415927], ["0", "π/2", "π"])


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Steps against the norm, against the angle, and both on one scale."""
    norm, angle, both = figure.subplots(1, 3)
    _curves(norm, table[table["panel"] == "norm"], "norm", NORM)
    _curves(angle, table[table["panel"] == "angle"], "angle", ANGLE, every=3)
    _curves(both, table[(table["panel"] == "both") & (table["mean"] > 0)], "angle", BOTH, looks=(1, 3, 0))
    _slope_two(norm, table[(table["panel"] == "norm") & (table["curve"] == "both")])
    norm.set(xlabel="initial norm", ylabel="steps until convergence", xscale="log", yscale="log", ylim=(2, 3e4))
    norm.set_xticks([0.3, 1, 3, 9], ["0.3", "1", "3", "9"])
    norm.minorticks_off()
    norm.legend(loc="upper left", handlelength=2.2, fontsize=7.5)
    norm.set_title("norm, random pairs", loc="left")
    angle.set(ylim=(0, 210))
    angle.set_title("angle, norm 1", loc="left")
    both.set(yscale="log", ylim=(10, 3000))
    both.set_title("both", loc="left")
    for axes in (angle, both):
        axes.set(xlabel="mean initial angle (rad)", xlim=(0, 3.2))
        axes.set_xticks(*ANGLES)


def _slope_two(axes: Axes, part: pd.DataFrame) -> None:
    """A guide under a curve: four times the steps at twice the norm."""
    line = part[part["norm"] > 0].sort_values("norm")
    norm, steps = (line[name].iloc[len(line) // 2] for name in ("norm", "mean"))
    ends = [line["norm"].min(), line["norm"].max()]
    look: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (2, 2)), "zorder": 1}
    axes.plot(ends, [0.3 * steps * (end / norm) ** 2 for end in ends], label="slope 2", **look)


def finding(table: pd.DataFrame) -> str:
    """How steps grow with the norm of both sets, and of one."""
    part = table[table["panel"] == "norm"]
    grown = {}
    for curve in ("both", "second"):
        line = part[(part["curve"] == curve) & (part["norm"] >= 1)].sort_values("norm")
        grown[curve] = line["mean"].iloc[-1] / line["mean"].iloc[0]
        longest, shortest = line["norm"].iloc[-1], line["norm"].iloc[0]
    return (
        f"From norm {shortest:g} to {longest:g}, steps grow {grown['both']:.0f}-fold if both sets grow, "
        f"and {grown['second']:.1f}-fold if one does"
    )


def _curves(
    axes: Axes, part: pd.DataFrame, x: str, names: dict[str, str], every: int = 1, looks: Sequence[int] = (0, 1, 2)
) -> None:
    for name, at in zip(names, looks, strict=False):
        line = part[part["curve"] == name].sort_values(x)
        look: dict[str, Any] = {
            "color": COLOURS[at],
            "marker": MARKERS[at],
            "linestyle": DASHES[at],
            "markevery": every,
        }
        axes.plot(line[x], line["mean"], label=names[name], **look)
        axes.fill_between(line[x], line["low"], line["high"], color=COLOURS[at], alpha=0.3, linewidth=0)
    axes.legend(loc="upper left" if every > 1 else "lower right", handlelength=2.2, fontsize=8)


def note(table: pd.DataFrame) -> str:
    """Setting, sizes and seeds."""
    return (
        "500 pairs in 20 dimensions, gradient descent at rate 10 until the mean cosine exceeds 0.999; means over "
        f"{int(table['n'].min())} seeds with 95 % t intervals (narrower than the lines). Left, random directions: both "
        "sets scaled and trained; only the second set scaled, as the text says; the first set static. Middle, "
        "interpolated pairs: normalised again, or with the norm that the printed formula gives. Right: normalised "
        f"again. The largest mean angle is {table['angle'].max():.2f}; at π nothing moves."
    )
