"""Coordinates: everything that says which number is meant, as ``key=value;key=value`` in one canonical order.

Keys are of three sorts: identity (method, variant, dataset), any path into a run (``objective.temperature``), and
readings, which train nothing (epoch, target, split …). Values are as published; a scale says what stands for them.
"""

import re
from collections.abc import Mapping, Sequence

from hypersphere.errors import HypersphereError

Scalar = str | int | float | bool
Coordinates = Mapping[str, Scalar]

IDENTITY = ("method", "variant", "dataset")
READINGS = ("epoch", "target", "split", "label", "bucket", "corruption", "severity", "measure")
"""``epoch`` counts the published schedule's epochs; ``target`` is the dataset that a probe looks at, if another one."""
PAIR = "method.variant"
"""A key of axes that stands for two: ``simclr.default``."""
_NAME = re.compile(r"[A-Za-z0-9_+\-.]+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def normal(value: Scalar) -> Scalar:
    """A value in its one form: whole floats are integers, text that reads as a number is that number."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in ("true", "false"):
            return value == "true"
        if not _NUMBER.fullmatch(value):  # nor is "1_000" one, nor "nan"
            return value
        value = float(value)
    return int(value) if float(value).is_integer() else float(value)


def show(value: Scalar) -> str:
    """A value as text: ``0.5``, ``40``, ``true``, ``cifar10``."""
    value = normal(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.10g}" if isinstance(value, int | float) else value


def _place(key: str) -> tuple[int, int, str]:
    if key in IDENTITY:
        return 0, IDENTITY.index(key), key
    if key in READINGS:
        return 2, READINGS.index(key), key
    return 1, 0, key


def ordered(coordinates: Coordinates) -> dict[str, Scalar]:
    """The same coordinates in canonical order: identity, paths into the run, readings."""
    return {key: normal(coordinates[key]) for key in sorted(coordinates, key=_place)}


def text(coordinates: Coordinates) -> str:
    """The canonical text; empty for none."""
    return ";".join(f"{key}={show(value)}" for key, value in ordered(coordinates).items())


def parse(written: str, where: str) -> dict[str, Scalar]:
    """Coordinates from their text, in canonical order.

    Args:
        written: ``epoch=100;batch.size=512``; empty for none.
        where: file and field, for the error.

    Raises:
        HypersphereError: not of that form, or a key is given twice.
    """
    found: dict[str, Scalar] = {}
    for part in filter(None, written.split(";")):
        key, equals, value = part.partition("=")
        if not (equals and _NAME.fullmatch(key) and _NAME.fullmatch(value)):
            raise HypersphereError(f"{where}: '{part}' is not key=value")
        if key in found:
            raise HypersphereError(f"{where}: {key} is given twice")
        found[key] = normal(value)
    return ordered(found)


def setting(coordinates: Coordinates) -> str:
    """The text of what has no column of its own in claims.csv: all but identity and measure."""
    return text({key: value for key, value in coordinates.items() if key not in (*IDENTITY, "measure")})


def of_run(coordinates: Coordinates) -> dict[str, Scalar]:
    """The paths into the run among coordinates."""
    return {key: value for key, value in ordered(coordinates).items() if key not in (*IDENTITY, *READINGS)}


def of_probe(coordinates: Coordinates) -> dict[str, Scalar]:
    """The readings that choose among the values that one probe gives: all but epoch, target and measure."""
    chosen = READINGS[2:-1]
    return {key: value for key, value in ordered(coordinates).items() if key in chosen}


Axis = dict[str, Scalar | list[Scalar]] | list[dict[str, Scalar | list[Scalar]]]
"""A product of lists, or a list of such products; a single value stands for a list of one."""


def points(axis: Axis) -> list[dict[str, Scalar]]:
    """Every point of an axis, in the order written; the last key varies fastest.

    Raises:
        ValueError: a value of ``method.variant`` has no dot, or a point is there twice.
    """
    found = [point for product in (axis if isinstance(axis, list) else [axis]) for point in _product(product)]
    texts = [text(point) for point in found]
    if twice := {one for one in texts if texts.count(one) > 1}:
        raise ValueError(f"{min(twice)} is listed twice")
    return found


def _product(lists: Mapping[str, Scalar | Sequence[Scalar]]) -> list[dict[str, Scalar]]:
    found: list[dict[str, Scalar]] = [{}]
    for key, values in lists.items():
        several = list(values) if isinstance(values, list | tuple) else [values]
        found = [{**point, **_pair(key, value)} for point in found for value in several]  # type: ignore[arg-type]
    return found


def _pair(key: str, value: Scalar) -> dict[str, Scalar]:
    if key != PAIR:
        return {key: normal(value)}
    method, dot, variant = str(value).partition(".")
    if not dot:
        raise ValueError(f"'{value}' is not method.variant")
    return {"method": method, "variant": variant}


def nested(paths: Mapping[str, Scalar]) -> dict[str, object]:
    """``{"batch.size": 512}`` as ``{"batch": {"size": 512}}``."""
    result: dict[str, object] = {}
    for path, value in paths.items():
        inner = result
        *outer, last = path.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})  # type: ignore[assignment]
        inner[last] = value
    return result
