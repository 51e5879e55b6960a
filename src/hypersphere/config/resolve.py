"""Resolve coordinates to a run: lay what a paper, a scale, an artifact and the command line say over one another.

The layers are, from the first to the last: the paper's ``run``; its method and variant, which have names so that others
can refer to them; its ``overrides``; the scale's ``overrides``; the artifact's coordinates; the command line's
``overrides``. Then comes the scale's arithmetic (epochs and divisors). The last layer that sets a field decides the
field, and its name stays beside it. A scale never replaces the encoder that a variant names. It never changes fields of
a part that the run does not have, because the paper says ``null`` or nothing. Only a mapping with a ``name`` adds a
part.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from pydantic import ValidationError

from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Paper
from hypersphere.config.coordinates import Scalar
from hypersphere.config.project import Layer, Placed, UsualEpochs
from hypersphere.config.run import Dataset, Run
from hypersphere.config.study import TIMES
from hypersphere.config.validation import COMMAND_LINE, not_one_of, sentence, validate
from hypersphere.errors import HypersphereError

ANY_SEED = 0
"""The seed of a run that stands for the runs of all seeds."""


class Description(NamedTuple):
    """What an artifact, or the selection of a study, says of a run by path; and the file and section that say it."""

    file: Path
    section: str
    values: Mapping[str, Scalar]
    """The fields that it sets."""
    factors: Mapping[str, Scalar]
    """What it multiplies of what the document declares, by path, and the factor."""

    @property
    def layer(self) -> Layer:
        """The fields that it sets."""
        return Layer(self.file, self.section, coordinates.nest(self.values))


def describe(file: Path, section: str, paths: Mapping[str, Scalar]) -> Description:
    """What a section says by paths into a run, of which one that ends in ``.times`` multiplies."""
    values = dict(paths)
    factors = {}
    for path in paths:
        if path.endswith(TIMES):
            factors[path.removesuffix(TIMES)] = values.pop(path)
    for path in (*values, *factors):
        _check_path(path, f"{file}: {section}")
    return Description(file, section, values, factors)


def _check_path(path: str, where: str) -> None:
    """Refuse what is no path into a run."""
    field, *rest = path.split(".")
    if field not in Run.model_fields or field in ("seed", "dataset"):
        known = (*coordinates.IDENTITY, *coordinates.READINGS)
        near = get_close_matches(field, [*Run.model_fields, *known], 1)
        hint = f"; did you mean {'.'.join([*near, *rest])}?" if near and near != [field] else ""
        raise HypersphereError(
            f"{where}: '{path}' is neither a field of a run nor one of {', '.join(known)}{hint}"
        )


class Layers:
    """Layers of a run, what they say together, and which of them set each field."""

    def __init__(self, *layers: Layer) -> None:
        self.layers: list[Layer] = []
        self.fields: dict[str, Any] = {}
        self.origins: dict[str, Any] = {}
        """The layers behind ``fields``, in the same shape: each innermost field has the layer that set it, then
        those that computed with it. What another layer drops is in neither."""
        self.add(*layers)

    def add(self, *layers: Layer) -> None:
        """Lay these over the others."""
        for layer in layers:
            _lay(layer.fields, self.fields, self.origins, layer)
        self.layers += layers

    def change(self, *layers: Layer) -> None:
        """Lay these over the others, but for fields of parts that the run does not have."""
        for layer in layers:
            fields = dict(layer.fields)
            for field, value in layer.fields.items():
                partial = isinstance(value, dict) and "name" not in value
                if partial and not isinstance(self.fields.get(field), dict):
                    del fields[field]
            self.add(layer._replace(fields=fields))

    def number(self, path: str, where: str, kind: Any = int) -> Any:
        """The number of that path, for arithmetic; ``where`` is the file and section that ask for it."""
        value = _at(self.fields, path.split("."))
        if not _is_number(value, kind):
            what = "whole number" if kind is int else "number"
            raise HypersphereError(f"{where}: {path} is not a {what} of such a run")
        return value

    def multiply(self, description: Description) -> None:
        """Multiply numbers by the factors of their paths."""
        for path, factor in description.factors.items():
            where = f"{description.file}: {description.section}: {path}{TIMES}"
            value = self.number(path, where, int | float)
            if not _is_number(factor, int | float):
                raise HypersphereError(f"{where}: {factor} is not a number")
            self.compute(
                Layer(description.file, description.section, {path: product(value, factor)}),
                f"times {coordinates.show(factor)}",
            )

    def compute(self, layer: Layer, how: str) -> None:
        """Lay numbers, by their paths, over those that they were computed from; ``how`` is said beside them."""
        self.add(layer._replace(fields=coordinates.nest(layer.fields), computes=how))

    def run(self, dataset: Dataset) -> Run:
        """The validated run of seed ``ANY_SEED``; whoever set a wrong value is named."""
        fields = self.fields | {"dataset": dataset, "seed": ANY_SEED}
        kind = str(fields.get("kind", "image"))
        known = kind in registry.components("trainers")
        if known and not registry.read_constant("trainers", kind, "IMAGES", False):
            # Augmentation is of images; views that are set would be part of the name.
            fields["views"] = self.fields["views"] = {}
            self.origins["views"] = {}
        try:
            return Run.model_validate(fields)
        except ValidationError as error:
            layer = self._layer_at_fault(error) or self.layers[1]
            raise HypersphereError(f"{layer.file}: {sentence(error, layer.section)}") from None

    def _layer_at_fault(self, error: ValidationError) -> Layer | None:
        """The last layer that sets the deepest part of the place of an error; None: no layer sets any."""
        problem = error.errors()[0]
        location = [*map(str, problem["loc"])]
        # A validator's own complaint names its key first; another layer may have set the rest of the component.
        if parameter := re.match(r"Value error, ([\w.-]+): ", problem["msg"]):
            location += parameter[1].split(".")
        for depth in range(len(location), 0, -1):
            for layer in reversed(self.layers):
                if _holds(layer.fields, location[:depth]):
                    return layer
        return None

    def setting(self, path: Sequence[str]) -> tuple[Layer, ...]:
        """The layer that set an innermost field, and those that computed with it; none: it has its default."""
        layers = _at(self.origins, path)
        return layers if isinstance(layers, tuple) else ()


def product(value: float, factor: float) -> float:
    """The product of two numbers as they are written: ``0.12 * 0.1`` is 0.012, and 1 changes no digit."""
    if isinstance(value, int) and isinstance(factor, int):
        return value * factor
    return float(Decimal(str(value)) * Decimal(str(factor)))


def _is_number(value: Any, kind: Any) -> TypeGuard[float]:
    """Whether it is one to compute with; YAML has infinities, too."""
    return isinstance(value, kind) and not isinstance(value, bool) and abs(value) != math.inf


class Resolved(NamedTuple):
    """A run at this scale, and its description in the document."""

    run: Run
    epochs: int
    """Epochs of the published schedule, which the coordinate ``epoch`` counts."""
    published: str
    """Name of the published run, before the scale: equal for two descriptions of one run."""
    layers: Layers
    """What set the run's fields."""


def resolve(
    config: cfg.Config,
    paper: Paper,
    identity: Mapping[str, Scalar],
    descriptions: Sequence[Description],
    dataset: Dataset,
) -> Resolved:
    """The run of seed ``ANY_SEED`` that coordinates describe at a scale.

    ``identity`` and ``descriptions`` are as published; ``dataset`` is used in place of the published one. The first
    description is the artifact's, which names method and variant; ``paper`` declares both, and need not be its own.
    """
    for key, declared in (("method", paper.methods), ("variant", paper.variants)):
        name = str(identity[key])
        if name not in declared:
            artifact = descriptions[0]
            raise HypersphereError(
                f"{artifact.file}: {artifact.section}: {key}: {not_one_of(name, declared)}"
            )
    point = dict(identity)
    for one in descriptions:
        point |= one.values
    document = _of_document(config, paper, point)
    described = [one.layer for one in descriptions]

    published = Layers(*document, *described)
    for one in descriptions:
        published.multiply(one)
    run_published = published.run(config.datasets[str(identity["dataset"])])
    epochs = run_published.schedule.epochs

    overrides = [placed for placed in config.placed if placed.matches(paper.paper, point)]
    # An encoder that a variant names is what the variant is about: only an override of variants replaces it.
    of_variant = paper.variants[str(identity["variant"])]
    own_fields = {"encoder"} if "name" in of_variant.get("encoder", {}) else set[str]()
    of_command_line = [_changes(one, set()) for one in overrides if one.file == COMMAND_LINE]
    of_files = [_changes(one, own_fields) for one in overrides if one.file != COMMAND_LINE]
    scaled = Layers(*document)
    of_method = document[1]
    usual = scaled.number("schedule.epochs", f"{of_method.file}: {of_method.section}")
    scaled.change(*of_files)
    scaled.add(*described)
    scaled.change(*of_command_line)
    for one in descriptions:
        scaled.multiply(one)
    _shrink(scaled, config, overrides, epochs, usual)
    return Resolved(scaled.run(dataset), epochs, run_published.name, scaled)


def _of_document(config: cfg.Config, paper: Paper, point: Mapping[str, Scalar]) -> list[Layer]:
    """What a document says of the run with these coordinates: in general, and of its method and variant."""
    file = config.paper_file(paper.paper)
    method = str(point["method"])
    variant = str(point["variant"])
    layers = [
        Layer(file, "run", paper.run),
        Layer(file, f"methods.{method}", paper.methods[method]),
        Layer(file, f"variants.{variant}", paper.variants[variant]),
    ]
    for at, one in enumerate(paper.overrides):
        if one.matches(point):
            layers.append(Layer(file, f"overrides.{at}", one.set))
    return layers


def _changes(placed: Placed, own_fields: Collection[str]) -> Layer:
    """What a scale's override changes in a run: no ``own_fields`` of its variant, no epochs, which ``_shrink`` sets."""
    override = placed.override
    fields = dict(override.set)
    if "variant" not in override.when:
        for field in own_fields:
            fields.pop(field, None)
    schedule = fields.get("schedule")
    if isinstance(schedule, dict):
        fields["schedule"] = {key: value for key, value in schedule.items() if key != "epochs"}
    return Layer(placed.file, placed.section, fields)


def _shrink(
    run: Layers, config: cfg.Config, overrides: list[Placed], asked: int, usual: int
) -> None:
    """Lay the scale's arithmetic over a run: the only place where a scale computes with a document's numbers.

    ``overrides`` are those of the scale that match the run. ``asked`` is the epochs of this run in the document,
    ``usual`` those of its runs of this method and variant.
    """
    # Epochs: the usual number becomes the scale's, others shrink in proportion, and a longer horizon with them.
    file = config.source("epochs")
    where = "epochs"
    epochs = config.scale.epochs
    for one in overrides if file != COMMAND_LINE else []:
        schedule = one.override.set.get("schedule")
        if isinstance(schedule, dict) and "epochs" in schedule:
            file = one.file
            where = one.section
            given = {"epochs": schedule["epochs"]}
            epochs = validate(UsualEpochs, given, file, f"{where}.schedule").epochs
    if epochs != "published":
        shrunk = max(1, round(epochs * asked / usual))
        if run.fields["schedule"].get("horizon") is not None:
            published = run.number("schedule.horizon", f"{file}: {where}")
            horizon = {"schedule.horizon": round(published * shrunk / asked)}
            run.compute(Layer(file, where, horizon), f"times {shrunk} / {asked}")
        how = f"times {epochs} / {usual}" if asked != usual else ""
        run.compute(Layer(file, where, {"schedule.epochs": shrunk}), how)

    of_batches = Layer(config.source("batch_divisor"), "batch_divisor", {})
    divisors = dict.fromkeys(
        ("batch.size", "batch.micro"), (of_batches, config.scale.batch_divisor)
    )
    for one in overrides:
        for path, by in one.override.divide.items():
            divisors[path] = Layer(one.file, f"{one.section}.divide", {}), by
    for path, (layer, by) in divisors.items():
        if by != 1:
            value = run.number(path, f"{layer.file}: {layer.section}") // by
            run.compute(layer._replace(fields={path: value}), f"divided by {by}")


def _at(fields: Any, path: Sequence[str]) -> Any:
    """The value of a path; None if there is none."""
    for key in path:
        fields = fields.get(key) if isinstance(fields, dict) else None
    return fields


def _holds(fields: Any, path: Sequence[str]) -> bool:
    """Whether there is something at a path, be it null."""
    *outer, last = path
    inner = _at(fields, outer)
    return isinstance(inner, dict) and last in inner


def _lay(
    above: dict[str, Any], below: dict[str, Any], origins: dict[str, Any], layer: Layer
) -> None:
    """Merge ``above``, of a layer, into ``below``, and note in ``origins`` what it sets.

    A component with another ``name`` replaces the one below with its parameters. ``below`` shares no mapping with
    others, before and after: a plan merges thousands of layers into it.
    """
    for key, value in above.items():
        if isinstance(value, dict):
            old = below.get(key)
            if not isinstance(old, dict) or value.get("name", old.get("name")) != old.get("name"):
                below[key] = {}
                origins[key] = {}
            _lay(value, below[key], origins[key], layer)
        else:
            beneath = origins.get(key, ()) if layer.computes else ()
            below[key] = value
            origins[key] = (*beneath, layer)
