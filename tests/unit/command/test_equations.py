"""The site's page of equations: every loss and theorem, with figures that there are, and nothing typed twice."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from hypersphere.command import equations, site
from hypersphere.config import project, registry
from hypersphere.config.claims import load, load_errata
from hypersphere.config.project import Config
from hypersphere.provenance import columns

from ...fixtures import Approve

PARTS = [(kind, name) for kind, _ in site.KINDS.values() for name in registry.names(kind)]


@pytest.fixture(scope="module")
def config() -> Config:
    return project.load(site.ROOT, {})


def page_of(made: equations.Equations) -> str:
    return made.page((title, kind) for title, (kind, _) in site.KINDS.items())


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_a_docstring_says_what_its_equation_does_and_names_figures_that_there_are(
    kind: registry.Kind, name: str, config: Config
) -> None:
    said = equations.part(kind, name)
    assert said.geometry.endswith(".")
    for figure in said.figures:
        paper, artifact = figure.split("/")
        assert config.papers[paper].studied[artifact].draw == "study_figure"
    errata = {one.id for one in load_errata(config)}
    assert {*said.errata} <= errata, "what looks like an erratum's name is none"


def test_the_page_has_every_loss_and_every_theorem_once(config: Config, tmp_path: Path) -> None:
    page = page_of(equations.Equations(config, tmp_path))
    headings = re.findall(r"^### (.*)$", page, flags=re.MULTILINE)
    assert [name for _, name in PARTS] == [one for one in headings if " " not in one]
    claims = [one for paper in config.papers for one in load(config.claims_file(paper)) if one.kind == "theorem"]
    statements = re.findall(r"^- \*\*(?:As printed|Corrected|Ours)", page, flags=re.MULTILINE)
    assert len(statements) == len(claims) > 60
    linked = {*re.findall(r"errata\.md#(\w+)", page)}
    assert linked <= {one.id for one in load_errata(config)}
    assert {one.reading for one in claims if one.origin == "corrected"} <= linked


def test_a_theorem_names_the_function_that_checks_it_under_wrappers(config: Config) -> None:
    """A partial of a function, a function that a decorator wraps, and one that another made."""
    named = {name: f"{one.__module__}.{one.__name__}" for name, one in equations.checks(config).items()}
    assert named["double_metric.equation_2_attraction.d1"] == "hypersphere.theory.double_metric.attraction"
    assert named["margins.equation_3.m2"] == "hypersphere.theory.margins.equation_3"
    assert named["double_metric.appendix_g_norm"] == "hypersphere.theory.double_metric.matches"
    reference = equations.reference(config)
    assert all(f"::: {one.rpartition('.')[0]}\n" in reference for one in named.values())


def test_a_figure_is_shown_once_and_one_that_is_not_made_says_how(config: Config, tmp_path: Path) -> None:
    absent = page_of(equations.Equations(config, tmp_path))
    assert "not made yet; `make reproduce ONLY=double_metric/fig2`" in absent
    assert "![" not in absent
    for written, scale in enumerate(("quick", "laptop")):
        drawn = tmp_path / scale / "figures" / "double_metric" / "fig2.svg"
        drawn.parent.mkdir(parents=True)
        drawn.touch()
        os.utime(drawn, (written, written))
    made = equations.Equations(config, tmp_path)
    page = page_of(made)
    assert page.count("](figures/double_metric-fig2.svg)") == 1
    assert page.count("](#double_metric-fig2), above.") >= 1
    assert page.index("](figures/") < page.index("](#double_metric-fig2)")
    assert made.pictures == {"explanation/figures/double_metric-fig2.svg": drawn}


def test_a_theorem_says_what_the_report_says_of_it(config: Config, tmp_path: Path) -> None:
    answers = {"margins.equation_3": "fails", "margins.lemma_4_2": "holds"}
    rows = [dict.fromkeys(columns.KNOWN, "") | {"id": name, "answer": answer} for name, answer in answers.items()]
    (tmp_path / "report").mkdir()
    pd.DataFrame(rows).to_csv(tmp_path / "report" / "claims.csv", index=False)
    page = page_of(equations.Equations(config, tmp_path))
    assert 'It <a href="../report/index.html#margins.equation_3">fails by a counterexample</a>.' in page
    assert '#margins.lemma_4_2">met no counterexample (no proof)</a>.' in page
    assert page.count("report/index.html") == 2


def test_formulas_and_titles_are_set_and_code_is_not(approve: Approve) -> None:
    for text in (
        *("-log(exp(cos(z_a_i, z_j)/t))", "u != v, a <= b", "alpha·tau_plus + beta", "|x|^power, e^(-1/t)"),
        "``z_a <= alpha`` of alphabets, other_view",
    ):
        approve(equations.typeset(text))
    named = ("theorem_4_1", "equation_13", "proposition_c_1", "appendix_g")
    for artifact in (*named, "identity_lemma_4_4_negatives", "identity_type_i_decoupled"):
        approve(equations.titled(artifact))
