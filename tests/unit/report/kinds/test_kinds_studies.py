"""Figures and tables of exact studies: the drawing framed, the study's numbers kept, and what its claims came to."""

from typing import Any

import pandas as pd
import pytest

from hypersphere.report import studies, style
from hypersphere.report.artifact import Context, Grid
from hypersphere.report.kinds import study_figure
from hypersphere.simulations.pair_attraction import draw


def test_a_figure_comes_as_svg_png_and_the_studys_own_csv(make: Any) -> None:
    made = make()
    stem = made.build("sketch") / "figures" / "made_up" / "sketch"
    assert "<svg" in stem.with_suffix(".svg").read_text(encoding="utf-8")
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    source = made.plan.config.results / "simulations" / "made_up" / "sketch.csv"
    assert stem.with_suffix(".csv").read_bytes() == source.read_bytes()


def test_notes_say_size_what_was_computed_and_what_its_claims_came_to(make: Any) -> None:
    made = make()
    assert made.show("sketch")[:3] == (
        "sketch",
        "Figure 1: A sketch",
        (studies.SIZE_NOTICE, "Three steps of 3.", "It shows Theorem 1 (exact)."),
    )
    assert made.show("sketch").inches == 4.0
    assert made.show("steps").notes[2:] == ("Cannot be judged: the paper gives no sizes.", "Its claims: 2 reproduced.")


def words(made: Any) -> list[str]:
    """Title, subtitle and small line of the drawing."""
    context = Context(made.results("sketch"), made.plan.config.papers["made_up"], "sketch")
    with style.applied():
        figure = study_figure.draw(context)
    return [text.get_text().replace("\n", " ") for text in figure.texts]


def test_a_drawing_has_its_subject_as_title_or_its_finding(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make()
    small = studies.SIZE_NOTICE
    assert words(made) == ["A sketch", "Halves by step", small]
    plain: Any = vars(draw)["sketch"]
    monkeypatch.setattr(draw, "sketch", lambda table: plain(table)._replace(finding=f"Of {len(table)} steps"))
    assert words(made) == ["Of 3 steps", "A sketch. Halves by step", small]


def test_how_often_a_study_was_repeated_is_said() -> None:
    assert studies.repeated(pd.DataFrame({"n": [8, 6]})) == "n = 8 seeds."
    assert studies.repeated(pd.DataFrame({"trials": [20]})) == "n = 20 trials."
    assert studies.repeated(pd.DataFrame({"n": [1], "x": [2]})) == ""


def test_a_table_is_given_its_claims_with_numbers_infinity_among_them(make: Any) -> None:
    grid = made_grid(make(), "steps")
    assert grid.corner == ("Name",)
    assert [head.text for head in grid.head[0]] == ["Ours", "Printed"]
    assert [(line.labels[0], *(cell.main for cell in line.cells)) for line in grid.lines] == [
        ("seven", "7.0", "7"),
        ("never", "7.0", "inf"),
    ]


def made_grid(made: Any, name: str) -> Grid:
    """A table's grid."""
    grid = made.show(name).grid
    assert grid is not None
    return grid


def test_its_text_is_escaped(make: Any) -> None:
    stem = make().build("steps") / "tables" / "made_up" / "steps"
    assert "<script>" not in stem.with_suffix(".md").read_text(encoding="utf-8")
    assert "$\\gamma$$\\|$z$\\|$$^2$" in stem.with_suffix(".tex").read_text(encoding="utf-8")
