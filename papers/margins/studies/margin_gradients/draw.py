"""Maps of gradients and of their weights by angle and probability: margins paper, Figs. 1, 2 and 8."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from hypersphere.exact.study import only
from hypersphere.report import style
from hypersphere.report.drawing import colour_bar
from hypersphere.report.studies import Drawing

GRADIENTS = (("positives", "+"), ("negatives", "-"))
WEIGHTS = (
    ("sines", r"$\sin(\theta^+\!+m_1)\,/\,\sin\theta^+$" + "\npositives only"),
    ("gaps", r"$(p-\beta q)\,/\,(p-\beta\tilde{q})$" + "\npositives and negatives"),
)
PI = 3.1415927
QUARTERS = ([0, 0.7853982, 1.5707963, 2.3561945, PI], ["0", "π/4", "π/2", "3π/4", "π"])
HALVES = ([0, 1.5707963, PI], ["0", "π/2", "π"])
LEVELS = ([0.125, 0.25, 0.5, 1, 2, 4, 8], ["1/8", "1/4", "1/2", "1", "2", "4", "8"])
LOGARITHMIC: dict[str, Any] = {"cmap": "PuOr", "norm": LogNorm(0.125, 8)}


def fig1(table: pd.DataFrame) -> Drawing:
    """Margins paper, Fig. 1: magnitudes of the gradient without margins, for positives and for negatives."""
    note = (
        f"|p - q|·sin(θ)/τ at β = 1 and τ = {table['temperature'].iloc[0]:g}, p = 1 for positives and 0 for negatives, "
        f"at the centres of {_cells(table)}. Angle and probability are independent here. In a batch, the "
        "other samples decide which probability goes with an angle, and not every pair can occur."
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2)
        top = table["magnitude"].max()
        for axis, (panel, sign) in zip(axes, GRADIENTS, strict=True):
            rows = only(table, panel=panel)
            map_ = _map(axis, rows, "magnitude", cmap="viridis", vmin=0, vmax=top)
            axis.set_title(panel, loc="left")
            axis.set_xlabel(f"estimated probability $q^{sign}$")
            axis.set_ylabel(rf"angle $\theta^{sign}$ (rad)")
        label = r"$|\partial\tilde{\mathcal{L}}_i/\partial\theta|$ (per rad)"
        colour_bar(figure, map_, axes, label, pad=0.02, aspect=22)

    return Drawing(
        (6.4, 2.8),
        "Magnitude of the gradient by angle (per radian), at each probability",
        draw,
        note,
    )


def fig2(table: pd.DataFrame) -> Drawing:
    """Margins paper, Fig. 2: the two factors by which an angular margin multiplies gradients."""
    m1 = table["m1"].iloc[0]
    t = table["temperature"].iloc[0]
    note = (
        f"Theorem 4.1's factors at m₁ = {m1:g}, m₂ = 0, β = 1 and τ = {t:g}, at the centres of {_cells(table)}. "
        "Colours are logarithmic. Black lines (green in the paper): weight 1. Hatched: the weight is negative, "
        "so the loss pushes these positives away; the colour shows its magnitude."
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2)
        for axis, (panel, title) in zip(axes, WEIGHTS, strict=True):
            rows = only(table, panel=panel)
            size = rows["multiplier"].abs()
            map_ = _map(axis, rows.assign(size=size), "size", **LOGARITHMIC)
            one = rows["one"].iloc[0]
            axis.axhline(one, color="black", linewidth=1.2)
            axis.annotate(
                "weight 1",
                (0.02, one),
                (2, -2),
                textcoords="offset points",
                va="top",
                fontsize=7.5,
            )
            if panel == "sines":
                _mark_regions(axis, one, rows["zero"].iloc[0])
            axis.set_title(title, loc="left", fontsize=8.5)
            axis.set_xlabel(r"probability without margin $\tilde{q}^+$")
            axis.set_ylabel(r"angle $\theta^+$ (rad)")
        _bar(figure, axes, map_, label="magnitude of the weight", pad=0.02, aspect=22)

    measured = "Weight by angle and probability: above 1 the margin strengthens a gradient, below 1 it weakens it"
    one = table.loc[table["panel"] == "sines", "one"].iloc[0]
    finding = f"The quotient of sines strengthens the gradients only of positives nearer than {one:.2f} rad"
    return Drawing((6.6, 3.0), measured, draw, note, finding)


def fig8(table: pd.DataFrame) -> Drawing:
    """Margins paper, Fig. 8: the ratio of sums of exponentiated logits for several margins and temperatures."""
    temperatures = sorted(table["temperature"].unique())
    margins = sorted(table["m1"].unique())
    listed_margins = ", ".join(f"{m1:g}" for m1 in margins)
    listed_temperatures = ", ".join(f"{t:g}" for t in temperatures)
    note = (
        f"Lemma 4.3's ratio at m₁ = {listed_margins} (Sec. 5.4's) and τ = {listed_temperatures} (our choice: "
        f"Fig. 8's own values are not in the text), m₂ = 0 and β = 1, at the centres of {_cells(table)}. Colours are "
        "logarithmic and end at 1/8 and 8. Black lines (green in the paper): ratio 1."
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(len(temperatures), len(margins), sharex=True, sharey=True)
        for line, temperature in zip(axes, temperatures, strict=True):
            for axis, m1 in zip(line, margins, strict=True):
                rows = only(table, temperature=temperature, m1=m1)
                map_ = _map(axis, rows, "ratio", **LOGARITHMIC)
                axis.axhline(rows["one"].iloc[0], color="black", linewidth=1.2)
            line[0].set_ylabel(rf"$\tau$ = {temperature:g}" + "\n" + r"$\theta^+$ (rad)")
        for axis, m1 in zip(axes[0], margins, strict=True):
            axis.set_title(f"$m_1$ = {m1:g}", fontsize=8.5)
        for axis in axes[-1]:
            axis.set_xlabel(r"$\tilde{q}^+$")
        axes[0][0].set_yticks(*HALVES)
        axes[0][0].set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        label = r"$(p-\beta q)\,/\,(p-\beta\tilde{q})$"
        _bar(figure, axes, map_, label=label, pad=0.015, aspect=32)

    measured = "Ratio by angle and probability: above 1 the margin strengthens a gradient, below 1 it weakens it"
    return Drawing((7.0, 4.5), measured, draw, note)


def _mark_regions(axis: Axes, one: float, zero: float) -> None:
    """Say what the quotient of sines does above angle ``one``, and hatch where it is negative."""
    wrong = "above the line it weakens them;\nthe paper says that it strengthens"
    axis.text(
        0.5,
        (one + zero) / 2,
        wrong,
        va="center",
        ha="center",
        fontsize=7.5,
    )
    axis.axhspan(zero, PI, fill=False, hatch="////", edgecolor=style.GREY, linewidth=0)
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axis.text(
        0.02,
        (zero + PI) / 2,
        "negative",
        va="center",
        fontsize=7.5,
        bbox=background,
    )


def _cells(table: pd.DataFrame) -> str:
    return f"{table['theta'].nunique()} × {table['probability'].nunique()} cells"


def _map(axis: Axes, rows: pd.DataFrame, values: str, **colours: Any) -> QuadMesh:
    """A heat map of ``values``: probability across, the angle upwards."""
    map_ = rows.pivot(index="theta", columns="probability", values=values)
    axis.set_yticks(*QUARTERS)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axis.set(xlim=(0, 1), ylim=(0, PI))
    axis.grid(visible=False)
    return axis.pcolormesh(
        map_.columns, map_.index, map_, shading="nearest", rasterized=True, **colours
    )


def _bar(figure: Figure, axes: Any, map_: QuadMesh, label: str, **look: Any) -> None:
    """The colour bar of all maps; it goes beyond the last of its levels."""
    bar = colour_bar(figure, map_, axes, label, extend="both", **look)
    bar.set_ticks(LEVELS[0], labels=LEVELS[1])
    bar.minorticks_off()
