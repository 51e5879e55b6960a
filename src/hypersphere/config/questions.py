"""paper/findings.yaml: what a reader would ask, the claims that answer it, and a sentence for each outcome."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints, field_validator, model_validator

from hypersphere import files
from hypersphere.config.validation import Identifier, PositiveInt, Strict, validate
from hypersphere.errors import HypersphereError

FILE = "paper/findings.yaml"
Outcome = Literal["holds", "fails", "opposite", "cannot tell"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Column = Literal[
    "id", "paper", "artifact", "kind", "origin", "answered_by", "method", "variant", "dataset", "metric", "reading"
]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Question(Strict):
    """A question, and what is said for each outcome.

    A sentence may name ``{holds}``, ``{fails}``, ``{opposite}``, ``{unknown}``, ``{borne}``, ``{contradicted}`` and
    ``{all}``, which count claims, and ``{effect}``, ``{size}`` (the effect without its
    sign), ``{interval}``, ``{printed}``, ``{value}``, ``{n}``, ``{k}``, ``{draws}``, ``{certainty}`` and
    ``{counterexample}`` of the leading claim; ``{name.effect}`` is of a claim of ``also``.
    """

    question: Text
    paper: Identifier
    """The document that it is about, or ``several``."""
    lead: PositiveInt | None = None
    """Its place among the findings of the first screen; None: it is not there."""
    about: list[dict[Column, str | list[str]]] = Field(min_length=1)
    """Claims, each by its columns; ``*`` stands for any letters. One that finds no claim is an error."""
    rule: Literal["all", "most"] = "all"
    """``all``: it holds if all claims do, and fails (or is opposite) if one does; ``most``: what more than half say."""
    leading: str | None = None
    """The id of the claim whose numbers fill the sentence; None: the first."""
    also: dict[Identifier, str] = Field(default_factory=dict)
    """Other claims whose numbers a sentence names, by a short name."""
    says: dict[Outcome, Text]

    @field_validator("says")
    @classmethod
    def _every_outcome(cls, says: dict[Outcome, str]) -> dict[Outcome, str]:
        for outcome in OUTCOMES:
            if outcome not in says:
                raise ValueError(f"needs a sentence for '{outcome}'")
        return says

    @model_validator(mode="after")
    def _leads_once(self) -> "Question":
        if self.leading in self.also.values():
            raise ValueError("also: names the leading claim again")
        return self


def load(root: Path) -> dict[str, Question]:
    """The questions of paper/findings.yaml by their ids, in their order; none without the file."""
    file = root / FILE
    given = files.read_yaml(file) if file.exists() else {}
    if not isinstance(given, dict):
        raise HypersphereError(f"{file}: must map the ids of questions to questions")
    return {str(name): validate(Question, one, file, str(name)) for name, one in given.items()}


def selects(selection: dict[Column, str | list[str]], claim: Mapping[str, Any]) -> bool:
    """Whether a claim's columns are those that are asked for."""
    return all(
        any(fnmatchcase(claim[column], one) for one in ([wanted] if isinstance(wanted, str) else wanted))
        for column, wanted in selection.items()
    )
