"""From coordinates to a run: lay what a paper, a scale, an artifact and the command line say over one another.

From the first word to the last: the paper's ``run``, method and variant, which are named so that they can be referred
to, its ``overrides``, the scale's ``overrides``, the artifact's coordinates, the command line's ``overrides``; then the
scale's arithmetic (epochs, divisors, the factor of learning rates). The last that sets a field decides it. One thing
no scale replaces: the encoder that a variant names.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Paper
from hypersphere.config.coordinates import Scalar
from hypersphere.config.project import ScaleOverride, UsualEpochs
from hypersphere.config.run import Dataset, Run
from hypersphere.config.study import TIMES
from hypersphere.config.validation import not_one_of, sentence, validate
from hypersphere.errors import HypersphereError

ANY_SEED = 0
"""The seed of a run that stands for the runs of all seeds."""


class Layer(NamedTuple):
    """Fields of a run, and the file and section that set them."""

    file: Path
    section: str
    fields: dict[str, Any]


class Layers:
    """Layers of a run, and what they say together."""

    def __init__(self, *layers: Layer) -> None:
        self.layers: list[Layer] = []
        self.fields: dict[str, Any] = {}
        self.add(*layers)

    def add(self, *layers: Layer) -> None:
        """Lay these over the others."""
        for layer in layers:
            _lay(layer.fields, self.fields)
        self.layers += layers

    def number(self, path: str, where: str, kind: Any = int) -> Any:
        """The number of that path, for arithmetic; ``where`` is the file and section that ask for it."""
        value = _at(self.fields, path.split("."))
        if not isinstance(value, kind) or isinstance(value, bool):
            raise HypersphereError(f"{where}: {path} is no {'whole ' if kind is int else ''}number of such a run")
        return value

    def multiply(self, factors: Mapping[str, Scalar], file: Path, where: str) -> None:
        """Multiply numbers by their paths. ``0.12 * 0.1`` is not 0.012 in binary, so the product is rounded."""
        for path, factor in factors.items():
            value = self.number(path, f"{file}: {where}: {path}{TIMES}", int | float)
            if not isinstance(factor, int | float) or isinstance(factor, bool):
                raise HypersphereError(f"{file}: {where}: {path}{TIMES}: {factor} is no number")
            self.add(Layer(file, where, coordinates.nested({path: float(f"{value * factor:.6g}")})))

    def run(self, dataset: Dataset) -> Run:
        """The validated run of seed ``ANY_SEED``; whoever set a wrong value is named."""
        fields = self.fields | {"dataset": dataset, "seed": ANY_SEED}
        kind = str(fields.get("kind", "image"))
        if kind in registry.components("trainers") and not registry.read_constant("trainers", kind, "IMAGES", False):
            fields["views"] = {}  # augmentation is of images; those that are set would be part of the name
        try:
            return Run.model_validate(fields)
        except ValidationError as error:
            problem = error.errors()[0]
            # A validator's own complaint names its key first; another layer may have set the rest of the component.
            parameter = re.match(r"Value error, ([\w-]+): ", problem["msg"])
            location = [*map(str, problem["loc"]), *([parameter[1]] if parameter else [])]
            depths = range(len(location), 0, -1)  # the deepest part of the place that any layer sets
            layer = next(filter(None, (self.setting(location[:depth]) for depth in depths)), self.layers[1])
            raise HypersphereError(f"{layer.file}: {sentence(error, layer.section)}") from None

    def setting(self, location: list[str]) -> Layer | None:
        """The last layer that sets a field."""
        return next((layer for layer in reversed(self.layers) if _at(layer.fields, location) is not None), None)


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
    paths: Mapping[str, Scalar],
    dataset: Dataset,
    where: str,
) -> Resolved:
    """The run of seed ``ANY_SEED`` that coordinates describe at a scale.

    ``identity`` and ``paths`` are as published; ``dataset`` is used in place of the published one; ``where`` is the
    artifact, for errors (``artifacts.table2``).
    """
    file, method, variant = config.paper_file(paper.paper), str(identity["method"]), str(identity["variant"])
    factors = {path.removesuffix(TIMES): value for path, value in paths.items() if path.endswith(TIMES)}
    paths = {path: value for path, value in paths.items() if not path.endswith(TIMES)}
    for path in (*paths, *factors):
        field, *rest = path.split(".")
        if field not in Run.model_fields or field in ("seed", "dataset"):
            known = (*coordinates.IDENTITY, *coordinates.READINGS)
            near = get_close_matches(field, [*Run.model_fields, *known], 1)
            hint = f"; did you mean {'.'.join([near[0], *rest])}?" if near else ""
            raise HypersphereError(
                f"{file}: {where}: '{path}' is no field of a run and none of {', '.join(known)}{hint}"
            )
    for kind, name, declared in (("methods", method, paper.methods), ("variants", variant, paper.variants)):
        if name not in declared:
            raise HypersphereError(f"{file}: {kind}: {not_one_of(name, declared)}")
    described = {**identity, **paths, "paper": paper.paper}
    document = [
        Layer(file, "run", paper.run),
        Layer(file, f"methods.{method}", paper.methods[method]),
        Layer(file, f"variants.{variant}", paper.variants[variant]),
        *(Layer(file, f"overrides.{at}", one.set) for at, one in enumerate(paper.overrides) if one.matches(described)),
    ]
    artifact = Layer(file, where, coordinates.nested(paths))

    published = Layers(*document, artifact)
    published.multiply(factors, file, where)
    run_published = published.run(config.datasets[str(identity["dataset"])])
    asked = run_published.schedule.epochs
    usual = Layers(*document).number("schedule.epochs", f"{file}: methods.{method}")

    overrides = [placed for placed in config.placed if placed[2].matches(described)]
    # An encoder that a variant names is what the variant is about: only an override of variants replaces it.
    kept = {"encoder"} if "name" in paper.variants[variant].get("encoder", {}) else set[str]()
    before, after = list[Layer](), list[Layer]()
    for place, section, one in overrides:
        stays = set() if "variant" in one.when or place == cfg.COMMAND_LINE else kept
        fields = {field: value for field, value in one.set.items() if field not in stays}
        (after if place == cfg.COMMAND_LINE else before).append(Layer(place, section, fields))
    scaled = Layers(*document, *before, artifact, *after)
    scaled.multiply(factors, file, where)
    _shrink(scaled, config, overrides, asked, usual)
    run = scaled.run(dataset)
    for folder, name in (("methods", run.method.name), ("encoders", run.encoder.name)):
        of = registry.read_constant(folder, name, "KIND", "image")  # type: ignore[arg-type]
        if of != run.kind:
            raise HypersphereError(f"{file}: methods.{method}: kind: is {run.kind}, but {name} is for {of} runs")
    return Resolved(run, asked, run_published.name, scaled)


def _shrink(
    run: Layers, config: cfg.Config, overrides: list[tuple[Path, str, ScaleOverride]], asked: int, usual: int
) -> None:
    """Lay the scale's arithmetic over a run: the only place where a scale computes with a document's numbers.

    ``overrides`` are those of the scale that match the run, each with its file and its section there. ``asked`` is the
    epochs of this run in the document, ``usual`` those of its runs of this method and variant.
    """
    scale, sources = config.scale, config.sources
    # Epochs: the usual number becomes the scale's, others shrink in proportion, and a longer horizon with them.
    file, where, epochs = sources["epochs"], "epochs", scale.epochs
    for place, section, one in overrides if sources["epochs"] != cfg.COMMAND_LINE else []:
        schedule = one.set.get("schedule")
        if isinstance(schedule, dict) and "epochs" in schedule:
            file, where = place, f"{section}.schedule"
            epochs = validate(UsualEpochs, {"epochs": schedule["epochs"]}, file, where).epochs
    shrunk = asked if epochs == "published" else max(1, round(epochs * asked / usual))
    length = {"epochs": shrunk}
    if run.fields["schedule"].get("horizon") is not None:
        length["horizon"] = round(run.number("schedule.horizon", f"{file}: {where}") * shrunk / asked)
    run.add(Layer(file, where, {"schedule": length}))

    of_batches = sources["batch_divisor"], "batch_divisor", scale.batch_divisor
    divisors = {"batch.size": of_batches, "batch.micro": of_batches}
    for place, section, one in overrides:
        divisors |= {path: (place, f"{section}.divide", by) for path, by in one.divide.items()}
    for path, (file, where, by) in divisors.items():
        if by != 1:
            value = run.number(path, f"{file}: {where}") // by
            run.add(Layer(file, where, coordinates.nested({path: value})))

    if scale.learning_rate_factor != 1:
        file, where = sources["learning_rate_factor"], "learning_rate_factor"
        rate = run.number("optimiser.learning_rate", f"{file}: {where}", int | float) * scale.learning_rate_factor
        run.add(Layer(file, where, {"optimiser": {"learning_rate": rate}}))


def _at(fields: Any, path: list[str]) -> Any:
    """The value of a path; None if there is none."""
    for key in path:
        fields = fields.get(key) if isinstance(fields, dict) else None
    return fields


def _lay(above: dict[str, Any], below: dict[str, Any]) -> dict[str, Any]:
    """Merge ``above`` into ``below``; a component with another ``name`` replaces the one below with its parameters.

    ``below`` shares no mapping with others, before and after: a plan merges thousands of layers into it.
    """
    for key, value in above.items():
        if isinstance(value, dict):
            old = below[key] if isinstance(below.get(key), dict) else {}
            below[key] = _lay(value, old if value.get("name", old.get("name")) == old.get("name") else {})
        else:
            below[key] = value
    return below
