"""Coordinates: the keys and values that identify a number, as ``key=value;key=value`` in one canonical order.

There are three kinds of keys: identity (method, variant, dataset), any path into a run (``objective.temperature``), and
readings, which change no training (epoch, target, split …). Values are as published; a scale may replace them.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from hypersphere.config.validation import Strict
from hypersphere.errors import HypersphereError

Scalar = str | int | float | bool
Coordinates = Mapping[str, Scalar]

IDENTITY = ("method", "variant", "dataset")
READINGS = (
    *("epoch", "target", "by", "split", "label", "bucket", "extreme", "pairs", "bias", "clusters"),
    *("augmentation", "corruption", "severity"),
    "measure",
)
"""``epoch`` counts epochs of the published schedule, or is a share of the training, ``25%``; ``target`` is the probed
dataset, if it is another one; ``by`` is the protocol, where an artifact compares several."""
PAIR = "method.variant"
"""A key of axes that stands for two, with values such as ``simclr.default``."""
_NAMED = {*IDENTITY, *READINGS}
_NAME = re.compile(r"[A-Za-z0-9_+\-.]+%?")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


@lru_cache(maxsize=4096, typed=True)  # 1, 1.0 and true are equal keys, and not the same value
def normal(value: Scalar) -> Scalar:
    """A value in canonical form: whole floats become integers, and text that reads as a number becomes that number."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in ("true", "false"):
            return value == "true"
        if not NUMBER.fullmatch(value):  # "1_000" and "nan" are text too
            return value
        value = float(value)
    return int(value) if float(value).is_integer() else float(value)


def alternatives(value: Scalar | Sequence[Scalar]) -> list[Scalar]:
    """One value, or each of a list, in canonical form."""
    return [normal(one) for one in ([value] if isinstance(value, str | int | float) else value)]


@lru_cache(maxsize=4096, typed=True)
def show(value: Scalar) -> str:
    """A value as text: ``0.5``, ``40``, ``true``, ``cifar10``."""
    value = normal(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.10g}" if isinstance(value, int | float) else value


class Position(dict[str, Scalar]):
    """Coordinates in canonical order and form: which number is meant. Nobody changes them, so that they can be keys.

    Files and sentences show their text.
    """

    @cached_property
    def text(self) -> str:
        """``key=value;key=value``; empty for none."""
        return ";".join(f"{key}={show(value)}" for key, value in self.items())

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.text)


def in_order(coordinates: Coordinates) -> Position:
    """The coordinates in canonical order: identity, paths into the run, readings."""
    paths = sorted(coordinates.keys() - _NAMED)
    return Position(
        {
            key: normal(coordinates[key])
            for key in (*IDENTITY, *paths, *READINGS)
            if key in coordinates
        }
    )


def text(coordinates: Coordinates) -> str:
    """The canonical text; empty for none."""
    return in_order(coordinates).text


@lru_cache(maxsize=4096)
def parse(line: str, where: str) -> Position:
    """Coordinates from text such as ``epoch=100;batch.size=512``, in canonical order; errors begin with ``where``."""
    parsed: dict[str, Scalar] = {}
    for part in filter(None, line.split(";")):
        key, equals, value = part.partition("=")
        if not (equals and _NAME.fullmatch(key) and _NAME.fullmatch(value)):
            raise HypersphereError(f"{where}: '{part}' is not key=value")
        if key in parsed:
            raise HypersphereError(f"{where}: {key} is given twice")
        parsed[key] = normal(value)
    return in_order(parsed)


def setting(coordinates: Coordinates) -> str:
    """The text of the coordinates without a column of their own in claims.csv: all but identity and measure."""
    return text(
        {key: value for key, value in coordinates.items() if key not in (*IDENTITY, "measure")}
    )


def of_run(coordinates: Coordinates) -> Position:
    """The paths into the run among coordinates."""
    return Position(
        {key: value for key, value in in_order(coordinates).items() if key not in _NAMED}
    )


def without_readings(coordinates: Coordinates) -> Position:
    """Identity and paths into the run: all but readings, which train nothing."""
    return in_order({key: value for key, value in coordinates.items() if key not in READINGS})


def of_probe(coordinates: Coordinates) -> Position:
    """The readings that choose among the values that one probe gives: all but epoch, target, by and measure."""
    return Position(
        {key: value for key, value in in_order(coordinates).items() if key in READINGS[3:-1]}
    )


Axis = dict[str, Scalar | list[Scalar]] | list[dict[str, Scalar | list[Scalar]]]
"""A product of lists, or a list of such products; a single value is a list of one."""


def points(axis: Axis) -> list[dict[str, Scalar]]:
    """Every point of an axis, in the order written; the last key varies fastest."""
    listed: list[dict[str, Scalar]] = []
    for lists in axis if isinstance(axis, list) else [axis]:
        listed += combinations([_points_of(key, values) for key, values in lists.items()])
    if repeated := [one for one, count in Counter(map(text, listed)).items() if count > 1]:
        raise ValueError(f"{min(repeated)} is listed twice")
    return listed


def _points_of(key: str, values: Scalar | list[Scalar]) -> list[dict[str, Scalar]]:
    """The points of one key of an axis, which may stand for method and variant."""
    if key != PAIR:
        return [{key: value} for value in alternatives(values)]
    pairs: list[dict[str, Scalar]] = []
    for value in values if isinstance(values, list) else [values]:
        method, dot, variant = str(value).partition(".")
        if not dot:
            raise ValueError(f"'{value}' is not method.variant")
        pairs.append({"method": method, "variant": variant})
    return pairs


def combinations(axes: Iterable[list[dict[str, Scalar]]]) -> list[dict[str, Scalar]]:
    """Every combination of one point of each axis; the last axis varies fastest."""
    every = []
    for parts in itertools.product(*axes):
        point: dict[str, Scalar] = {}
        for part in parts:
            point |= part
        every.append(point)
    return every


def nest(paths: Mapping[str, Scalar]) -> dict[str, Any]:
    """``{"batch.size": 512}`` as ``{"batch": {"size": 512}}``."""
    result: dict[str, Any] = {}
    for path, value in paths.items():
        inner = result
        *outer, last = path.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return result


Pair = tuple[Position, Position]
"""A cell, and the one that it is compared with."""


class Contrast(Strict):
    """Cells of an artifact, and what differs in the cell that each is compared with."""

    of: dict[str, Scalar | list[Scalar]]
    """The cells have one of these values of each key."""
    against: dict[str, Scalar]

    def pairs(self, points: Sequence[Position]) -> list[Pair]:
        """Its cells among ``points``, each with the one that it is compared with, if that is another of them."""
        against = {key: normal(value) for key, value in self.against.items()}
        there = {point: point for point in points}
        pairs = []
        for point in points:
            other = there.get(in_order({**point, **against}))
            if covers(self.of, point) and other is not None and other != point:
                pairs.append((point, other))
        return pairs


def covers(values: Mapping[str, Any], point: Coordinates) -> bool:
    """Whether a cell has one of the ``values`` of each key."""
    return all(point.get(key) in alternatives(value) for key, value in values.items())
