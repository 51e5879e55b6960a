"""The site's page of equations: every loss, with figures that there are."""

import os
import re
from pathlib import Path

import pytest

from hypersphere.command import equations, site
from hypersphere.config import project, registry
from hypersphere.config.claims import load_errata
from hypersphere.config.project import Config
from hypersphere.report.proofs import NAMES

KINDS = [(title, kind) for title, (kind, _) in site.KINDS.items()]
PARTS = [(kind, name) for _, kind in KINDS for name in registry.names(kind)]


@pytest.fixture(scope="module")
def config() -> Config:
    return project.load(site.ROOT, {})


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_docstring_says_what_its_equation_does_and_names_figures_that_there_are(
    kind: registry.Kind, name: str, config: Config
) -> None:
    said = equations.paragraphs(kind, name)
    assert sum(one.startswith("Geometry: ") and one.endswith(".") for one in said) == 1
    for figure in equations.figures(said):
        paper, artifact = figure.split("/")
        assert config.papers[paper].studied[artifact].draw == "study_figure"
    named = re.findall(rf"\b{NAMES.pattern}\b", " ".join(said))
    assert {*named} <= {one.id for one in load_errata(config)}, "what looks like an erratum's name is none"


def test_the_page_has_every_loss_once_and_says_of_a_figure_that_is_not_made_how(config: Config, tmp_path: Path) -> None:
    absent, pictures = equations.page(config, tmp_path, KINDS)
    assert [name for _, name in PARTS] == re.findall(r"^### (.*)$", absent, flags=re.MULTILINE)
    assert "not made yet; `make reproduce ONLY=double_metric/fig2`" in absent
    assert "![" not in absent
    assert not pictures
    for written, scale in enumerate(("quick", "laptop")):
        drawn = tmp_path / scale / "figures" / "double_metric" / "fig2.svg"
        drawn.parent.mkdir(parents=True)
        drawn.touch()
        os.utime(drawn, (written, written))
    page, pictures = equations.page(config, tmp_path, KINDS)
    assert "](figures/double_metric-fig2.svg)" in page
    assert pictures == {"explanation/figures/double_metric-fig2.svg": drawn}  # the newest
