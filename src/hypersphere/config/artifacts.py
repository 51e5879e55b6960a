"""The fields of a document's paper.yaml: a document, its artifacts, and the runs and probes that they need.

An artifact is a query: axes (lists of coordinates) and a measure. Only drawings of exact studies have their own code.
"""

import itertools
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PositiveFloat,
    Tag,
    ValidationError,
    model_validator,
)

from hypersphere import files
from hypersphere.config import coordinates, registry
from hypersphere.config.coordinates import Axis, Contrast, Pair, Position, Scalar
from hypersphere.config.measures import MEASURES, MeasureName, transfer_name
from hypersphere.config.run import Probe, Run, RunFields
from hypersphere.config.study import SeedList, Study, Withdrawn
from hypersphere.config.validation import (
    DocumentName,
    Identifier,
    PositiveInt,
    Strict,
    not_one_of,
    one_of,
    sentence,
    unknown_key,
)

Need = Literal["human_labels", "sentence_tasks"]
"""Data that an exact study may need; a scale lists those that it ``provides``."""
AXES = ("panels", "rows", "lines", "columns", "x")
"""All axes that a kind may take, from the outermost; cells are listed in this order."""
HISTORY = "history"
"""The protocol without a probe: the values that training itself records once per epoch."""
HISTORY_MEASURES = ("norm", "loss")


def into_a_run(key: str) -> bool:
    """Whether a key of coordinates is a path into the run: ``schedule.epochs``."""
    return "." in key and key.split(".")[0] in Run.model_fields


class Protocol(Strict):
    """A named way of measuring a frozen run. Its identity is its content, never its name."""

    probe: Probe
    layer: Literal["backbone", "embeddings"] = "backbone"
    """The input of the probe: the encoder's output, or its head's (the vectors that enter the loss)."""
    transfer: bool = False
    """Whether the probe is fitted and tested on another dataset (``target``) than the encoder was trained on."""
    like: str | None = None
    """The protocol that it was filled in from, which measures what both can where none is named."""

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Its measures, the main one first."""
        given: tuple[str, ...] = registry.read_constant("probes", self.probe.name, "MEASURES", ())
        return tuple(map(transfer_name, given)) if self.transfer else given

    def of_probe(self, measure: str) -> str:
        """The probe's own name of one of its measures: ``linear_top1`` where a transfer calls it ``transfer_top1``."""
        names = registry.read_constant("probes", self.probe.name, "MEASURES", ())
        return str(dict(zip(self.measures, names, strict=True))[measure])

    @cached_property
    def digest(self) -> str:
        """Its identity: probe, parameters and layer. Two papers' protocols of one digest are measured once."""
        return files.digest(self.model_dump(exclude={"transfer", "like"}, mode="json"), 8)


Conditions = dict[str, Scalar | list[Scalar]]
"""Coordinates, each with one value or several that fit."""


def check_conditions(conditions: Conditions, where: str = "") -> Conditions:
    """Refuse keys that are neither method, variant nor dataset nor a path into the run."""
    for key in conditions:
        if key not in coordinates.IDENTITY and not into_a_run(key):
            known = unknown_key(key, coordinates.IDENTITY)
            raise ValueError(f"{where}{key}: {known}, and paths into the run (schedule.epochs)")
    return conditions


When = Annotated[Conditions, AfterValidator(check_conditions)]


class Override(Strict):
    """Fields that replace those of runs whose method, variant, dataset and paths set by an artifact match ``when``."""

    when: When
    set: RunFields

    def matches(self, run: Mapping[str, Scalar]) -> bool:
        """Whether the coordinates of a run have all values of ``when``."""
        return coordinates.covers(self.when, run)


class Measured(Strict):
    """A table or figure made from runs."""

    draw: Annotated[str, one_of(lambda: registry.artifact_kinds("runs"))]
    title: str
    printed: str | None = None
    """Its name in the document; None: it is ours."""
    rows: Axis | None = None
    columns: Axis | None = None
    x: Axis | None = None
    lines: Axis | None = None
    panels: Axis | None = None
    fixed: dict[str, Scalar] = {}
    measure: MeasureName | None = None
    """The measure; None if an axis has it."""
    by: str | None = None
    """The protocol, if several give the measure and no axis has it (``history``: values that training records)."""
    baseline: dict[str, Scalar] | None = None
    """The cell with which others are compared, by the coordinates that differ; None: no comparison."""
    also: list[Contrast] = []  # for sentences such as "a is above b"
    seeds: Literal["tables", "sweeps"] | SeedList = "tables"
    """Which of the scale's lists of seeds, or the seeds of a study."""
    seeds_of: dict[Identifier, SeedList] = {}
    """Other seeds for a variant: those of an A/A arm."""
    left_out: list[dict[str, Scalar | list[Scalar]]] = []
    """Cells that are not made: those with one of these values of each key."""
    made_at: list[Identifier] | None = None
    """The only scales that make it; None: all."""
    plan: str | None = None
    """The study that it belongs to."""
    test: Literal["welch", "paired"] = "welch"
    """The primary test of its comparisons, with Holm's correction. paired: of runs of one seed, which share weights and
    batches, where a pilot's correlation over seeds is above 0.5."""
    margin: PositiveFloat | None = None
    """Equivalence margin in the measure's unit; None: that of config/statistics.yaml."""
    cannot_be_judged: str | None = None
    """The setting that the document leaves open, so that its numbers cannot be judged."""
    missing: str | None = None
    """What is still missing for it (a kind of run), so that it is declared and not planned."""
    unclaimed: str | None = None
    """Why nothing that the document says of it has a row in claims.csv."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        axis_of = self._axis_of_each_key()
        for key in coordinates.IDENTITY:
            if key not in axis_of:
                raise ValueError(f"fixed: needs the {key}, which no axis has")
        if ("measure" in axis_of) == (self.measure is not None):
            raise ValueError("measure: must be given here or on one axis, and not on both")
        for point in self.points:
            measure = MEASURES.get(str(point["measure"]))
            if measure is not None and measure.of_baseline and self.baseline is None:
                raise ValueError(f"baseline: {point['measure']} compares with one; name its cell")
        if self.baseline and all(map(self.compared_with, self.points)):
            raise ValueError(f"baseline: no cell has {coordinates.text(self.baseline)}")
        for at, contrast in enumerate(self.also):
            if not contrast.pairs(self.points):
                raise ValueError(
                    f"also.{at}: no pair of cells differs in exactly these coordinates"
                )
        return self

    def _axis_of_each_key(self) -> dict[str, str]:
        """The only axis that has each key of coordinates, or ``fixed``. Its kind takes the axes, and lacks none."""
        taken = registry.artifact_kind(self.draw).axes
        for axis in AXES:
            given = getattr(self, axis) is not None
            if given and axis not in taken:
                raise ValueError(f"{axis}: no axis of {self.draw}, which takes {', '.join(taken)}")
            if not given and taken.get(axis):
                raise ValueError(f"{axis}: this axis is required by {self.draw}")
        axis_of = dict.fromkeys(self.fixed, "fixed")
        for axis, points in self.axes.items():
            for key in itertools.chain.from_iterable(points):
                if axis_of.setdefault(key, axis) != axis:
                    raise ValueError(f"{axis}: {key} is on {axis_of[key]} too")
        return axis_of

    def leaves_out(self, point: Mapping[str, Scalar]) -> bool:
        """Whether a cell is declared and not made."""
        return any(coordinates.covers(one, point) for one in self.left_out)

    @cached_property
    def axes(self) -> dict[str, list[dict[str, Scalar]]]:
        """The points of each of its axes, outermost axis first."""
        values = {axis: getattr(self, axis) for axis in AXES}
        axes = {axis: value for axis, value in values.items() if value is not None}
        return {axis: coordinates.points(value) for axis, value in axes.items()}

    @cached_property
    def points(self) -> list[Position]:
        """The coordinates of every cell, in canonical form; the innermost axis varies fastest."""
        fixed = dict(self.fixed)
        if self.measure:
            fixed["measure"] = self.measure
        every = coordinates.combinations([[fixed], *self.axes.values()])
        return [coordinates.in_order(point) for point in every]

    def compared_with(self, point: Mapping[str, Scalar]) -> Position | None:
        """The coordinates of a cell's baseline; None for a baseline."""
        if self.baseline is None:
            return None
        other = coordinates.in_order({**point, **self.baseline})
        return None if other == coordinates.in_order(point) else other

    @cached_property
    def comparisons(self) -> list[Pair]:
        """Every cell that is compared, and with which: comparisons with the baseline first, none twice.

        A cell that is left out is compared with nothing, so that no correction counts it.
        """
        pairs = []
        for point in self.points:
            other = self.compared_with(point)
            if other is not None:
                pairs.append((point, other))
        for contrast in self.also:
            pairs += contrast.pairs(self.points)
        whole = [pair for pair in pairs if not any(map(self.leaves_out, pair))]
        return list(dict.fromkeys(whole))

    @cached_property
    def compared(self) -> frozenset[Position]:
        """The runs of the cells that a comparison names, by their coordinates without readings."""
        cells = itertools.chain.from_iterable(self.comparisons)
        return frozenset(map(coordinates.without_readings, cells))


class Studied(Strict):
    """A table or figure made from an exact study: without runs, and the same at every scale.

    ``studies/<study>/`` of the paper computes it (compute.py), and draws it or lays it out (draw.py).
    """

    draw: Annotated[str, one_of(lambda: registry.artifact_kinds("study"))]
    title: str
    study: str
    """The exact study whose function of that name returns this artifact's numbers (config/paper_code.py)."""
    printed: str | None = None
    shows: list[str] = []
    """Claims of other artifacts that it shows too."""
    needs: list[Need] = []
    cannot_be_judged: str | None = None


def _made_from(value: Any) -> str:
    if isinstance(value, dict):
        drawn = value.get("draw") in registry.artifact_kinds("study")
        of_study = "study" in value or (drawn and value.keys().isdisjoint(AXES))
    else:
        of_study = isinstance(value, Studied)
    return "of_study" if of_study else "of_runs"


Artifact = Annotated[
    Annotated[Measured, Tag("of_runs")] | Annotated[Studied, Tag("of_study")],
    Discriminator(_made_from),
]


def _fill_in(evaluations: Any) -> Any:
    """Fill in protocols that have ``like: other`` from that one."""
    if not isinstance(evaluations, dict):
        return evaluations
    filled = dict(evaluations)
    mappings = {name: one for name, one in evaluations.items() if isinstance(one, dict)}
    whole = {str(name): one for name, one in mappings.items() if "like" not in one}
    for name, given in mappings.items():
        if "like" in given:
            like = str(given["like"])
            if like not in whole:
                raise ValueError(f"{name}.like: {not_one_of(like, whole)}")
            filled[name] = {**whole[like], **given}
    return filled


class Section(Strict):
    """What the report's section on a document has beside its questions."""

    short: str
    """How the prose names the document."""
    figure: Identifier | None = None
    """The figure of an exact study that carries its argument; left out at a scale that does not make it."""
    gravest: list[str] = []
    """Printed statements with a counterexample, which the text tells first."""


class OpenChoice(Strict):
    """A choice that a document leaves open, as it is made here; a plain sentence is one of which no more is said."""

    choice: str
    arms: list[str] = []
    """What shows how much another choice is worth: variants or evaluations of artifacts, or fields that an artifact
    varies (``batch.accumulate=sum``)."""
    no_arm: str | None = None
    """Why nothing shows it."""

    @model_validator(mode="before")
    @classmethod
    def _of_a_sentence(cls, given: Any) -> Any:
        return {"choice": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.arms and self.no_arm:
            raise ValueError("no_arm: there are arms; give one of the two")
        return self


class Paper(Strict):
    """paper.yaml: one document, and its runs, evaluations and artifacts, if any."""

    paper: DocumentName
    order: PositiveInt = 1000
    """Its place among the documents, which are listed by it, and by name where it is equal."""
    title: str
    report: Section | None = None
    run: RunFields = {}
    methods: dict[Identifier, RunFields] = {}
    variants: dict[Identifier, RunFields] = {}
    overrides: list[Override] = []
    borrows: dict[Identifier, Identifier] = {}
    """Methods of other documents, by name: their runs are declared there, with variants and overrides."""
    studies: dict[Identifier, Study] = {}
    """Questions of our own; each adds artifacts to ``artifacts``."""
    withdrawn: dict[Identifier, Withdrawn] = {}
    """Studies that were given up before their first run, by the names that they had."""
    open_choices: dict[str, list[OpenChoice]] = {}
    """Choices that the document leaves open, of all methods (``all``) and by method."""
    evaluations: Annotated[dict[Identifier, Protocol], BeforeValidator(_fill_in)] = Field(
        default_factory=dict
    )
    artifacts: dict[Identifier, Artifact] = {}
    datasets: dict[str, str] = {}
    """Names of datasets in print."""
    labels: dict[str, str] = {}
    """Names of methods, variants and keys of coordinates in print."""
    phrases: dict[Identifier, str] = {}
    """Names of variants in a sentence, where the label is an abbreviation for a table: ``positives emphasised``."""

    @model_validator(mode="after")
    def _with_studies(self) -> Self:
        """Add the artifacts of each study."""
        for name, study in self.studies.items():
            for key, declared in study.artifacts(name).items():
                if key in self.artifacts:
                    raise ValueError(
                        f"artifacts.{key}: is an artifact of the study {name}; give it another name"
                    )
                try:
                    self.artifacts[key] = Measured.model_validate(declared)
                except ValidationError as error:
                    raise ValueError(
                        f"studies.{name}: its artifact {key} is not valid: {sentence(error)}"
                    ) from None
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        for name in self.withdrawn:
            if name in self.studies:
                raise ValueError(f"withdrawn.{name}: is a study, too; a new plan needs a new name")
        drawn = [name for name, artifact in self.studied.items() if artifact.draw == "study_figure"]
        if self.report and self.report.figure and self.report.figure not in drawn:
            raise ValueError(f"report.figure: {not_one_of(self.report.figure, drawn)}")
        return self

    @cached_property
    def measured(self) -> dict[str, Measured]:
        """The artifacts made from runs, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Measured)}

    @cached_property
    def studied(self) -> dict[str, Studied]:
        """The artifacts made from exact studies, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Studied)}

    def closed(self, artifact: str) -> bool:
        """Whether an artifact is of a closed study, of which no more runs are made."""
        measured = self.measured.get(artifact)
        plan = measured.plan if measured else None
        return plan is not None and self.studies[plan].closed is not None

    def section(self, artifact: str) -> str:
        """The section that declares an artifact made from runs: ``artifacts.table2``, or the study that it is of."""
        study = self.measured[artifact].plan
        return f"artifacts.{artifact}" if study is None else f"studies.{study}"

    def label(self, name: str) -> str:
        """The name of a method, variant, dataset or key in print."""
        return self.datasets.get(name) or self.labels.get(name) or name

    def protocol(self, artifact: Measured, point: Mapping[str, Scalar]) -> str:
        """The name of the protocol that gives the measure of a cell; a ValueError if none does, or several unnamed."""
        measure = str(point["measure"])
        by = point.get("by", artifact.by)
        known = (*self.evaluations, HISTORY)
        giving = [name for name, one in self.evaluations.items() if measure in one.measures]
        if measure in HISTORY_MEASURES:
            giving.append(HISTORY)
        if by is not None and by not in known:
            raise ValueError(f"by: {not_one_of(str(by), known)}")
        if not giving:
            raise ValueError(f"by: no evaluation gives {measure}")
        if by in giving:
            return str(by)
        likes = {name: one.like for name, one in self.evaluations.items()}
        unlike = [name for name in giving if likes.get(name) not in giving]
        if len(unlike) > 1:
            raise ValueError(
                f"by: several evaluations give {measure}; name one of {', '.join(unlike)}"
            )
        return unlike[0]
