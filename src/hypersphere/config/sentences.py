"""Sentences that a document says of its own printed numbers, with the places where each holds (audit/relations.py).

sentences.yaml has the cells, relation and threshold of each sentence, claims.csv the numbers. Nothing is measured.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, Self, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from hypersphere.audit import relations
from hypersphere.config.claims import Claim
from hypersphere.config.coordinates import Scalar, alternatives, in_order, show
from hypersphere.config.project import Config
from hypersphere.config.validation import Strict, read_mapping, validate
from hypersphere.errors import HypersphereError
from hypersphere.wording import count_of

Texts = Annotated[
    Scalar | list[Scalar], AfterValidator(lambda given: [*map(show, alternatives(given))])
]
"""One value or several, as the coordinates of printed numbers show them."""
Cells = dict[str, Texts]
"""Coordinates of printed numbers, ``artifact`` among them: a number is one of the cells if it has one of the values of
each key. The value ``""`` means that the number lacks the key."""
Numbers = Annotated[
    tuple[float, ...], BeforeValidator(lambda one: tuple(one) if isinstance(one, list) else (one,))
]


class Check(Strict):
    """A relation, and the printed numbers that have it."""

    cells: Cells
    minus: Cells | None = None
    """The cell that each cell is compared with, by the coordinates that differ. If there are several, it is the hardest
    to beat; with ``against: any`` the easiest."""
    against: Literal["all", "any"] = "all"
    take: Literal["each", "mean", "range", "largest"] = "each"
    """What to compute from the numbers (or differences) that agree in ``by``; ``each``: they are checked one by one."""
    by: list[str] = Field(default_factory=list)
    less: Cells | None = None
    """The coordinates of other cells. The same is computed from their numbers, and subtracted."""
    relation: Literal["above", "at least", "below", "at most", "within", "between"] = Field(
        alias="is"
    )
    than: Numbers = (0.0,)
    """The threshold, in the metric's unit; for ``between``, the lowest and the highest allowed number."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        takes = 2 if self.relation == "between" else 1
        if len(self.than) != takes:
            raise ValueError(f"than: {self.relation} takes {count_of(takes, 'number')}")
        if self.take == "each" and (self.by or self.less):
            raise ValueError("take: by and less need mean, range or largest")
        if "artifact" not in self.cells:
            raise ValueError("cells: name the artifact that prints them")
        return self

    @property
    def artifacts(self) -> set[str]:
        """The artifacts whose numbers the check needs: few of thousands of numbers."""
        names = set[str]()
        for cells in (self.cells, self.minus or {}, self.less or {}):
            names.update(cast(list[str], cells.get("artifact", [])))
        return names


class Sentence(Strict):
    """The checks of one sentence, and at how many places it says they hold (sentences.yaml, by the claim's id)."""

    checks: list[Check] = Field(min_length=1)
    holds: Literal["all", "most", "some"] = "all"


class CheckedSentence(NamedTuple):
    """One sentence: the claim's id and reading, and the number of places where the sentence holds, of all places."""

    claim: str
    reading: str
    sentence: Sentence
    held: int
    places: int
    fails: str
    """The first place where it fails; empty if it holds everywhere."""


def check_sentences(config: Config, paper: str, listed: Sequence[Claim]) -> list[CheckedSentence]:
    """Check every sentence of a document's sentences.yaml on the numbers of ``listed``, the document's claims.

    A sentence that the numbers cannot decide is refused.
    """
    file = config.sentences_file(paper)
    readings = {claim.id: claim.reading for claim in listed}
    numbers = [_number(claim) for claim in listed if claim.kind == "value"]
    sentences = []
    for name, given in read_mapping(file).items():
        sentence = validate(Sentence, given, file, str(name))
        if name not in readings:
            raise HypersphereError(f"{file}: {name}: is not a claim of {config.claims_file(paper)}")
        artifacts = set[str]().union(*(check.artifacts for check in sentence.checks))
        checks = [relations.Check(**dict(check)) for check in sentence.checks]
        try:
            holding = relations.outcome(
                checks, [number for number in numbers if number.at["artifact"] in artifacts]
            )
        except ValueError as error:
            raise HypersphereError(f"{file}: {name}.{error}") from None
        sentences.append(CheckedSentence(str(name), readings[name], sentence, *holding))
    return sentences


def _number(claim: Claim) -> relations.Number:
    """The number that a claim prints, and its coordinates."""
    assert claim.reported is not None
    read = {"artifact": claim.artifact, relations.READING: claim.reading}
    place = in_order({**read, **claim.coordinates})
    return relations.Number({key: show(value) for key, value in place.items()}, claim.reported)
