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
DRAWINGS = FOLDER.parent / "drawings"


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
    return tuple(
        sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if registry.read_literal(path, "OF", None) == of)
    )


@cache
def kind(name: str) -> Kind:
    """The kind of that name, which must exist."""
    file = FOLDER / f"{name}.py"
    of, folder = registry.read_literal(file, "OF", None), registry.read_literal(file, "FOLDER", None)
    axes, formats = registry.read_literal(file, "AXES", {}), registry.read_literal(file, "FORMATS", ())
    return Kind(of, dict(axes), folder, tuple(formats), bool(registry.read_literal(file, "IMAGES", False)))


def drawing(paper: str, artifact: str) -> str:
    """The dotted module that draws an exact study's artifact.

    It is drawings/<paper>/<artifact>.py, or drawings/shared/<artifact>.py for an artifact that several papers have.
    """
    papers, shared = (DRAWINGS / folder / f"{artifact}.py" for folder in (paper, "shared"))
    folder = "shared" if shared.is_file() and not papers.is_file() else paper
    return f"hypersphere.present.drawings.{folder}.{artifact}"
