"""SimCLR's Table 5, as a figure and as a table: published entropies, between the lowest and the highest possible."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS

BLUE, ORANGE = COLOURS[0], COLOURS[1]


def table5_entropy(table: pd.DataFrame) -> Drawing:
    examples = table["examples"].iloc[0]
    note = (
        f"Entropies of a softmax over {examples:,} logits, each free in [-1/τ, 1/τ]. The two rows without "
        "normalisation are in the table alone: their logits are unbounded. Nothing here is random."
    )

    lines = {
        name: rows.set_index("temperature")["entropy"] for name, rows in table.groupby("series")
    }
    printed = lines["printed"]
    least = lines["lowest"]
    most = lines["highest"]
    possible = (lines["row lowest"] <= printed) & (printed <= most.max())
    finding = f"{possible.sum()} of {len(printed)} published entropies of normalised embeddings are possible"

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.fill_between(least.index, least, most, color=BLUE, alpha=0.12, linewidth=0)
        axes.plot(least, color=BLUE)
        axes.plot(most, color="black", linewidth=1.0)
        axes.text(0.023, 6.2, "possible entropies", color=BLUE)
        axes.text(0.34, 1.0, "below the lowest\npossible entropy", color=BLUE)
        axes.set_xscale("log")
        axes.set_xticks(
            [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
            ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"],
        )
        axes.minorticks_off()
        axes.plot(printed, linestyle="none", marker="o", color=ORANGE, markersize=6.0)
        background = {
            "facecolor": "white",
            "edgecolor": "none",
            "alpha": 0.8,
            "pad": 0.5,
        }
        for temperature, entropy in printed.items():
            axes.annotate(
                f"{entropy:.1f}",
                (temperature, entropy),
                (-5, -4),
                ha="right",
                va="top",
                color=ORANGE,
                textcoords="offset points",
                bbox=background,
            )
        axes.annotate(
            f"ln {examples}",
            (2, most.max()),
            (-3, 3),
            textcoords="offset points",
            ha="right",
        )
        axes.set(
            xlabel=r"temperature $\tau$",
            ylabel="entropy (nat)",
            xlim=(0.02, 2),
            ylim=(-0.3, 9.4),
        )

    measured = (
        "Entropy (nat) of a softmax over all examples, against the temperature; dots: published"
    )
    return Drawing((5.0, 3.2), measured, draw, note, finding)


def table5_limits(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    verdicts = claims.set_index("id")["verdict"]
    head = [
        "Normalised",
        "τ",
        "Published",
        "Lowest",
        "Logits at the top",
        "Highest",
        "Verdict",
    ]
    body = []
    for row in table.to_dict("records"):
        normalised = row["normalised"]
        body.append(
            [
                "yes" if normalised else "no",
                f"{row['temperature']:g}",
                f"{row['printed']:.1f}",
                f"{row['lowest']:.3f}",
                f"{row['at_top']:,}" if normalised else "–",
                f"{row['highest']:.3f}",
                verdicts[row["claim"]],
            ]
        )
    note = (
        f"Entropies in nat, of a softmax over {table['examples'].iloc[0]:,} examples. The lowest has some of the "
        "logits at 1/τ and the others at -1/τ; without normalisation it is 0. A published entropy outside the range is "
        "refuted, one to which all of the range rounds is exact, any other is inconclusive."
    )
    return Layout(head, body, note)
