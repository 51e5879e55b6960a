"""In which settings two runs differ, with the parameters that have their defaults filled in.

A setting is a field of a run by its path, ``optimiser.learning_rate``. A component, a dataset or the augmentation of a
view that stands in place of another one, or of nothing, is one setting: ``encoder``.
"""

from typing import Any, NamedTuple

from pydantic import BaseModel

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.run import Component, Run

KINDS: dict[str, registry.Kind] = {
    "method": "methods",
    "objective": "objectives",
    "encoder": "encoders",
    "logits": "logits",
    "regulariser": "objectives",
    "gradient": "gradients",
    "initialisation": "initialisations",
}
"""The fields of a run that are components, and their kinds."""
NONE = "none"
"""What stands for a field that a run does not have."""


class Change(NamedTuple):
    """The value of one setting in a first run, and in a second one, as people type them."""

    first: str
    second: str


def between(first: Run, second: Run) -> dict[str, Change]:
    """The settings in which two runs differ, by path, in the order of a run's fields; seeds are no settings."""
    changes = {}
    for field in changed_fields(first, second):
        old = getattr(first, field)
        new = getattr(second, field)
        if _is_replaced(old, new):
            changes[field] = Change(_in_words(old), _in_words(new))
            continue
        before = _filled(field, old)
        after = _filled(field, new)
        for key, value in before.items():
            if value != after[key]:
                changes[f"{field}.{key}"] = Change(_in_words(value), _in_words(after[key]))
    return changes


def changed_fields(first: Run, second: Run) -> list[str]:
    """The fields of a run, without their parameters, in which two runs differ."""
    fields = [field for field in Run.model_fields if field != "seed"]
    return [field for field in fields if getattr(first, field) != getattr(second, field)]


def _is_replaced(old: Any, new: Any) -> bool:
    """Whether one thing stands in place of another, so that their parameters are not compared."""
    if not (isinstance(old, BaseModel) and isinstance(new, BaseModel)):
        return True
    return getattr(old, "name", "") != getattr(new, "name", "")


def _filled(field: str, part: BaseModel) -> dict[str, Any]:
    """All parameters of a part of a run, those that have their default, too."""
    if not isinstance(part, Component):
        return part.model_dump(mode="json")
    model = registry.schema(KINDS[field], part.name)
    return model.model_validate(part.parameters).model_dump(mode="json")


def _in_words(value: Any) -> str:
    """A value as one would type it; of a component its name, and the parameters that differ from their defaults."""
    if value is None:
        return NONE
    if isinstance(value, Component):
        parameters = [f"{key} {_in_words(one)}" for key, one in value.parameters.items()]
        return f"{value.name} ({', '.join(parameters)})" if parameters else value.name
    if isinstance(value, BaseModel):
        return getattr(value, "name", None) or files.canonical_json(value.model_dump(mode="json"))
    return value if isinstance(value, str) else files.canonical_json(value)
