"""Every exact study that the pipeline computed: its figures are legible, its tables whole, its captions honest."""

import pytest

from hypersphere.config.plan import Plan
from hypersphere.report import studies, style, writer
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import Results

from .. import legible
from ..golden.released import configured

CONFIG = configured()
QUICK = [(name, key) for name in CONFIG.papers for key in CONFIG.exact_artifacts(name)]
FIGURES = [
    (name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_figure"
]
TABLES = [
    (name, key) for name, key in QUICK if CONFIG.papers[name].studied[key].draw == "study_table"
]


@pytest.mark.parametrize(("name", "artifact"), FIGURES)
def test_a_figure_is_legible_at_its_printed_width_and_comes_with_its_numbers(
    plan: Plan, name: str, artifact: str
) -> None:
    with style.house_style():
        drawn = study_figure.draw(Context(Results(plan), plan.config.papers[name], artifact))
        assert drawn.get_figwidth() <= 7.2
        legible.check(drawn, least=4)
    stem = plan.config.results / "figures" / name / artifact
    assert stem.with_suffix(".svg").stat().st_size < 900_000
    source = plan.config.results / "simulations" / name / f"{artifact}.csv"
    assert stem.with_suffix(".csv").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(("name", "artifact"), TABLES)
def test_a_table_has_a_head_for_every_cell_and_the_numbers_that_were_printed_in_it(
    plan: Plan, name: str, artifact: str
) -> None:
    """Drawings look claims up by coordinates: a look-up that finds nothing shows nothing."""
    grid = writer.show(Results(plan), name, artifact).grid
    assert {len(line.cells) for line in grid.lines} == {sum(head.span for head in grid.head[-1])}
    written = (plan.config.results / "tables" / name / f"{artifact}.md").read_text(encoding="utf-8")
    assert "nan" not in written.lower().split()
    judged = Results(plan).judged_claims(name)
    values = judged[(judged["artifact"] == artifact) & (judged["kind"] == "value")]
    text = " ".join(cell.main for line in grid.lines for cell in line.cells)
    # slopes are in no table
    for reported in map(float, values[values["metric"] != "slope"]["reported"]):
        ways = ("divergence",) if reported == float("inf") else (f"{reported:.1f}", f"{reported:g}")
        assert any(way in text for way in ways), (artifact, reported)


@pytest.mark.parametrize(("name", "artifact"), QUICK)
def test_captions_say_what_was_computed_and_what_came_of_the_claims(
    plan: Plan, name: str, artifact: str
) -> None:
    notes = writer.show(Results(plan), name, artifact).notes
    assert notes[0] == studies.SIZE_NOTICE
    assert len(notes[1]) > 40
    assert "Its claims: " in " ".join(notes) or "It shows " in " ".join(notes)
