"""Printed names of coordinates, and the datasets that stand in for published ones."""

from collections.abc import Iterable, Mapping, Sequence

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Paper
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.report import words

SHRINKS = ("epoch", "batch", "schedule", "optimiser")
"""First parts of the coordinates that a smaller scale shrinks."""


def varying(points: Sequence[Coordinates]) -> tuple[str, ...]:
    """The keys that tell points apart, in written order; all keys if none does.

    If two paths have the same value everywhere (a batch and its micro-batch), only the first is listed.
    """
    names = dict.fromkeys(name for point in points for name in point)
    values = {name: [point.get(name) for point in points] for name in names}
    distinct: list[str] = []
    for key, column in values.items():
        repeats = "." in key and any("." in listed and values[listed] == column for listed in distinct)
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


def title(paper: Paper, keys: Sequence[str]) -> str:
    """The heading of a column of labels: ``Method``, ``s``."""
    label = key(paper, keys[0])
    return label[:1].upper() + label[1:] if "." not in keys[0] else label


def number(given: Scalar) -> str:
    """A coordinate in print, with at most four significant digits."""
    return f"{given:.4g}" if isinstance(given, float) else coordinates.show(given)


def value(paper: Paper, name: str, given: Scalar) -> str:
    """``SimCLR``, ``→ CIFAR-100``, ``s = 10``, ``epoch 100``, ``kNN accuracy (%)``; a reading's own label alone."""
    text = coordinates.show(given)
    if name == "measure":
        return measure(text)
    if name in coordinates.IDENTITY:
        return paper.label(text)
    if name == "target":
        return f"→ {paper.label(text)}"
    if name in coordinates.READINGS:
        return paper.label(text) if paper.label(text) != text else f"{key(paper, name)} {text}"
    if isinstance(given, str) and (paper.label(text) != text or name.endswith(".name")):
        return paper.label(text)
    return f"{key(paper, name)} = {number(given)}"


def measure(name: str) -> str:
    """``kNN accuracy (%)``."""
    declared = MEASURES[name]
    return f"{declared.label} ({declared.unit})" if declared.unit else declared.label


def point(paper: Paper, given: Coordinates, keys: Iterable[str]) -> str:
    """``SimCLR, s = 10, CIFAR-10 → CIFAR-100``; keys that the point lacks are left out."""
    groups = together([name for name in keys if name in given])
    return ", ".join(" ".join(value(paper, name, given[name]) for name in group) for group in groups)


def stand_in(config: Config, paper: Paper, given: Mapping[str, Scalar]) -> str:
    """``measured on digits_lt → turned_digits_lt``: the stand-ins for a point's dataset and target, if any."""
    published = _datasets(given)
    used = [config.used(name, paper.paper) for name in published]
    replaced = any(words.stand_in(config, name, paper.paper) for name in published)
    measured = f"measured on {' → '.join(dataset.name for dataset in used if dataset)}" if replaced else ""
    return not_run(config, paper, given) or measured


def not_run(config: Config, paper: Paper, given: Mapping[str, Scalar]) -> str:
    """``not run at this scale``: why a point's dataset or target cannot be measured; empty if both can."""
    notes = [words.stand_in(config, name, paper.paper) for name in _datasets(given)]
    return next((note for note in notes if note.startswith(words.NOT_RUN)), "")


def _datasets(given: Mapping[str, Scalar]) -> list[str]:
    return [str(given[name]) for name in ("dataset", "target") if name in given]


def standing(config: Config, paper: Paper, given: Coordinates, keys: Iterable[str]) -> str:
    """``CIFAR-10 (measured on digits_lt)``."""
    listed = list(keys)
    return _noted(point(paper, given, listed), stand_in(config, paper, _chosen(given, listed)))


def drawn(config: Config, paper: Paper, given: Coordinates, keys: Iterable[str]) -> str:
    """``CIFAR-10``, ``Photos (not run at this scale)``: in a figure, whose caption lists the stand-ins."""
    listed = list(keys)
    return _noted(point(paper, given, listed), not_run(config, paper, _chosen(given, listed)))


def _chosen(given: Coordinates, keys: Iterable[str]) -> dict[str, Scalar]:
    return {name: given[name] for name in keys if name in given}


def _noted(text: str, note: str) -> str:
    return f"{text} ({note})" if note else text
