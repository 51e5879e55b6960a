"""An artifact ready to be shown: a table laid out as text, or a figure with its caption."""

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

from hypersphere.config.artifacts import Measured, Paper, Studied
from hypersphere.errors import HypersphereError
from hypersphere.report.results import Results


class Head(NamedTuple):
    """One heading over ``span`` columns."""

    text: str
    note: str = ""
    """The dataset it was measured on, if that is another one."""
    span: int = 1


class Text(NamedTuple):
    """One cell: its number and a second, smaller line."""

    main: str
    second: str = ""


class Line(NamedTuple):
    """One row of a table."""

    labels: tuple[str, ...]
    cells: tuple[Text, ...]
    control: bool = False
    """Whether it is a control (chance, raw pixels, untrained). Controls come last, set apart."""


class Grid(NamedTuple):
    """The layout of a table, which its md and tex, the scorecard and the paper show."""

    head: tuple[tuple[Head, ...], ...]
    """Rows of headings over the cells, outermost first. Headings over the labels are in ``corner``."""
    corner: tuple[str, ...]
    """Headings of the label columns."""
    lines: tuple[Line, ...]


class Shown(NamedTuple):
    """An artifact ready to be shown."""

    id: str
    title: str
    notes: tuple[str, ...]
    """Scale, what a cell contains, seeds, device, protocol. The first note names the scale."""
    grid: Grid | None = None
    """None for a figure, which is the file results/<scale>/figures/<paper>/<id>.svg."""
    alt: str = ""
    """Text for readers who cannot see the figure."""
    inches: float = 7.2
    """Width of a figure."""
    stops: dict[str, Any] | None = None
    """All stops of a figure with a slider (sliders.py)."""


@dataclass(frozen=True)
class Context:
    """One artifact, its paper, and the results that hold its numbers."""

    results: Results
    paper: Paper
    name: str

    @property
    def artifact(self) -> Any:
        """Its declaration: Measured or Studied."""
        return self.paper.artifacts[self.name]


def context(results: Results, paper: str, name: str) -> Context:
    """The context of an artifact that the config declares.

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
    """report/kinds/<draw>.py: ``build(context)`` writes the artifact's files, ``shown(context)`` a ``Shown``."""
    return importlib.import_module(f"hypersphere.report.kinds.{artifact.draw}")


def build(results: Results, paper: str, name: str) -> None:
    """Write an artifact's files.

    Raises:
        HypersphereError: no such artifact, or a results file is missing.
    """
    about = context(results, paper, name)
    kind(about.artifact).build(about)


def show(results: Results, paper: str, name: str) -> Shown:
    """The artifact as scorecard and paper show it."""
    about = context(results, paper, name)
    shown: Shown = kind(about.artifact).shown(about)
    return shown
