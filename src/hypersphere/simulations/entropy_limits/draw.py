"""The entropies of SimCLR's Table 5, as a figure and as a table."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS, DASHES, GREY

BLUE, ORANGE = COLOURS[0], COLOURS[1]
POSSIBLE: dict[str, Any] = {"color": BLUE, "alpha": 0.12, "linewidth": 0}


def table5_entropy(table: pd.DataFrame) -> Drawing:
    """The entropies of SimCLR's Table 5, between the lowest and the highest possible entropy."""
    note = (
        f"Entropies of a softmax over {table['examples'].iloc[0]:,} logits, each free in [-1/τ, 1/τ] where embeddings "
        "are normalised, and unbounded where they are not. Dashed: the positive has cosine 1, all others have cosine "
        "0. Nothing here is random."
    )

    lines = {name: rows.set_index(["panel", "temperature"])["entropy"] for name, rows in table.groupby("series")}
    printed, lowest, highest = lines["printed"], lines["row lowest"], table["entropy"].max()
    possible = int(((lowest <= printed) & (printed <= highest)).sum())
    finding = f"{possible} of {len(printed)} printed entropies of SimCLR's Table 5 are possible"

    def draw(figure: Figure) -> None:
        beside: dict[str, Any] = {"ha": "right", "va": "top", "color": ORANGE, "textcoords": "offset points"}
        beside["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
        bounded, free = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
        least, most, aligned = (lines[name]["normalised"] for name in ("lowest", "highest", "aligned"))
        bounded.fill_between(least.index, least, most, **POSSIBLE)
        bounded.plot(least, color=BLUE)
        bounded.plot(aligned, color=GREY, linestyle=DASHES[1])
        bounded.text(0.023, 6.2, "possible entropies", color=BLUE)
        bounded.text(0.34, 1.0, "below the lowest\npossible entropy", color=BLUE)
        bounded.text(0.023, 2.9, "dashed: positive at 1,\nothers at 0", color=GREY)
        bounded.set_xscale("log")
        bounded.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"])
        bounded.minorticks_off()
        bounded.set(xlabel=r"temperature $\tau$", ylabel="entropy (nat)", title="normalised", xlim=(0.02, 2))
        unbounded, places = printed["not normalised"], np.arange(len(printed["not normalised"]))
        bottom = lowest["not normalised"].to_numpy()
        free.bar(places, highest - bottom, 0.6, bottom, **POSSIBLE)
        free.set_xticks(places, [f"{temperature:g}" for temperature in unbounded.index])
        free.set(xlabel=r"temperature $\tau$", title="not normalised", xlim=(-0.6, len(places) - 0.4))
        free.grid(axis="x", visible=False)
        for axes, across, entropies in (
            (bounded, printed["normalised"].index, printed["normalised"]),
            (free, places, unbounded),
        ):
            for place, entropy in zip(across, entropies, strict=True):
                axes.plot(place, entropy, linestyle="none", marker="o", color=ORANGE, markersize=6.0)
                axes.annotate(f"{entropy:.1f}", (place, entropy), (-5, -4), **beside)
            axes.axhline(highest, color="black", linewidth=1.0)
        bounded.set_ylim(-0.3, 9.4)
        top = f"ln {table['examples'].iloc[0]}"
        free.annotate(top, (0.98, highest), (0, 3), ("axes fraction", "data"), "offset points", ha="right")

    measured = "Entropy (nat) of a softmax over all examples, against the temperature; dots: printed"
    return Drawing((6.4, 3.2), measured, draw, note, finding)


def table5_limits(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Each printed entropy of SimCLR's Table 5, with the lowest and the highest that its row allows."""
    head = ["Normalised", "τ", "Printed", "Lowest", "Logits at the top", "Highest", "Below uniform"]
    head += ["Effective", "Printed is"]
    body = []
    for row in table.to_dict("records"):
        setting = ["yes" if row["normalised"] else "no", f"{row['temperature']:g}", f"{row['printed']:.1f}"]
        top = f"{row['at_top']:,}" if row["normalised"] else "–"
        limits = [f"{row['lowest']:.3f}", top, f"{row['highest']:.3f}", f"{row['below_uniform']:.2f}"]
        # Two significant digits, because the printed decimal of an entropy supports no more.
        effective = row["effective"]
        digits = f"{effective:.1f}" if effective < 10 else f"{round(effective, 2 - len(str(int(effective)))):,.0f}"
        body.append([*setting, *limits, digits, str(row["finding"])])
    note = (
        f"Entropies in nat, of a softmax over {table['examples'].iloc[0]:,} examples. The lowest has some of the "
        "logits at 1/τ and the others at -1/τ; without normalisation it is 0. Effective: as many equally likely "
        "examples have the printed entropy. Possible: inside the range. Forced: all of the range rounds to it."
    )
    return Layout(head, body, note)
