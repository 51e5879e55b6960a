"""The learning rates of the norms paper."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hypersphere.report.studies import Drawing
from hypersphere.report.style import COLOURS, DASHES, GREY

CURVES: dict[str, dict[str, Any]] = {
    "stated": {"color": COLOURS[0], "linestyle": DASHES[0], "label": "as stated, over 500 epochs"},
    "stated, ends early": {"color": COLOURS[0], "linestyle": DASHES[2], "label": "as stated, over 100 epochs"},
    "authors": {"color": COLOURS[1], "linestyle": DASHES[1], "label": "authors' scheduler"},
}
METHODS = {"simclr": ("default", 1.5), "gradscale": ("GradScale", 0.8)}
EPOCHS = (100, 500)
# SimCLR's curves carry their names: at which epoch, and how far above the line (points).
NAMED = {
    ("simclr", "authors"): (160, 4),
    ("simclr", "stated"): (130, -11),
    ("gradscale", "stated"): (200, 4),
    ("gradscale", "authors"): (110, -12),
}


def learning_rates(table: pd.DataFrame) -> Drawing:
    """Norms paper, App. C.1 and Table S2: the learning rate as stated, and as the authors' scheduler gives it."""
    used = table[(table["kind"] == "summary") & (table["curve"] == "authors")].set_index(["method", "batch"])
    simsiam = used.loc["simsiam"]
    warmups, batches = (", ".join(f"{value:.0f}" for value in values) for values in (simsiam["warmup"], simsiam.index))
    note = (
        "Computed from the text and from the authors' released code, for the mean gradient of a batch of CIFAR "
        f"(50,000 images an epoch). In the code, SimSiam's ten epochs of warm-up last {warmups} epochs at batch "
        f"{batches}, and its cosine is longer by the same factor. So batch size and schedule change together in Table "
        "S2. Titles: kNN accuracy of its default rows in percent, at epochs 100 and 500 (grey lines). Coloured "
        "numbers: area under a curve up to epoch 100, in epochs at the curve's peak."
    )

    peaks = table[(table["method"] == "simsiam") & (table["kind"] == "rate")].groupby("curve")["per_256"].max()
    finding = (
        f"SimSiam's highest rate is {peaks['authors'] / peaks['stated']:.2f} of the stated one in the authors' code, "
        "and comes later in larger batches"
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots(2, 2)
        simsiam = table[table["method"] == "simsiam"]
        for axis, batch in zip(axes.flat, sorted(simsiam["batch"].unique()), strict=False):
            _simsiam(axis, simsiam[simsiam["batch"] == batch], batch)
        axis = axes[1][1]
        for method, (name, width) in METHODS.items():
            rows = table[(table["method"] == method) & (table["kind"] == "rate")]
            for curve in ("stated", "authors"):
                line = rows[rows["curve"] == curve]
                axis.plot(line["epoch"], line["rate"], **CURVES[curve] | {"linewidth": width, "label": name})
                epoch, offset = NAMED[method, curve]
                point = line["epoch"].iloc[epoch], line["rate"].iloc[epoch]
                look = {"textcoords": "offset points", "fontsize": 7.5, "color": CURVES[curve]["color"]}
                axis.annotate(name, point, (0, offset), **look)
        axis.set(yscale="log", ylim=(1e-4, 1), ylabel="rate", title=f"SimCLR, batch {rows['batch'].iloc[0]}")
        for axis in axes.flat:
            for epoch in EPOCHS:
                axis.axvline(epoch, color=GREY, linewidth=0.8, zorder=1)
            axis.set(xlim=(0, 512), xticks=[0, 100, 200, 300, 400, 500])
        for axis in axes[1]:
            axis.set_xlabel("epoch")
        handles = [Line2D([], [], **style) for style in CURVES.values()]
        figure.legend(handles=handles, loc="outside upper center", ncols=3)

    measured = "Learning rate over epochs, as stated and as computed by the released code"
    return Drawing((7.0, 5.2), measured, draw, note, finding)


def _simsiam(axis: Axes, rows: pd.DataFrame, batch: int) -> None:
    summary = rows[rows["kind"] == "summary"].set_index("curve")
    for curve, style in CURVES.items():
        line = rows[(rows["curve"] == curve) & (rows["kind"] == "rate")]
        axis.plot(line["epoch"], line["per_256"], **style)
    first, last = (summary[f"knn_{epoch}"].iloc[0] for epoch in EPOCHS)
    axis.set_title(f"SimSiam, batch {batch} (Table S2: {first:.1f}, {last:.1f})")
    axis.set(ylim=(0, 0.15), ylabel="rate × 256 / batch")
    axis.text(495, 0.147, "epochs at the peak by 100", fontsize=7.5, ha="right", va="top")
    for place, (curve, style) in enumerate(CURVES.items()):
        text = f"{style['label']}: {summary['mass'][curve]:.0f}"
        axis.text(495, 0.136 - 0.011 * place, text, color=style["color"], fontsize=7.5, ha="right", va="top")
