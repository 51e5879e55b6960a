"""What the papers' floors of the test set's size look like, as a table and as a figure."""

import math

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.present.style import COLOURS, GREY, MARKERS

SIZE = (7.0, 3.0)
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
UNPAIRED = (
    "Errors are those of the test set's size alone, unpaired, and upper limits: two encoders err on the same images, "
    "and means over seeds err less. The noise from run to run comes on top."
)


def rows(table: pd.DataFrame, claims: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """One row for each printed table."""
    head = ["Printed in", "Accuracies", "of unknown test size", "Median floor (points)"]
    head += ["Effects", "within 1.96 errors", "Furthest (errors)"]
    body = []
    for row in table.to_dict("records"):
        cells = [str(row["cells"]), str(row["unknown"]), _number(row["floor"], "{:.2f}")]
        effects = [str(row["effects"]), str(row["within"]), _number(row["furthest"], "{:+.1f}")]
        body.append([row["table"], *cells, *effects])
    return head, body


def note_on_floors(table: pd.DataFrame) -> str:
    """How floors and errors are computed."""
    return (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant less its table's baseline, its error the root of both squares. {UNPAIRED}"
    )


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """A column for each printed table, a marker for each effect, in the order of print."""
    axes = figure.subplots()
    axes.axhspan(-1.96, 1.96, color="#E9E9E9", linewidth=0, zorder=0)
    axes.axhline(0, color=GREY, linewidth=0.7, zorder=1)
    for name in NAMES:
        own = table[table["series"] == name]
        if len(own):
            colour, marker = STYLES[name]
            axes.plot(own["across"], own["z"], marker, color=colour, markersize=4.5, label=NAMES[name], zorder=3)
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


def note_on_effects(table: pd.DataFrame) -> str:
    """What a marker is, and how many there are."""
    return (
        f"{len(table)} printed effects: each variant's accuracy less that of its table's baseline, divided by the "
        f"binomial standard error of the difference; {int(table['beyond'].sum())} lie beyond 1.96 (outside the band). "
        f"Linear up to 2, logarithmic beyond. {UNPAIRED}"
    )


def _number(value: float, layout: str) -> str:
    return "–" if math.isnan(value) else layout.format(value).replace("-", "−")
