"""Fig. 3: the two toy sets and their projections by conventional CL and by LMCL."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.drawings.toy_names import SPACES
from hypersphere.report.style import COLOURS, MARKERS

SIZE = (7.0, 4.2)
MEASURED = "Points by class, and their projections by each loss"
TITLES = {
    "three_bars": ("(a) Three-Bars", "(c) CL", "(e) LMCL, mean", "(g) LMCL, sum"),
    "nested_moons": ("(b) Nested-Moons", "(d) CL", "(f) LMCL, mean", "(h) LMCL, sum"),
}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    grid = figure.subplots(len(TITLES), len(SPACES), sharex=True, sharey=True)
    parts = dict(list(table.groupby(["dataset", "space"])))
    for line, (dataset, titles) in zip(grid, TITLES.items(), strict=True):
        for axes, title, space in zip(line, titles, SPACES, strict=True):
            for k, (label, points) in enumerate(parts[(dataset, space)].groupby("class")):
                style = {"color": COLOURS[k], "marker": MARKERS[k], "s": 5, "linewidth": 0, "alpha": 0.75}
                axes.scatter(points["x"], points["y"], label=f"class {label}", rasterized=True, **style)
            axes.plot(0, 0, "+", color="black", markersize=7, markeredgecolor="black", markeredgewidth=1.0)
            axes.set_title(title, fontsize=8.5)
            axes.set_aspect("equal")
            axes.set(xlim=(-2, 2), ylim=(-2, 2), xticks=(-2, -1, 0, 1, 2), yticks=(-2, -1, 0, 1, 2))
        line[0].set_ylabel("$x_2$")
        line[1].set_ylabel(r"$(Px)_2$")
    for k, axes in enumerate(grid[-1]):
        axes.set_xlabel(r"$(Px)_1$" if k else "$x_1$")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, markerscale=2.5)


def note(table: pd.DataFrame) -> str:
    counts = table[table["space"] == "euclidean"].groupby("dataset").size()
    return (
        f"The first trial, {counts['three_bars']} and {counts['nested_moons']} points. P is learned up to scale, so "
        "each panel is scaled to a root mean square norm of 1. The cross marks 0: the loss depends only on directions "
        "from there. The paper has six panels; (g) and (h) are LMCL with the other reading of the regulariser, the sum."
    )
