"""Every exact study that the pipeline computed: its figures are legible, its tables whole, its captions honest."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Text3D

from hypersphere.config import project as cfg
from hypersphere.config.plan import Plan
from hypersphere.report import studies, style, writer
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import Results

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = cfg.load(REPOSITORY, {"scale": "quick"})
QUICK = [(name, key) for name in CONFIG.papers for key in CONFIG.studied(name)]
FIGURES = [(name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_figure"]
TABLES = [(name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_table"]
SMALLEST = 6.4  # points: what is still read in print


def texts(figure: Figure) -> list[tuple[Text, Any]]:
    """Every text that is shown, with its box in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    flat = [each for each in figure.findobj(Text) if not isinstance(each, Text3D)]  # whose boxes are not the page's
    shown = [each for each in flat if each.get_visible() and each.get_text().strip()]
    boxes = [(each, each.get_window_extent(renderer)) for each in shown]
    hidden = _beyond_their_axis(figure, renderer)
    return [(each, box) for each, box in boxes if box.width and id(each) not in hidden]


def _beyond_their_axis(figure: Figure, renderer: Any) -> set[int]:
    """Labels of ticks outside of an axis' limits: matplotlib keeps them, and does not draw them."""
    found = set()
    for axes in figure.findobj(Axes):
        limits = [(axes.xaxis, axes.bbox.x0, axes.bbox.x1), (axes.yaxis, axes.bbox.y0, axes.bbox.y1)]
        for axis, low, high in [*limits, *([(axes.zaxis, 0, 0)] if axes.name == "3d" else [])]:
            for label in (tick.label1 for tick in (*axis.majorTicks, *axis.minorTicks)):
                box = label.get_window_extent(renderer)
                centre = (box.x0 + box.x1) / 2 if axis is axes.xaxis else (box.y0 + box.y1) / 2
                inside = axes.bbox.padded(30).overlaps(box) if axes.name == "3d" else low - 2 <= centre <= high + 2
                if not inside:
                    found.add(id(label))
    return found


@pytest.mark.parametrize(("name", "artifact"), FIGURES)
def test_every_drawing_is_legible_at_its_printed_width(plan: Plan, name: str, artifact: str) -> None:
    """No text is small, cut off by the page or upon another."""
    with style.applied():
        drawn = study_figure.draw(Context(Results(plan), plan.config.papers[name], artifact))
        assert drawn.get_figwidth() <= 7.2
        found = texts(drawn)
    assert len(found) > 4
    page = drawn.bbox.padded(1.5)
    for each, box in found:
        assert each.get_fontsize() >= SMALLEST, each.get_text()
        assert page.fully_containsx(box.x0), each.get_text()
        assert page.fully_containsx(box.x1), each.get_text()
        assert page.fully_containsy(box.y0), each.get_text()
        assert page.fully_containsy(box.y1), each.get_text()
    for (one, first), (other, second) in combinations(found, 2):
        common = (max(0.0, min(first.x1, second.x1) - max(first.x0, second.x0))) * (
            max(0.0, min(first.y1, second.y1) - max(first.y0, second.y0))
        )
        smaller = min(first.width * first.height, second.width * second.height)
        assert common <= 0.15 * smaller, (one.get_text(), other.get_text())


@pytest.mark.parametrize(("name", "artifact"), FIGURES)
def test_figures_come_as_vector_and_raster_with_their_numbers(plan: Plan, name: str, artifact: str) -> None:
    stem = plan.config.results / "figures" / name / artifact
    assert "<svg " in stem.with_suffix(".svg").read_text()[:1000]
    assert stem.with_suffix(".svg").stat().st_size < 900_000
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    source = plan.config.results / "simulations" / name / f"{artifact}.csv"
    assert stem.with_suffix(".csv").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(("name", "artifact"), TABLES)
def test_tables_have_a_head_for_every_cell_and_say_their_size(plan: Plan, name: str, artifact: str) -> None:
    grid = writer.show(Results(plan), name, artifact).grid
    assert grid is not None
    assert grid.lines
    assert {len(line.cells) for line in grid.lines} == {sum(head.span for head in grid.head[-1])}
    text = (plan.config.results / "tables" / name / f"{artifact}.md").read_text(encoding="utf-8")
    assert studies.SIZE_NOTICE in text
    assert "nan" not in text.lower().split()


@pytest.mark.parametrize(("name", "artifact"), QUICK)
def test_captions_say_what_was_computed_and_what_came_of_the_claims(plan: Plan, name: str, artifact: str) -> None:
    notes = writer.show(Results(plan), name, artifact).notes
    assert notes[0] == studies.SIZE_NOTICE
    assert len(notes[1]) > 40
    assert "Its claims: " in " ".join(notes) or "It shows " in " ".join(notes)


def test_printed_numbers_stand_in_the_tables_that_they_were_printed_in(plan: Plan) -> None:
    """Drawings look claims up by coordinates: a look-up that finds nothing shows nothing."""
    for name, artifact in TABLES:
        judged = Results(plan).judged(name)
        values = judged[(judged["artifact"] == artifact) & (judged["kind"] == "value")]
        grid = writer.show(Results(plan), name, artifact).grid
        assert grid is not None
        text = " ".join(cell.main for line in grid.lines for cell in line.cells)
        for reported in map(float, values[values["metric"] != "slope"]["reported"]):  # slopes are in no table
            ways = ("divergence",) if reported == float("inf") else (f"{reported:.1f}", f"{reported:g}")
            assert any(way in text for way in ways), (artifact, reported)
