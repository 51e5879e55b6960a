"""What config/papers/<paper>.yaml may say: a document, its artifacts, and the runs and probes that they ask for."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hypersphere.declared import registry
from hypersphere.declared.measures import METRICS
from hypersphere.declared.recipe import Spec
from hypersphere.declared.run import Probe

Need = Literal["human_labels"]
"""What an exact study may need beside its own arithmetic; a scale lists what it ``provides``."""


def _known(metric: str) -> str:
    if metric not in METRICS:
        raise ValueError(f"'{metric}' is not one of {', '.join(METRICS)}")
    return metric


MetricName = Annotated[str, AfterValidator(_known)]


def _study(name: str) -> str:
    if name not in registry.names("simulations"):
        raise ValueError(f"'{name}' is not one of {', '.join(registry.names('simulations'))}")
    return name


class Evaluation(Spec):
    """One probe of every run: on the run's own dataset, or (transfer) on each other dataset of the table."""

    metric: MetricName
    probe: Probe
    at: Literal["end", "snapshots"]
    transfer: bool = False


class Table(Spec):
    """Methods and variants down, datasets across, one metric."""

    kind: Literal["table"]
    title: str
    metric: MetricName
    rows: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]
    baseline: str | None = None
    """The variant that a method's others are compared with; None: rows stand by themselves."""
    printed: str | None = None


class Curves(Spec):
    """Metrics against epochs, a panel per metric and dataset, a line per row."""

    kind: Literal["curves"]
    title: str
    metrics: Annotated[list[MetricName], Field(min_length=1)]
    rows: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]


class _Studied(Spec):
    """Made from the results of an exact study: no run, and the same at every scale."""

    title: str
    study: Annotated[str, AfterValidator(_study)]
    """A function of simulations/, which hands over this artifact's numbers."""
    printed: str | None = None
    shows: list[str] = Field(default_factory=list)
    """Claims of other artifacts that it shows too."""
    needs: list[Need] = Field(default_factory=list)


class StudyFigure(_Studied):
    """Drawn by present/drawings/<paper>/<artifact>.py."""

    kind: Literal["study_figure"]


class StudyTable(_Studied):
    """Laid out by present/drawings/<paper>/<artifact>.py."""

    kind: Literal["study_table"]


Measured = Table | Curves
"""Artifacts made from runs."""
Studied = StudyFigure | StudyTable
"""Artifacts made from exact studies."""
Artifact = Annotated[Table | Curves | StudyFigure | StudyTable, Field(discriminator="kind")]


class Paper(Spec):
    """config/papers/<paper>.yaml: one document, and the runs, evaluations and artifacts that it asks for, if any."""

    paper: str
    title: str
    run: dict[str, Any] = Field(default_factory=dict)
    methods: dict[str, dict[str, Any]] = Field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = Field(default_factory=dict)
    open_choices: dict[str, list[str]] = Field(default_factory=dict)
    evaluations: list[Evaluation] = Field(default_factory=list)
    artifacts: dict[str, Artifact] = Field(default_factory=dict)
    datasets: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)

    @property
    def measured(self) -> dict[str, Measured]:
        """The artifacts made from runs, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Measured)}

    @property
    def studied(self) -> dict[str, Studied]:
        """The artifacts made from exact studies, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Studied)}

    def label(self, name: str) -> str:
        """How a method, variant or dataset is called in print."""
        return self.datasets.get(name) or self.labels.get(name) or name
