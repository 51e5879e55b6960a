"""Steps to convergence: norms paper, Table 1 and Fig. 2a."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS, DASHES, GREY, MARKERS

READINGS = {
    "square": "γ‖z_i‖², on one point of each pair (as printed)",
    "norm": "γ‖z‖, mean over all points (N1)",
}
NORM = {"both": "both sets", "second": "second set alone", "static": "both, first static"}
ANGLE = {"normalised": "normalised again", "printed": "as printed"}
ANGLES = ([0, 1.5707963, 3.1415927], ["0", "π/2", "π"])


def table1(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Norms paper, Table 1: steps to convergence by initial norm and penalty, in two readings of the objective."""
    head = ["Penalty", "Initial norm", *(f"γ = {gamma:g}" for gamma in sorted(table["gamma"].unique()))]
    of_steps = claims[(claims["kind"] == "value") & (claims["metric"] == "steps")]
    printed = of_steps.set_index(["reading", "setting", "variant"])["reported"].to_dict()
    body = []
    for (penalty, norm), line in table.groupby(["penalty", "norm"], sort=False):
        cells = []
        for cell in line.to_dict("records"):
            shown = "never"
            if cell["converged"]:
                shown = f"{cell['mean']:.1f} ± {cell['std']:.1f} [{cell['least']:.0f}, {cell['most']:.0f}]"
                missing = cell["n"] - cell["converged"]
                shown += f", {missing} never" if missing else ""
            steps = printed.get((cell["reading"], f"norm={norm:g}", f"gamma{cell['gamma']:g}"))
            if steps is not None:
                shown += "; printed: " + ("divergence" if steps == float("inf") else f"{steps:.0f}")
            cells.append(shown)
        body.append([READINGS[str(penalty)], f"{norm:g}", *cells])
    limit = table.loc[table["converged"] == 0, "limit"].max()
    note = (
        "500 pairs in 20 dimensions, both sets scaled and trained, rate 10, until the mean cosine exceeds 0.999: mean "
        f"± standard deviation [range] over {int(table['n'].max())} seeds. γ = 0 is not printed. Never: not within "
        f"{int(limit):,} steps."
    )
    return Layout(head, body, note)


def fig2a(table: pd.DataFrame) -> Drawing:
    """Norms paper, Fig. 2(a): steps to convergence against the norm and against the angle."""
    steps = table[table["panel"] == "norm"].pivot(index="norm", columns="curve", values="mean")
    grown = steps.loc[steps.index.max()] / steps.loc[1.0]
    finding = (
        f"From norm 1 to {steps.index.max():g}, steps grow {grown['both']:.0f}-fold if both sets grow, "
        f"and {grown['second']:.1f}-fold if one does"
    )
    note = (
        "500 pairs in 20 dimensions, gradient descent at rate 10 until the mean cosine exceeds 0.999; means over "
        f"{int(table['n'].min())} seeds with 95 % t intervals (narrower than the lines). Left, random directions: both "
        "sets scaled and trained; only the second set scaled, as the text says; the first set static. Right, "
        "interpolated pairs of norm 1: normalised again, or with the norm that the printed formula gives. The largest "
        f"mean angle is {table['angle'].max():.2f}; at π nothing moves."
    )

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2)
        for axes, panel, names, every in zip(panels, ("norm", "angle"), (NORM, ANGLE), (1, 3), strict=True):
            for k, (name, label) in enumerate(names.items()):
                line = table[(table["panel"] == panel) & (table["curve"] == name)].sort_values(panel)
                look: dict[str, Any] = {"color": COLOURS[k], "marker": MARKERS[k], "linestyle": DASHES[k]}
                axes.plot(line[panel], line["mean"], label=label, markevery=every, **look)
                axes.fill_between(line[panel], line["low"], line["high"], color=COLOURS[k], alpha=0.3, linewidth=0)
        norm, angle = panels
        # A guide under the curve: four times the steps at twice the norm.
        half, ends = steps.index[len(steps) // 2], [steps.index.min(), steps.index.max()]
        guide = [0.3 * steps.loc[half, "both"] * (end / half) ** 2 for end in ends]
        norm.plot(ends, guide, label="slope 2", color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        for axes in panels:
            axes.legend(loc="upper left", handlelength=2.2, fontsize=8)
        norm.set(xlabel="initial norm", ylabel="steps until convergence", xscale="log", yscale="log", ylim=(2, 3e4))
        norm.set_xticks([0.3, 1, 3, 9], ["0.3", "1", "3", "9"])
        norm.minorticks_off()
        norm.set_title("norm, random pairs", loc="left")
        angle.set(xlabel="mean initial angle (rad)", xlim=(0, 3.2), ylim=(0, 210))
        angle.set_xticks(*ANGLES)
        angle.set_title("angle, norm 1", loc="left")

    return Drawing((6.4, 2.7), "Steps until the mean cosine exceeds 0.999, mean over seeds", draw, note, finding)
