"""The look of all figures: readable at column width, colour-blind safe, and the same bytes each time."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

matplotlib.use("Agg")

# Okabe and Ito's palette without its yellow, which is too light for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
GREY = "#6B6B6B"

FONT = "DejaVu Sans"
"""The typeface of figures. Matplotlib brings it along, so no system font is needed."""
PAGE_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
"""The typefaces of the report page, which the text of an svg has, too. ``FONT`` is as wide as the widest of them."""
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
PNG_DPI = 200

RC: Any = {
    "svg.hashsalt": "hypersphere",
    "svg.fonttype": "none",
    "path.simplify": False,
    "font.family": FONT,
    "font.size": 9.0,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.markersize": 4.5,
    "lines.markeredgecolor": "white",
    "lines.markeredgewidth": 0.5,
}


def house_style() -> AbstractContextManager[None]:
    """Use matplotlib's defaults with ours on top, without the user's matplotlibrc; restore its settings at the end."""
    return matplotlib.style.context(RC, after_reset=True)


def nth(looks: Sequence[Any], at: int) -> Any:
    """One of a few colours, markers or dashes, which repeat."""
    return looks[at % len(looks)]


def log_ticks(axis: Axis, at: Sequence[float] = (1, 2, 5)) -> None:
    """Ticks at multiples of each decade of a logarithmic axis, in plain figures."""
    axis.set_major_locator(LogLocator(subs=at))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def bare(axis: Axes) -> None:
    """Remove the grid and the lines around an axis."""
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
