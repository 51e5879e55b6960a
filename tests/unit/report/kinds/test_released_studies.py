"""Every exact study of the released config has claims and documentation; tests/results/ tests what they computed."""

from pathlib import Path

import pytest

from hypersphere.config import claims as printed
from hypersphere.config import kinds, registry
from hypersphere.config import project as cfg

REPOSITORY = Path(__file__).resolve().parents[4]
RELEASED = cfg.load(REPOSITORY, {"scale": "paper"})
EVERY = [(name, key) for name, document in RELEASED.papers.items() for key in document.studied]
"""Whether or not the data that some need are here."""
CONFIG = cfg.load(REPOSITORY, {"scale": "quick"})
QUICK = [(name, key) for name in CONFIG.papers for key in CONFIG.studied(name)]


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
    folder = REPOSITORY / "src" / "hypersphere" / "report" / "drawings"
    drawn = {f"hypersphere.report.drawings.{path.parent.name}.{path.stem}" for path in folder.glob("*/[a-z]*.py")}
    assert drawn == {kinds.drawing(name, key) for name, key in EVERY}
