"""Runs of images that one look serves, because they differ in nothing that it depends on."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import Size, stated
from hypersphere.wording import count_of


class Kind(NamedTuple):
    """Runs that are alike, and the size of their images."""

    size: Size
    runs: list[Run]


class Kinds(NamedTuple):
    """The runs of a plan by kind."""

    of_images: list[Kind]
    left_out: Counter[str]
    """The number of other runs, by the reason why they are not looked at."""


def kinds_of(plan: Plan, key: Callable[[Run, Size], object]) -> Kinds:
    """The chosen runs of a plan; those of an equal ``key`` are of one kind."""
    found: dict[object, Kind] = {}
    left_out: Counter[str] = Counter()
    for run in plan.chosen_runs.values():
        size = stated(run.dataset)
        if not registry.read_constant("trainers", run.kind, "IMAGES", False):
            left_out[f"{run.kind} runs need data of their own"] += 1
        elif size is None:
            left_out[f"the size of {run.dataset.name} is not stated"] += 1
        else:
            kind = found.setdefault(key(run, size), Kind(size, []))
            kind.runs.append(run)
    return Kinds(list(found.values()), left_out)


def first_and_count(runs: list[Run]) -> str:
    """The first of some runs, and how many are like it."""
    first, *others = runs
    if not others:
        return first.name
    number = count_of(len(others), "run")
    return f"{first.name} and {number} like it"
