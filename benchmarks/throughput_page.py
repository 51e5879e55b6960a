"""docs/performance.md and its figure, from what throughput.py measured."""

from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Float
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from hypersphere import files
from hypersphere.report import style

PHASES = ("views", "forward", "backward", "optimiser")
FIGURE = Path("images") / "performance.png"


class Case(NamedTuple):
    """An encoder, the height and width of its images in pixels, and the images of a batch (each has two views)."""

    label: str
    encoder: dict[str, Any]
    size: int
    batch: int


class Spread(NamedTuple):
    """Median and quartiles of one ratio over the repeats."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Float[np.ndarray, "repeats"]) -> Self:
        """Of one ratio for each repeat."""
        return cls(*np.quantile(ratios, (0.5, 0.25, 0.75)).tolist())

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"


class Measured(NamedTuple):
    """What was measured of one case."""

    case: Case
    images_per_second: float
    faster: Spread | None
    """lightly's time divided by ours; None: not measured."""
    floor: Spread | None
    """Our time divided by the bare encoder's; None: not measured."""
    half: Spread | None = None
    """Our time in float32 divided by our time in bfloat16; None: the device has no instructions for it."""


class Page(NamedTuple):
    """All that the page says."""

    device: str
    clock: str
    threads: int
    repeats: int
    torch: str
    lightly: str | None
    day: str
    cores: int
    load: float
    """Processes that ran or waited to run at the end, this one among them: the average over five minutes."""
    views: list[Measured]
    steps: list[Measured]
    by_batch: list[Measured]
    by_width: list[Measured]
    shares: list[tuple[Case, dict[str, float]]]
    """Each phase's part of a step."""


def write(page: Page, docs: Path) -> None:
    """Write ``performance.md`` and its figure into the folder ``docs``."""
    (docs / FIGURE).parent.mkdir(parents=True, exist_ok=True)
    draw(page, docs / FIGURE)
    files.write_text(docs / "performance.md", text(page))


def text(page: Page) -> str:
    """The page as Markdown."""
    other = f"lightly {page.lightly}" if page.lightly else "lightly not installed, so not compared with"
    threads = f"{page.threads} thread" + ("s" if page.threads > 1 else "")
    return f"""# Performance

`python benchmarks/throughput.py` wrote this page on {page.day}: {page.device}, {threads}, torch {page.torch}, {other}.
{_busy(page)}

What a row compares was timed in turn, {page.repeats} times after a first time that is not counted. A ratio is the
median over these times, with its quartiles in brackets. Times are {page.clock}. Images are random
bytes that lie in memory, and each gives two views. Ratios carry over to other machines better than images per second.

## Views

Two views of 256 images of 32 px. lightly is its `SimCLRTransform` without normalisation, in a `DataLoader` without
workers; ours are the same transforms with the same probabilities, strengths and random order of jitters, drawing
included. lightly augments one image after another in bytes (Pillow), ours a batch at once in floats. Its blur is
Pillow's approximation of a Gaussian, ours a Gaussian in a window of 13 px.

{_table(("views", "images/s", "lightly / ours"), [(m.case.label, _rate(m), _ratio(m.faster)) for m in page.views])}

## Training steps

A whole step of SimCLR with SGD, by the functions that train a run: drawing, views, forward, loss, backward, update.
lightly's step takes the same encoder in the same memory format, its own transforms, loader, head and loss, and torch's
SGD. The floor is forward and backward of the bare encoder on as many images, which lie ready as floats: no training
step with this encoder takes less, and a ratio below 1 is noise. Ours runs with torch's deterministic algorithms, as in
training; the others do not. All are in float32; the last column says how much less time our own step takes in bfloat16.

{_table(HEADINGS, [_step_row(measured) for measured in page.steps])}

The same for ResNet-8 of stride 2 at 32 px, as batch and width grow:

{_table(HEADINGS, [_step_row(measured) for measured in (*page.by_batch, *page.by_width)])}

![Ratios of times as batch and width grow]({FIGURE.as_posix()})

*Above, how many times longer lightly's step takes than ours: the less time the encoder needs, the more views decide.
Below, how many times longer our step takes than the bare encoder's forward and backward. Bars reach from quartile to
quartile.*

## Where the time of a step goes

Shares of our step: median of each part over the sum of medians. Views include their draws, forward includes head and
loss.

{_table(("encoder", "images", "batch", *PHASES), [_share_row(*row) for row in page.shares])}
"""


def _busy(page: Page) -> str:
    if page.load - page.threads < 0.25:
        return "Nothing else ran on the machine."
    return (
        f"Other work ran beside it: on {page.cores} cores there was a load of {page.load:.1f} in five minutes, "
        f"of which {page.threads} is the benchmark's own."
    )


HEADINGS = ("encoder", "images", "batch", "images/s", "lightly / ours", "ours / floor", "float32 / bfloat16")


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _step_row(measured: Measured) -> tuple[str, ...]:
    return (*_case(measured.case), _rate(measured), *map(_ratio, (measured.faster, measured.floor, measured.half)))


def _share_row(case: Case, shares: dict[str, float]) -> tuple[str, ...]:
    return (*_case(case), *(f"{100 * shares[phase]:.0f} %" for phase in PHASES))


def _case(case: Case) -> tuple[str, str, str]:
    return case.label, f"{case.size} px", f"{case.batch}"


def _rate(measured: Measured) -> str:
    return f"{float(f'{measured.images_per_second:.3g}'):,.0f}"


def _ratio(spread: Spread | None) -> str:
    return str(spread) if spread else "not measured"


def draw(page: Page, path: Path) -> None:
    """Write the figure as PNG."""
    with style.applied():
        figure = figure_of(page)
        figure.savefig(path, dpi=style.PNG_DPI, metadata=style.PNG_METADATA)
        plt.close(figure)


def figure_of(page: Page) -> Figure:
    """Both ratios against batch and width, one panel each: on one axis, the smaller would be a flat line."""
    columns = {
        "images in a batch (width 32)": [(measured.case.batch, measured) for measured in page.by_batch],
        "width of the encoder (256 images)": [(measured.case.encoder["width"], measured) for measured in page.by_width],
    }
    rows = [name for name in ("faster", "floor") if all(getattr(m, name) for m in page.by_batch)]
    titles = {"faster": "lightly's step / our step", "floor": "our step / bare encoder"}
    figure, panels = plt.subplots(
        len(rows), 2, figsize=(6.5, 2.2 * len(rows)), sharey="row", squeeze=False, layout="constrained"
    )
    for name, line in zip(rows, panels, strict=True):
        for axes, (label, points) in zip(line, columns.items(), strict=True):
            _panel(axes, [(x, getattr(measured, name)) for x, measured in points])
            axes.set_xlabel(label if name == rows[-1] else "")
        line[0].set_ylabel(titles[name])
        line[0].set_ylim(0, 1.1 * max(getattr(m, name).high for m in (*page.by_batch, *page.by_width)))
    return figure


def _panel(axes: Axes, points: list[tuple[int, Spread]]) -> None:
    x = [place for place, _ in points]
    middle, low, high = (
        np.array([getattr(spread, name) for _, spread in points]) for name in ("median", "low", "high")
    )
    axes.errorbar(x, middle, yerr=[middle - low, high - middle], marker=style.MARKERS[0], color=style.COLOURS[0])
    axes.axhline(1, color=style.GREY, linestyle=style.DASHES[1], linewidth=1)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(x))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_major_locator(MaxNLocator(5))
