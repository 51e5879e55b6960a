"""What the released runs and protocols have at the published scale, by path."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypersphere.config import registry
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import READINGS, Scalar
from hypersphere.config.run import Component, Run
from hypersphere.training.optimisation import peak_rate

from .released import released

COMPONENTS: dict[str, registry.Kind] = {
    "method": "methods",
    "objective": "objectives",
    "regulariser": "objectives",
    "encoder": "encoders",
    "logits": "logits",
    "gradient": "gradients",
    "initialisation": "initialisations",
}
ROUNDING = 1e-5
"""Relative: a warm-up of 10 epochs is written as a fraction with six decimals."""


def filled(component: Component, kind: registry.Kind) -> dict[str, Any]:
    """The name and all parameters of a component, those that equal their default too."""
    model = registry.schema(kind, component.name)
    return {"name": component.name, **model.model_validate(component.parameters).model_dump()}


@cache
def fields(run: Run) -> dict[str, Any]:
    """All fields of a run by path, and what follows from some: the peak of its rate, and epochs of warm-up."""
    tree = run.model_dump()
    for name, kind in COMPONENTS.items():
        component = getattr(run, name)
        tree[name] = None if component is None else filled(component, kind)
    if run.dataset.source is not None:
        tree["dataset"]["source"] = filled(run.dataset.source, "datasets")
    schedule = run.schedule
    tree["optimiser"]["peak_rate"] = peak_rate(run)
    tree["schedule"]["warmup_epochs"] = schedule.warmup * (schedule.horizon or schedule.epochs)
    return dict(_leaves(tree))


def _leaves(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def of_protocol(cell: Cell) -> dict[str, Any]:
    """The name and all parameters of a cell's probe by path, and its layer; nothing for the history of training."""
    if cell.how is None:
        return {}
    found = filled(cell.how.probe, "probes") | {"layer": cell.how.layer}
    return {f"probe.{name}": one for name, one in found.items()}


def value(cell: Cell, path: str) -> Scalar | None:
    """What a cell has at a path; None if it has no such field."""
    if path in READINGS:
        return cell.coordinates.get(path)
    return of_protocol(cell).get(path) if path.startswith("probe.") else fields(cell.run).get(path)


@cache
def planned_cells(paper: str) -> list[Cell]:
    """The cells of all artifacts of a paper, of one seed, because settings have none."""
    artifacts = [own for (of, _), own in released("paper").artifacts.items() if of == paper]
    cells = [cell for own in artifacts for cell in own if cell.run is not None]
    return list({(cell.artifact, cell.text): cell for cell in cells}.values())


@cache
def printed_cells(paper: str) -> list[Cell]:
    """Those of its printed artifacts."""
    declared = released("paper").config.papers[paper].measured
    return [cell for cell in planned_cells(paper) if declared[cell.artifact].printed]


def equal(one: Scalar | None, other: Scalar) -> bool:
    """Equal, numbers up to rounding. A truth value equals no number."""
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return one is other if isinstance(one, bool) else one == other
    return isinstance(other, int | float) and math.isclose(one, other, rel_tol=ROUNDING)
