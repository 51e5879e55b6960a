"""A run: all settings that decide its result, frozen, validated, and named by its content.

The name's digest covers the canonical JSON of the fields that differ from their defaults, so that a new optional field
whose default means "as before" renames nothing. Device, threads, snapshots and paths belong to execution, not to a run.
"""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.recipe import Batch, Optimiser, Schedule, Views
from hypersphere.config.validation import (
    Identifier,
    NonNegativeInt,
    PositiveInt,
    Strict,
    one_of,
    read_mapping,
    sentence,
    unknown_key,
    validate,
)
from hypersphere.errors import HypersphereError

CHECKED = {"checked": True}
"""The context of validation for what was checked before it was written by us: fields are read, and not judged again."""


class Component(BaseModel):
    """A named function and its parameters: ``{name: nt_xent, temperature: 0.5}``."""

    model_config = ConfigDict(frozen=True, extra="allow")
    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments that differ from the function's defaults."""
        return dict(self.model_extra or {})


def _check(kind: registry.Kind) -> AfterValidator:
    """Validate a component's parameters by its function's signature, and drop those that equal the default."""

    def check(component: Component, info: ValidationInfo) -> Component:
        if info.context == CHECKED:
            return component
        components = registry.checked_components(kind, component.name)
        text = repr(component.model_extra)
        if text not in components:
            components[text] = checked_anew(component)
        return components[text]

    def checked_anew(component: Component) -> Component:
        try:
            model = registry.schema(kind, component.name)
        except HypersphereError as error:
            raise ValueError(f"name: {error}") from None
        try:
            parameters = model.model_validate(component.parameters)
        except ValidationError as error:
            raise ValueError(sentence(error)) from None
        return Component(name=component.name, **parameters.model_dump(exclude_defaults=True))

    return AfterValidator(check)


def _has_batch_norm(kind: registry.Kind, component: Component) -> bool:
    """Whether a method's heads or an encoder have batch norm, as its file and its parameters say."""
    declared = registry.read_constant(kind, component.name, "BATCH_NORM", False)
    if isinstance(declared, bool):
        return declared
    parameters = registry.schema(kind, component.name).model_validate(component.parameters)
    return any(getattr(parameters, name) for name in declared)


Method = Annotated[Component, _check("methods")]
Objective = Annotated[Component, _check("objectives")]
Logits = Annotated[Component, _check("logits")]
Gradient = Annotated[Component, _check("gradients")]
Initialisation = Annotated[Component, _check("initialisations")]
Encoder = Annotated[Component, _check("encoders")]
Source = Annotated[Component, _check("datasets")]
Probe = Annotated[Component, _check("probes")]


class Imbalance(Strict):
    """Class i keeps int(head · ratio^-i) training images, i = 0 … classes-1 (norms paper, Sec. 6)."""

    head: PositiveInt
    ratio: Annotated[float, Field(ge=1)]
    seed: NonNegativeInt = 0
    keep: Literal["drawn", "first"] = "drawn"
    """Which images a class keeps: drawn by the seed, or its first ones, as the norms paper's code does."""

    @model_validator(mode="after")
    def _no_second_name(self) -> Self:
        if self.keep == "first" and self.seed:
            raise ValueError("seed: nothing is drawn if the first images are kept; leave it out")
        return self


class Dataset(Strict):
    """A source of images, and the part of its training and test sets that is used (by default, all)."""

    name: Identifier
    source: Source | None = None
    """None: nothing loads it yet, so that runs on it are planned and not trained."""
    imbalance: Imbalance | None = None
    test_per_class: PositiveInt | None = None

    @cached_property
    def folder(self) -> str:
        """The folder name of the prepared copy, which changes with the dataset's settings."""
        return f"{self.name}-{files.digest(self.model_dump(exclude_defaults=True), 8)}"


class Run(Strict):
    """One pretraining."""

    dataset: Dataset
    views: Views
    method: Method
    objective: Objective
    encoder: Encoder
    optimiser: Optimiser
    schedule: Schedule
    batch: Batch
    logits: Logits | None = None
    """The map from cosines to logits, for an objective that leaves it open (margins paper)."""
    regulariser: Objective | None = None
    """A second objective, added to the first."""
    gradient: Gradient | None = None
    initialisation: Initialisation | None = None
    seed: NonNegativeInt

    kind: Annotated[str, one_of(lambda: registry.components("trainers"))] = "image"
    """The kind of data: the name of what trains it, a file of training/trainers/ or of a plug-in's trainers/."""
    views_b: Views | None = None
    """The augmentation of the second view, if it differs from the first: weak and strong (margins paper, App. C.1)."""

    @model_validator(mode="after")
    def _fits(self, info: ValidationInfo) -> Self:
        """Check that method, objectives, logits and encoder fit together."""
        if info.context == CHECKED:
            return self
        method = self.method.name
        encoder = self.encoder.name
        objective = self.objective.name
        taken = registry.tensors("objectives", objective)
        problem = registry.misfit(method, objective)
        if problem:
            raise ValueError(f"objective: {problem}")
        if self.regulariser:
            taken += registry.tensors("objectives", self.regulariser.name)
            problem = registry.misfit(method, self.regulariser.name, main=False)
            if problem:
                raise ValueError(f"regulariser: {problem}")
        if self.logits is None and registry.TO_LOGITS in taken:
            known = ", ".join(registry.names("logits"))
            raise ValueError(f"logits: {objective} needs one of {known}")
        if self.logits is not None and registry.TO_LOGITS not in taken:
            raise ValueError(f"logits: {objective} takes none: leave it out")
        encoders = registry.read_constant("methods", method, "ENCODERS", ())
        if encoders and encoder not in encoders:
            needed = " or ".join(encoders)
            raise ValueError(f"encoder: {method} needs {needed} (given: {encoder})")
        parts: dict[str, registry.Kind] = {"method": "methods", "encoder": "encoders"}
        for field, kind in parts.items():
            name = getattr(self, field).name
            of_runs = registry.read_constant(kind, name, "KIND", "image")
            if of_runs != self.kind:
                raise ValueError(f"{field}: {name} is for runs of kind {of_runs}, not {self.kind}")
        return self

    @model_validator(mode="after")
    def _views_fit(self, info: ValidationInfo) -> Self:
        """Check that the method takes the views, and the encoder both of them in one way."""
        if info.context == CHECKED:
            return self
        takes_colours = registry.read_constant("encoders", self.encoder.name, "SRGB", False)
        if takes_colours and self.views.normalisation is not None:
            raise ValueError(
                f"views.normalisation: {self.encoder.name} converts colours itself; leave it out"
            )
        if self.views_b is None:
            return self
        if registry.read_constant("methods", self.method.name, "VIEWS", 2) == 1:
            raise ValueError(f"views_b: {self.method.name} takes one view; leave it out")
        if self.views_b == self.views:  # it would give one run a second name
            raise ValueError("views_b: equals views; leave it out")
        # a step has one tensor of views, and an encoder one way to see them
        for field in ("side", "normalisation"):
            if getattr(self.views_b, field) != getattr(self.views, field):
                raise ValueError(f"views_b.{field}: must be as in views")
        return self

    @model_validator(mode="after")
    def _batch_fits(self, info: ValidationInfo) -> Self:
        """Refuse one image under batch norm, and parts where the encoder is not what takes a pass."""
        if info.context == CHECKED:
            return self
        batch = self.batch
        method = self.method.name
        normalised = _has_batch_norm("encoders", self.encoder)
        if batch.micro == 1 and (normalised or _has_batch_norm("methods", self.method)):
            name = method if _has_batch_norm("methods", self.method) else self.encoder.name
            raise ValueError(
                f"batch.micro: {name} has batch norm, and a batch of one image has no spread; "
                "give at least 2 images a pass"
            )
        if batch.parts == 1:
            return self
        if not registry.read_constant("trainers", self.kind, "IMAGES", False):
            raise ValueError(
                f"batch.parts: runs of images are taken in parts, runs of kind {self.kind} are not"
            )
        if groups := self.method.parameters.get("groups"):
            raise ValueError(
                f"batch.parts: {method} takes a pass in {groups} groups of its own; "
                "give parts or method.groups, not both"
            )
        if batch.parts == batch.micro and normalised:
            raise ValueError(
                f"batch.parts: {self.encoder.name} has batch norm, and a part of one image has no spread; "
                "give at least 2 images a part"
            )
        return self

    @property
    def components(self) -> tuple[tuple[registry.Named, str], ...]:
        """The kind and name of each component that makes it, without its dataset."""
        parts: list[tuple[registry.Named, Component | None]] = [
            ("methods", self.method),
            ("encoders", self.encoder),
            ("objectives", self.objective),
            ("logits", self.logits),
            ("objectives", self.regulariser),
            ("gradients", self.gradient),
            ("initialisations", self.initialisation),
        ]
        given = [(kind, part.name) for kind, part in parts if part]
        return (("trainers", self.kind), *given)

    @property
    def branches(self) -> tuple[Views, ...]:
        """The augmentation of each view that the method takes."""
        both = (self.views, self.views if self.views_b is None else self.views_b)
        return both[: registry.read_constant("methods", self.method.name, "VIEWS", 2)]

    def check_batch(self, examples: int) -> None:
        """Refuse a training set of fewer examples than a batch."""
        if self.batch.size > examples:
            raise HypersphereError(
                f"run {self.name}: batch.size {self.batch.size} is more than the {examples} training examples of "
                f"{self.dataset.name}"
            )

    def of_seed(self, seed: int) -> "Run":
        """The same run with another seed."""
        fields = {field: getattr(self, field) for field in self.model_fields_set}
        return Run.model_construct(**{**fields, "seed": seed})

    def as_yaml(self) -> str:
        """Every field, as ``read`` takes it."""
        return files.as_yaml(self.model_dump(mode="json"))

    @cached_property
    def name(self) -> str:
        """Content name, for example ``simclr-cut3-cifar10_lt-s0-1f3a9c2e``.

        ``cut3`` is a readable word for its difference from the plain method; ``default`` if there is none.
        """
        words = []
        for part in (self.logits, self.regulariser, self.initialisation, self.gradient):
            if part:
                values = map(_plain, part.parameters.values())
                word = part.name.removesuffix("_initialisation").replace("_", "")
                words.append(word + "_".join(values))
        changes = "-".join(words) or "default"
        digest = files.digest(self.model_dump(exclude_defaults=True, mode="json"), 8)
        return f"{self.method.name}-{changes}-{self.dataset.name}-s{self.seed}-{digest}"


def _plain(value: Any) -> str:
    """A parameter in a name: ``3``, ``0.5``."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def read(file: Path) -> Run:
    """The run of a file such as run.yaml, which has all of its fields, or all that differ from their defaults."""
    return validate(Run, read_mapping(file), file)


def _check_fields(fields: dict[str, Any]) -> dict[str, Any]:
    known = [name for name in Run.model_fields if name not in ("dataset", "seed")]
    for key in fields:
        if key not in known:
            raise ValueError(f"{key}: {unknown_key(str(key), known)}")
    return fields


RunFields = Annotated[dict[str, Any], AfterValidator(_check_fields)]
"""Some fields of a run, to be merged with others; dataset and seed come from the artifact and the scale."""
