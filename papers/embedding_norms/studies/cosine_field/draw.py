"""The cosine's gradient over the plane: norms paper, Figs. 1, 6 and S1."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

BLUE, ORANGE = COLOURS[0], COLOURS[4]
TITLES = {0: "default ($p=0$)", 1: "GradScale ($p=1$)"}
CIRCLES: dict[float, tuple[str, Any]] = {0.5: (COLOURS[1], "-"), 1.0: ("white", DASHES[1]), 2.0: ("black", DASHES[2])}
"""Colour and dashes by radius."""


def fig1(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 1: outputs and their projections, the gradient field of the cosine, the growth of norms."""
    parts = dict(list(table.groupby("kind")))
    outputs, projections, path, growth = (parts[kind] for kind in ("output", "projection", "trajectory", "norm"))
    starts, steps = (int(growth[name].max()) for name in ("starts", "step"))
    note = (
        f"Left: {len(outputs)} random points stand for outputs. Middle: gradients by autograd, drawn at a third of "
        f"their length, black at norms 0.5, 1 and 2 (gradients longer than 2 are left out), and {len(path) - 1} "
        f"steps of descent at rate {path['rate'].iloc[0]:g}. Right: mean and range over {starts} random starts of norm "
        f"1, {steps} steps."
    )
    measured = "Points in the plane, the gradient of the cosine, and norms over steps of descent"

    def draw(figure: Figure) -> None:
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 0.95))
        left.add_patch(Circle((0, 0), 1, fill=False, color=GREY, linewidth=0.8))
        both = ([part[name].to_numpy() for part in (outputs, projections)] for name in "xy")
        left.plot(*both, color="#C8C8C8", linewidth=0.5, zorder=1)
        dots: dict[str, Any] = {"s": 15, "cmap": "Blues", "vmin": 0, "vmax": 1.75, "linewidth": 0, "zorder": 3}
        left.scatter(outputs["x"], outputs["y"], c=outputs["norm"], label="output", **dots)
        white = {"s": 12, "color": "white", "edgecolor": GREY, "linewidth": 0.6}
        left.scatter(projections["x"], projections["y"], label="projection", **white)
        left.set_title("outputs", loc="left")
        middle.set_title("gradient of the cosine", loc="left")
        field = parts["field"]
        far = field[field["length"] < 2]  # near the origin, long arrows would hide the rest
        look: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 3, "units": "inches"}
        middle.plot([0, 0], [0, 2.1], color=ORANGE, linewidth=2.2, label="direction")
        middle.quiver(*(far[name] for name in "xyuv"), color="#9C9C9C", width=0.011, zorder=2, **look)
        black = (parts["highlighted"][name] for name in "xyuv")
        middle.quiver(*black, color="black", width=0.02, zorder=4, **look)
        middle.plot(path["x"], path["y"], "o-", color=BLUE, markersize=3.2, linewidth=0.8, label="descent", zorder=3)
        for place, (rate, line) in enumerate(growth.groupby("rate")):
            look = {"color": COLOURS[place], "linestyle": DASHES[place], "marker": MARKERS[place]}
            right.plot(line["step"], line["norm"], markevery=10, label=f"step size {rate:g}", **look)
            right.fill_between(line["step"], line["low"], line["high"], color=COLOURS[place], alpha=0.15, linewidth=0)
        right.set(xlabel="step", ylabel=r"$\|z\|$", xlim=(0, steps))
        right.set_title("norm", loc="left")
        for axes in (left, middle):
            axes.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
            axes.set(xlabel="$z_1$", ylabel="$z_2$")
            axes.grid(visible=False)
        figure.legend(loc="outside lower center", ncols=4, handlelength=1.6)

    return Drawing((7.0, 2.75), measured, draw, note)


def fig6(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 6: the gradient field of the cosine, plain and with GradScale."""
    default, scaled = (table[table["power"] == power]["length"] for power in (0, 1))
    note = (
        f"The gradient of the cosine with north (orange), by autograd, at {len(default)} points. Arrows are drawn at "
        f"1/4.5 of their length, left and right. The longest gradient is {default.max():.1f} long by default and "
        f"{scaled.max():.2f} with GradScale, where the length is the sine of the angle at every norm."
    )

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (power, title) in zip(panels, TITLES.items(), strict=True):
            part = table[table["power"] == power]
            axes.plot([0, 0], [0, 2], color=ORANGE, linewidth=2.5, zorder=1)
            look: dict[str, Any] = {"cmap": "viridis_r", "clim": (0, 2), "units": "inches", "width": 0.014, "zorder": 2}
            look |= {"angles": "xy", "scale_units": "xy", "scale": 4.5}
            arrows = axes.quiver(*(part[name] for name in ("x", "y", "u", "v", "length")), **look)
            axes.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[-2, -1, 0, 1, 2], xlabel="$z_1$")
            axes.grid(visible=False)
            axes.set_title(title, loc="left")
        panels[0].set(ylabel="$z_2$", yticks=[-2, -1, 0, 1, 2])
        look = {"pad": 0.02, "aspect": 24, "extend": "max", "ticks": [0, 0.5, 1, 1.5, 2]}
        bar = figure.colorbar(arrows, ax=panels, label="length of the gradient", **look)
        bar.ax.grid(visible=False)

    return Drawing((6.2, 3.2), "Arrows are gradients; colour is their length", draw, note)


def figS1(table: pd.DataFrame) -> Drawing:  # noqa: N802
    """Norms paper, Fig. S1: the cosine with one direction as a surface, with three circles on it."""
    note = (
        f"The cosine with north (blue) on a polar mesh up to a norm of {table['radius'].max():g}; circles of radii "
        f"{', '.join(f'{radius:g}' for radius in CIRCLES)}. It is constant along every ray, so a wider circle "
        "spreads the same change over a longer path."
    )

    def draw(figure: Figure) -> None:
        grid = figure.add_gridspec(1, 2, width_ratios=(1.1, 1))
        space: Any = figure.add_subplot(grid[0], projection="3d")
        above = figure.add_subplot(grid[1])
        surface = table[table["kind"] == "surface"]
        mesh = [surface.pivot(index="radius", columns="angle", values=name).to_numpy() for name in ("x", "y", "cosine")]
        look: dict[str, Any] = {"cmap": "viridis", "vmin": -1, "vmax": 1, "rasterized": True}
        space.plot_surface(*mesh, **look, rcount=28, ccount=121, alpha=0.75, linewidth=0)
        map_ = above.pcolormesh(*mesh, shading="gouraud", **look)
        space.plot([0, 0], [0, 2.2], [1, 1], color=COLOURS[5], linewidth=3, zorder=10)
        above.plot([0, 0], [0, 2.2], color=COLOURS[5], linewidth=3)
        for radius, (colour, dashes) in CIRCLES.items():
            line = table[(table["kind"] == "circle") & (table["radius"] == radius)]
            shown: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.8}
            space.plot(line["x"], line["y"], line["cosine"], zorder=9, **shown)
            above.plot(line["x"], line["y"], **shown)
            above.annotate(f"{radius:g}", (0, -radius), (0, 3), textcoords="offset points", ha="center", color="white")
        space.set(xlabel="$z_1$", ylabel="$z_2$", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        space.set(zlabel="cosine", zticks=[-1, 0, 1])
        space.tick_params(pad=-3)
        space.xaxis.labelpad = space.yaxis.labelpad = space.zaxis.labelpad = -8
        space.view_init(elev=30, azim=-60)
        space.set_box_aspect((1, 1, 0.75), zoom=1.12)
        above.set(aspect="equal", xlabel="$z_1$", ylabel="$z_2$", xticks=[-2, -1, 0, 1, 2], yticks=[-2, -1, 0, 1, 2])
        above.grid(visible=False)
        bar = figure.colorbar(map_, ax=above, label="cosine", pad=0.03, aspect=22, ticks=[-1, -0.5, 0, 0.5, 1])
        bar.ax.grid(visible=False)

    return Drawing((6.8, 2.9), "Height and colour: cosine with the blue direction", draw, note)
