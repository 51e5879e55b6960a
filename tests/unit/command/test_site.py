"""The generated pages of the site: complete, and taken from the sources; losses with figures that there are."""

import importlib
import os
import re
import shutil
from pathlib import Path

import pytest

import hypersphere.config
from hypersphere.command import cli, site
from hypersphere.config import registry
from hypersphere.config.errata import load_errata
from hypersphere.config.validation import Strict
from hypersphere.exact import theorems as theory
from hypersphere.files import write_text

from ...golden.released import configured

PARTS = [(kind, name) for kind, _ in site.KINDS.values() for name in registry.names(kind)]
CONFIG = configured()


def test_every_model_of_the_configuration_theorem_command_and_erratum_is_in_the_reference() -> None:
    models = []
    for path in Path(hypersphere.config.__file__).parent.glob("[a-z]*.py"):
        module = importlib.import_module(f"hypersphere.config.{path.stem}")
        own = [
            one
            for one in vars(module).values()
            if isinstance(one, type) and one.__module__ == module.__name__
        ]
        models += [
            f"{path.stem}.{one.__name__}"
            for one in own
            if issubclass(one, Strict) and one is not Strict
        ]
    reference = site.ROOT / "docs" / "reference"
    listed = re.findall(
        r"^::: hypersphere\.config\.(\S+)$",
        (reference / "configuration.md").read_text(),
        re.MULTILINE,
    )
    # those are of files that we write
    written = [model for model in models if not model.startswith("records.")]
    assert sorted(listed) == sorted(written)
    listed = re.findall(
        r"^::: papers\.(\S+)\.theorems$", (reference / "theorems.md").read_text(), re.MULTILINE
    )
    assert sorted(listed) == sorted(
        paper for paper in CONFIG.papers if theory.statements(CONFIG, paper)
    )
    assert all(f"\n## hypersphere {name}\n" in site.command_line() for name in cli.COMMANDS)
    shown = re.findall(r"^### (\w+):", site.errata(CONFIG), flags=re.MULTILINE)
    assert sorted(shown) == sorted(one.id for one in load_errata(CONFIG))


def test_a_docstring_says_what_its_equation_does_and_names_figures_that_there_are() -> None:
    for kind, name in PARTS:
        said = site.docstring(kind, name)
        assert (
            len(re.findall(r"^Geometry: .*?\.(?:\n\n|\Z)", said, re.MULTILINE | re.DOTALL)) == 1
        ), name
        for figure in site.figures(said):
            paper, artifact = figure.split("/")
            assert CONFIG.papers[paper].studied[artifact].draw == "study_figure", name


def test_every_loss_is_there_once_with_its_newest_figure_or_how_it_is_drawn(tmp_path: Path) -> None:
    absent, pictures = site.losses(CONFIG, tmp_path)
    listed = [f"{registry.module_name(kind, name)}.{name}" for kind, name in PARTS]
    assert re.findall(r"^::: (\S+\.\S+\.\S+)$", absent, flags=re.MULTILINE) == listed
    assert "not made yet; `make reproduce ONLY=double_metric/fig2`" in absent
    assert ("![" in absent, pictures) == (False, {})
    for written, scale in enumerate(("quick", "laptop")):
        drawn = tmp_path / scale / "figures" / "double_metric" / "fig2.svg"
        drawn.parent.mkdir(parents=True)
        drawn.touch()
        os.utime(drawn, (written, written))
    page, pictures = site.losses(CONFIG, tmp_path)
    assert "](figures/double_metric-fig2.svg)" in page
    assert pictures == {"reference/figures/double_metric-fig2.svg": drawn}


def test_links_to_files_outside_the_docs_lead_to_their_pages() -> None:
    text = "[a](../CONTRIBUTING.md) [b](docs/dvc.md#c) [d](../data/README.md#e) [f](../../docs/cost.md)"
    assert (
        site.with_links(text)
        == "[a](contributing.md) [b](dvc.md#c) [d](own_images.md#e) [f](cost.md)"
    )


def test_promises_and_choices_of_all_papers_are_on_their_pages() -> None:
    promises = (site.ROOT / "tests" / "promises.csv").read_text(encoding="utf-8")
    tests = set(re.findall(r"\w+\.py::\w+", promises))
    assert len(tests) > 50
    assert set(re.findall(r"\w+\.py::\w+", site.promises())) == tests
    page = site.exact_figures(CONFIG)
    for paper in CONFIG.papers.values():
        own = CONFIG.folders[paper.paper] / "figures.md"
        assert (f"\n## {paper.title}\n" in page) == own.is_file()
    assert not re.search(r"^## (?:Fig|Table)", page, re.MULTILINE)


def test_every_link_of_the_sites_report_leads_to_a_file_of_the_site(
    report_page: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A made-up page on the released documents: the repository is there, and what was computed is put beside it."""
    root, build = tmp_path / "checkout", tmp_path / "site"
    folder = root / "results" / "report"
    shutil.copytree(report_page.parent, folder)
    links = [
        link.partition("#")[0]
        for link in site.LINK.findall(report_page.read_text(encoding="utf-8"))
    ]
    for link in links:
        target = Path(os.path.normpath(folder / link))
        place = target.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(
            (site.ROOT / place).read_bytes()
            if (site.ROOT / place).is_file()
            else place.name.encode()
        )
    for page in (site.ROOT / "docs").glob("*.md"):  # as MkDocs makes them
        write_text(build / f"{page.stem}.html", "")
    site.copy_report(root, build)
    made = build / "report" / "index.html"
    led = [link.partition("#")[0] for link in site.LINK.findall(made.read_text(encoding="utf-8"))]
    assert len(led) == len(links) > 50
    inside = [Path(os.path.normpath(made.parent / link)) for link in led]
    assert [
        str(path) for path in inside if not (path.is_file() and path.is_relative_to(build))
    ] == []
    code = "papers/margins/theorems.py"
    assert (made.parent / "files" / code).read_bytes() == (site.ROOT / code).read_bytes()
    assert caplog.messages == []
    (root / code).unlink()
    site.copy_report(root, build)
    assert [message for message in caplog.messages if code in message]
