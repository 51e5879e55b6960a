"""Kinds of artifacts: the files of present/kinds/, one each. What a kind is called, takes and writes is read here.

A kind's file says, as literals: ``OF`` ("runs" or "study"), ``AXES`` (the axes it takes, and whether each is needed),
``FOLDER`` ("tables" or "figures"), ``FORMATS`` (the files it writes, by their ending) and ``IMAGES`` (whether it shows
single images).
"""

from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from hypersphere.declared import registry

FOLDER = Path(__file__).parents[1] / "present" / "kinds"


class Kind(NamedTuple):
    """What an artifact's ``draw`` asks for."""

    of: Literal["runs", "study"]
    axes: dict[str, bool]
    """The axes that it takes; True where one is needed."""
    folder: Literal["tables", "figures"]
    formats: tuple[str, ...]
    images: bool
    """Whether it shows what a probe says of single images."""


@cache
def names(of: str) -> tuple[str, ...]:
    """Every kind made from ``runs`` or from a ``study``."""
    return tuple(sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if registry.literal(path, "OF", None) == of))


@cache
def kind(name: str) -> Kind:
    """The kind of that name, which must exist."""
    file = FOLDER / f"{name}.py"
    of, folder = registry.literal(file, "OF", None), registry.literal(file, "FOLDER", None)
    axes, formats = registry.literal(file, "AXES", {}), registry.literal(file, "FORMATS", ())
    return Kind(of, dict(axes), folder, tuple(formats), bool(registry.literal(file, "IMAGES", False)))
