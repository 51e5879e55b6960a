"""What several drawings share."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colorbar import Colorbar
from matplotlib.figure import FigureBase
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter


def band(axes: Axes, rows: pd.DataFrame, x: str, colour: str, alpha: float = 0.15) -> None:
    """The area between the columns ``low`` and ``high``, against column x."""
    look: dict[str, Any] = {"color": colour, "alpha": alpha, "linewidth": 0}
    axes.fill_between(rows[x], rows["low"], rows["high"], **look)


def colour_bar(figure: FigureBase, of: Any, axes: Any, label: str, **look: Any) -> Colorbar:
    """The bar of what the axes show in colour, without a grid."""
    bar = figure.colorbar(of, ax=axes, label=label, **look)
    bar.ax.grid(visible=False)
    return bar


def log_ticks(axis: Axis, at: Sequence[float] = (1, 2, 5)) -> None:
    """Ticks at multiples of each decade of a logarithmic axis, in plain figures."""
    axis.set_major_locator(LogLocator(subs=at))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def bare(axis: Axes) -> None:
    """Remove the grid and the lines around an axis."""
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
