"""Every module of the package and its plug-ins is imported: what one Python admits and another does not fails here."""

import importlib
from pathlib import Path

import pytest

from ..golden.released import ROOT

pytestmark = pytest.mark.pythons

SOURCES = [ROOT / "src", *sorted((ROOT / "plugins").glob("*/src"))]
OPTIONAL = {"mujoco", "dm_control"}
"""Libraries that a machine may lack: a module that cannot be imported without one is passed over."""


def modules(source: Path) -> list[str]:
    """The modules under a folder of sources by name, without those that run when they are imported."""
    files = sorted(
        path.relative_to(source) for path in source.rglob("*.py") if not path.name.startswith("__")
    )
    return [".".join(path.with_suffix("").parts) for path in files]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.relative_to(ROOT).as_posix())
def test_every_module_is_imported(source: Path) -> None:
    named = modules(source)
    assert named
    for name in named:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in OPTIONAL:
                raise
