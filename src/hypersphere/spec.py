"""What a run is: everything that decides its result, frozen, validated, and named by its content.

The name's digest is over canonical JSON of the fields that differ from their default, so a new optional field whose
default means "as before" renames nothing. Device, threads, snapshots and paths are not here: they are execution.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from hypersphere import files, registry
from hypersphere.errors import HypersphereError
from hypersphere.registry import Fraction


class Spec(BaseModel):
    """Frozen and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Component(BaseModel):
    """A named function and its parameters: ``{name: nt_xent, temperature: 0.5}``."""

    model_config = ConfigDict(frozen=True, extra="allow")
    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """Keyword arguments, only those that differ from the function's own defaults."""
        return dict(self.model_extra or {})


def _check(kind: registry.Kind) -> AfterValidator:
    """Validate a component's parameters against its function's signature, and drop those equal to the default."""

    def check(component: Component) -> Component:
        try:
            model = registry.schema(kind, component.name)
        except HypersphereError as error:
            raise ValueError(f"name: {error}") from None
        try:
            parameters = model.model_validate(component.parameters)
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(map(str, problem["loc"]))
            known = f"; {component.name} takes {', '.join(model.model_fields) or 'no parameters'}"
            raise ValueError(
                f"{field}: {problem['msg']}{known if problem['type'] == 'extra_forbidden' else ''}"
            ) from None
        return Component(name=component.name, **parameters.model_dump(exclude_defaults=True))

    return AfterValidator(check)


Method = Annotated[Component, _check("methods")]
Objective = Annotated[Component, _check("objectives")]
Logits = Annotated[Component, _check("logits")]
Gradient = Annotated[Component, _check("gradients")]
Initialisation = Annotated[Component, _check("initialisations")]
Encoder = Annotated[Component, _check("encoders")]
Source = Annotated[Component, _check("datasets")]
Probe = Annotated[Component, _check("probes")]


class Imbalance(Spec):
    """Class i keeps int(head · ratio^-i) training images, i = 0 … classes-1 (norms paper, Sec. 6)."""

    head: PositiveInt
    ratio: Annotated[float, Field(ge=1)]
    seed: NonNegativeInt = 0


class Dataset(Spec):
    """A source of images, and what is kept of its training and test sets (all of it, unless said)."""

    name: str
    source: Source
    imbalance: Imbalance | None = None
    test_per_class: PositiveInt | None = None

    @property
    def folder(self) -> str:
        """The prepared copy's folder name, which changes with the content asked for."""
        return f"{self.name}-{files.digest(self.model_dump(exclude_defaults=True), 8)}"


class Views(Spec):
    """Random augmentation of one view; strengths as in torchvision's transforms."""

    crop_scale: tuple[PositiveFloat, PositiveFloat] = (0.2, 1.0)
    flip: Fraction = 0.5
    brightness: NonNegativeFloat = 0.4
    contrast: NonNegativeFloat = 0.4
    saturation: NonNegativeFloat = 0.4
    hue: Annotated[float, Field(ge=0, le=0.5)] = 0.1
    jitter_probability: Fraction = 0.8
    grayscale: Fraction = 0.2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.crop_scale[0] <= self.crop_scale[1] <= 1:
            raise ValueError("crop_scale must be [smallest, largest] with smallest <= largest <= 1")
        return self


class Optimiser(Spec):
    """Stochastic gradient descent. ``learning_rate`` is per 256 images: the peak is learning_rate · batch / 256."""

    name: Literal["sgd"] = "sgd"
    learning_rate: PositiveFloat
    weight_decay: NonNegativeFloat
    momentum: Fraction = 0.9
    nesterov: bool = False


class Schedule(Spec):
    """Linear warm-up over a fraction of all optimiser steps, then cosine to zero."""

    epochs: PositiveInt
    warmup: Fraction


class Batch(Spec):
    """Images per optimiser step, and per forward pass (gradients of the passes are averaged)."""

    size: PositiveInt
    micro: PositiveInt

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.size % self.micro:
            raise ValueError(f"size {self.size} is not a multiple of micro {self.micro}")
        return self


class Run(Spec):
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
    """How cosines become logits, for an objective that leaves it open (margins paper)."""
    regulariser: Objective | None = None
    """A second objective, added to the first."""
    gradient: Gradient | None = None
    initialisation: Initialisation | None = None
    seed: NonNegativeInt

    @model_validator(mode="after")
    def _fed(self) -> Self:
        """Every objective is given what it takes, and the map to logits is there if, and only if, one takes it."""
        terms = {"objective": self.objective, "regulariser": self.regulariser}
        taken = {name: registry.tensors("objectives", term.name) for name, term in terms.items() if term}
        given = registry.gives(self.method.name)
        for field, names in taken.items():
            lacking = [name for name in names if name not in registry.EMBEDDINGS | {registry.TO_LOGITS, *given}]
            if lacking:
                word = ", ".join(["two batches of embeddings", *given])
                name = getattr(self, field).name
                raise ValueError(f"{field}: {name} needs {', '.join(lacking)}; {self.method.name} gives {word}")
        if any(registry.TO_LOGITS in names for names in taken.values()) != (self.logits is not None):
            known = ", ".join(registry.names("logits"))
            verb = f"needs one of {known}" if self.logits is None else "takes none: leave it out"
            raise ValueError(f"logits: {self.objective.name} {verb}")
        return self

    def scientific(self) -> dict[str, Any]:
        """The fields that the name is taken over: those that differ from their defaults."""
        return self.model_dump(exclude_defaults=True, mode="json")

    @property
    def tag(self) -> str:
        """A readable word for how the run departs from its method: ``default``, ``cut3``, ``gradscale1``."""
        changes = [part for part in (self.logits, self.regulariser, self.initialisation, self.gradient) if part]
        words = [
            part.name.removesuffix("_initialisation").replace("_", "")
            + "_".join(f"{v:g}" if isinstance(v, int | float) else v for v in part.parameters.values())
            for part in changes
        ]
        return "-".join(words) or "default"

    @property
    def name(self) -> str:
        """Content name, for example ``simclr-cut3-cifar10_lt-s0-1f3a9c2e``."""
        parts = (
            self.method.name,
            self.tag,
            self.dataset.name,
            f"s{self.seed}",
            files.digest(self.scientific(), 8),
        )
        return "-".join(parts)
