"""Pydantic's complaints as one clear sentence each, which names the file, the field and what is allowed."""

import re
import types
import typing
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from hypersphere.errors import HypersphereError

Model = typing.TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], value: Any, file: Path, prefix: str = "") -> Model:
    """Validate ``value``, turning pydantic's first complaint into a sentence about ``file``."""
    try:
        return TypeAdapter(model).validate_python(value)
    except ValidationError as error:
        raise HypersphereError(f"{file}: {sentence(model, error, prefix)}") from None


def sentence(model: type[BaseModel], error: ValidationError, prefix: str = "") -> str:
    """``field: what is wrong; allowed: …`` for the first of pydantic's errors."""
    problem = error.errors()[0]
    # A union adds the name of its member to the location, which is no field of anybody's file.
    location = [
        str(part) for part in problem["loc"] if not re.search(r"^(of_(runs|study)|int|str|list)$|[-\[]", str(part))
    ]
    field = ".".join(([prefix] if prefix else []) + location)
    message = str(problem["msg"]).removeprefix("Value error, ")
    if re.match(r"[a-z0-9_.]+: ", message):  # a component's own complaint names its parameter first
        return f"{field}.{message}" if field else message
    if problem["type"] == "extra_forbidden":
        allowed = _keys_at(model, problem["loc"][:-1])
        return f"{field}: unknown key; allowed: {', '.join(allowed)}" if allowed else f"{field}: unknown key"
    if problem["type"] == "missing":
        return f"{field}: this key is required"
    shown = problem["input"]
    given = f" (given: {shown!r})" if isinstance(shown, str | int | float | bool | list | None) else ""
    return f"{field}: {message[:1].lower()}{message[1:]}{given}"


def _keys_at(model: Any, location: tuple[int | str, ...]) -> list[str]:
    """The keys of the model found by walking ``location`` from ``model``."""
    for part in location:
        fields = getattr(model, "model_fields", None)
        model = fields[part].annotation if fields and part in fields else _inside(model, part)
    models = [m for m in [model, *typing.get_args(model)] if hasattr(m, "model_fields")]
    return list(models[0].model_fields) if models else []


def _inside(annotation: Any, part: int | str) -> Any:
    """The element type of a list, dict, Annotated or union that a location steps into."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is Annotated:
        return _inside(arguments[0], part)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        matching = [
            a
            for a in arguments
            if getattr(a, "__name__", "").lower() == str(part).replace("_", "") or hasattr(a, "model_fields")
        ]
        return matching[0] if matching else None
    return arguments[-1] if arguments else None
