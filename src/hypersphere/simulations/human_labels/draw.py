"""What people's labels of CIFAR-10 and CIFAR-100 say."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, GREY

BLUE, ORANGE, SKY = COLOURS[0], COLOURS[1], COLOURS[5]


def human_labels(table: pd.DataFrame) -> Drawing:
    """How many people labelled an image of CIFAR-10H, how far they agreed, and how often CIFAR-N's labels are wrong."""
    note = (
        f"Each of CIFAR-10H's {_number(table, 'images'):,.0f} test images was labelled by "
        f"{_number(table, 'people least'):.0f} to {_number(table, 'people most'):.0f} people, "
        f"{_number(table, 'people mean'):.1f} on average, {_number(table, 'images not 50 in tens'):.0f} images by 55 "
        f"or more. The mean entropy is {_number(table, 'entropy mean'):.2f} nat. CIFAR-10N asked three people about "
        f"each training image; for {_number(table, 'three different'):,.0f} images they gave three different labels. "
        "CIFAR-100N asked one person."
    )

    def draw(figure: Figure) -> None:
        people, entropy, errors = figure.subplots(1, 3, width_ratios=(1, 1, 1.15))
        part, mean = table[table["panel"] == "people"], _number(table, "people mean")
        people.bar(part["x"], part["value"], width=0.85, color=BLUE)
        people.axvline(mean, color=GREY, linestyle="--", linewidth=1.0)
        where = ("data", "axes fraction")
        people.annotate(f"mean {mean:.1f}", (mean, 1), (4, -9), xycoords=where, textcoords="offset points")
        people.set(xlabel="people per image", ylabel="test images (%)", title="CIFAR-10H: people")
        people.set_ylim(0, 36)
        people.grid(axis="x", visible=False)

        part = table[table["panel"] == "entropy"]
        bars = part[part["series"] == "not unanimous"]
        zero = part.loc[part["series"] == "unanimous", "value"].item()
        width = bars["x"].iloc[1] - bars["x"].iloc[0]
        entropy.bar(bars["x"], bars["value"], width=0.9 * width, align="edge", color=BLUE)
        entropy.bar(-width, zero, width=0.9 * width, align="edge", color=ORANGE)
        entropy.set(xlabel="entropy of the labels (nat)", ylabel="test images (%)", title="CIFAR-10H: agreement")
        entropy.grid(axis="x", visible=False)
        entropy.annotate("all gave one label", (0, zero), (3, -8), textcoords="offset points", color=ORANGE)

        part = table[table["panel"] == "errors"].sort_values("x")
        colours = [BLUE if name.startswith("CIFAR-10N") else SKY for name in part["series"]]
        shares = errors.barh(part["x"], part["value"], height=0.75, color=colours)
        errors.bar_label(shares, fmt="%.2f", padding=2, fontsize=7.5)
        errors.set_yticks(part["x"], part["series"])
        errors.invert_yaxis()
        errors.set(xlabel="labels in error (%)", title="CIFAR-N: errors", xlim=(0, 52))
        errors.grid(axis="y", visible=False)

    return Drawing((7.0, 2.5), "People per image, entropy of their labels, and share of wrong labels", draw, note)


def _number(table: pd.DataFrame, name: str) -> float:
    return float(table.loc[(table["panel"] == "numbers") & (table["series"] == name), "value"].item())
