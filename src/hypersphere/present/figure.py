"""Metrics against epochs: a panel per metric and dataset, a line per row, intervals over seeds."""

import csv
import io
import math
import textwrap
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hypersphere.declared.artifacts import Curves, Paper
from hypersphere.declared.config import Config
from hypersphere.declared.measures import METRICS
from hypersphere.errors import HypersphereError
from hypersphere.files import replacing, write_text
from hypersphere.present import style, words
from hypersphere.present.results import Results

FIELDS = ("metric", "row", "method", "variant", "dataset", "measured_on", "epoch", "mean", "low", "high", "n", "scale")
LOG_RANGE = 8.0
"""Largest over smallest mean from which an axis without a unit is logarithmic."""
WIDTH = 7.2


@dataclass(frozen=True)
class Line:
    """One row's means over epochs in one panel; ``control`` lines are levels."""

    metric: str
    row: str
    dataset: str
    measured_on: str
    control: bool
    points: tuple[dict[str, float], ...]

    def values(self, key: str) -> list[float]:
        """A column of the points: epoch, mean, low, high or n."""
        return [point[key] for point in self.points]


def build(config: Config, paper: str, artifact: str) -> None:
    """Write ``results/<scale>/figures/<paper>/<artifact>.{svg,png,csv}``.

    Raises:
        HypersphereError: no such figure, or a results file is missing.
    """
    if paper not in config.papers:
        raise HypersphereError(f"'{paper}' is not one of {', '.join(config.papers)}")
    chosen = config.papers[paper].artifacts.get(artifact)
    if not isinstance(chosen, Curves):
        raise HypersphereError(f"{paper}: '{artifact}' is not a figure of this paper")
    results = Results(config)
    lines = gather(config, config.papers[paper], chosen, results)
    folder = config.results / "figures" / paper
    write_text(folder / f"{artifact}.csv", _as_csv(config, lines))
    with style.applied():
        figure = draw(config, config.papers[paper], chosen, results, lines)
        with replacing(folder / f"{artifact}.svg") as temporary:
            figure.savefig(temporary, format="svg", metadata=style.SVG_METADATA)
        with replacing(folder / f"{artifact}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=style.PNG_DPI, metadata=style.PNG_METADATA)


def caption(config: Config, paper: Paper, artifact: Curves, results: Results) -> list[str]:
    """What a figure shows, and at which scale."""
    names = " and ".join(METRICS[metric].label for metric in artifact.metrics)
    names = names[:1].upper() + names[1:]
    columns = "; ".join(words.standing_in(config, column, paper) for column in artifact.columns)
    return [
        f"{words.scale_line(config)} {words.notice(config)}",
        f"{names} over training on {columns}. Lines: mean over independent pretrainings; bands: "
        f"{words.confidence(config)} t intervals of the mean, cut at the panel's edge; dashed grey: raw pixels.",
        f"Conditions: {words.conditions(config, results)}",
        words.protocol(config, paper, artifact),
    ]


def gather(config: Config, paper: Paper, artifact: Curves, results: Results) -> list[Line]:
    """The lines of every panel, from summary.csv."""
    table = results.summary[results.summary["paper"] == paper.paper]
    lines = []
    for metric in artifact.metrics:
        for dataset in artifact.columns:
            used = config.scale.datasets[dataset]
            panel = table[(table["metric"] == metric) & (table["dataset"] == dataset) & (table["probed_on"] == used)]
            for row in [*artifact.rows, "control.pixels"]:
                method, _, variant = row.partition(".")
                own = panel[(panel["method"] == method) & (panel["variant"] == variant)]
                own = own.dropna(subset=["mean"]).sort_values("epoch", kind="stable")
                records = own[["epoch", "mean", "low", "high", "n"]].to_dict("records")
                points = tuple({str(key): float(value) for key, value in record.items()} for record in records)
                if points and used is not None:
                    lines.append(Line(metric, row, dataset, used, method == "control", points))
    return lines


def _as_csv(config: Config, lines: list[Line]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(FIELDS)
    for line in lines:
        method, _, variant = line.row.partition(".")
        for point in line.points:
            shown = ["" if math.isnan(point[key]) else f"{point[key]!r}" for key in ("mean", "low", "high")]
            epoch, n = (_whole(point[key]) for key in ("epoch", "n"))
            key = [line.metric, line.row, method, variant, line.dataset, line.measured_on]
            writer.writerow([*key, epoch, *shown, n, config.scale_name])
    return buffer.getvalue()


def _whole(value: float) -> str:
    return "" if math.isnan(value) else str(int(value))


def draw(config: Config, paper: Paper, artifact: Curves, results: Results, lines: list[Line]) -> Figure:
    """The panel grid, metrics down and datasets across, with legend and conditions outside."""
    columns = [name for name in artifact.columns if config.scale.datasets[name] is not None]
    rows, across = len(artifact.metrics), max(1, len(columns))
    small = [part for text in _footer(config, paper, artifact, results) for part in textwrap.wrap(text, 138)]
    legend_lines = -(-len(artifact.rows) // 3)
    top, bottom = 0.45 + 0.2 * legend_lines, 0.55 + 0.15 * len(small)
    height = top + bottom + 2.15 * rows
    figure = Figure(figsize=(WIDTH, height))
    figure.suptitle(
        f"{words.heading(config, None)}: {artifact.title}",
        x=0.02,
        y=1 - 0.09 / height,
        ha="left",
        va="top",
        fontsize=10,
        fontweight="bold",
    )
    axes = figure.subplots(rows, across, squeeze=False, sharex=True)
    for down, metric in enumerate(artifact.metrics):
        for right, dataset in enumerate(columns):
            own = [line for line in lines if (line.metric, line.dataset) == (metric, dataset)]
            _panel(axes[down][right], own, artifact.rows)
            if down == 0:
                title = "\n".join(filter(None, (paper.label(dataset), words.stand_in(config, dataset))))
                axes[down][right].set_title(title, loc="left")
        unit = METRICS[metric].unit
        axes[down][0].set_ylabel(METRICS[metric].label + (f" ({unit})" if unit else ""))
    for axis in axes[-1]:
        axis.set_xlabel("epoch")
    figure.subplots_adjust(
        left=0.085, right=0.985, top=1 - (top + 0.42) / height, bottom=bottom / height, hspace=0.16, wspace=0.2
    )
    figure.align_ylabels(list(axes[:, 0]))
    _legend(figure, paper, artifact, any(line.control for line in lines), 1 - 0.3 / height)
    figure.text(0.02, 0.08 / height, "\n".join(small), fontsize=6.8, color="#444444", va="bottom", linespacing=1.35)
    return figure


def _footer(config: Config, paper: Paper, artifact: Curves, results: Results) -> list[str]:
    scale, _, conditions, protocol = caption(config, paper, artifact, results)
    return [scale, f"{conditions} Bands: {words.confidence(config)} t intervals over seeds. {protocol}"]


def _panel(axis: Axes, lines: list[Line], rows: list[str]) -> None:
    for line in lines:
        if line.control:
            axis.axhline(line.points[-1]["mean"], color=style.GREY, linestyle=(0, (4, 2)), linewidth=1.1, zorder=1.5)
        else:
            look = _look(line.row, rows)
            epochs = line.values("epoch")
            axis.plot(epochs, line.values("mean"), markevery=max(1, len(epochs) // 8), **look)
            axis.fill_between(
                epochs, line.values("low"), line.values("high"), color=look["color"], alpha=0.2, linewidth=0
            )
    if lines:
        _limits(axis, lines)
    else:
        axis.text(0.5, 0.5, words.NOT_RUN, transform=axis.transAxes, ha="center", color=style.GREY)


def _look(row: str, rows: list[str]) -> dict[str, Any]:
    """Colour and marker by row, dashes by method."""
    methods = list(dict.fromkeys(name.partition(".")[0] for name in rows))
    at = rows.index(row)
    dashes = style.DASHES[methods.index(row.partition(".")[0]) % len(style.DASHES)]
    colour, marker = (choice[at % len(choice)] for choice in (style.COLOURS, style.MARKERS))
    return {"color": colour, "marker": marker, "linestyle": dashes}


def _limits(axis: Axes, lines: list[Line]) -> None:
    """Limits from the means and, up to half as much again, the bands: two seeds' bands would swallow the lines."""
    means = [value for line in lines for value in line.values("mean")]
    edges = [v for line in lines for key in ("low", "high") for v in line.values(key) if not math.isnan(v)]
    low, high = min(means), max(means)
    if low > 0 and high / low >= LOG_RANGE and not METRICS[lines[0].metric].unit:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.set_ylim(low / 1.3, high * 1.3)
        return
    room = 0.5 * (high - low) or 1.0
    margin = 0.06 * (high - low) or 0.5
    axis.set_ylim(max(min([*edges, low]), low - room) - margin, min(max([*edges, high]), high + room) + margin)


def _legend(figure: Figure, paper: Paper, artifact: Curves, control: bool, top: float) -> None:
    handles: dict[str, Any] = {}
    for row in artifact.rows:
        method, _, variant = row.partition(".")
        label = f"{paper.label(method)}, {paper.label(variant)}"
        handles[label] = figure.axes[0].plot([], [], **_look(row, artifact.rows))[0]
    if control:
        handles[words.CONTROLS["pixels"]] = figure.axes[0].plot([], [], color=style.GREY, linestyle=(0, (4, 2)))[0]
    figure.legend(
        list(handles.values()), list(handles), loc="upper left", bbox_to_anchor=(0.01, top), ncols=3, handlelength=2.6
    )
