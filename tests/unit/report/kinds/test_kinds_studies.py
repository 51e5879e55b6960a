"""Figures and tables of exact studies: the drawing framed, the study's numbers kept, and what its claims came to."""

from typing import Any

import pandas as pd
import pytest

from hypersphere.report import studies, style
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.simulations.pair_attraction import draw


def test_a_figure_comes_as_svg_png_and_the_studys_own_csv(make: Any) -> None:
    made = make()
    stem = made.build("sketch") / "figures" / "made_up" / "sketch"
    assert "<svg" in stem.with_suffix(".svg").read_text(encoding="utf-8")
    assert stem.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    source = made.plan.config.results / "simulations" / "made_up" / "sketch.csv"
    assert stem.with_suffix(".csv").read_bytes() == source.read_bytes()


def words(made: Any) -> list[str]:
    """Title, subtitle and small line of the drawing."""
    context = Context(made.results, made.plan.config.papers["made_up"], "sketch")
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
