"""Every exact study of the released config, run, judged and drawn once: bound to claims, documented and legible."""

import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Text3D

from hypersphere.declared import claims as printed
from hypersphere.declared import config as cfg
from hypersphere.declared import plan as planning
from hypersphere.declared import registry
from hypersphere.declared.plan import Plan
from hypersphere.present import captions, shown, studies, style
from hypersphere.present.results import Results
from hypersphere.simulations import build as simulations
from hypersphere.statistics import claims
from hypersphere.theory import build as theory

REPOSITORY = Path(__file__).resolve().parents[4]
RELEASED = cfg.load(REPOSITORY, {"scale": "paper"})  # the scale that has every study
EVERY = [(name, key) for name in RELEASED.papers for key in RELEASED.studied(name)]
CONFIG = cfg.load(REPOSITORY, {"scale": "quick"})
QUICK = [(name, key) for name in CONFIG.papers for key in CONFIG.studied(name)]
FIGURES = [(name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_figure"]
TABLES = [(name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_table"]
SMALLEST = 6.4  # points: what is still read in print


@pytest.fixture(scope="session")
def world(shared: Path, once: Callable[..., None]) -> Plan:
    """All studies of the quick scale with their verdicts, drawn; nothing was trained."""
    root = shared / "studies"

    def make() -> None:
        for name in ("config", "paper"):
            shutil.copytree(REPOSITORY / name, root / name)
        plan = planning.make(root, {"scale": "quick"})
        theory.build(plan)
        for name in plan.config.papers:
            if plan.config.studied(name):
                simulations.build(plan, name)
                claims.build_studies(plan, name)
        for name, key in QUICK:
            shown.build(Results(plan), name, key)

    once(root, make)
    return planning.make(root, {"scale": "quick"})


@pytest.mark.parametrize(("name", "artifact"), EVERY)
def test_every_artifact_is_bound_to_claims(name: str, artifact: str) -> None:
    declared = RELEASED.papers[name].studied[artifact]
    known = printed.load(REPOSITORY / "paper" / "claims" / f"{name}.csv")
    assert not set(declared.shows) - {claim.id for claim in known}
    assert declared.shows or any(claim.artifact == artifact for claim in known)


@pytest.mark.parametrize(("name", "artifact"), EVERY)
def test_every_artifact_is_listed_as_the_paper_has_it_and_as_ours(name: str, artifact: str) -> None:
    page = (REPOSITORY / "docs" / "figures.md").read_text(encoding="utf-8")
    assert f"`{name}/{artifact}`" in page


def test_readme_counts_them() -> None:
    text = " ".join((REPOSITORY / "README.md").read_text(encoding="utf-8").split())
    assert f"{len(QUICK)} analytic figures, simulations, counts and tables" in text


def test_every_study_and_drawing_belongs_to_an_artifact() -> None:
    wanted = {declared.study for document in RELEASED.papers.values() for declared in document.studied.values()}
    assert set(registry.names("simulations")) == wanted
    folder = REPOSITORY / "src" / "hypersphere" / "present" / "drawings"
    drawn = {(path.parent.name, path.stem) for path in folder.glob("*/[a-z]*.py")}
    assert drawn == set(EVERY)


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


@pytest.mark.long
@pytest.mark.parametrize(("name", "artifact"), FIGURES)
def test_every_drawing_is_legible_at_its_printed_width(world: Plan, name: str, artifact: str) -> None:
    """No text is small, cut off by the page or upon another."""
    with style.applied():
        context = shown.context(Results(world), name, artifact)
        drawn = shown.kind(context.artifact).draw(context, studies.computed(context))
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


@pytest.mark.long
@pytest.mark.parametrize(("name", "artifact"), FIGURES)
def test_figures_come_as_vector_and_raster_with_their_numbers(world: Plan, name: str, artifact: str) -> None:
    stem = world.config.results / "figures" / name / artifact
    assert stem.with_suffix(".svg").read_text()[:200].count("<svg") + 1 >= 1
    assert stem.with_suffix(".svg").stat().st_size < 900_000
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    source = world.config.results / "simulations" / name / f"{artifact}.csv"
    assert stem.with_suffix(".csv").read_bytes() == source.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(("name", "artifact"), TABLES)
def test_tables_have_a_head_for_every_cell_and_say_their_size(world: Plan, name: str, artifact: str) -> None:
    grid = shown.show(Results(world), name, artifact).grid
    assert grid is not None
    assert grid.lines
    assert {len(line.cells) for line in grid.lines} == {sum(head.span for head in grid.head[-1])}
    text = (world.config.results / "tables" / name / f"{artifact}.md").read_text(encoding="utf-8")
    assert studies.SIZE_NOTICE in text
    assert "nan" not in text.lower().split()


@pytest.mark.long
@pytest.mark.parametrize(("name", "artifact"), QUICK)
def test_captions_say_what_was_computed_and_what_came_of_the_claims(world: Plan, name: str, artifact: str) -> None:
    notes = captions.of_artifact(world, name, artifact)["notes"]
    assert notes[0] == captions.escape(studies.SIZE_NOTICE)
    assert len(notes[1]) > 40
    assert "Its claims: " in " ".join(notes) or "It shows " in " ".join(notes)


@pytest.mark.long
def test_printed_numbers_stand_in_the_tables_that_they_were_printed_in(world: Plan) -> None:
    """Drawings look claims up by coordinates: a look-up that finds nothing shows nothing."""
    for name, artifact in TABLES:
        judged = Results(world).judged(name)
        values = judged[(judged["artifact"] == artifact) & (judged["kind"] == "value")]
        grid = shown.show(Results(world), name, artifact).grid
        assert grid is not None
        text = " ".join(cell.main for line in grid.lines for cell in line.cells)
        for reported in map(float, values[values["metric"] != "slope"]["reported"]):  # slopes are in no table
            ways = ("divergence",) if reported == float("inf") else (f"{reported:.1f}", f"{reported:g}")
            assert any(way in text for way in ways), (artifact, reported)
