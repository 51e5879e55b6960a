"""paper/sentences/<paper>.yaml: what sentences of a document say of its own printed numbers, as cells and a relation.

The numbers are those of paper/claims/<paper>.csv, so that none is typed twice. The key of an entry is the claim's id.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from hypersphere import files
from hypersphere.config.coordinates import Scalar
from hypersphere.config.validation import Strict, validate
from hypersphere.errors import HypersphereError
from hypersphere.wording import counted

Cells = dict[str, Scalar | list[Scalar]]
"""Coordinates of printed numbers, ``artifact`` among them: a number is one of the cells if it has one of the values of
each key. The value ``""`` means that the number lacks the key."""
Relation = Literal["above", "at least", "below", "at most", "within", "between"]
Numbers = Annotated[tuple[float, ...], BeforeValidator(lambda one: tuple(one) if isinstance(one, list) else (one,))]


class Check(Strict):
    """A relation, and the printed numbers that have it."""

    cells: Cells
    minus: Cells | None = None
    """The cell that each is compared with, by the coordinates that differ. Of several, the one that is hardest to beat;
    the easiest with ``against: any``."""
    against: Literal["all", "any"] = "all"
    take: Literal["each", "mean", "range", "largest"] = "each"
    """What is taken of the numbers (or differences) that agree in ``by``; ``each``: they are checked one by one."""
    by: list[str] = Field(default_factory=list)
    less: Cells | None = None
    """Coordinates of other cells, of which the same is taken, and subtracted."""
    relation: Relation = Field(alias="is")
    than: Numbers = (0.0,)
    """The threshold, in the metric's unit; for ``between``, the lowest and the highest allowed number."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        takes = 2 if self.relation == "between" else 1
        if len(self.than) != takes:
            raise ValueError(f"than: {self.relation} takes {counted(takes, 'number')}")
        if self.take == "each" and (self.by or self.less):
            raise ValueError("take: by and less need mean, range or largest")
        if "artifact" not in self.cells:
            raise ValueError("cells: name the artifact that prints them")
        return self


class Sentence(Strict):
    """The checks of one sentence, and of how many of their places it speaks."""

    checks: list[Check] = Field(min_length=1)
    holds: Literal["all", "most", "some"] = "all"

    def needed(self, places: int) -> int:
        """The number of places that must hold: all, more than half, or one."""
        return {"all": places, "most": places // 2 + 1, "some": 1}[self.holds]


def load(file: Path) -> dict[str, Sentence]:
    """The sentences of a document, by the id of their claim."""
    given: Any = files.read_yaml(file)
    if not isinstance(given, dict):
        raise HypersphereError(f"{file}: must be claims' ids with the checks of their sentences")
    return {name: validate(Sentence, sentence, file, f"sentences.{name}") for name, sentence in given.items()}
