"""The generated pages of the site: complete, and taken from the sources."""

import importlib
import re
from pathlib import Path

import hypersphere.config
from hypersphere.command import cli, site
from hypersphere.config import project, registry
from hypersphere.config.claims import load_errata
from hypersphere.config.validation import Strict
from hypersphere.theory import build as theory

MADE_BY_US = {"records"}
"""Modules of config/ whose models check files that people do not write."""


def models() -> set[str]:
    """Every model of hypersphere.config that checks a file that people write."""
    folder, found = Path(hypersphere.config.__file__).parent, set()
    for path in folder.glob("[a-z]*.py"):
        module = importlib.import_module(f"hypersphere.config.{path.stem}")
        own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        found |= {f"{path.stem}.{one.__name__}" for one in own if issubclass(one, Strict) and one is not Strict}
    return {model for model in found if model.split(".")[0] not in MADE_BY_US}


def test_every_model_of_the_configuration_and_every_theorem_is_in_the_reference() -> None:
    reference = site.ROOT / "docs" / "reference"
    listed = re.findall(r"^::: hypersphere\.config\.(\S+)$", (reference / "configuration.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(models())
    listed = re.findall(r"^::: hypersphere\.theory\.(\S+)$", (reference / "theorems.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(theory.documents())


def test_the_reference_lists_every_loss_command_and_erratum() -> None:
    page = site.losses()
    for kind in ("objectives", "logits", "gradients", "initialisations"):
        assert all(f"::: {registry.module_name(kind, name)}.{name}\n" in page for name in registry.names(kind))
    assert all(f"\n## hypersphere {name}\n" in site.command_line() for name in cli.COMMANDS)
    config = project.load(site.ROOT, {})
    shown = re.findall(r"^### (\w+):", site.errata(config), flags=re.MULTILINE)
    assert sorted(shown) == sorted(one.id for one in load_errata(config))


def test_links_to_files_outside_the_docs_lead_to_their_pages() -> None:
    assert site.linked("[a](../CONTRIBUTING.md) [b](docs/dvc.md#c)") == "[a](contributing.md) [b](dvc.md#c)"
