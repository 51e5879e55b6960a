"""Norms paper, Fig. 2c: mean norm of each class over training, for classes of unequal frequency."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.present.style import COLOURS, DASHES

SIZE = (7.0, 2.9)


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A panel for each reading of the noise: a line for each class, with its interval over seeds."""
    panels = list(table["panel"].unique())
    axes = figure.subplots(1, len(panels))
    for axis, panel in zip(axes, panels, strict=True):
        rows = table[table["panel"] == panel]
        for i, label in enumerate(sorted(rows["label"].unique())):
            line = rows[rows["label"] == label]
            text = f"class {label}: {line['probability'].iloc[0]:.3f}"
            axis.plot(line["epoch"], line["value"], color=COLOURS[i], linestyle=DASHES[i], label=text)
            axis.fill_between(line["epoch"], line["low"], line["high"], color=COLOURS[i], alpha=0.13, linewidth=0)
        axis.set_title(panel)
        axis.set(xlabel="epoch", xlim=(0, rows["epoch"].max()))
    axes[0].set_ylabel(r"mean embedding norm $\|z\|$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def note(table: pd.DataFrame) -> str:
    """What was computed."""
    return (
        "Noise of variance 0.1 as printed, of standard deviation 0.1, and of 1 as in the authors' imbalanced run. "
        f"Means over {table['n'].max():.0f} seeds with 95 % intervals, which include new centres and matrices for each "
        f"seed; {table['epoch'].max():.0f} epochs. Numbers in the legend: the classes' probabilities, ~1/2, ~1/4 and "
        "so on, normalised."
    )
