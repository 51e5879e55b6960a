"""Norms of latent classes: norms paper, Figs. 2b, 2c and S2."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from hypersphere.exact.study import only
from hypersphere.report.drawing import band
from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY

DOTS: dict[str, Any] = {"markeredgewidth": 0, "rasterized": True}
PALETTE = (*COLOURS, GREY)
SPACES = {"latent": "latent points", "embedding": "learned, not normalised"}


def fig2b(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 2b: norm of an embedding against the distance to its tenth neighbour."""
    points = only(table, kind="point", panel=table["panel"].iloc[0])
    note = (
        f"{points['label'].nunique()} classes, {len(points):,} points, {table['epochs'].iloc[0]:.0f} epochs, "
        f"{table['n'].max():.0f} seeds with 95 % intervals; dots: the first seed. Left: noise of variance 0.1 as "
        "published. Middle: of standard deviation 0.1 as in the authors' code. Right: the authors' notebook, where the "
        "last network of Fig. 2c embeds new classes under a new matrix."
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, table["panel"].nunique())
        for axis, (panel, rows) in zip(axes, table.groupby("panel", sort=False), strict=True):
            _draw_density(axis, rows)
            axis.set(
                xscale="log",
                ylim=(0, None),
                xlabel="1 − cos to the 10th neighbour",
                title=panel,
            )
        axes[0].set_ylabel(r"embedding norm $\|z\|$")
        handles = []
        for label, colour in zip(sorted(points["label"].unique()), COLOURS, strict=False):
            handles.append(
                Line2D(
                    [],
                    [],
                    linestyle="",
                    marker="o",
                    color=colour,
                    label=f"class {label:.0f}",
                )
            )
        handles.append(
            Line2D(
                [],
                [],
                marker="D",
                color="black",
                linewidth=1,
                label="quarters, over seeds",
            )
        )
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))

    ranks = only(table, kind="rank")  # correlations of norm and density
    falls = int((ranks["low"] > 0).sum())
    finding = f"Norms fall with the distance, as the paper says, in {falls} of {len(ranks)} readings of its data"
    measured = (
        "Norm of each point, and distance to its tenth neighbour, in three readings of the data"
    )
    return Drawing((7.0, 3.0), measured, draw, note, finding)


def _draw_density(axis: Axes, rows: pd.DataFrame) -> None:
    """Points by class, and the quarters' means with their intervals."""
    points = only(rows, kind="point")
    quarters = only(rows, kind="quarter")
    for (_, part), colour in zip(points.groupby("label"), COLOURS, strict=False):
        axis.plot(
            part["distance"],
            part["value"],
            ".",
            color=colour,
            markersize=2.5,
            alpha=0.5,
            **DOTS,
        )
    below = quarters["value"] - quarters["low"]
    above = quarters["high"] - quarters["value"]
    axis.errorbar(
        quarters["distance"],
        quarters["value"],
        [below, above],
        fmt="D-",
        color="black",
        linewidth=1,
        capsize=2,
    )


def fig2c(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 2c: mean norm of each class over training, for classes of unequal frequency."""
    note = (
        "Noise of variance 0.1 as published, of standard deviation 0.1, and of 1 as in the authors' imbalanced run. "
        f"Means over {table['n'].max():.0f} seeds, {table['epoch'].max():.0f} epochs. Each seed has centres and a "
        "matrix of its own, which move all its norms together; so below, each class is compared with the mean of the "
        "four classes of the same seed, with 95 % t intervals. Numbers in the legend: the classes' probabilities, "
        "~1/2, ~1/4 and so on, normalised."
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(2, table["panel"].nunique(), sharex=True)
        for above, below, (panel, rows) in zip(
            *axes, table.groupby("panel", sort=False), strict=True
        ):
            for k, (label, line) in enumerate(rows.groupby("label")):
                name = f"class {label}: {line['probability'].iloc[0]:.3f}"
                above.plot(
                    line["epoch"],
                    line["norm"],
                    label=name,
                    color=COLOURS[k],
                    linestyle=DASHES[k],
                )
                below.plot(
                    line["epoch"],
                    line["value"],
                    color=COLOURS[k],
                    linestyle=DASHES[k],
                )
                band(below, line, "epoch", COLOURS[k])
            above.set_title(panel)
            below.set(xlabel="epoch", xlim=(0, rows["epoch"].max()))
        axes[0][0].set_ylabel(r"mean norm $\|z\|$")
        axes[1][0].set_ylabel("minus the classes' mean")
        figure.align_ylabels(axes[:, 0])
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))

    return Drawing(
        (7.0, 4.2),
        "Mean embedding norm by class, in three readings of the noise",
        draw,
        note,
    )


def figS2(table: pd.DataFrame) -> Drawing:  # noqa: N802
    """Norms paper, Fig. S2: eight latent classes in three dimensions, latent and learned."""
    panels = list(table["panel"].unique())
    drawn = (table["kind"] == "point").sum() / (len(panels) * len(SPACES))
    note = (
        f"{table['label'].nunique()} classes of {table['per_class'].iloc[0]:,} points, one seed, "
        f"{table['epochs'].iloc[0]} epochs; {drawn:,.0f} of the points are drawn. Dashed: from the origin to each "
        "class's mean. Top: noise of variance 0.1 as published. Bottom: of standard deviation 0.1 as in the authors' "
        "code. The second plane is the first one seen from its side. Axes have no unit."
    )

    def draw(figure: Figure) -> None:
        grid = figure.subplots(len(panels), 2 * len(SPACES))
        for down, panel in enumerate(panels):
            axes = iter(grid[down])
            for space, name in SPACES.items():
                rows = only(table, panel=panel, space=space)
                first = next(axes)
                _draw_plane(first, rows, "x", "y")
                _draw_plane(next(axes), rows, "x", "z")
                first.set_title(f"{name}\n(noise: {panel})", loc="left")
        handles = []
        for label, colour in zip(sorted(table["label"].unique()), PALETTE, strict=False):
            handles.append(
                Line2D(
                    [],
                    [],
                    color=colour,
                    marker="o",
                    linestyle="--",
                    linewidth=1,
                    label=f"{label:.0f}",
                )
            )
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=len(handles),
            title="class",
            handlelength=2,
        )

    measured = (
        "Single points by class, in two planes; dashed: from the origin to the mean of a class"
    )
    return Drawing((7.0, 4.3), measured, draw, note)


def _draw_plane(axis: Axes, rows: pd.DataFrame, x: str, y: str) -> None:
    """Points by class in the plane of two coordinates, and a line from the origin to the mean of each class."""
    for (_, part), colour in zip(rows.groupby("label"), PALETTE, strict=False):
        points = only(part, kind="point")
        mean = only(part, kind="mean").iloc[0]
        axis.plot(
            points[x],
            points[y],
            ".",
            color=colour,
            markersize=3.0,
            alpha=0.55,
            **DOTS,
        )
        axis.plot(
            [0, mean[x]],
            [0, mean[y]],
            color="white",
            linewidth=2.6,
            zorder=20,
        )
        axis.plot(
            [0, mean[x]],
            [0, mean[y]],
            "--",
            color=colour,
            linewidth=1.5,
            zorder=21,
        )
        axis.plot(
            mean[x],
            mean[y],
            "o",
            color=colour,
            markeredgecolor="black",
            markersize=5,
            zorder=22,
        )
    axis.set(aspect="equal", xlabel=x, ylabel=y)
    axis.set_adjustable("datalim")
    axis.xaxis.set_major_locator(MaxNLocator(3))
    axis.yaxis.set_major_locator(MaxNLocator(3))
