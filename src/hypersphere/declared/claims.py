"""Read and check paper/claims/<paper>.csv: every published number, comparison and statement."""

import csv
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AllowInfNan, PositiveInt, model_validator

from hypersphere.declared.coordinates import IDENTITY, Scalar, ordered, parse, text
from hypersphere.declared.measures import MeasureName
from hypersphere.declared.validation import Strict, validate
from hypersphere.errors import HypersphereError

PRINTED = "as printed"
"""The ``reading`` of a claim that no erratum corrects."""


def _number(value: float) -> float:
    if math.isnan(value):
        raise ValueError("must be a number, or inf for steps that never end")
    return value


class Claim(Strict):
    """A row of paper/claims/<paper>.csv. Accuracies in percent, comparisons in points; steps that never end are inf."""

    id: str
    kind: Literal["value", "comparison", "theorem"]
    origin: Literal["printed", "corrected", "ours"]
    """``printed``: in the document; ``corrected``: in an erratum's reading of the document; ``ours``: in no document
    (our own theorem, identity or sensitivity row). Counts shown to people are of printed claims."""
    artifact: str
    method: str
    variant: str
    baseline: str
    dataset: str
    setting: str
    metric: MeasureName | None
    reported: Annotated[float, AllowInfNan(True), AfterValidator(_number)] | None
    reported_std: float | None
    reported_n: PositiveInt | None = None
    """Number of trials of a printed mean, if it is printed."""
    direction: Literal["larger"] | None = None
    """For a comparison without a printed difference: the variant's mean is the larger. A comparison without a variant
    is a sentence, which an exact study checks at every point of a computation."""
    reading: str
    sentence: str
    source: str

    @cached_property
    def coordinates(self) -> dict[str, Scalar]:
        """The coordinates of the number: method, variant, dataset, setting and measure."""
        named = {"method": self.method, "variant": self.variant, "dataset": self.dataset, "measure": self.metric or ""}
        settings = parse(self.setting, self.id)
        return ordered({**{key: value for key, value in named.items() if value}, **settings})

    @cached_property
    def text(self) -> str:
        """The coordinates as text."""
        return text(self.coordinates)

    @cached_property
    def compared_with(self) -> dict[str, Scalar]:
        """The coordinates of a comparison's baseline, which names a variant, or all coordinates that differ."""
        other = parse(self.baseline, self.id) if "=" in self.baseline else {"variant": self.baseline}
        return ordered({**self.coordinates, **other})

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for field, given in (("setting", self.setting), ("baseline", self.baseline if "=" in self.baseline else "")):
            try:
                parse(given, field)
            except HypersphereError as error:
                raise ValueError(str(error)) from None
        columns = [key for key in parse(self.setting, "setting") if key in (*IDENTITY, "measure")]
        if columns:
            raise ValueError(f"setting: {columns[0]} has a column of its own")
        return self

    @model_validator(mode="after")
    def _names_its_erratum(self) -> Self:
        if self.origin == "corrected" and self.reading == PRINTED:
            raise ValueError(f"reading: must be an erratum where origin is corrected (given: '{PRINTED}')")
        return self


def load(file: Path) -> list[Claim]:
    """Read a paper's claims, and fill in what each comparison reports: the difference of its two printed values.

    Raises:
        HypersphereError: a sentence naming the file, the claim and the column.
    """
    return with_differences(read(file), file)


def with_differences(claims: Sequence[Claim], file: Path) -> list[Claim]:
    """The claims, each comparison with the difference of its two printed values.

    Raises:
        HypersphereError: a value is not printed; the sentence names the file, the claim and the column.
    """
    return [_with_difference(claim, claims, file) for claim in claims]


def read(file: Path) -> list[Claim]:
    """The rows of a paper's claims, each validated by itself.

    Raises:
        HypersphereError: a sentence naming the file, the claim and the column.
    """
    try:
        with file.open(encoding="utf-8", newline="") as handle:
            table = csv.DictReader(handle)
            rows = [(row, table.line_num) for row in table]
    except FileNotFoundError:
        raise HypersphereError(f"{file}: the file is missing") from None
    may_be_empty = ("metric", "reported", "reported_std", "reported_n", "direction")
    claims = []
    for row, line in rows:
        value = {k: None if v == "" and k in may_be_empty else v for k, v in row.items() if k is not None}
        claims.append(validate(Claim, value, file, f"line {line} ({row.get('id') or 'no id'})"))
    ids: set[str] = set()
    for claim in claims:
        if claim.id in ids:
            raise HypersphereError(f"{file}: id: '{claim.id}' is given twice")
        ids.add(claim.id)
    return claims


def _with_difference(claim: Claim, claims: Sequence[Claim], file: Path) -> Claim:
    """The claim; of a comparison, ``reported`` is variant minus baseline, unless the paper prints the difference."""
    if claim.kind == "theorem" or claim.reported is not None or claim.direction:
        return claim
    if claim.kind == "comparison" and not claim.variant:
        return claim
    if claim.kind == "value":
        raise HypersphereError(f"{file}: {claim.id}: reported: a value claim needs the printed number")
    printed = []
    for where in (claim.coordinates, claim.compared_with):
        values = [
            other.reported
            for other in claims
            if other.kind == "value"
            and (other.artifact, other.reading) == (claim.artifact, claim.reading)
            and other.text == text(where)
        ]
        if len(values) != 1 or values[0] is None:
            raise HypersphereError(
                f"{file}: {claim.id}: needs exactly one value claim for '{text(where)}' of {claim.artifact}; "
                f"there are {len(values)}"
            )
        printed.append(values[0])
    # Printed decimals are exact; a binary difference (4.6000000000000014) is not.
    return claim.model_copy(update={"reported": round(printed[0] - printed[1], 10)})
