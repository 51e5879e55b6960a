"""Norms paper, Fig. 6: the gradient field of the cosine, plain and with GradScale."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.style import COLOURS

SIZE = (6.2, 3.2)
MEASURED = "Arrows are gradients; colour is their length"
TITLES = {0: "default ($p=0$)", 1: "GradScale ($p=1$)"}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Both fields, with one scale of lengths and colours."""
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (power, title) in zip(panels, TITLES.items(), strict=True):
        part = table[table["power"] == power]
        axes.plot([0, 0], [0, 2], color=COLOURS[4], linewidth=2.5, zorder=1)
        arrows = axes.quiver(
            *(part[name] for name in ("x", "y", "u", "v", "length")),
            **{"cmap": "viridis_r", "clim": (0, 2), "angles": "xy", "scale_units": "xy", "scale": 4.5},
            **{"units": "inches", "width": 0.014, "zorder": 2},
        )
        axes.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[-2, -1, 0, 1, 2], xlabel="$z_1$")
        axes.grid(visible=False)
        axes.set_title(title, loc="left")
    panels[0].set(ylabel="$z_2$", yticks=[-2, -1, 0, 1, 2])
    bar = figure.colorbar(arrows, ax=panels, pad=0.02, aspect=24, extend="max", ticks=[0, 0.5, 1, 1.5, 2])
    bar.set_label("length of the gradient")
    bar.ax.grid(visible=False)


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    default, scaled = (table[table["power"] == power]["length"] for power in (0, 1))
    return (
        f"The gradient of the cosine with north (orange), by autograd, at {len(default)} points. Arrows are drawn at "
        f"1/4.5 of their length, left and right. The longest gradient is {default.max():.1f} long by default and "
        f"{scaled.max():.2f} with GradScale, where the length is the sine of the angle at every norm."
    )
