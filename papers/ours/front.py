"""The picture above all: a table that follows from another formula, and curves of accuracy against the rate."""

import textwrap
from itertools import product
from pathlib import Path
from typing import NoReturn

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.config.rules import Answer
from hypersphere.errors import HypersphereError
from hypersphere.report import style, tuning
from hypersphere.report.evidence import Evidence

TABLE = "Table 1 of the norms paper follows\nfrom a penalty on the norm, not on its square"
CURVES = (
    "Dividing SimSiam's initial weights moves the\nbest learning rate, hardly the best accuracy"
)
ALT = f"First: {TABLE} Second: {CURVES}".replace("\n", " ")
CELLS = [(norm, gamma) for gamma, norm in product(("0.5", "1"), (7, 4, 1))]
"""Norms and penalties of the cells that converge, from the top."""
VARIANTS = {"default": "as published", "cut3": "divided by 3", "cut9": "divided by 9"}
ARM = "method=simsiam;variant={};dataset=cifar10_lt"
IMAGES = "cifar10_lt_5k_10k_16px"
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
    if narrow:
        table, curves = figure.subplots(2, 1, gridspec_kw={"hspace": 0.08})
    else:
        table, curves = figure.subplots(1, 2, gridspec_kw={"wspace": 0.08})
    _draw_table(table, pd.DataFrame(known.claims).set_index("id"))
    _draw_curves(curves, _raw_pixels(root / MEASUREMENTS))
    for panel, title in ((table, TABLE), (curves, CURVES)):
        shown = textwrap.fill(" ".join(title.split()), 38) if narrow else title
        panel.set_title(shown, loc="left", fontweight="bold")
    small = textwrap.fill(BELOW, 72) if narrow else textwrap.fill(BESIDE, 200)
    figure.supxlabel(small, fontsize=9, color=style.GREY)
    return figure


def _refuse(title: str) -> NoReturn:
    raise HypersphereError(f"{__file__}: the evidence does not bear this title: {title}")


def _draw_table(axes: Axes, claims: pd.DataFrame) -> None:
    """The steps of each cell: as published, by the published formula, and by the corrected one."""
    names = [f"norms.table1.norm{norm}.gamma{gamma}" for norm, gamma in CELLS]
    published = claims.loc[names]
    corrected = claims.loc[[f"{name}.n1" for name in names]]
    if (published["answer"] == Answer.HOLDS).any() or (corrected["answer"] != Answer.HOLDS).any():
        _refuse(TABLE)
    rows = list(range(len(CELLS), 0, -1))
    blue, red, *_ = style.COLOURS
    axes.plot(
        published["reported"].astype(float),
        rows,
        "D",
        color="white",
        mec="black",
        mew=1.2,
        ms=13,
        label="published",
    )
    axes.plot(
        published["measured"].astype(float),
        rows,
        "x",
        color=red,
        mec=red,
        mew=2,
        ms=8,
        label="penalty on the squared norm (the published formula)",
    )
    axes.plot(
        corrected["measured"].astype(float),
        rows,
        "o",
        color=blue,
        ms=8,
        label="penalty on the norm",
    )
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.4, -0.16),
        ncols=1,
        markerscale=0.8,
    )
    axes.set(
        xscale="log",
        xlabel="steps to convergence",
        xlim=(20, 2000),
        ylim=(0.5, len(CELLS) + 0.6),
    )
    axes.set_yticks(rows, [f"norm {norm}, penalty {gamma}" for norm, gamma in CELLS])
    style.log_ticks(axes.xaxis)


def _draw_curves(axes: Axes, raw_pixels: float) -> None:
    """The kNN accuracy of SimSiam by learning rate, for each division of its initial weights."""
    tuned = tuning.curves(STUDY)
    best = []
    for (variant, label), colour, marker, dashes in zip(
        VARIANTS.items(), style.COLOURS, style.MARKERS, style.DASHES, strict=False
    ):
        curve = pd.DataFrame(tuned[ARM.format(variant)])
        best.append(curve.iloc[int(curve["mean"].argmax())])
        axes.errorbar(
            curve["x"],
            curve["mean"],
            curve["std"],
            label=label,
            color=colour,
            marker=marker,
            linestyle=dashes,
            capsize=2.5,
            markersize=6,
            linewidth=1.6,
        )
    bests = pd.DataFrame(best)
    differ = bests["mean"].max() - bests["mean"].min() > CLOSE
    if differ or not bests["x"].is_monotonic_decreasing:
        _refuse(CURVES)
    axes.axhline(
        raw_pixels,
        color=style.GREY,
        linewidth=1,
        linestyle=":",
        label="raw pixels, without an encoder",
    )
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=2,
        title="initial weights of SimSiam",
    )
    axes.set(
        xscale="log",
        xlabel="learning rate, as a multiple of the published rate",
        ylabel="kNN accuracy (%)",
    )
    style.log_ticks(axes.xaxis, at=(1,))


def _raw_pixels(file: Path) -> float:
    """The kNN accuracy of raw pixels on the images of the study."""
    rows = pd.read_csv(file, usecols=["of", "target", "measure", "value"], low_memory=False)
    own = rows.query(f"of == 'pixels' and target == '{IMAGES}' and measure == 'knn_top1'")
    return float(own["value"].mode()[0])  # most runs have the protocol of the study
