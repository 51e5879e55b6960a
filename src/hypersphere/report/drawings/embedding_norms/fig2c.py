"""Norms paper, Fig. 2c: mean norm of each class over training, for classes of unequal frequency."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.style import COLOURS, DASHES

SIZE = (7.0, 4.2)
MEASURED = "Mean embedding norm by class, in three readings of the noise"


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A column for each reading of the noise: mean norms above, and below how far each class is from their mean."""
    panels = list(table["panel"].unique())
    axes = figure.subplots(2, len(panels), sharex=True)
    for above, below, panel in zip(*axes, panels, strict=True):
        rows = table[table["panel"] == panel]
        for i, label in enumerate(sorted(rows["label"].unique())):
            line = rows[rows["label"] == label]
            look: dict[str, Any] = {"color": COLOURS[i], "linestyle": DASHES[i]}
            above.plot(line["epoch"], line["value"], label=f"class {label}: {line['probability'].iloc[0]:.3f}", **look)
            below.plot(line["epoch"], line["apart_value"], **look)
            band = {"color": COLOURS[i], "alpha": 0.15, "linewidth": 0}
            below.fill_between(line["epoch"], line["apart_low"], line["apart_high"], **band)
        above.set_title(panel)
        below.set(xlabel="epoch", xlim=(0, rows["epoch"].max()))
    axes[0][0].set_ylabel(r"mean norm $\|z\|$")
    axes[1][0].set_ylabel("minus the classes' mean")
    figure.align_ylabels(axes[:, 0])
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    return (
        "Noise of variance 0.1 as printed, of standard deviation 0.1, and of 1 as in the authors' imbalanced run. "
        f"Means over {table['n'].max():.0f} seeds, {table['epoch'].max():.0f} epochs. Each seed has centres and a "
        "matrix of its own, which move all its norms together; so below, each class is compared with the mean of the "
        "four classes of the same seed, with 95 % t intervals. Numbers in the legend: the classes' probabilities, "
        "~1/2, ~1/4 and so on, normalised."
    )
