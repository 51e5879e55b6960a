"""The pages of the site that are taken from the sources: complete; and docstrings of losses."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import hypersphere.config
from hypersphere.command import cli, site
from hypersphere.config import project, registry
from hypersphere.config.claims import load_errata
from hypersphere.config.project import Config
from hypersphere.config.validation import Strict
from hypersphere.theory import build as theory

KINDS: tuple[registry.Kind, ...] = ("objectives", "logits", "gradients", "initialisations")
PARTS = [(kind, name) for kind in KINDS for name in registry.names(kind)]
MADE_BY_US = {"records"}
"""Modules of config/ whose models check files that people do not write."""


@pytest.fixture(scope="module")
def config() -> Config:
    return project.load(site.ROOT, {})


def models() -> set[str]:
    """Every model of hypersphere.config that checks a file that people write."""
    folder, found = Path(hypersphere.config.__file__).parent, set()
    for path in folder.glob("[a-z]*.py"):
        module = importlib.import_module(f"hypersphere.config.{path.stem}")
        own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        found |= {f"{path.stem}.{one.__name__}" for one in own if issubclass(one, Strict) and one is not Strict}
    return {model for model in found if model.split(".")[0] not in MADE_BY_US}


def test_every_model_of_the_configuration_every_theorem_and_every_loss_is_in_the_reference(config: Config) -> None:
    reference = site.ROOT / "docs" / "reference"
    listed = re.findall(r"^::: (hypersphere\.objectives\.\S+)$", (reference / "losses.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(f"{registry.module_name(kind, name)}.{name}" for kind, name in PARTS)
    listed = re.findall(r"^::: hypersphere\.config\.(\S+)$", (reference / "configuration.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(models())
    listed = re.findall(r"^::: hypersphere\.theory\.(\S+)$", (reference / "theorems.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(paper for paper in config.papers if theory.statements(paper))


def test_the_reference_lists_every_command_and_erratum(config: Config) -> None:
    assert all(f"\n## hypersphere {name}\n" in site.command_line() for name in cli.COMMANDS)
    shown = re.findall(r"^### (\w+):", site.errata(config), flags=re.MULTILINE)
    assert sorted(shown) == sorted(one.id for one in load_errata(config))


def test_a_docstring_says_what_its_equation_does_and_names_figures_that_there_are(config: Config) -> None:
    for kind, name in PARTS:
        said = inspect.getdoc(registry.load(kind, name)) or ""
        assert len(re.findall(r"^Geometry: .*?\.(?:\n\n|\Z)", said, re.MULTILINE | re.DOTALL)) == 1, name
        named = re.search(r"^Figure: (.*?)(?:\n\n|\Z)", said, re.MULTILINE | re.DOTALL)
        for figure in re.findall(r"\w+/\w+", named[1]) if named else []:
            paper, artifact = figure.split("/")
            assert config.papers[paper].studied[artifact].draw == "study_figure", name


def test_links_to_files_outside_the_docs_lead_to_their_pages() -> None:
    assert site.linked("[a](../CONTRIBUTING.md) [b](docs/dvc.md#c)") == "[a](contributing.md) [b](dvc.md#c)"
