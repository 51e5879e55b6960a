"""Every exact study of the released config has claims and documentation; tests/results/ tests what they computed."""

import importlib
import inspect
from pathlib import Path

import pytest

from hypersphere.config import claims as printed
from hypersphere.config import project as cfg
from hypersphere.config import registry

REPOSITORY = Path(__file__).resolve().parents[4]
RELEASED = cfg.load(REPOSITORY, {"scale": "paper"})
EVERY = [(name, key) for name, document in RELEASED.papers.items() for key in document.studied]
"""Whether or not the data that some need are here."""


@pytest.mark.parametrize(("name", "artifact"), EVERY)
def test_every_artifact_is_bound_to_claims(name: str, artifact: str) -> None:
    declared = RELEASED.papers[name].studied[artifact]
    known = printed.load(REPOSITORY / "config" / "papers" / name / "claims.csv")
    assert not set(declared.shows) - {claim.id for claim in known}
    assert declared.shows or any(claim.artifact == artifact for claim in known)


@pytest.mark.parametrize(("name", "artifact"), EVERY)
def test_every_artifact_is_listed_as_the_paper_has_it_and_as_ours(name: str, artifact: str) -> None:
    page = (REPOSITORY / "docs" / "figures.md").read_text(encoding="utf-8")
    assert f"`{name}/{artifact}`" in page


def test_every_study_belongs_to_an_artifact_and_draws_those_that_name_it() -> None:
    declared = {(entry.study, key) for document in RELEASED.papers.values() for key, entry in document.studied.items()}
    assert set(registry.names("simulations")) == {study for study, _ in declared}
    modules = {study: importlib.import_module(registry.drawing(study)) for study, _ in declared}
    drawn = {
        (study, name)
        for study, module in modules.items()
        for name, member in vars(module).items()
        if inspect.isfunction(member) and member.__module__ == module.__name__ and not name.startswith("_")
    }
    assert drawn == declared
