"""Kinds of artifacts, read from the files of report/kinds/, one each: their axes and the files that they write.

A kind's file assigns literals to ``OF`` ("runs" or "study"), ``AXES`` (the axes it takes, and whether each is needed),
``FOLDER`` ("tables" or "figures"), ``FORMATS`` (the endings of the files it writes) and ``IMAGES`` (the statistics of
single images that it reads: "distribution.csv", or "pictures.csv" and "pictures.png").
"""

from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from hypersphere.config import registry

FOLDER = Path(__file__).parents[1] / "report" / "kinds"


class Kind(NamedTuple):
    """A value of an artifact's ``draw``."""

    of: Literal["runs", "study"]
    axes: dict[str, bool]
    """The axes that it takes; True for a required one."""
    folder: Literal["tables", "figures"]
    formats: tuple[str, ...]
    images: tuple[str, ...]
    """The files of its statistics about single images."""


@cache
def names(of: str) -> tuple[str, ...]:
    """The kinds made from ``runs`` or from a ``study``, sorted."""
    return tuple(
        sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if registry.read_literal(path, "OF", None) == of)
    )


@cache
def kind(name: str) -> Kind:
    """The kind of that name, which must exist."""
    file = FOLDER / f"{name}.py"
    of, folder = registry.read_literal(file, "OF", None), registry.read_literal(file, "FOLDER", None)
    axes, formats = registry.read_literal(file, "AXES", {}), registry.read_literal(file, "FORMATS", ())
    return Kind(of, dict(axes), folder, tuple(formats), tuple(registry.read_literal(file, "IMAGES", ())))


def drawing(study: str) -> str:
    """The dotted module that draws the artifacts of an exact study."""
    return f"hypersphere.simulations.{study}.draw"
