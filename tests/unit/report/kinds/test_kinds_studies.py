"""Figures and tables of exact studies: drawings framed, numbers kept; the released ones have claims and documentation.

tests/results/ tests what the released studies computed.
"""

import importlib
import inspect
from typing import Any

import pytest

from hypersphere.config import claims as printed
from hypersphere.config import paper_code
from hypersphere.report import studies, style
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure

from ....golden.released import configured
from ..conftest import ROOT

RELEASED = configured("paper")


def words(context: Context) -> list[str]:
    """Title, subtitle and small line of the drawing."""
    with style.house_style():
        figure = study_figure.draw(context)
    return [text.get_text().replace("\n", " ") for text in figure.texts]


def test_a_drawing_has_its_subject_as_title_or_its_finding_and_the_studys_own_csv(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make()
    results = made.build("sketch")
    csv = [
        (results / of / "made_up" / "sketch.csv").read_bytes() for of in ("figures", "simulations")
    ]
    assert csv[0] == csv[1]
    context, small = (
        Context(made.results, made.plan.config.papers["made_up"], "sketch"),
        studies.SIZE_NOTICE,
    )
    assert words(context) == ["A sketch", "Halves by step", small]
    draw = importlib.import_module(made.plan.config.study_code("made_up", "halves").draw)
    plain = draw.sketch
    monkeypatch.setattr(
        draw, "sketch", lambda table: plain(table)._replace(finding=f"Of {len(table)} steps")
    )
    assert words(context) == ["Of 3 steps", "A sketch. Halves by step", small]
    table = studies.computed_table(context)
    for column, repeats, said in (
        ("n", [8, 6, 1], " n = 8 seeds."),
        ("trials", 20, " n = 20 trials."),
        ("n", 1, ""),
    ):
        given = table.assign(**{column: repeats})
        monkeypatch.setattr(studies, "computed_table", lambda _, given=given: given)
        assert words(context)[2] == small + said


def test_every_artifact_is_bound_to_claims_and_its_choices_are_listed() -> None:
    """In figures.md of the paper's folder, or in docs/audit.md where all papers share the study."""
    audit = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    for name, document in RELEASED.papers.items():
        choices = RELEASED.folders[name] / "figures.md"
        known = printed.load(ROOT / "papers" / name / "claims.csv")
        # whether or not the data that some need are here
        for artifact, declared in document.studied.items():
            assert not set(declared.shows) - {claim.id for claim in known}, artifact
            assert declared.shows or any(claim.artifact == artifact for claim in known), artifact
            shared = declared.study in paper_code.shared_studies()
            page = audit if shared else choices.read_text(encoding="utf-8")
            assert f"`{artifact}`" in page, (name, artifact)


def test_every_study_belongs_to_an_artifact_and_draws_those_that_name_it() -> None:
    declared = {
        (paper, entry.study, key)
        for paper, document in RELEASED.papers.items()
        for key, entry in document.studied.items()
    }
    there = {
        (paper, file.parent.name)
        for paper in RELEASED.papers
        for file in RELEASED.folders[paper].glob("studies/*/compute.py")
    }
    shared = set(paper_code.shared_studies())
    assert shared == {"printed_numbers", "sentences"}
    assert {(paper, study) for paper, study, _ in declared if study not in shared} == there
    for paper, study in {(paper, study) for paper, study, _ in declared}:
        module = importlib.import_module(RELEASED.study_code(paper, study).draw)
        functions = inspect.getmembers(module, inspect.isfunction)
        drawn = {
            name
            for name, one in functions
            if one.__module__ == module.__name__ and not name.startswith("_")
        }
        asked = {
            key
            for of_paper, named, key in declared
            if named == study and (of_paper == paper or study in shared)
        }
        assert drawn == asked, (paper, study)
