"""Margins paper, Fig. 2: the two factors by which an angular margin multiplies gradients."""

import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from hypersphere.report import style

SIZE = (6.6, 3.0)
MEASURED = "Weight by angle and probability: above 1 the margin strengthens a gradient, below 1 it weakens it"
PANELS = (
    ("sines", r"$\sin(\theta^+\!+m_1)\,/\,\sin\theta^+$" + "\npositives only"),
    ("gaps", r"$(p-\beta q)\,/\,(p-\beta\tilde{q})$" + "\npositives and negatives"),
)
QUARTERS = ([0, 0.7853982, 1.5707963, 2.3561945, 3.1415927], ["0", "π/4", "π/2", "3π/4", "π"])
LEVELS = ([0.125, 0.25, 0.5, 1, 2, 4, 8], ["1/8", "1/4", "1/2", "1", "2", "4", "8"])


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Two maps with one colour scale, symmetric about 1: a line where the weight is 1, hatched where it is negative."""
    axes = figure.subplots(1, 2)
    for axis, (panel, title) in zip(axes, PANELS, strict=True):
        rows = table[table["panel"] == panel]
        map_ = rows.pivot(index="theta", columns="probability", values="size")
        scale = LogNorm(LEVELS[0][0], LEVELS[0][-1])
        axis.pcolormesh(map_.columns, map_.index, map_, cmap="PuOr", norm=scale, shading="nearest", rasterized=True)
        one, zero = rows["one"].iloc[0], rows["zero"].iloc[0]
        axis.axhline(one, color="black", linewidth=1.2)
        axis.annotate("weight 1", (0.02, one), (2, -2), textcoords="offset points", va="top", fontsize=7.5)
        if rows["multiplier"].min() < 0:
            axis.axhspan(zero, QUARTERS[0][-1], fill=False, hatch="////", edgecolor=style.GREY, linewidth=0)
            label = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            axis.text(0.02, (zero + QUARTERS[0][-1]) / 2, "negative", va="center", fontsize=7.5, bbox=label)
        axis.set_title(title, loc="left", fontsize=8.5)
        axis.set_xlabel(r"probability without margin $\tilde{q}^+$")
        axis.set_ylabel(r"angle $\theta^+$ (rad)")
        axis.set_yticks(*QUARTERS)
        axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axis.set(xlim=(0, 1), ylim=(0, QUARTERS[0][-1]))
        axis.grid(visible=False)
    bar = figure.colorbar(axes[0].collections[0], ax=axes, pad=0.02, aspect=22, extend="both")
    bar.set_ticks(LEVELS[0], labels=LEVELS[1])
    bar.minorticks_off()
    bar.set_label("magnitude of the weight")
    bar.ax.grid(visible=False)


def note(table: pd.DataFrame) -> str:
    """What was computed, and the meaning of lines and hatches."""
    rows, columns = table["theta"].nunique(), table["probability"].nunique()
    m1, t = table["m1"].iloc[0], table["temperature"].iloc[0]
    return (
        f"Theorem 4.1's factors at m₁ = {m1:g}, m₂ = 0, β = 1 and τ = {t:g}, at the centres of {rows} × {columns} "
        "cells. Colours are logarithmic. Black lines (green in the paper): weight 1. Hatched: the weight is negative, "
        "so the loss pushes these positives away; the colour shows its magnitude."
    )
