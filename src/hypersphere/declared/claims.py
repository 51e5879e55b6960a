"""paper/claims/<paper>.csv: every published number and comparison, read and checked."""

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
"""The reading of a claim that no erratum corrects."""


def _number(value: float) -> float:
    if math.isnan(value):
        raise ValueError("must be a number, or inf for what never happens")
    return value


class Claim(Strict):
    """A row of paper/claims/<paper>.csv. Accuracies in percent, comparisons in points; steps that never end are inf."""

    id: str
    kind: Literal["value", "comparison", "theorem"]
    origin: Literal["printed", "corrected", "ours"]
    """``printed``: the document says it; ``corrected``: an erratum's reading of what the document says; ``ours``: what
    no document says (our own theorem, identity or sensitivity row). Counts shown to people are of printed ones."""
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
    """How many trials a printed mean is over, where that is printed."""
    direction: Literal["larger"] | None = None
    """Of a comparison that prints no difference: the variant's mean is the larger. One without a variant is a sentence,
    which an exact study holds against every place of a computation."""
    reading: str
    sentence: str
    source: str

    @cached_property
    def coordinates(self) -> dict[str, Scalar]:
        """Which number is meant: method, variant, dataset, setting and measure."""
        named = {"method": self.method, "variant": self.variant, "dataset": self.dataset, "measure": self.metric or ""}
        settings = parse(self.setting, self.id)
        return ordered({**{key: value for key, value in named.items() if value}, **settings})

    @cached_property
    def text(self) -> str:
        """The coordinates as text."""
        return text(self.coordinates)

    @cached_property
    def compared_with(self) -> dict[str, Scalar]:
        """The coordinates of a comparison's baseline, which is given by its variant, or by all that differs."""
        other = parse(self.baseline, self.id) if "=" in self.baseline else {"variant": self.baseline}
        return ordered({**self.coordinates, **other})

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for field, written in (("setting", self.setting), ("baseline", self.baseline if "=" in self.baseline else "")):
            try:
                parse(written, field)
            except HypersphereError as error:
                raise ValueError(str(error)) from None
        own = [key for key in parse(self.setting, "setting") if key in (*IDENTITY, "measure")]
        if own:
            raise ValueError(f"setting: {own[0]} has a column of its own")
        return self

    @model_validator(mode="after")
    def _corrected_by_something(self) -> Self:
        if self.origin == "corrected" and self.reading == PRINTED:
            raise ValueError(f"origin: 'corrected' needs the erratum that corrects it as its reading, not '{PRINTED}'")
        return self


def load(file: Path) -> list[Claim]:
    """Read a paper's claims, and fill in what each comparison reports: the difference of its two printed values.

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
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise HypersphereError(f"{file}: id: '{claim.id}' is given twice")
        seen.add(claim.id)
    return [_reported(claim, claims, file) for claim in claims]


def _reported(claim: Claim, claims: Sequence[Claim], file: Path) -> Claim:
    """A comparison reports variant minus baseline, unless the paper prints the difference itself."""
    if claim.kind == "theorem" or claim.reported is not None or claim.direction:
        return claim
    if claim.kind == "comparison" and not claim.variant:
        return claim
    if claim.kind == "value":
        raise HypersphereError(f"{file}: {claim.id}: reported: a value claim needs the printed number")
    printed = []
    for where in (claim.coordinates, claim.compared_with):
        found = [
            other.reported
            for other in claims
            if other.kind == "value"
            and (other.artifact, other.reading) == (claim.artifact, claim.reading)
            and other.text == text(where)
        ]
        if len(found) != 1 or found[0] is None:
            raise HypersphereError(
                f"{file}: {claim.id}: needs exactly one value claim for '{text(where)}' of {claim.artifact}; "
                f"there are {len(found)}"
            )
        printed.append(found[0])
    # Printed decimals are exact; a binary difference (4.6000000000000014) is not.
    return claim.model_copy(update={"reported": round(printed[0] - printed[1], 10)})
