"""Floors of printed accuracies as a table, and printed effects over their errors as a figure."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import words
from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS, GREY, MARKERS

UNPAIRED = (
    "Errors come from the size of the test set alone. They are unpaired and upper limits, because two encoders err on "
    "the same images and means over seeds err less. The noise from run to run comes on top."
)
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


def binomial_floor(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Each table of printed accuracies and its floor: the standard error from the size of the test set alone."""
    head = ["Printed in", "Accuracies", "of unknown test size", "Median floor (points)"]
    head += ["Effects", "within 1.96 errors", "Furthest (errors)", "beyond", "beyond by chance", "p of as many"]
    body = []
    for row in table.to_dict("records"):
        cells = [str(row["cells"]), str(row["unknown"]), words.number(row["floor"], 2)]
        effects = [str(row["effects"]), str(row["within"]), words.signed(row["furthest"], 1)]
        chance = [str(row["effects"] - row["within"])]
        chance += [f"{row['by_chance']:.1f}", f"{row['p_as_many']:.2g}"] if row["effects"] else ["–", "–"]
        body.append([row["table"], *cells, *effects, *chance])
    note = (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant minus its table's baseline; its error is the root of both squares. {UNPAIRED} By chance: "
        "one effect in twenty is beyond 1.96 errors if none is real. p: of as many beyond or more, "
        "if effects were independent; those of one table share a baseline, so true p are larger."
    )
    return Layout(head, body, note)


def binomial_effects(table: pd.DataFrame) -> Drawing:
    """Each printed effect, divided by its standard error from the size of the test set."""
    within, chance = len(table) - int(table["beyond"].sum()), table["by_chance"].iloc[0]
    finding = (
        f"{within} of {len(table)} printed effects are within the test set's own error. "
        f"{len(table) - within} are beyond it, where chance alone gives {chance:.1f}"
    )
    note = (
        f"{len(table)} printed effects: each variant's accuracy minus that of its table's baseline, divided by the "
        f"binomial standard error of the difference; {int(table['beyond'].sum())} are beyond 1.96 (outside the band). "
        f"The axis is linear up to 2 and logarithmic beyond. {UNPAIRED}"
    )

    def draw(figure: Figure) -> None:
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

    return Drawing(
        (7.0, 3.0),
        "Variant minus baseline, divided by the binomial standard error of that difference",
        draw,
        note,
        finding,
    )
