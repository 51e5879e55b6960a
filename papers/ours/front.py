"""The picture above all: a table that follows from another formula, and curves of accuracy against the rate."""

import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hypersphere.config.rules import Answer
from hypersphere.errors import HypersphereError
from hypersphere.report import style
from hypersphere.report.evidence import Evidence

TABLE = "Table 1 of the norms paper follows\nfrom a penalty on the norm, not on its square"
CURVES = (
    "Dividing SimSiam's initial weights moves the\nbest learning rate, hardly the best accuracy"
)
ALT = f"First: {TABLE} Second: {CURVES}".replace("\n", " ")
CELLS = [(norm, gamma) for gamma in ("0.5", "1") for norm in (7, 4, 1)]
"""Norms and penalties of the cells that converge, from the top."""
VARIANTS = {"default": "as published", "cut3": "divided by 3", "cut9": "divided by 9"}
STUDY = Path(__file__).parent / "selected" / "step_size.csv"
MEASUREMENTS = Path("evidence") / "laptop" / "measurements.csv"
SMALL = "small ResNets on 5,000 CIFAR-10 images of 16 px, mean and standard deviation of three tuning runs."
BESIDE = f"Left: computed exactly. Right: {SMALL}"
BELOW = f"Above: computed exactly. Below: {SMALL}"
CLOSE = 1.0
"""Points of accuracy that are hardly a difference: the margin of the study."""


def front(known: Evidence, root: Path, narrow: bool = False) -> Figure:
    """Steps to convergence by two formulas, and kNN accuracy by learning rate; an error where a title is not borne.

    The curves are beside the table, or below it in a narrow window.
    """
    figure = Figure(figsize=(4.6, 8.2) if narrow else (9.6, 3.9), layout="constrained")
    down, across, apart = (2, 1, "hspace") if narrow else (1, 2, "wspace")
    table, curves = figure.subplots(down, across, gridspec_kw={apart: 0.08})
    _table(table, pd.DataFrame(known.claims).set_index("id"))
    _curves(curves, pd.read_csv(STUDY), _raw_pixels(root / MEASUREMENTS))
    for panel in (table, curves) if narrow else ():
        title = " ".join(panel.get_title(loc="left").split())
        panel.set_title(textwrap.fill(title, 38), loc="left", fontweight="bold")
    small = textwrap.wrap(BELOW if narrow else BESIDE, 72 if narrow else 200)
    figure.supxlabel("\n".join(small), fontsize=9, color=style.GREY)
    return figure


def _table(axes: Axes, claims: pd.DataFrame) -> None:
    """The steps of each cell: as published, by the published formula, and by the corrected one."""
    published = [f"norms.table1.norm{norm}.gamma{gamma}" for norm, gamma in CELLS]
    corrected = [f"{cell}.n1" for cell in published]
    if {*claims.loc[corrected, "answer"]} != {Answer.HOLDS} or Answer.HOLDS in {
        *claims.loc[published, "answer"]
    }:
        raise HypersphereError(f"{__file__}: the evidence does not bear this title: {TABLE}")
    rows = range(len(CELLS), 0, -1)
    axes.plot(
        claims.loc[published, "reported"].astype(float),
        rows,
        "D",
        color="white",
        mec="black",
        mew=1.2,
        ms=13,
    )
    crosses: dict[str, Any] = {
        "color": style.COLOURS[1],
        "mec": style.COLOURS[1],
        "mew": 2,
        "ms": 8,
    }
    axes.plot(claims.loc[published, "measured"].astype(float), rows, "x", **crosses)
    axes.plot(
        claims.loc[corrected, "measured"].astype(float), rows, "o", color=style.COLOURS[0], ms=8
    )
    axes.legend(
        ["published", "penalty on the squared norm (the published formula)", "penalty on the norm"],
        loc="upper center",
        bbox_to_anchor=(0.4, -0.16),
        ncols=1,
        markerscale=0.8,
    )
    axes.set_title(TABLE, loc="left", fontweight="bold")
    axes.set(
        xscale="log", xlabel="steps to convergence", xlim=(20, 2000), ylim=(0.5, len(CELLS) + 0.6)
    )
    axes.set_yticks(list(rows), [f"norm {norm}, penalty {gamma}" for norm, gamma in CELLS])
    _plain(axes, (1, 2, 5))


def _curves(axes: Axes, tuned: pd.DataFrame, raw_pixels: float) -> None:
    """The kNN accuracy of SimSiam by learning rate, for each division of its initial weights."""
    best = []
    for at, (variant, label) in enumerate(VARIANTS.items()):
        own = tuned[tuned["arm"].str.startswith(f"method=simsiam;variant={variant};")]
        rates = own["value"].str.partition("=")[2].astype(float)
        top = int(own["mean"].to_numpy().argmax())
        best.append((rates.iloc[top], own["mean"].iloc[top]))
        look: dict[str, Any] = {
            "color": style.COLOURS[at],
            "marker": style.MARKERS[at],
            "linestyle": style.DASHES[at],
        }
        axes.errorbar(
            rates,
            own["mean"],
            own["std"],
            label=label,
            capsize=2.5,
            markersize=6,
            linewidth=1.6,
            **look,
        )
    found_rates, accuracies = zip(*best, strict=True)
    if (
        list(found_rates) != sorted(found_rates, reverse=True)
        or max(accuracies) - min(accuracies) > CLOSE
    ):
        raise HypersphereError(f"{__file__}: the evidence does not bear this title: {CURVES}")
    axes.axhline(
        raw_pixels,
        color=style.GREY,
        linewidth=1,
        linestyle=":",
        label="raw pixels, without an encoder",
    )
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, title="initial weights of SimSiam"
    )
    axes.set_title(CURVES, loc="left", fontweight="bold")
    axes.set(
        xscale="log",
        xlabel="learning rate, as a multiple of the published rate",
        ylabel="kNN accuracy (%)",
    )
    _plain(axes, (1,))


def _plain(axes: Axes, at: tuple[int, ...]) -> None:
    """Numbers in plain figures on a logarithmic axis."""
    axes.xaxis.set_major_locator(LogLocator(subs=at))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _raw_pixels(file: Path) -> float:
    """The kNN accuracy of raw pixels on the images of the study."""
    rows = pd.read_csv(file, usecols=["of", "target", "measure", "value"], low_memory=False)
    own = (
        (rows["of"] == "pixels")
        & (rows["target"] == "cifar10_lt_5k_10k_16px")
        & (rows["measure"] == "knn_top1")
    )
    return float(rows[own]["value"].mode()[0])  # most runs have the protocol of the study
