"""What drawings of several studies share."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import FigureBase


def band(axes: Axes, rows: pd.DataFrame, x: str, colour: str, alpha: float = 0.15) -> None:
    """The area between the columns ``low`` and ``high``, against column x."""
    look: dict[str, Any] = {"color": colour, "alpha": alpha, "linewidth": 0}
    axes.fill_between(rows[x], rows["low"], rows["high"], **look)


def colour_bar(figure: FigureBase, of: Any, axes: Any, label: str, **look: Any) -> Colorbar:
    """The bar of what the axes show in colour, without a grid."""
    bar = figure.colorbar(of, ax=axes, label=label, **look)
    bar.ax.grid(visible=False)
    return bar
