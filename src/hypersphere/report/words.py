"""Numbers, coordinates and datasets in print, and the sentences on a scale that all outputs share."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from hypersphere.config import coordinates, rules
from hypersphere.config.artifacts import Paper
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Verdict
from hypersphere.config.run import Dataset
from hypersphere.config.study import BEST
from hypersphere.report.numbers import interval as interval
from hypersphere.report.numbers import number as number
from hypersphere.report.numbers import with_sign as with_sign
from hypersphere.report.results import settles

NOT_RUN = Verdict.NOT_RUN
CONTROLS = {"chance": "chance", "pixels": "raw pixels", "untrained": "untrained encoder"}
DATA = ("dataset", "target")
"""The coordinates that name data."""
FEW = 4
"""Up to so many values are listed one by one; of more, only the first and the last."""


def with_decimals(text: str, decimals: int) -> str:
    """A published number with its printed decimals, at least the metric's."""
    return number(float(text), max(decimals, len(text.partition(".")[2])))


def whole(value: float) -> int:
    """A count from a column of numbers, in which a missing one is NaN and counts as 0."""
    return 0 if math.isnan(value) else int(value)


def seeds_without_value(row: Mapping[str, Any]) -> dict[str, int]:
    """How many seeds of a row have no value, by the reason: those that diverged, and those of which it is undefined."""
    counts = {status: whole(float(row.get(f"n_{status}", math.nan))) for status in WITHOUT_VALUE}
    return {status: count for status, count in counts.items() if count}


def several(values: Iterable[str]) -> str:
    """The different values, in the given order: ``64``, ``64, 128``, or ``0.5 to 40`` if there are many."""
    listed = list(dict.fromkeys(values))
    return ", ".join(listed) if len(listed) <= FEW else f"{listed[0]} to {listed[-1]}"


def distinct(values: Iterable[object]) -> str:
    """The different values, sorted; ``not run`` if there is none."""
    return ", ".join(sorted({str(value) for value in values if value})) or NOT_RUN


def confidence(config: Config) -> str:
    """The level of every interval: ``95 %``."""
    return f"{100 * rules.load(config.root).confidence:g} %"


def notice(config: Config) -> str:
    """Whether results of this scale count as a reproduction, in one or two sentences."""
    if settles(config):
        return "The published setting, under the readings and choices listed with each claim."
    if config.scale.level == "paper":
        return "Not a reproduction: numbers of the published scale were changed for this run of the pipeline."
    kind = {
        "quick": "a check that the whole pipeline works, with smaller data, encoder and schedule than published",
        "laptop": "a reduced setting, with a smaller encoder and a shorter schedule than published",
    }[config.scale.level]
    return f"Not a reproduction: {kind}. No encoder trained at this scale counts for or against a published number."


def scale_line(config: Config) -> str:
    return f"Scale {config.scale_name} (level {config.scale.level}): {config.scale.describe}."


def scale_note(config: Config) -> str:
    """The first note of every artifact made from runs: what its scale is, and what that is worth."""
    return f"{scale_line(config)} {notice(config)}"


def varying(points: Sequence[Coordinates]) -> tuple[str, ...]:
    """The keys that tell points apart, in written order; all keys if none does.

    If two paths have the same value everywhere (a batch and its micro-batch), only the first is listed.
    """
    values: dict[str, list[Scalar | None]] = {}
    for name in chain.from_iterable(points):
        if name not in values:
            values[name] = [point.get(name) for point in points]
    distinct: list[str] = []
    for key, column in values.items():
        repeats = "." in key and any(
            "." in listed and values[listed] == column for listed in distinct
        )
        if len(set(column)) > 1 and not repeats:
            distinct.append(key)
    return tuple(distinct or values)


def together(keys: Sequence[str]) -> list[tuple[str, ...]]:
    """Keys in groups with one label each: a dataset and the target it is probed on share a label."""
    has_both = "dataset" in keys and "target" in keys
    groups = [("dataset", "target") if has_both and key == "dataset" else (key,) for key in keys]
    return [group for group in groups if not (has_both and group == ("target",))]


def key(paper: Paper, name: str) -> str:
    """``s`` for ``logits.s``: the paper's own label, or the last part of the path."""
    label = paper.label(name)
    return label if label != name else name.rpartition(".")[2].replace("_", " ")


def short(given: Scalar) -> str:
    """A coordinate in print, with at most four significant digits."""
    return f"{given:.4g}" if isinstance(given, float) else coordinates.show(given)


def value(paper: Paper, name: str, given: Scalar) -> str:
    """``SimCLR``, ``→ CIFAR-100``, ``s = 10``, ``epoch 100``, ``kNN accuracy (%)``; a reading's own label alone."""
    text = coordinates.show(given)
    if given == BEST:
        return "tuned"
    if name == "measure":
        return measure(text)
    if name in coordinates.IDENTITY:
        return paper.label(text)
    if name == "target":
        return f"→ {paper.label(text)}"
    if name in coordinates.READINGS:
        # a corruption may have a method's name
        labelled = paper.label(text) != text and text not in paper.methods
        return paper.label(text) if labelled else f"{key(paper, name)} {text}"
    if isinstance(given, str) and (paper.label(text) != text or name.endswith(".name")):
        return paper.label(text)
    return f"{key(paper, name)} = {short(given)}"


def measure(name: str) -> str:
    """``kNN accuracy (%)``."""
    declared = MEASURES[name]
    return f"{declared.label} ({declared.unit})" if declared.unit else declared.label


def point(paper: Paper, given: Coordinates, keys: Iterable[str]) -> str:
    """``SimCLR, s = 10, CIFAR-10 → CIFAR-100``; keys that the point lacks are left out."""
    named = {name: value(paper, name, given[name]) for name in keys if name in given}
    return ", ".join(" ".join(map(named.__getitem__, group)) for group in together(list(named)))


def datasets_for(config: Config, paper: str, given: Coordinates) -> dict[str, Dataset | None]:
    """What is measured for a point's dataset and target, by these keys; None: nothing stands for it at this scale."""
    known, names = (
        {*config.scale.datasets, *config.datasets},
        [name for name in DATA if name in given],
    )
    return {
        name: config.dataset_for(str(given[name]), paper) if given[name] in known else None
        for name in names
    }
