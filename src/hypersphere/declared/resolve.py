"""From coordinates to a run: the layers of a paper's and a scale's YAML, merged, validated, and shrunk."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from hypersphere import files
from hypersphere.declared import config as cfg
from hypersphere.declared import coordinates
from hypersphere.declared.artifacts import Override, Paper
from hypersphere.declared.coordinates import Scalar
from hypersphere.declared.run import Dataset, Run
from hypersphere.declared.validation import sentence
from hypersphere.errors import HypersphereError

ANY_SEED = 0
"""Of a run that stands for those of all seeds."""


class Layer(NamedTuple):
    """Fields of a run, and who sets them."""

    file: Path
    section: str
    fields: dict[str, Any]


class Resolved(NamedTuple):
    """A run at this scale, and what the document says of it."""

    run: Run
    epochs: int
    """Of the published schedule: what the coordinate ``epoch`` counts."""
    published: str
    """Name of the published run, before the scale: by it, two descriptions are seen to be one."""


def resolve(
    config: cfg.Config,
    paper: Paper,
    identity: Mapping[str, Scalar],
    paths: Mapping[str, Scalar],
    dataset: Dataset,
    where: str,
) -> Resolved:
    """Merge paper, method, variant, overrides, scale and coordinates into one validated run, with seed ``ANY_SEED``.

    Args:
        config: of the scale.
        paper: the document.
        identity: method, variant and published dataset.
        paths: coordinates that are fields of the run, as published (``batch.size``); they have the last word.
        dataset: what stands for the published one.
        where: the artifact that asks, for errors: ``artifacts.table2``.

    Raises:
        HypersphereError: the merged run is not valid, or two overrides disagree; the sentence names the file and the
            section that set the field.
    """
    file = config.paper_file(paper.paper)
    for path in paths:
        field = path.split(".")[0]
        if field not in Run.model_fields or field in ("seed", "dataset"):
            known = ", ".join((*coordinates.IDENTITY, *coordinates.READINGS))
            raise HypersphereError(f"{file}: {where}: '{path}' is no field of a run and none of {known}")
    document = _document(file, paper, identity, paths)
    asked = Layer(file, where, coordinates.nested(paths))
    plain = _merged(document)
    published = merge(plain, asked.fields)
    described = _published(published, config.datasets[str(identity["dataset"])], [*document, asked])
    layers = [*document, *_scale(config, paper.paper, str(identity["method"])), asked]
    merged = _merged(layers) | {"dataset": dataset.model_dump(), "seed": ANY_SEED}
    try:
        _shrink(merged, config, paper, plain["schedule"]["epochs"], published["schedule"]["epochs"])
        run = Run.model_validate(merged)
    except ValidationError as error:
        raise HypersphereError(_sentence(error, layers)) from None
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise HypersphereError(f"{file}: methods.{identity['method']}: {error} is missing or not a number") from None
    return Resolved(run, described.schedule.epochs, described.name)


def _published(fields: dict[str, Any], dataset: Dataset, layers: list[Layer]) -> Run:
    """The run as the document has it: two descriptions of one, a default written out or not, have one name."""
    try:
        return Run.model_validate(fields | {"dataset": dataset.model_dump(), "seed": ANY_SEED})
    except ValidationError as error:
        raise HypersphereError(_sentence(error, layers)) from None


def _document(file: Path, paper: Paper, identity: Mapping[str, Scalar], paths: Mapping[str, Scalar]) -> list[Layer]:
    method, variant = str(identity["method"]), str(identity["variant"])
    for kind, name, known in (("methods", method, paper.methods), ("variants", variant, paper.variants)):
        if name not in known:
            raise HypersphereError(f"{file}: {kind}: '{name}' is not one of {', '.join(known) or 'none'}")
    matching = [(at, one) for at, one in enumerate(paper.overrides) if one.matches({**identity, **paths})]
    matching.sort(key=lambda pair: len(pair[1].when))  # the more it asks, the later it speaks
    _agree(file, matching)
    return [
        Layer(file, "run", paper.run),
        Layer(file, f"methods.{method}", paper.methods[method]),
        Layer(file, f"variants.{variant}", paper.variants[variant]),
        *(Layer(file, f"overrides.{at}", one.set) for at, one in matching),
    ]


def _agree(file: Path, matching: list[tuple[int, Override]]) -> None:
    """Of two overrides that set one field, one must ask for all that the other asks for, and more."""
    for place, (first, low) in enumerate(matching):
        for second, high in matching[place + 1 :]:
            before, after = _leaves(low.set), _leaves(high.set)
            both = sorted(one for one in before for other in after if _clash(one, before, other, after))
            if both and not low.when.keys() < high.when.keys():
                raise HypersphereError(
                    f"{file}: overrides.{first} and overrides.{second} both match and disagree on {both[0]}; "
                    "let one of them ask for more"
                )


def _clash(one: str, before: Mapping[str, str], other: str, after: Mapping[str, str]) -> bool:
    """Whether one field gets two values, or one of them as a whole and in part."""
    if one == other:
        return before[one] != after[other]
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Every innermost field by its path, its value as text."""
    found: dict[str, str] = {}
    for key, value in fields.items():
        path = f"{prefix}{key}"
        found |= _leaves(value, f"{path}.") if isinstance(value, Mapping) else {path: files.canonical_json(value)}
    return found


def _scale(config: cfg.Config, paper: str, method: str) -> list[Layer]:
    file, scale = config.scale_file, config.scale
    own = scale.per_paper.get(paper, cfg.Replaced())
    return [
        Layer(file, "run", scale.run),
        Layer(file, f"methods.{method}", scale.methods.get(method, {})),
        Layer(file, f"per_paper.{paper}.run", own.run),
        Layer(file, f"per_paper.{paper}.methods.{method}", own.methods.get(method, {})),
    ]


def _merged(layers: list[Layer]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = merge(merged, layer.fields)
    return merged


def _shrink(run: dict[str, Any], config: cfg.Config, paper: Paper, usual: int, published: int) -> None:
    """Apply the scale's epochs, batch divisor and learning-rate factor in place.

    ``usual`` epochs of the document become the scale's; a coordinate that asks for other ones shrinks in proportion.
    """
    scale, schedule = config.scale, run["schedule"]
    epochs = scale.per_paper.get(paper.paper, cfg.Replaced()).epochs or scale.epochs
    if epochs != "published":
        shrunk = max(1, round(epochs * published / usual))
        if schedule.get("horizon") is not None:  # as much longer than training as it was
            schedule["horizon"] = round(schedule["horizon"] * shrunk / published)
        schedule["epochs"] = shrunk
    for key in ("size", "micro"):
        run["batch"][key] = run["batch"][key] // scale.batch_divisor
    run["optimiser"]["learning_rate"] = run["optimiser"]["learning_rate"] * scale.learning_rate_factor


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Deep merge; a component given by another ``name`` replaces the one below whole, parameters included.

    No mapping of the result is one of the arguments', so that it may be changed.
    """
    result = _copied(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and value.get("name", old.get("name")) == old.get("name"):
            result[key] = merge(old, value)
        else:
            result[key] = _copied(value)
    return result


def _copied(value: Any) -> Any:
    """Mappings anew; anything else is never changed, and is shared."""
    return {key: _copied(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _sentence(error: ValidationError, layers: list[Layer]) -> str:
    problem = error.errors()[0]
    location = [str(part) for part in problem["loc"]]
    # A component's own complaint names its parameter first; another layer may have set the rest of the component.
    parameter = re.match(r"Value error, ([a-z_]+): ", problem["msg"])
    file, section = _blame(layers, location + ([parameter[1]] if parameter else []))
    return f"{file}: {sentence(Run, error, section)}"


def _blame(layers: list[Layer], location: list[str]) -> tuple[Path, str]:
    """The file and section that last set the deepest known part of ``location``."""
    for depth in range(len(location), 0, -1):
        for layer in reversed(layers):
            value: Any = layer.fields
            for part in location[:depth]:
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                return layer.file, layer.section
    return layers[1].file, layers[1].section
