"""Norms paper, Fig. S1: the cosine with one direction as a surface, with three circles on it."""  # noqa: N999

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.style import COLOURS

SIZE = (6.8, 2.9)
MEASURED = "Height and colour: cosine with the blue direction"
CIRCLES: tuple[tuple[float, str, Any], ...] = (
    (0.5, COLOURS[1], "-"),
    (1.0, "white", (0, (5, 1.5))),
    (2.0, "black", (0, (1, 1))),
)
BLUE = COLOURS[5]


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Left in three dimensions, right from above."""
    grid = figure.add_gridspec(1, 2, width_ratios=(1.1, 1))
    space: Any = figure.add_subplot(grid[0], projection="3d")
    above = figure.add_subplot(grid[1])
    surface = table[table["kind"] == "surface"]
    mesh = [surface.pivot(index="radius", columns="angle", values=name).to_numpy() for name in ("x", "y", "cosine")]
    look: dict[str, Any] = {"cmap": "viridis", "vmin": -1, "vmax": 1, "rasterized": True}
    space.plot_surface(*mesh, **look, rcount=28, ccount=121, alpha=0.75, linewidth=0)
    map_ = above.pcolormesh(*mesh, shading="gouraud", **look)
    space.plot([0, 0], [0, 2.2], [1, 1], color=BLUE, linewidth=3, zorder=10)
    above.plot([0, 0], [0, 2.2], color=BLUE, linewidth=3)
    for radius, colour, dashes in CIRCLES:
        line = table[(table["kind"] == "circle") & (table["radius"] == radius)]
        shown: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.8}
        space.plot(line["x"], line["y"], line["cosine"], zorder=9, **shown)
        above.plot(line["x"], line["y"], **shown)
        above.annotate(f"{radius:g}", (0, -radius), (0, 3), textcoords="offset points", ha="center", color="white")
    space.set(xlabel="$z_1$", ylabel="$z_2$", zlabel="cosine", xticks=[-2, 0, 2], yticks=[-2, 0, 2], zticks=[-1, 0, 1])
    space.tick_params(pad=-3)
    for axis, pad in ((space.xaxis, -8), (space.yaxis, -8), (space.zaxis, -8)):
        axis.labelpad = pad
    space.view_init(elev=30, azim=-60)
    space.set_box_aspect((1, 1, 0.75), zoom=1.12)
    above.set(aspect="equal", xlabel="$z_1$", ylabel="$z_2$", xticks=[-2, -1, 0, 1, 2], yticks=[-2, -1, 0, 1, 2])
    above.grid(visible=False)
    bar = figure.colorbar(map_, ax=above, pad=0.03, aspect=22, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.set_label("cosine")
    bar.ax.grid(visible=False)


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    return (
        f"The cosine with north (blue) on a polar mesh up to a norm of {table['radius'].max():g}; circles of radii "
        f"{', '.join(f'{radius:g}' for radius, _, _ in CIRCLES)}. It is constant along every ray, so a wider circle "
        "spreads the same change over a longer path."
    )
