"""Steps to convergence: norms paper, Table 1 and Fig. 2a."""

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.exact.study import only
from hypersphere.report.drawing import band
from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

READINGS = {
    "square": "γ‖z_i‖², on one point of each pair (as published)",
    "norm": "γ‖z‖, mean over all points (N1)",
}
NORM = {
    "both": "both sets",
    "second": "second set alone",
    "static": "both, first static",
}
ANGLE = {"normalised": "normalised again", "printed": "as published"}
ANGLES = ([0, 1.5707963, 3.1415927], ["0", "π/2", "π"])


def table1(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Norms paper, Table 1: steps to convergence by initial norm and penalty, in two readings of the objective."""
    gammas = [f"γ = {gamma:g}" for gamma in sorted(table["gamma"].unique())]
    of_steps = only(claims, kind="value", metric="steps")
    printed = of_steps.set_index(["reading", "setting", "variant"])["reported"].to_dict()
    body = []
    for (penalty, norm), line in table.groupby(["penalty", "norm"], sort=False):
        row = [READINGS[str(penalty)], f"{norm:g}"]
        for cell in line.to_dict("records"):
            steps = printed.get((cell["reading"], f"norm={norm:g}", f"gamma{cell['gamma']:g}"))
            row.append(_ours(cell) + _printed(steps))
        body.append(row)
    limit = table.loc[table["converged"] == 0, "limit"].max()
    note = (
        "500 pairs in 20 dimensions, both sets scaled and trained, rate 10, until the mean cosine exceeds 0.999: mean "
        f"± standard deviation [range] over {int(table['n'].max())} seeds. γ = 0 is not published. Never: not within "
        f"{int(limit):,} steps."
    )
    return Layout(["Penalty", "Initial norm", *gammas], body, note)


def _ours(cell: dict[Hashable, Any]) -> str:
    """Mean steps and their range over the seeds that converged, and how many did not."""
    if not cell["converged"]:
        return "never"
    steps = f"{cell['mean']:.1f} ± {cell['std']:.1f} [{cell['least']:.0f}, {cell['most']:.0f}]"
    missing = cell["n"] - cell["converged"]
    return f"{steps}, {missing} never" if missing else steps


def _printed(steps: float | None) -> str:
    if steps is None:
        return ""
    return "; published: divergence" if math.isinf(steps) else f"; published: {steps:.0f}"


def fig2a(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 2(a): steps to convergence against the norm and against the angle."""
    steps = only(table, panel="norm").pivot(index="norm", columns="curve", values="mean")
    grown = steps.loc[steps.index.max()] / steps.loc[1.0]
    finding = (
        f"From norm 1 to {steps.index.max():g}, steps grow {grown['both']:.0f}-fold if both sets grow, "
        f"and {grown['second']:.1f}-fold if one does"
    )
    note = (
        "500 pairs in 20 dimensions, gradient descent at rate 10 until the mean cosine exceeds 0.999; means over "
        f"{int(table['n'].min())} seeds with 95 % t intervals (narrower than the lines). Left, random directions: both "
        "sets scaled and trained; only the second set scaled, as the text says; the first set static. Right, "
        "interpolated pairs of norm 1: normalised again, or with the norm of the published formula. The largest "
        f"mean angle is {table['angle'].max():.2f}; at π nothing moves."
    )

    def draw(figure: Figure) -> None:
        norm, angle = figure.subplots(1, 2)
        _draw_curves(norm, table, "norm", NORM, 1)
        _draw_curves(angle, table, "angle", ANGLE, 3)
        # A guide under the curve: four times the steps at twice the norm.
        half = steps.index[len(steps) // 2]
        ends = [steps.index.min(), steps.index.max()]
        guide = [0.3 * steps.loc[half, "both"] * (end / half) ** 2 for end in ends]
        norm.plot(
            ends,
            guide,
            label="slope 2",
            color=GREY,
            linewidth=0.9,
            linestyle=(0, (2, 2)),
            zorder=1,
        )
        norm.legend(loc="upper left", handlelength=2.2, fontsize=8)
        norm.set(xlabel="initial norm", ylabel="steps until convergence")
        norm.set(xscale="log", yscale="log", ylim=(2, 3e4))
        norm.set_xticks([0.3, 1, 3, 9], ["0.3", "1", "3", "9"])
        norm.minorticks_off()
        norm.set_title("norm, random pairs", loc="left")
        angle.legend(loc="upper left", handlelength=2.2, fontsize=8)
        angle.set(xlabel="mean initial angle (rad)", xlim=(0, 3.2), ylim=(0, 210))
        angle.set_xticks(*ANGLES)
        angle.set_title("angle, norm 1", loc="left")

    return Drawing(
        (6.4, 2.7),
        "Steps until the mean cosine exceeds 0.999, mean over seeds",
        draw,
        note,
        finding,
    )


def _draw_curves(
    axes: Axes, table: pd.DataFrame, panel: str, names: dict[str, str], every: int
) -> None:
    """A panel's curves with their intervals, and a marker at every so many points."""
    curves = only(table, panel=panel)
    for k, (name, label) in enumerate(names.items()):
        line = only(curves, curve=name).sort_values(panel)
        axes.plot(
            line[panel],
            line["mean"],
            label=label,
            markevery=every,
            color=COLOURS[k],
            marker=MARKERS[k],
            linestyle=DASHES[k],
        )
        band(axes, line, panel, COLOURS[k], alpha=0.3)
