"""What config/papers/<paper>.yaml may say: a document, its artifacts, and the runs and probes that they ask for.

An artifact is a query: axes, which are lists of coordinates, and a measure. No artifact has code of its own, but exact
studies' drawings.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StringConstraints, Tag, model_validator

from hypersphere import files
from hypersphere.declared import coordinates, kinds, registry
from hypersphere.declared.coordinates import Axis, Scalar
from hypersphere.declared.measures import MeasureName, transferred
from hypersphere.declared.run import Probe, Run
from hypersphere.declared.validation import Strict, not_one_of, unknown_key

Need = Literal["human_labels"]
"""What an exact study may need beside its own arithmetic; a scale lists what it ``provides``."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
AXES = ("panels", "rows", "lines", "columns", "x")
"""Every axis that a kind may take, from the outermost: the order in which cells are listed."""
HISTORY = "history"
"""The protocol that is no probe: what training itself writes down, once an epoch."""
HISTORY_MEASURES = ("norm", "loss")


def _one_of(kind: registry.Kind) -> AfterValidator:
    def check(name: str) -> str:
        if name not in registry.names(kind):
            raise ValueError(not_one_of(name, registry.names(kind)))
        return name

    return AfterValidator(check)


def _drawn(of: Literal["runs", "study"]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in kinds.names(of):
            raise ValueError(not_one_of(name, kinds.names(of)))
        return name

    return AfterValidator(check)


class Protocol(Strict):
    """A named way of measuring a frozen run. Its identity is its content, never its name."""

    probe: Probe | None = None
    layer: Literal["backbone", "embeddings"] = "backbone"
    """What the probe sees: the encoder's output, or its head's (the vectors that the loss is applied to)."""
    transfer: bool = False
    """Whether the probe is fitted and asked on another dataset (``target``) than the encoder was trained on."""
    missing: str | None = None
    """What the probe would do, where there is none yet: what it would measure is planned, and not run."""
    gives: tuple[MeasureName, ...] = ()
    """The measures of a missing probe."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.probe is None) == (self.missing is None):
            raise ValueError("probe: give a probe, or say under missing what it would do")
        if (self.missing is None) != (not self.gives):
            raise ValueError("gives: is for a missing probe, which must list its measures")
        return self

    @property
    def measures(self) -> tuple[str, ...]:
        """What it measures, the main one first."""
        if self.probe is None:
            return self.gives
        given: tuple[str, ...] = registry.read_constant("probes", self.probe.name, "MEASURES", ())
        return tuple(map(transferred, given)) if self.transfer else given

    @property
    def digest(self) -> str:
        """Its identity: probe, parameters and layer. Two papers' protocols of one digest are measured once."""
        return files.digest(self.model_dump(exclude={"transfer", "missing", "gives"}, mode="json"), 8)


def _check_conditions(when: dict[str, Any]) -> dict[str, Any]:
    for key in when:
        if key not in coordinates.IDENTITY and not ("." in key and key.split(".")[0] in Run.model_fields):
            known = unknown_key(key, coordinates.IDENTITY)
            raise ValueError(f"{key}: {known}, and paths into the run (schedule.epochs)")
    return when


class Override(Strict):
    """Fields of the runs whose coordinates all match: method, variant, dataset, and paths that an artifact sets."""

    when: Annotated[dict[str, Scalar | list[Scalar]], AfterValidator(_check_conditions)]
    set: dict[str, Any]

    def matches(self, run: Mapping[str, Scalar]) -> bool:
        """Whether a run's identity, and the paths that are asked for, have every value of ``when``."""
        return all(
            run.get(key) in [coordinates.normal(one) for one in (value if isinstance(value, list) else [value])]
            for key, value in self.when.items()
        )


class Measured(Strict):
    """A table or figure made from runs."""

    draw: Annotated[str, _drawn("runs")]
    title: str
    printed: str | None = None
    """How the document calls it; None: it is ours."""
    rows: Axis | None = None
    columns: Axis | None = None
    x: Axis | None = None
    lines: Axis | None = None
    panels: Axis | None = None
    fixed: dict[str, Scalar] = Field(default_factory=dict)
    measure: MeasureName | None = None
    """What is measured; None where an axis says it."""
    by: str | None = None
    """The protocol, where more than one of the paper's gives a measure (``history``: what training writes down)."""
    baseline: dict[str, Scalar] | None = None
    """The cell that another is compared with, by the coordinates that differ; None: cells stand by themselves."""
    seeds: Literal["tables", "sweeps"] = "tables"
    """Which of the scale's lists of seeds."""
    cannot_be_judged: str | None = None
    """What the document does not specify, without which its numbers cannot be judged."""
    missing: str | None = None
    """What it needs that does not exist yet (a kind of run): it is declared, and neither planned nor made."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        taken = kinds.kind(self.draw).axes
        for axis in AXES:
            if getattr(self, axis) is not None and axis not in taken:
                raise ValueError(f"{axis}: {self.draw} takes {', '.join(taken)}")
            if getattr(self, axis) is None and taken.get(axis):
                raise ValueError(f"{axis}: {self.draw} needs it")
        seen = dict.fromkeys(self.fixed, "fixed")
        for axis, points in self.axes.items():
            for key in {key: None for point in points for key in point}:
                if seen.setdefault(key, axis) != axis:
                    raise ValueError(f"{axis}: {key} is on {seen[key]} too")
        lacking = [key for key in coordinates.IDENTITY if key not in seen]
        if lacking:
            raise ValueError(f"fixed: no axis says the {lacking[0]}, so that this has to")
        if ("measure" in seen) == (self.measure is not None):
            raise ValueError("measure: say it here, or on one axis")
        for key in self.baseline or {}:
            if key not in seen:
                raise ValueError(f"baseline: {key} is on no axis")
        if self.baseline and all(self.compared_with(point) for point in self.points):
            raise ValueError(f"baseline: no cell has {coordinates.text(self.baseline)}")
        return self

    @property
    def axes(self) -> dict[str, list[dict[str, Scalar]]]:
        """The points of each axis that it has, outermost axis first."""
        given = {axis: getattr(self, axis) for axis in AXES}
        return {axis: coordinates.points(value) for axis, value in given.items() if value is not None}

    @property
    def points(self) -> list[dict[str, Scalar]]:
        """The coordinates of every cell, in canonical form; the innermost axis varies fastest."""
        found: list[dict[str, Scalar]] = [dict(self.fixed)]
        for points in self.axes.values():
            found = [{**one, **point} for one in found for point in points]
        measured = {"measure": self.measure} if self.measure else {}
        return [coordinates.ordered({**one, **measured}) for one in found]

    def compared_with(self, point: Mapping[str, Scalar]) -> dict[str, Scalar] | None:
        """The coordinates of a cell's baseline; None for a baseline itself."""
        if self.baseline is None or all(point.get(key) == coordinates.normal(v) for key, v in self.baseline.items()):
            return None
        return coordinates.ordered({**point, **self.baseline})


class Studied(Strict):
    """Made from the results of an exact study: no run, and the same at every scale.

    present/drawings/<paper>/<artifact>.py draws it or lays it out.
    """

    draw: Annotated[str, _drawn("study")]
    title: str
    study: Annotated[str, _one_of("simulations")]
    """A function of simulations/, which hands over this artifact's numbers."""
    printed: str | None = None
    shows: list[str] = Field(default_factory=list)
    """Claims of other artifacts that it shows too."""
    needs: list[Need] = Field(default_factory=list)
    cannot_be_judged: str | None = None
    """What the document does not specify, without which its numbers cannot be judged."""


def _made_from(value: Any) -> str:
    if isinstance(value, dict):
        studied = "study" in value or (value.get("draw") in kinds.names("study") and not value.keys() & {*AXES})
    else:
        studied = isinstance(value, Studied)
    return "of_study" if studied else "of_runs"


Artifact = Annotated[
    Annotated[Measured, Tag("of_runs")] | Annotated[Studied, Tag("of_study")], Discriminator(_made_from)
]


def _liked(evaluations: Any) -> Any:
    """Protocols with ``like: other`` filled in from that one."""
    if not isinstance(evaluations, dict):
        return evaluations
    whole = {str(name): given for name, given in evaluations.items() if isinstance(given, dict) and "like" not in given}
    filled = {}
    for name, given in evaluations.items():
        if isinstance(given, dict) and "like" in given:
            like = str(given["like"])
            if like not in whole:
                raise ValueError(f"{name}.like: {not_one_of(like, whole)}")
            given = {**whole[like], **{key: value for key, value in given.items() if key != "like"}}
        filled[name] = given
    return filled


class Paper(Strict):
    """config/papers/<paper>.yaml: one document, and the runs, evaluations and artifacts that it asks for, if any."""

    paper: Identifier
    title: str
    run: dict[str, Any] = Field(default_factory=dict)
    methods: dict[Identifier, dict[str, Any]] = Field(default_factory=dict)
    variants: dict[Identifier, dict[str, Any]] = Field(default_factory=dict)
    overrides: list[Override] = Field(default_factory=list)
    open_choices: dict[str, list[str]] = Field(default_factory=dict)
    evaluations: Annotated[dict[Identifier, Protocol], BeforeValidator(_liked)] = Field(default_factory=dict)
    artifacts: dict[Identifier, Artifact] = Field(default_factory=dict)
    datasets: dict[str, str] = Field(default_factory=dict)
    """How datasets are called in print."""
    labels: dict[str, str] = Field(default_factory=dict)
    """How methods, variants and keys of coordinates are called in print."""

    @model_validator(mode="after")
    def _overrides_can_match(self) -> Self:
        for at, override in enumerate(self.overrides):
            for key, known in (("method", self.methods), ("variant", self.variants)):
                asked = override.when.get(key, [])
                for name in asked if isinstance(asked, list) else [asked]:
                    if name not in known:
                        raise ValueError(f"overrides.{at}.when.{key}: {not_one_of(str(name), known)}")
        return self

    @property
    def measured(self) -> dict[str, Measured]:
        """The artifacts made from runs, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Measured)}

    @property
    def studied(self) -> dict[str, Studied]:
        """The artifacts made from exact studies, by id."""
        return {key: value for key, value in self.artifacts.items() if isinstance(value, Studied)}

    def label(self, name: str) -> str:
        """How a method, variant, dataset or key is called in print."""
        return self.datasets.get(name) or self.labels.get(name) or name

    def protocol(self, artifact: Measured, measure: str) -> str:
        """The name of the protocol that gives an artifact one of its measures.

        Raises:
            ValueError: none does, or several do and the artifact does not say which.
        """
        giving = [name for name, protocol in self.evaluations.items() if measure in protocol.measures]
        giving += [HISTORY] if measure in HISTORY_MEASURES else []
        if len(giving) > 1 and artifact.by in giving:
            return str(artifact.by)
        if artifact.by is not None and artifact.by not in (HISTORY, *self.evaluations):
            raise ValueError(f"by: {not_one_of(artifact.by, (*self.evaluations, HISTORY))}")
        if len(giving) != 1:
            what = (
                f"several give {measure}, name one: {', '.join(giving)}" if giving else f"no evaluation gives {measure}"
            )
            raise ValueError(f"by: {what}")
        return giving[0]
