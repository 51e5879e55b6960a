"""Claims: what documents print (numbers, comparisons, statements), and why a scale does not measure it."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AllowInfNan,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    StringConstraints,
    model_validator,
)

from hypersphere.config.artifacts import Paper, Studied
from hypersphere.config.cells import LEFT_OUT
from hypersphere.config.coordinates import (
    IDENTITY,
    Position,
    in_order,
    parse,
    setting,
    show,
)
from hypersphere.config.measures import LARGEST, MEASURES, Measure, MeasureName
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST
from hypersphere.config.validation import (
    MayBeEmpty,
    PositiveInt,
    Strict,
    read_table,
    validate,
)
from hypersphere.errors import HypersphereError

SIGNS = {"larger": 1.0, "smaller": -1.0}
"""Directions of comparisons that print no difference, with the sign of their effect."""
PRINTED = "as printed"
"""The ``reading`` of a claim that no erratum corrects."""
SENTENCES = "sentences"
"""The exact study that compares what a document says with the numbers that it prints itself."""


_CORRECTED = re.compile(r"\.([a-z]\d+)$")


def reading_of(statement: str) -> str:
    """The reading that the id of a statement tells: the erratum at its end (``mine.equation_16.m8``) or PRINTED."""
    corrected = _CORRECTED.search(statement)
    return corrected[1].upper() if corrected else PRINTED


def _number(value: float) -> float:
    if math.isnan(value) or value == -math.inf:
        raise ValueError("must be a number, or inf for steps that never end")
    return value


class Claim(Strict):
    """A row of a document's claims.csv. Accuracies in percent, comparisons in points; steps that never end are inf."""

    model_config = ConfigDict(strict=False)  # the fields of a CSV are text

    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    kind: Literal["value", "comparison", "theorem"]
    origin: Literal["printed", "implied", "corrected", "ours"]
    """``printed``: in the document; ``implied``: the difference of two numbers that it prints beside each other, of
    which no sentence speaks (``of``); ``corrected``: in an erratum's reading of the document; ``ours``: in no document
    (our own theorem, identity or sensitivity row). Counts shown to people are of printed claims."""
    artifact: str
    method: str
    variant: str
    baseline: str
    dataset: str
    setting: str
    metric: Annotated[MeasureName | None, MayBeEmpty]
    reported: Annotated[
        Annotated[float, AllowInfNan(True), AfterValidator(_number)] | None, MayBeEmpty
    ]
    reported_std: Annotated[NonNegativeFloat | None, MayBeEmpty]
    reported_n: Annotated[PositiveInt | None, MayBeEmpty] = None
    """Number of trials of a printed mean, if it is printed."""
    direction: Annotated[Literal["larger", "smaller", "equal"] | None, MayBeEmpty] = None
    """``larger`` or ``smaller``, for a comparison without a printed difference: so is the variant's mean. ``equal``:
    the sentence says that there is no effect (marginal, robust), which only a test of equivalence can show. A
    comparison without a variant is a sentence, which an exact study checks at every point of a computation. Of a figure
    without printed numbers, ``equal`` may be said of accuracies alone, whose margin needs no number."""
    reading: str
    sentence: str
    source: str
    level: NonNegativeFloat | None = Field(default=None, exclude=True)
    """The printed number of a comparison's baseline, by which its margin is chosen. It is no column."""
    margin: PositiveFloat | None = Field(default=None, exclude=True)
    """The margin of equivalence that a study fixed, in the metric's unit. It is no column."""

    @cached_property
    def coordinates(self) -> Position:
        """The coordinates of the number: method, variant, dataset, setting and measure."""
        named = {key: getattr(self, key) for key in IDENTITY if getattr(self, key)}
        measure = {"measure": self.metric} if self.metric else {}
        return in_order({**named, **measure, **parse(self.setting, self.id)})

    @cached_property
    def text(self) -> str:
        """The coordinates as text."""
        return self.coordinates.text

    @cached_property
    def compared_with(self) -> Position:
        """The coordinates of a comparison's baseline, which names a variant, or all coordinates that differ."""
        if "=" in self.baseline:
            return in_order({**self.coordinates, **parse(self.baseline, self.id)})
        return in_order({**self.coordinates, "variant": self.baseline})

    @property
    def cells(self) -> tuple[str, ...]:
        """The coordinates, as text, of the cells that it is about: its own, and of a comparison its baseline's."""
        return (self.text, self.compared_with.text) if self.kind == "comparison" else (self.text,)

    @property
    def of_accuracy(self) -> bool:
        """Whether it is about an accuracy, whose margin of equivalence is known without a printed number, too."""
        return self.metric is not None and MEASURES[self.metric].margin == "accuracy"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            settings = parse(self.setting, "setting")
            if "=" in self.baseline:
                parse(self.baseline, "baseline")
        except HypersphereError as error:
            raise ValueError(str(error)) from None
        for key in settings:
            if key in (*IDENTITY, "measure"):
                raise ValueError(f"setting: {key} has a column of its own")
        if self.direction == "equal" and (
            self.metric is None or MEASURES[self.metric].margin == "none"
        ):
            raise ValueError("direction: 'equal' needs a metric with a margin of equivalence")
        if self.metric is not None and self.kind != "theorem":
            self._check_range(MEASURES[self.metric])
        if self.origin == "corrected" and self.reading == PRINTED:
            raise ValueError(
                f"reading: must be an erratum where origin is corrected (given: '{PRINTED}')"
            )
        return self

    def _check_range(self, measure: Measure) -> None:
        """Refuse a number, a difference of two or a spread that no value of the measure can have."""
        span = measure.high - measure.low
        low, high = (-span, span) if self.kind == "comparison" else (measure.low, measure.high)
        infinite = math.isinf(self.reported or 0.0)
        if infinite and measure.high < LARGEST:
            raise ValueError(f"reported: {self.metric} is never infinite")
        if self.reported is not None and not infinite and not low <= self.reported <= high:
            raise ValueError(
                f"reported: {self.metric} is from {low:g} to {high:g} (given: {self.reported:.10g})"
            )
        if self.reported_std is not None and self.reported_std > span:
            raise ValueError(
                f"reported_std: {self.metric} spreads over at most {span:g} (given: {self.reported_std:g})"
            )


def load(file: Path) -> list[Claim]:
    """A paper's claims; none without the file: nothing of it is judged.

    A comparison reports variant minus baseline, the difference of two printed values, unless the paper prints it.
    """
    if not file.exists():
        return []
    fields = Claim.model_fields.items()
    known = [name for name, field in fields if not field.exclude]
    rows = read_table(file, known, [name for name, field in fields if field.is_required()])
    claims: dict[str, Claim] = {}
    values = defaultdict[tuple[str, str, str], list[float]](list)
    for number, row in enumerate(rows, 2):
        where = f"line {number}"
        claim = validate(Claim, row, file, f"{where} ({row['id'] or 'no id'})")
        if claim.id in claims:
            raise HypersphereError(f"{file}: {where}: id: '{claim.id}' is given twice")
        claims[claim.id] = claim
        if claim.kind == "value":
            if claim.reported is None:
                raise HypersphereError(
                    f"{file}: {claim.id}: reported: a value claim needs the published number"
                )
            values[claim.artifact, claim.reading, claim.text].append(claim.reported)
    of_tables = {artifact for artifact, _, _ in values}
    for claim in claims.values():
        if claim.kind == "comparison" and claim.variant and _is_of_two(claim, of_tables):
            claims[claim.id] = _subtract(file, claim, values)
    return list(claims.values())


def _is_of_two(claim: Claim, of_tables: Collection[str]) -> bool:
    """Whether a comparison, or its margin, is of two values that tables print; these artifacts have such values."""
    if claim.direction != "equal":
        return claim.reported is None and claim.direction not in SIGNS
    return not claim.of_accuracy or (claim.reported is None and claim.artifact in of_tables)


def _subtract(
    file: Path, claim: Claim, values: Mapping[tuple[str, str, str], list[float]]
) -> Claim:
    """A comparison with the difference of the two values, and with the level of its baseline."""
    printed = []
    for cell in claim.cells:
        listed = values.get((claim.artifact, claim.reading, cell), [])
        if len(listed) != 1:
            raise HypersphereError(
                f"{file}: {claim.id}: needs exactly one value claim for '{cell}' of {claim.artifact}; "
                f"there are {len(listed)}"
            )
        printed += listed
    value, baseline = printed
    has_margin = claim.of_accuracy or claim.direction == "equal"
    level = baseline if has_margin else None
    return claim.model_copy(update={"reported": _difference(value, baseline), "level": level})


def _difference(value: float, baseline: float) -> float:
    """The difference of two printed numbers: decimals are exact, a binary difference (4.6000000000000014) is not."""
    return round(value - baseline, 10)


def of(config: Config, paper: str) -> list[Claim]:
    """All claims of a document: its file's, the differences that its tables imply, and what its studies compare."""
    document = config.papers[paper]
    claims = load(config.claims_file(paper))
    return [*claims, *_implied_comparisons(document, claims), *_of_studies(paper, document)]


SHARED = {"artifact", "method", "variant", "dataset", "setting", "metric", "reading", "source"}
"""What an implied comparison has of the value of its variant."""


def _implied_comparisons(document: Paper, claims: Iterable[Claim]) -> Iterator[Claim]:
    """The comparisons of printed values that no sentence makes.

    A table that prints a variant beside its baseline says what the variant gains, also where no sentence does. Which
    cells are compared is what the artifact declares; two datasets or sizes of one variant are no such pair.
    """
    printed: dict[tuple[str, str], Claim] = {}
    compared = set()
    for claim in claims:
        if claim.kind == "comparison":
            compared.add((claim.artifact, frozenset(claim.cells)))
        elif claim.kind == "value" and claim.origin == "printed":
            printed[claim.artifact, claim.text] = claim
    for artifact, declared in document.measured.items():
        for cells in declared.comparisons:
            variant, baseline = (printed.get((artifact, cell.text)) for cell in cells)
            if variant is None or baseline is None:
                continue
            trained_alike = (variant.method, variant.variant) == (baseline.method, baseline.variant)
            if trained_alike or variant.coordinates.keys() != baseline.coordinates.keys():
                continue
            if (artifact, frozenset((variant.text, baseline.text))) not in compared:
                assert variant.reported is not None
                assert baseline.reported is not None
                yield _comparison(
                    variant.id,
                    *cells,
                    origin="implied",
                    reported=_difference(variant.reported, baseline.reported),
                    level=baseline.reported if variant.of_accuracy else None,
                    **variant.model_dump(include=SHARED),
                )


def _of_studies(paper: str, document: Paper) -> Iterator[Claim]:
    """What each study of a document compares; its A/A arms are controls, of which nothing is claimed."""
    for name, study in document.studies.items():
        for arm, other in document.measured[name].comparisons:
            if AGAIN in (arm["variant"], other["variant"]):
                continue
            words = [paper, name]
            for key, value in arm.items():
                if key != "measure" and value != BEST:
                    words.append(show(value))
            yield _comparison(
                ".".join(words),
                arm,
                other,
                origin="ours",
                artifact=name,
                setting=setting(arm),
                metric=arm["measure"],
                reported=None,
                direction=study.direction,
                margin=study.margin,
                reading=PRINTED,
                source=study.title,
                **{key: str(arm[key]) for key in IDENTITY},
            )


def _comparison(start: str, cell: Position, baseline: Position, **fields: Any) -> Claim:
    """A comparison of which no sentence speaks; ``start`` is the beginning of its id."""
    other = Position()
    for key, value in baseline.items():
        if value != cell.get(key):
            other[key] = value
    words = "-".join(map(show, other.values()))
    return Claim(
        id=f"{start}-{words}",
        kind="comparison",
        baseline=str(other["variant"]) if set(other) == {"variant"} else other.text,
        reported_std=None,
        sentence="",
        **fields,
    )


NOT_MADE_YET = "not made yet"
"""The reason of an artifact that this scale makes, and has not made."""


def why_not_made(plan: Plan, paper: str, artifact: str) -> str:
    """Why a scale does not make an artifact, in words; empty if it does."""
    config = plan.config
    declared = config.papers[paper].artifacts.get(artifact)
    if declared is None:
        return "no artifact of this name is declared"
    if isinstance(declared, Studied):
        if artifact in config.exact_artifacts(paper):
            return ""
        missing = config.study_code(paper, declared.study).missing
        return missing or f"needs {', '.join(declared.needs).replace('_', ' ')}, which are not here"
    if (paper, artifact) not in plan.artifacts:
        return declared.missing or LEFT_OUT
    reasons = dict.fromkeys(cell.missing for cell in plan.artifacts[paper, artifact])
    return "" if "" in reasons else "; ".join(reasons)


def why_not_measured(plan: Plan, paper: str, claim: Claim) -> str:
    """Why nothing of this scale measures a claim's number, in words; empty if a cell, or an exact study, does.

    A claim about an artifact made from runs is bound to the cells with its coordinates and to no others, and a
    comparison to those that the artifact compares.
    """
    missing = plan.missing(paper, claim.artifact)
    reason = why_not_made(plan, paper, claim.artifact)
    declared = plan.config.papers[paper].artifacts.get(claim.artifact)
    if reason or declared is None or isinstance(declared, Studied):
        return missing.get(claim.text) or reason
    for where in claim.cells:
        if where not in missing:
            return f"no cell of {claim.artifact} has the coordinates {where}"
        if missing[where]:
            return missing[where]
    if (
        claim.kind == "comparison"
        and (claim.coordinates, claim.compared_with) not in declared.comparisons
    ):
        return f"{claim.artifact} does not compare {claim.text} with {claim.compared_with.text}"
    return ""


def measured_claims(plan: Plan) -> dict[tuple[str, str], list[Claim]]:
    """The claims that something of this scale measures, by paper and artifact."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for paper in plan.config.papers:
        for claim in load(plan.config.claims_file(paper)):
            if not why_not_measured(plan, paper, claim):
                found.setdefault((paper, claim.artifact), []).append(claim)
    return found


def answering(paper: Paper, claim: Claim) -> dict[str, str]:
    """What answers a claim (a theorem, an exact study, a sentence's own table, or encoders), and which study."""
    study = ""
    if claim.kind == "theorem":
        answered_by = "theorem"
    elif claim.artifact not in paper.studied:
        answered_by = "encoder"
    else:
        study = paper.studied[claim.artifact].study
        answered_by = "sentence" if study == SENTENCES else "study"
    return {"answered_by": answered_by, "study": study}
