"""Margins paper, Fig. 1: magnitudes of the gradient without margins, for positives and for negatives."""

import pandas as pd
from matplotlib.figure import Figure

SIZE = (6.4, 2.8)
MEASURED = "Magnitude of the gradient by angle, at each probability"
PANELS = (("positives", "positives", "+"), ("negatives", "negatives", "-"))
QUARTERS = ([0, 0.7853982, 1.5707963, 2.3561945, 3.1415927], ["0", "π/4", "π/2", "3π/4", "π"])


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A map for each kind of sample, with one colour scale; the angle is the vertical axis."""
    axes = figure.subplots(1, 2)
    top = table["magnitude"].max()
    for axis, (panel, title, sign) in zip(axes, PANELS, strict=True):
        map_ = table[table["panel"] == panel].pivot(index="theta", columns="probability", values="magnitude")
        axis.pcolormesh(
            map_.columns, map_.index, map_, cmap="viridis", vmin=0, vmax=top, shading="nearest", rasterized=True
        )
        axis.set_title(title, loc="left")
        axis.set_xlabel(f"estimated probability $q^{sign}$")
        axis.set_ylabel(rf"angle $\theta^{sign}$ (rad)")
        axis.set_yticks(*QUARTERS)
        axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axis.set(xlim=(0, 1), ylim=(0, QUARTERS[0][-1]))
        axis.grid(visible=False)
    bar = figure.colorbar(axes[0].collections[0], ax=axes, pad=0.02, aspect=22)
    bar.set_label(r"$|\partial\tilde{\mathcal{L}}_i/\partial\theta|$ (per rad)")
    bar.ax.grid(visible=False)


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    rows, columns = table["theta"].nunique(), table["probability"].nunique()
    return (
        f"|p - q|·sin(θ)/τ at β = 1 and τ = {table['temperature'].iloc[0]:g}, p = 1 for positives and 0 for negatives, "
        f"at the centres of {rows} × {columns} cells. Angle and probability are independent here. In a batch, the "
        "other samples decide which probability goes with an angle, and not every pair can occur."
    )
