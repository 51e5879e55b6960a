"""The cosine's gradient over the plane: norms paper, Figs. 1, 6 and S1."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.quiver import Quiver

from hypersphere.exact.study import only
from hypersphere.report.drawing import band, colour_bar
from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

BLUE, ORANGE, LIGHT_BLUE = COLOURS[0], COLOURS[4], COLOURS[5]
TITLES = {0: "default ($p=0$)", 1: "GradScale ($p=1$)"}
CIRCLES: dict[float, tuple[str, Any]] = {
    0.5: (COLOURS[1], "-"),
    1.0: ("white", DASHES[1]),
    2.0: ("black", DASHES[2]),
}
"""Colour and dashes by radius."""
EDGES = (-2.1, 2.1)
TICKS = [-2, -1, 0, 1, 2]


def fig1(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 1: outputs and their projections, the gradient field of the cosine, the growth of norms."""
    parts = dict(list(table.groupby("kind")))
    outputs = parts["output"]
    path = parts["trajectory"]
    growth = parts["norm"]
    starts = int(growth["starts"].max())
    steps = int(growth["step"].max())
    note = (
        f"Left: {len(outputs)} random points stand for outputs. Middle: gradients by autograd, drawn at a third of "
        f"their length, black at norms 0.5, 1 and 2 (gradients longer than 2 are left out), and {len(path) - 1} "
        f"steps of descent at rate {path['rate'].iloc[0]:g}. Right: mean and range over {starts} random starts of norm "
        f"1, {steps} steps."
    )
    measured = "Points in the plane, the gradient of the cosine, and norms over steps of descent"

    def draw(figure: Figure) -> None:
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 0.95))
        _draw_outputs(left, outputs, parts["projection"])
        _draw_gradients(middle, parts["field"], parts["highlighted"], path)
        _draw_growth(right, growth)
        for axes in (left, middle):
            axes.set(
                aspect="equal",
                xlim=EDGES,
                ylim=EDGES,
                xticks=[-2, 0, 2],
                yticks=[-2, 0, 2],
                xlabel="$z_1$",
                ylabel="$z_2$",
            )
            axes.grid(visible=False)
        figure.legend(loc="outside lower center", ncols=4, handlelength=1.6)

    return Drawing((7.0, 2.75), measured, draw, note)


def _draw_outputs(axes: Axes, outputs: pd.DataFrame, projections: pd.DataFrame) -> None:
    """Each output, its projection on the unit circle, and a line between them."""
    axes.add_patch(Circle((0, 0), 1, fill=False, color=GREY, linewidth=0.8))
    axes.plot(
        [outputs["x"], projections["x"]],
        [outputs["y"], projections["y"]],
        color="#C8C8C8",
        linewidth=0.5,
        zorder=1,
    )
    axes.scatter(
        outputs["x"],
        outputs["y"],
        c=outputs["norm"],
        label="output",
        s=15,
        cmap="Blues",
        vmin=0,
        vmax=1.75,
        linewidth=0,
        zorder=3,
    )
    axes.scatter(
        projections["x"],
        projections["y"],
        label="projection",
        s=12,
        color="white",
        edgecolor=GREY,
        linewidth=0.6,
    )
    axes.set_title("outputs", loc="left")


def _draw_gradients(
    axes: Axes, field: pd.DataFrame, highlighted: pd.DataFrame, path: pd.DataFrame
) -> None:
    """The field, some gradients of it in black, and steps of descent."""
    axes.set_title("gradient of the cosine", loc="left")
    axes.plot(
        [0, 0],
        [0, 2.1],
        color=ORANGE,
        linewidth=2.2,
        label="direction",
    )
    far = field[field["length"] < 2]  # near the origin, long arrows would hide the rest
    _draw_arrows(axes, far, 3, color="#9C9C9C", width=0.011, zorder=2)
    _draw_arrows(axes, highlighted, 3, color="black", width=0.02, zorder=4)
    axes.plot(
        path["x"],
        path["y"],
        "o-",
        color=BLUE,
        markersize=3.2,
        linewidth=0.8,
        label="descent",
        zorder=3,
    )


def _draw_arrows(
    axes: Axes, rows: pd.DataFrame, shrunk: float, *colours: Any, **look: Any
) -> Quiver:
    """Gradients as arrows at 1/``shrunk`` of their length."""
    return axes.quiver(
        rows["x"],
        rows["y"],
        rows["u"],
        rows["v"],
        *colours,
        angles="xy",
        scale_units="xy",
        scale=shrunk,
        units="inches",
        **look,
    )


def _draw_growth(axes: Axes, growth: pd.DataFrame) -> None:
    """The mean norm by step, and its range over the starts, at each rate."""
    for k, (rate, line) in enumerate(growth.groupby("rate")):
        axes.plot(
            line["step"],
            line["norm"],
            markevery=10,
            label=f"step size {rate:g}",
            color=COLOURS[k],
            linestyle=DASHES[k],
            marker=MARKERS[k],
        )
        band(axes, line, "step", COLOURS[k])
    axes.set(
        xlabel="step",
        ylabel=r"$\|z\|$",
        xlim=(0, growth["step"].max()),
    )
    axes.set_title("norm", loc="left")


def fig6(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 6: the gradient field of the cosine, plain and with GradScale."""
    default = only(table, power=0)
    scaled = only(table, power=1)
    note = (
        f"The gradient of the cosine with north (orange), by autograd, at {len(default)} points. Arrows are drawn at "
        f"1/4.5 of their length, left and right. The longest gradient is {default['length'].max():.1f} long by default "
        f"and {scaled['length'].max():.2f} with GradScale, where the length is the sine of the angle at every norm."
    )

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        _draw_field(left, default, TITLES[0])
        arrows = _draw_field(right, scaled, TITLES[1])
        left.set(ylabel="$z_2$", yticks=TICKS)
        colour_bar(
            figure,
            arrows,
            [left, right],
            "length of the gradient",
            pad=0.02,
            aspect=24,
            extend="max",
            ticks=[0, 0.5, 1, 1.5, 2],
        )

    return Drawing((6.2, 3.2), "Arrows are gradients; colour is their length", draw, note)


def _draw_field(axes: Axes, rows: pd.DataFrame, title: str) -> Collection:
    """Arrows that have the colour of their length."""
    axes.plot(
        [0, 0],
        [0, 2],
        color=ORANGE,
        linewidth=2.5,
        zorder=1,
    )
    arrows = _draw_arrows(
        axes,
        rows,
        4.5,
        rows["length"],
        cmap="viridis_r",
        clim=(0, 2),
        width=0.014,
        zorder=2,
    )
    axes.set(
        aspect="equal",
        xlim=EDGES,
        ylim=EDGES,
        xticks=TICKS,
        xlabel="$z_1$",
    )
    axes.grid(visible=False)
    axes.set_title(title, loc="left")
    return arrows


def figS1(table: pd.DataFrame) -> Drawing:  # noqa: N802
    """Norms paper, Fig. S1: the cosine with one direction as a surface, with three circles on it."""
    radii = ", ".join(f"{radius:g}" for radius in CIRCLES)
    note = (
        f"The cosine with north (blue) on a polar mesh up to a norm of {table['radius'].max():g}; circles of radii "
        f"{radii}. It is constant along every ray, so a wider circle "
        "spreads the same change over a longer path."
    )
    surface = only(table, kind="surface")
    circles = only(table, kind="circle")

    def draw(figure: Figure) -> None:
        grid = figure.add_gridspec(1, 2, width_ratios=(1.1, 1))
        space: Any = figure.add_subplot(grid[0], projection="3d")
        above = figure.add_subplot(grid[1])
        x, y, cosine = (_mesh(surface, name) for name in ("x", "y", "cosine"))
        look: dict[str, Any] = {
            "cmap": "viridis",
            "vmin": -1,
            "vmax": 1,
            "rasterized": True,
        }
        space.plot_surface(
            x,
            y,
            cosine,
            **look,
            rcount=28,
            ccount=121,
            alpha=0.75,
            linewidth=0,
        )
        colours = above.pcolormesh(x, y, cosine, shading="gouraud", **look)
        space.plot(
            [0, 0],
            [0, 2.2],
            [1, 1],
            color=LIGHT_BLUE,
            linewidth=3,
            zorder=10,
        )
        above.plot([0, 0], [0, 2.2], color=LIGHT_BLUE, linewidth=3)
        for radius, (colour, dashes) in CIRCLES.items():
            line = only(circles, radius=radius)
            look = {"color": colour, "linestyle": dashes, "linewidth": 1.8}
            space.plot(
                line["x"],
                line["y"],
                line["cosine"],
                zorder=9,
                **look,
            )
            above.plot(line["x"], line["y"], **look)
            above.annotate(
                f"{radius:g}",
                (0, -radius),
                (0, 3),
                textcoords="offset points",
                ha="center",
                color="white",
            )
        _set_space(space)
        above.set(
            aspect="equal",
            xlabel="$z_1$",
            ylabel="$z_2$",
            xticks=TICKS,
            yticks=TICKS,
        )
        above.grid(visible=False)
        colour_bar(
            figure,
            colours,
            above,
            "cosine",
            pad=0.03,
            aspect=22,
            ticks=[-1, -0.5, 0, 0.5, 1],
        )

    return Drawing((6.8, 2.9), "Height and colour: cosine with the blue direction", draw, note)


def _mesh(surface: pd.DataFrame, name: str) -> Any:
    """A column as an array, by radius and angle."""
    return surface.pivot(index="radius", columns="angle", values=name).to_numpy()


def _set_space(space: Any) -> None:
    """The axes of the surface: labels close to them, and the view."""
    space.set(
        xlabel="$z_1$",
        ylabel="$z_2$",
        zlabel="cosine",
        xticks=[-2, 0, 2],
        yticks=[-2, 0, 2],
        zticks=[-1, 0, 1],
    )
    space.tick_params(pad=-3)
    space.xaxis.labelpad = -8
    space.yaxis.labelpad = -8
    space.zaxis.labelpad = -8
    space.view_init(elev=30, azim=-60)
    space.set_box_aspect((1, 1, 0.75), zoom=1.12)
