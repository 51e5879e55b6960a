"""What a kind of artifact hands to whoever shows it: a table laid out as text, or a figure with its caption."""

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

from hypersphere.declared.artifacts import Measured, Paper, Studied
from hypersphere.errors import HypersphereError
from hypersphere.present.results import Results


class Head(NamedTuple):
    """One heading over ``span`` columns."""

    text: str
    note: str = ""
    """What it was measured on, if that is not what it says."""
    span: int = 1


class Text(NamedTuple):
    """One cell: its number, and a second, smaller line."""

    main: str
    second: str = ""


class Line(NamedTuple):
    """One row of a table."""

    labels: tuple[str, ...]
    cells: tuple[Text, ...]
    control: bool = False
    """Whether it is a control (chance, raw pixels, untrained), which stands apart at the end."""


class Grid(NamedTuple):
    """A table laid out: what its md and tex, the scorecard and the paper all show."""

    head: tuple[tuple[Head, ...], ...]
    """Rows of headings over the cells, outermost first; those over the labels are ``corner``."""
    corner: tuple[str, ...]
    """What the label columns are."""
    lines: tuple[Line, ...]


class Shown(NamedTuple):
    """An artifact ready to be shown."""

    id: str
    title: str
    notes: tuple[str, ...]
    """What a reader must know: scale, what a cell holds, n, device, protocol. The first names the scale."""
    grid: Grid | None = None
    """None for a figure, which is a file: results/<scale>/figures/<paper>/<id>.svg."""
    alt: str = ""
    """What stands for a figure that cannot be seen."""
    inches: float = 7.2
    """Width of a figure."""


@dataclass(frozen=True)
class Context:
    """One artifact, and where its numbers are."""

    results: Results
    paper: Paper
    name: str

    @property
    def artifact(self) -> Any:
        """Its declaration: Measured or Studied."""
        return self.paper.artifacts[self.name]


def context(results: Results, paper: str, name: str) -> Context:
    """Of an artifact that the config declares.

    Raises:
        HypersphereError: no such paper or artifact.
    """
    papers = results.config.papers
    if paper not in papers:
        raise HypersphereError(f"'{paper}' is not one of {', '.join(papers)}")
    if name not in papers[paper].artifacts:
        raise HypersphereError(f"{paper}: '{name}' is not one of {', '.join(papers[paper].artifacts)}")
    return Context(results, papers[paper], name)


def kind(artifact: Measured | Studied) -> ModuleType:
    """present/kinds/<draw>.py: ``build(context)`` writes the artifact's files, ``shown(context)`` gives a ``Shown``."""
    return importlib.import_module(f"hypersphere.present.kinds.{artifact.draw}")


def build(results: Results, paper: str, name: str) -> None:
    """Write an artifact's files.

    Raises:
        HypersphereError: no such artifact, or a results file is missing.
    """
    about = context(results, paper, name)
    kind(about.artifact).build(about)


def show(results: Results, paper: str, name: str) -> Shown:
    """An artifact as scorecard, paper and captions show it."""
    about = context(results, paper, name)
    shown: Shown = kind(about.artifact).shown(about)
    return shown
