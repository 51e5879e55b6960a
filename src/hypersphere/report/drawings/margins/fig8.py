"""Margins paper, Fig. 8: the ratio of sums of exponentiated logits for several margins and temperatures."""

import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

SIZE = (7.0, 4.5)
MEASURED = "Ratio by angle and probability: above 1 the margin strengthens a gradient, below 1 it weakens it"
HALVES = ([0, 1.5707963, 3.1415927], ["0", "π/2", "π"])
LEVELS = ([0.0625, 0.25, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Temperatures in rows, margins in columns, one colour scale, symmetric about 1; a line where the ratio is 1."""
    temperatures, margins = sorted(table["temperature"].unique()), sorted(table["m1"].unique())
    axes = figure.subplots(len(temperatures), len(margins), sharex=True, sharey=True)
    for down, temperature in enumerate(temperatures):
        for right, m1 in enumerate(margins):
            axis = axes[down][right]
            rows = table[(table["temperature"] == temperature) & (table["m1"] == m1)]
            map_ = rows.pivot(index="theta", columns="probability", values="ratio")
            scale = LogNorm(LEVELS[0][0], LEVELS[0][-1])
            axis.pcolormesh(map_.columns, map_.index, map_, cmap="PuOr", norm=scale, shading="nearest", rasterized=True)
            axis.axhline(rows["one"].iloc[0], color="black", linewidth=1.2)
            axis.grid(visible=False)
            if down == 0:
                axis.set_title(f"$m_1$ = {m1:g}", fontsize=8.5)
        axes[down][0].set_ylabel(rf"$\tau$ = {temperature:g}" + "\n" + r"$\theta^+$ (rad)")
    axes[0][0].set_yticks(*HALVES)
    axes[0][0].set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes[0][0].set(xlim=(0, 1), ylim=(0, HALVES[0][-1]))
    for axis in axes[-1]:
        axis.set_xlabel(r"$\tilde{q}^+$")
    bar = figure.colorbar(axes[0][0].collections[0], ax=axes, pad=0.015, aspect=32, extend="both")
    bar.set_ticks(LEVELS[0], labels=LEVELS[1])
    bar.minorticks_off()
    bar.set_label(r"$(p-\beta q)\,/\,(p-\beta\tilde{q})$")
    bar.ax.grid(visible=False)


def note(table: pd.DataFrame) -> str:
    """What was computed, and the meaning of the lines."""
    rows, columns = table["theta"].nunique(), table["probability"].nunique()
    margins = ", ".join(f"{m1:g}" for m1 in sorted(table["m1"].unique()))
    temperatures = ", ".join(f"{t:g}" for t in sorted(table["temperature"].unique()))
    return (
        f"Lemma 4.3's ratio at m₁ = {margins} (Sec. 5.4's) and τ = {temperatures} (our choice: Fig. 8's own values are "
        f"not in the text), m₂ = 0 and β = 1, at the centres of {rows} × {columns} cells. Colours are logarithmic and "
        f"end at {LEVELS[1][0]} and {LEVELS[1][-1]}. Black lines (green in the paper): ratio 1."
    )
