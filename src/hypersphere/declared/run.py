"""What a run is: everything that decides its result, frozen, validated, and named by its content.

The name's digest is over canonical JSON of the fields that differ from their default, so a new optional field whose
default means "as before" renames nothing. Device, threads, snapshots and paths are not here: they are execution.
"""

from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from hypersphere import files
from hypersphere.declared import registry
from hypersphere.declared.recipe import Batch, Optimiser, Schedule, Views
from hypersphere.declared.validation import Strict, nearest, sentence
from hypersphere.errors import HypersphereError


class Component(BaseModel):
    """A named function and its parameters: ``{name: nt_xent, temperature: 0.5}``."""

    model_config = ConfigDict(frozen=True, extra="allow")
    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_is_spelt(cls, value: Any) -> Any:
        """Any key is allowed here, so a misspelt ``name`` would be taken for a parameter."""
        if isinstance(value, dict) and "name" not in value:
            for key in filter(lambda key: nearest(str(key), ["name"]), value):
                raise ValueError(f"{key}: unknown; did you mean name?")
        return value

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
            raise ValueError(sentence(model, error, owner=component.name)) from None
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


class Imbalance(Strict):
    """Class i keeps int(head · ratio^-i) training images, i = 0 … classes-1 (norms paper, Sec. 6)."""

    head: PositiveInt
    ratio: Annotated[float, Field(ge=1)]
    seed: NonNegativeInt = 0


class Dataset(Strict):
    """A source of images, and what is kept of its training and test sets (all of it, unless said)."""

    name: str
    source: Source | None = None
    """None: declared, and nothing loads it yet. What is trained on it is planned, and not run."""
    imbalance: Imbalance | None = None
    test_per_class: PositiveInt | None = None

    @cached_property
    def folder(self) -> str:
        """The prepared copy's folder name, which changes with the content asked for."""
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
    """How cosines become logits, for an objective that leaves it open (margins paper)."""
    regulariser: Objective | None = None
    """A second objective, added to the first."""
    gradient: Gradient | None = None
    initialisation: Initialisation | None = None
    seed: NonNegativeInt

    kind: Literal["image", "text", "control"] = "image"
    """What it is trained on; training/trainers/ has a file for each kind that can be trained."""
    views_b: Views | None = None
    """How the second view is made, if not as the first: weak beside strong (margins paper, App. C.1)."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """The method is given what it takes, and gives its objectives what they take."""
        terms = {"objective": self.objective.name, "regulariser": self.regulariser and self.regulariser.name}
        for field, name in terms.items():
            problem = registry.misfit(self.method.name, name, main=field == "objective") if name else None
            if problem:
                raise ValueError(f"{field}: {problem}")
        taken = [name for name in terms.values() if name and registry.takes_logits(name)]
        if bool(taken) != (self.logits is not None):
            known = ", ".join(registry.names("logits"))
            verb = f"needs one of {known}" if self.logits is None else "takes none: leave it out"
            raise ValueError(f"logits: {self.objective.name} {verb}")
        if self.views_b is not None and registry.read_constant("methods", self.method.name, "VIEWS", 2) == 1:
            raise ValueError(f"views_b: {self.method.name} looks at one view")
        if self.views_b == self.views:  # a second name for one run
            raise ValueError("views_b: the same as views: leave it out")
        encoders = registry.read_constant("methods", self.method.name, "ENCODERS", ())
        if encoders and self.encoder.name not in encoders:
            raise ValueError(f"encoder: {self.method.name} needs {' or '.join(encoders)} (given: {self.encoder.name})")
        return self

    @property
    def branches(self) -> tuple[Views, ...]:
        """How each view that the method looks at is made."""
        both = (self.views, self.views if self.views_b is None else self.views_b)
        return both[: registry.read_constant("methods", self.method.name, "VIEWS", 2)]

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

    @cached_property
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
