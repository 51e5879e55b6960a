"""From coordinates to a run: merge, validate and shrink the layers of a paper's and a scale's YAML."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from hypersphere import files
from hypersphere.config import coordinates, registry
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Override, Paper
from hypersphere.config.coordinates import Scalar
from hypersphere.config.run import Dataset, Run
from hypersphere.config.settings import Scale, Shrunk, UsualEpochs
from hypersphere.config.study import TIMES
from hypersphere.config.validation import nearest, not_one_of, problem_to_show, sentence, validate
from hypersphere.errors import HypersphereError

ANY_SEED = 0
"""The seed of a run that stands for the runs of all seeds."""


class Layer(NamedTuple):
    """Fields of a run, and the place that sets them."""

    file: Path
    section: str
    fields: dict[str, Any]


class Resolved(NamedTuple):
    """A run at this scale, and its description in the document."""

    run: Run
    epochs: int
    """Epochs of the published schedule, which the coordinate ``epoch`` counts."""
    published: str
    """Name of the published run, before the scale: equal for two descriptions of one run."""


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
        paths: coordinates that are fields of the run, as published (``batch.size``); they override all layers.
        dataset: used in place of the published one.
        where: the artifact, for errors: ``artifacts.table2``.

    Raises:
        HypersphereError: the merged run is not valid, or two overrides disagree; the sentence names the file and the
            section that set the field.
    """
    file = config.paper_file(paper.paper)
    factors = {path.removesuffix(TIMES): value for path, value in paths.items() if path.endswith(TIMES)}
    paths = {path: value for path, value in paths.items() if not path.endswith(TIMES)}
    for path in (*paths, *factors):
        field = path.split(".")[0]
        if field not in Run.model_fields or field in ("seed", "dataset"):
            known = (*coordinates.IDENTITY, *coordinates.READINGS)
            near = nearest(field, [*Run.model_fields, *known])
            suggestion = f"; did you mean {'.'.join([near[0], *path.split('.')[1:]])}?" if near else ""
            raise HypersphereError(
                f"{file}: {where}: '{path}' is no field of a run and none of {', '.join(known)}{suggestion}"
            )
    document_layers = _document_layers(file, paper, identity, paths)
    artifact_layer = Layer(file, where, coordinates.nested(paths))
    plain = _merged(document_layers)
    published = merge(plain, artifact_layer.fields)
    _multiply(published, factors, f"{file}: {where}")
    described = _published_run(published, config.datasets[str(identity["dataset"])], [*document_layers, artifact_layer])
    shrunk = shrinking(config, paper.paper, {**identity, **paths})
    scale_layers = _scale_layers(config, paper.paper, str(identity["method"]), shrunk)
    layers = [*document_layers, *scale_layers, artifact_layer]
    merged = _merged(layers) | {"dataset": dataset.model_dump(), "seed": ANY_SEED}
    _multiply(merged, factors, f"{file}: {where}")
    try:
        usual, asked = plain["schedule"]["epochs"], published["schedule"]["epochs"]
        for at, one in shrunk.items():
            _divide(merged, one, f"{config.sources['per_paper']}: per_paper.{paper.paper}.overrides.{at}.divide")
        divisors = [one.batch_divisor for one in shrunk.values() if one.batch_divisor is not None]
        scale = config.scale.model_copy(update={"batch_divisor": [config.scale.batch_divisor, *divisors][-1]})
        _shrink(merged, scale, _epochs(config, scale_layers), usual, asked)
        run = Run.model_validate(merged)
    except ValidationError as error:
        raise HypersphereError(_sentence(error, layers)) from None
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise HypersphereError(f"{file}: methods.{identity['method']}: {error} is missing or not a number") from None
    _check_kind(run, file, str(identity["method"]))
    return Resolved(run, described.schedule.epochs, described.name)


def _check_kind(run: Run, file: Path, method: str) -> None:
    """Check that the method and the encoder are for runs of this kind."""
    parts: tuple[tuple[registry.Kind, str], ...] = (("methods", run.method.name), ("encoders", run.encoder.name))
    for folder, name in parts:
        of = registry.read_constant(folder, name, "KIND", "image")
        if of != run.kind:
            raise HypersphereError(f"{file}: methods.{method}: kind: is {run.kind}, but {name} is for {of} runs")


def _published_run(fields: dict[str, Any], dataset: Dataset, layers: list[Layer]) -> Run:
    """The run as the document describes it. Whether a default is written out or not, its name is the same."""
    try:
        return Run.model_validate(fields | {"dataset": dataset.model_dump(), "seed": ANY_SEED})
    except ValidationError as error:
        raise HypersphereError(_sentence(error, layers)) from None


def _document_layers(
    file: Path, paper: Paper, identity: Mapping[str, Scalar], paths: Mapping[str, Scalar]
) -> list[Layer]:
    """The paper's layers, the weakest first.

    Raises:
        HypersphereError: a method or variant is not declared, or two overrides disagree.
    """
    method, variant = str(identity["method"]), str(identity["variant"])
    for kind, name, known in (("methods", method, paper.methods), ("variants", variant, paper.variants)):
        if name not in known:
            raise HypersphereError(f"{file}: {kind}: {not_one_of(name, known)}")
    matching = [(index, one) for index, one in enumerate(paper.overrides) if one.matches({**identity, **paths})]
    matching.sort(key=lambda pair: len(pair[1].when))  # an override with more conditions wins
    _check_agreement(file, matching)
    return [
        Layer(file, "run", paper.run),
        Layer(file, f"methods.{method}", paper.methods[method]),
        Layer(file, f"variants.{variant}", paper.variants[variant]),
        *(Layer(file, f"overrides.{index}", one.set) for index, one in matching),
    ]


def _check_agreement(file: Path, matching: list[tuple[int, Override]]) -> None:
    """Check overrides that match one run, sorted by their number of conditions.

    Raises:
        HypersphereError: two set one field to different values, and neither has all conditions of the other and more.
    """
    for place, (first, low) in enumerate(matching):
        for second, high in matching[place + 1 :]:
            before, after = _leaves(low.set), _leaves(high.set)
            fields = sorted(one for one in before for other in after if _clash(one, before, other, after))
            if fields and not low.when.keys() < high.when.keys():
                raise HypersphereError(
                    f"{file}: overrides.{first} and overrides.{second} both match a run and disagree on {fields[0]}; "
                    "add a condition under `when` to one of them"
                )


def _clash(one: str, before: Mapping[str, str], other: str, after: Mapping[str, str]) -> bool:
    """Whether one field gets two values, or is set once as a whole and once in part."""
    if one == other:
        return before[one] != after[other]
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """The values of the innermost fields as text, by path."""
    leaves: dict[str, str] = {}
    for key, value in fields.items():
        path = f"{prefix}{key}"
        leaves |= _leaves(value, f"{path}.") if isinstance(value, Mapping) else {path: files.canonical_json(value)}
    return leaves


def shrinking(config: cfg.Config, paper: str, run: Mapping[str, Scalar]) -> dict[int, Shrunk]:
    """The scale's own overrides for a run of a paper, by their place in the file.

    Args:
        config: of the scale.
        paper: the document's id.
        run: the coordinates that identify the run, as published.
    """
    return {at: one for at, one in enumerate(config.replaced(paper).overrides) if one.matches(run)}


def _scale_layers(config: cfg.Config, paper: str, method: str, shrunk: Mapping[int, Shrunk]) -> list[Layer]:
    """The scale's layers, the weakest first; each is in the scale's file, or was set on the command line."""
    scale, sources, replaced = config.scale, config.sources, config.replaced(paper)
    return [
        Layer(sources["run"], "run", scale.run),
        Layer(sources["methods"], f"methods.{method}", scale.methods.get(method, {})),
        Layer(sources["per_paper"], f"per_paper.{paper}.run", replaced.run),
        Layer(sources["per_paper"], f"per_paper.{paper}.methods.{method}", replaced.methods.get(method, {})),
        *(Layer(sources["per_paper"], f"per_paper.{paper}.overrides.{at}", one.set) for at, one in shrunk.items()),
    ]


def _epochs(config: cfg.Config, scale_layers: list[Layer]) -> int | Literal["published"]:
    """What the document's usual epochs become: those of the command line, of the scale's last layer, or of the scale.

    Raises:
        HypersphereError: a layer's number is none.
    """
    if config.sources["epochs"] == cfg.COMMAND_LINE:
        return config.scale.epochs
    for file, section, fields in reversed(scale_layers):
        schedule = fields.get("schedule")
        if isinstance(schedule, dict) and "epochs" in schedule:
            return validate(UsualEpochs, {"epochs": schedule["epochs"]}, file, f"{section}.schedule").epochs
    return config.scale.epochs


def _merged(layers: list[Layer]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in layers:
        _lay(layer.fields, merged)
    if merged.get("kind", "image") != "image":
        merged["views"] = {}  # augmentation is of images; those that a paper or scale sets would be part of the name
    return merged


def _multiply(run: dict[str, Any], factors: Mapping[str, Scalar], where: str) -> None:
    """Multiply fields of a run in place, by their paths.

    Raises:
        HypersphereError: the run has no such number, or a factor is none; the sentence begins with ``where``.
    """
    for path, factor in factors.items():
        *outer, last = path.split(".")
        part: Any = run
        for key in outer:
            part = part.get(key) if isinstance(part, dict) else None
        value = part.get(last) if isinstance(part, dict) else None
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, factor)):
            raise HypersphereError(f"{where}: {path}{TIMES}: {path} is no number of such a run, or {factor} is none")
        part[last] = float(f"{value * factor:.6g}")  # type: ignore[operator]  # 0.12 * 0.1 is not 0.012 in binary


def _divide(run: dict[str, Any], shrunk: Shrunk, where: str) -> None:
    """Divide, in place, what an override of a scale divides; nothing becomes less than 1.

    Raises:
        HypersphereError: the run has no such number; the sentence begins with ``where``.
    """
    for path, divisor in shrunk.divide.items():
        *outer, last = path.split(".")
        part: Any = run
        for key in outer:
            part = part.get(key) if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(part.get(last), int):
            raise HypersphereError(f"{where}: {path} is no whole number of such a run")
        part[last] = max(1, part[last] // divisor)


def _shrink(run: dict[str, Any], scale: Scale, epochs: int | Literal["published"], usual: int, published: int) -> None:
    """Apply the scale's epochs, batch divisor and learning-rate factor in place.

    ``usual`` epochs of the document become ``epochs``; a coordinate that sets another number shrinks in proportion.
    """
    schedule = run["schedule"]
    if epochs != "published":
        shrunk = max(1, round(epochs * published / usual))
        if schedule.get("horizon") is not None:  # keeps its ratio to the epochs
            schedule["horizon"] = round(schedule["horizon"] * shrunk / published)
        schedule["epochs"] = shrunk
    for key in ("size", "micro"):
        run["batch"][key] = run["batch"][key] // scale.batch_divisor
    run["optimiser"]["learning_rate"] = run["optimiser"]["learning_rate"] * scale.learning_rate_factor


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Deep merge; a component with another ``name`` replaces the one below as a whole, with its parameters.

    The result shares no mapping with the arguments, so that it may be changed.
    """
    result: dict[str, Any] = _copied(below)
    _lay(above, result)
    return result


def _lay(above: dict[str, Any], below: dict[str, Any]) -> None:
    """``merge`` into ``below``, which shares no mapping with others; a plan merges thousands of layers."""
    for key, value in above.items():
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and value.get("name", old.get("name")) == old.get("name"):
            _lay(value, old)
        else:
            below[key] = _copied(value)


def _copied(value: Any) -> Any:
    """A deep copy of mappings; other values are never changed, and are shared."""
    return {key: _copied(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _sentence(error: ValidationError, layers: list[Layer]) -> str:
    problem = problem_to_show(error)
    location = [str(part) for part in problem["loc"]]
    # A component's own complaint names its parameter first; another layer may have set the rest of the component.
    parameter = re.match(r"Value error, ([\w-]+): ", problem["msg"])
    file, section = _blame(layers, location + ([parameter[1]] if parameter else []))
    return f"{file}: {sentence(Run, error, section)}"


def _blame(layers: list[Layer], location: list[str]) -> tuple[Path, str]:
    """The file and section of the last layer that sets the deepest known part of ``location``."""
    for depth in range(len(location), 0, -1):
        for layer in reversed(layers):
            value: Any = layer.fields
            for part in location[:depth]:
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                return layer.file, layer.section
    return layers[1].file, layers[1].section
