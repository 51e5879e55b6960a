"""What people's labels of CIFAR-10 and CIFAR-100 say."""

import pandas as pd
from matplotlib.axes import Axes
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
        _people(people, table[table["panel"] == "people"], _number(table, "people mean"))
        _entropy(entropy, table[table["panel"] == "entropy"])
        _errors(errors, table[table["panel"] == "errors"])

    return Drawing((7.0, 2.5), "People per image, entropy of their labels, and share of wrong labels", draw, note)


def _number(table: pd.DataFrame, name: str) -> float:
    return float(table.loc[(table["panel"] == "numbers") & (table["series"] == name), "value"].item())


def _people(axes: Axes, part: pd.DataFrame, mean: float) -> None:
    axes.bar(part["x"], part["value"], width=0.85, color=BLUE)
    axes.axvline(mean, color=GREY, linestyle="--", linewidth=1.0)
    axes.annotate(
        f"mean {mean:.1f}", (mean, 1), (4, -9), xycoords=("data", "axes fraction"), textcoords="offset points"
    )
    axes.set(xlabel="people per image", ylabel="test images (%)", title="CIFAR-10H: people")
    axes.set_ylim(0, 36)
    axes.grid(axis="x", visible=False)


def _entropy(axes: Axes, part: pd.DataFrame) -> None:
    bars = part[part["series"] == "not unanimous"]
    zero = part.loc[part["series"] == "unanimous", "value"].item()
    width = bars["x"].iloc[1] - bars["x"].iloc[0]
    axes.bar(bars["x"], bars["value"], width=0.9 * width, align="edge", color=BLUE)
    axes.bar(-width, zero, width=0.9 * width, align="edge", color=ORANGE)
    axes.set(xlabel="entropy of the labels (nat)", ylabel="test images (%)", title="CIFAR-10H: agreement")
    axes.grid(axis="x", visible=False)
    axes.annotate("all gave one label", (0, zero), (3, -8), textcoords="offset points", color=ORANGE)


def _errors(axes: Axes, part: pd.DataFrame) -> None:
    ordered = part.sort_values("x")
    colours = [BLUE if name.startswith("CIFAR-10N") else SKY for name in ordered["series"]]
    bars = axes.barh(ordered["x"], ordered["value"], height=0.75, color=colours)
    axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7.5)
    axes.set_yticks(ordered["x"], ordered["series"])
    axes.invert_yaxis()
    axes.set(xlabel="labels in error (%)", title="CIFAR-N: errors", xlim=(0, 52))
    axes.grid(axis="y", visible=False)
