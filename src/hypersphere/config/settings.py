"""The fields of config/config.yaml and of config/scales/<scale>.yaml."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PositiveFloat,
    model_validator,
)

from hypersphere.config.artifacts import Need, Override
from hypersphere.config.run import RunFields
from hypersphere.config.study import SeedList
from hypersphere.config.validation import Epochs, NonNegativeInt, PositiveInt, Strict

Level = Literal["quick", "laptop", "paper"]


class Seeds(Strict):
    """The seeds of a table's cells and of a sweep's. A single list in YAML serves for both."""

    tables: SeedList
    sweeps: SeedList

    @model_validator(mode="before")
    @classmethod
    def _from_one_list(cls, value: Any) -> Any:
        return {"tables": value, "sweeps": value} if isinstance(value, list) else value


def _each_once(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"'{name}' is listed twice")
    return names


def _split(value: Any) -> Any:
    """Split a command line's text at spaces, into the list that the setting takes."""
    return value.split() if isinstance(value, str) else value


class Settings(Strict):
    """config/config.yaml: what to rebuild and where."""

    scale: str = "quick"
    only: Annotated[list[str], BeforeValidator(_split), AfterValidator(_each_once)] = Field(default_factory=list)
    """Papers, and artifacts as ``paper/artifact``, to make; empty: all. Nothing else is touched."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data_root: str | None = None
    evidence_only: bool = False
    """Whether numbers come from the records in ``evidence/<scale>/`` alone, so that nothing is trained."""


class Resources(Strict):
    """What one training job asks of Snakemake: mebibytes, minutes, devices."""

    mem_mb: PositiveInt
    runtime: PositiveInt
    gpu: NonNegativeInt


class Shrunk(Override):
    """What a scale replaces in the runs of one paper that match ``when``: those of one dataset, those of a sweep."""

    set: RunFields = Field(default_factory=dict)
    batch_divisor: PositiveInt | None = None
    """In place of the scale's."""
    divide: dict[str, PositiveInt] = Field(default_factory=dict)
    """Whole numbers of the run, by path (``method.queue``), divided by these after all layers."""
    leaves_out: bool = False
    """Whether their cells are not made at this scale."""


class Replaced(Strict):
    """What a scale replaces in the runs of one paper."""

    datasets: dict[str, str] = Field(default_factory=dict)
    """As the scale's ``datasets``, before those, where another document's table needs another size."""
    run: RunFields = Field(default_factory=dict)
    methods: dict[str, RunFields] = Field(default_factory=dict)
    overrides: list[Shrunk] = Field(default_factory=list)
    """Applied after ``methods``, in their order."""
    evaluations: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Parameters to replace, by the document's evaluation; applied after the scale's ``probes``."""


class UsualEpochs(Strict):
    """How long a scale trains; apart, because each run of a paper can set it anew."""

    epochs: Epochs | Literal["published"]
    """What a paper's own number of epochs becomes; a coordinate that sets another number shrinks in proportion.
    ``schedule.epochs`` in ``run``, ``methods`` or ``per_paper`` replaces this number for some runs, unless the command
    line sets it."""


class Scale(UsualEpochs):
    """config/scales/<scale>.yaml: how big, and which dataset replaces which."""

    scale: str
    level: Level
    describe: str
    seeds: Seeds
    datasets: dict[str, str | None] = Field(default_factory=dict)
    """The dataset used in place of a published one; null: none."""
    other_datasets: Literal["themselves", "nothing"]
    """What is used in place of datasets that ``datasets`` does not name."""
    leaves_out: Annotated[list[str], AfterValidator(_each_once)] = Field(default_factory=list)
    """Artifacts, as ``paper/artifact``, that this scale does not make."""
    swept: Annotated[list[str], AfterValidator(_each_once)] = Field(default_factory=list)
    """Tables, as ``paper/artifact``, that take the seeds of sweeps at this scale."""
    batch_divisor: PositiveInt
    learning_rate_factor: PositiveFloat
    run: RunFields
    methods: dict[str, RunFields]
    per_paper: dict[str, Replaced] = Field(default_factory=dict)
    """The same for the runs of one paper, applied last."""
    probes: dict[str, dict[str, Any]]
    """Parameters to replace, by probe: a bank of hundreds needs fewer neighbours than one of thousands."""
    provides: list[Need] = Field(default_factory=list)
    """What exact studies may use at this scale beside their own arithmetic."""
    threads: Annotated[int, Field(ge=1, le=1024)]
    precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16: matrix products and convolutions of training on a GPU that has instructions for it; the loss, weights
    and probes stay in float32, and so does everything on a processor."""
    compile: bool = False
    """Compile the encoder for training (``torch.compile``). Not timed on a GPU; on a CPU compiling takes longer than it
    saves (docs/performance.md)."""
    runs_per_job: PositiveInt
    resources: Resources
