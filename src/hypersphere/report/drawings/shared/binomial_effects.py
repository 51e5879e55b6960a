"""Each printed effect, divided by its standard error from the size of the test set."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.drawings.shared.binomial_floor import UNPAIRED
from hypersphere.report.style import COLOURS, GREY, MARKERS

SIZE = (7.0, 3.0)
MEASURED = "Variant minus baseline, divided by the binomial standard error of that difference"
NAMES = {
    "mocov2": "MoCo v2",
    "mocov3": "MoCo v3",
    "simclr": "SimCLR",
    "byol": "BYOL",
    "simsiam": "SimSiam",
    "dino": "DINO",
    "cmc": "CMC",
    "dcl": "DCL (debiased)",
    "hcl": "HCL",
    "nt_xent": "NT-Xent",
    "qt": "QT",
    "dm1": "DM1",
    "dm2": "DM2",
    "dm3": "DM3",
    "dm4": "DM4",
}
STYLES = {name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, name in enumerate(NAMES)}


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A column for each printed table, and a marker for each effect, in the printed order."""
    axes = figure.subplots()
    axes.axhspan(-1.96, 1.96, color="#E9E9E9", linewidth=0, zorder=0)
    axes.axhline(0, color=GREY, linewidth=0.7, zorder=1)
    for name in NAMES:
        rows = table[table["series"] == name]
        if len(rows):
            colour, marker = STYLES[name]
            axes.plot(rows["across"], rows["z"], marker, color=colour, markersize=4.5, label=NAMES[name], zorder=3)
    columns = table.drop_duplicates("column").sort_values("column")
    axes.set_xticks(columns["column"], columns["table"])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    for edge in range(1, len(columns)):
        axes.axvline(edge - 0.5, color="#C8C8C8", linewidth=0.6, zorder=1)
    axes.grid(False, axis="x")
    axes.tick_params(axis="x", length=0)
    axes.set_yscale("symlog", linthresh=2, linscale=0.6)
    axes.set_yticks([-20, -10, -5, -2, 0, 2, 5, 10, 20], ["−20", "−10", "−5", "−2", "0", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_ylim(min(-3.0, 1.3 * table["z"].min()), max(3.0, 1.3 * table["z"].max()))
    axes.set_ylabel("effect / its standard error")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")


def finding(table: pd.DataFrame) -> str:
    """How many effects are within the error, and how many would not be by chance."""
    within, chance = len(table) - int(table["beyond"].sum()), table["by_chance"].iloc[0]
    return (
        f"{within} of {len(table)} printed effects are within the test set's own error; "
        f"{len(table) - within} are beyond it, {chance:.1f} would be by chance"
    )


def note(table: pd.DataFrame) -> str:
    """What a marker is, and the number of markers."""
    return (
        f"{len(table)} printed effects: each variant's accuracy minus that of its table's baseline, divided by the "
        f"binomial standard error of the difference; {int(table['beyond'].sum())} are beyond 1.96 (outside the band). "
        f"The axis is linear up to 2 and logarithmic beyond. {UNPAIRED}"
    )
