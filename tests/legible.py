"""Whether a drawing can be read: no text is small, cut off by the page or upon another."""

from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Text3D

SMALLEST = 6.4  # points: what is still read in print


def _beyond_their_axis(figure: Figure, renderer: Any) -> set[int]:
    """Labels of ticks outside of an axis' limits: matplotlib keeps them, and does not draw them."""
    found = set()
    for axes in figure.findobj(Axes):
        limits = [
            (axes.xaxis, axes.bbox.x0, axes.bbox.x1),
            (axes.yaxis, axes.bbox.y0, axes.bbox.y1),
        ]
        for axis, low, high in [*limits, *([(axes.zaxis, 0, 0)] if axes.name == "3d" else [])]:
            for label in (tick.label1 for tick in (*axis.majorTicks, *axis.minorTicks)):
                box = label.get_window_extent(renderer)
                centre = (box.x0 + box.x1) / 2 if axis is axes.xaxis else (box.y0 + box.y1) / 2
                inside = (
                    axes.bbox.padded(30).overlaps(box)
                    if axes.name == "3d"
                    else low - 2 <= centre <= high + 2
                )
                if not inside:
                    found.add(id(label))
    return found


def check(figure: Figure, least: int) -> None:
    """A drawing with more texts than ``least``, all of which can be read."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    # whose boxes are not the page's
    flat = [each for each in figure.findobj(Text) if not isinstance(each, Text3D)]
    shown = [each for each in flat if each.get_visible() and each.get_text().strip()]
    boxes = [(each, each.get_window_extent(renderer)) for each in shown]
    hidden = _beyond_their_axis(figure, renderer)
    found = [(each, box) for each, box in boxes if box.width and id(each) not in hidden]
    assert len(found) > least
    page = figure.bbox.padded(1.5)
    for each, box in found:
        assert each.get_fontsize() >= SMALLEST, each.get_text()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, each.get_text()
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, each.get_text()
    upright = [pair for pair in found if pair[0].get_rotation() % 90 == 0]
    for (one, first), (other, second) in combinations(upright, 2):
        wide = max(0.0, min(first.x1, second.x1) - max(first.x0, second.x0))
        high = max(0.0, min(first.y1, second.y1) - max(first.y0, second.y0))
        smaller = min(first.width * first.height, second.width * second.height)
        assert wide * high <= 0.15 * smaller, (one.get_text(), other.get_text())
