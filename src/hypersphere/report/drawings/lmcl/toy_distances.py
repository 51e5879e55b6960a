"""Histograms of the distance D between points of the same class and of different classes."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.drawings.toy_names import DATASETS, READINGS, SPACES
from hypersphere.report.style import COLOURS, DASHES

SIZE = (7.0, 3.7)
MEASURED = "Share of pairs by distance, within classes and between them"


def draw(figure: Figure, table: pd.DataFrame) -> None:
    grid = figure.subplots(len(DATASETS), len(SPACES), sharex=True, sharey=True)
    parts = dict(list(table.groupby(["dataset", "space"])))
    for line, (dataset, name) in zip(grid, DATASETS.items(), strict=True):
        for axes, (space, label) in zip(line, SPACES.items(), strict=True):
            part = parts[(dataset, space)]
            axes.axvspan(part["lower"].iloc[0], part["upper"].iloc[0], color="#E9E9E9", linewidth=0, zorder=0)
            axes.grid(False)
            for k, (pairs, rows) in enumerate(part.groupby("pairs", sort=False)):
                edges = [*rows["from"], rows["to"].iloc[-1]]
                low, high = rows["mean"] - rows["std"], rows["mean"] + rows["std"]
                axes.stairs(high, edges, baseline=low, fill=True, color=COLOURS[k], alpha=0.3, linewidth=0)
                axes.stairs(rows["mean"], edges, baseline=None, color=COLOURS[k], linestyle=DASHES[k], label=pairs)
            inside = f"{part['in_margin'].iloc[0]:.1f} % of\npairs inside"
            axes.text(0.3, 0.95, inside, transform=axes.get_xaxis_transform(), ha="center", va="top", fontsize=7)
            axes.set(xlim=(0, 1), xticks=(0, 0.1, 0.5, 1), yscale="log", ylim=(0.2, 150))
            axes.set_xticklabels(["0", r"$\delta^+$", r"$\delta^-$", "1"])
            for lower in axes.get_xticklabels()[1:2]:  # the upper row shows none
                lower.set_horizontalalignment("left")  # clear of the 0
            axes.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
            axes.minorticks_off()
            axes.set_title(label if dataset == "three_bars" else "", fontsize=8.5)
            axes.set_xlabel("" if dataset == "three_bars" else r"$D = (1-\cos)/2$")
        line[0].set_ylabel(f"{name}\npairs of the kind (%)")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)


def note(table: pd.DataFrame) -> str:
    width = table["to"].iloc[0] - table["from"].iloc[0]
    return (
        f"All pairs, in bins of {width:g}: mean over {table['trials'].iloc[0]} trials, with a band of one standard "
        f"deviation. Grey: the margin region, from {table['lower'].iloc[0]:g} to {table['upper'].iloc[0]:g}. D is the "
        f"paper's Eq. 3, on directions from 0. {READINGS}"
    )
