"""findings.yaml: what a reader would ask, the claims that answer it, and a sentence for each outcome."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints, model_validator

from hypersphere import files
from hypersphere.config.project import Config, of_document
from hypersphere.config.validation import AsList, Identifier, NonNegativeInt, PositiveInt, Strict, validate
from hypersphere.errors import HypersphereError

FILE = "findings.yaml"
Outcome = Literal["holds", "fails", "opposite", "cannot tell"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Column = Literal[
    "id", "paper", "artifact", "kind", "origin", "answered_by", "method", "variant", "dataset", "metric", "reading"
]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
TOGETHER = {
    "holds": "how many of the claims hold, or are borne by their own table",
    "fails": "how many fail, or are contradicted by their own table",
    "opposite": "how many are the other way round",
    "unknown": "of how many one cannot tell",
    "all": "how many there are",
    "measured": "for how many there is any evidence",
    "which_hold": "where those that hold are printed",
    "which_fail": "where those that fail are printed",
    "ours": "who found what: 'small encoders on real images give −0.6 [−1.4, +0.2] (n = 5)', or that nobody did",
    "printed_range": "the printed differences, from the smallest to the largest",
}
"""What a sentence may name of the claims of a question together."""
OF_ONE = {
    "printed": "what the document prints",
    "effect": "our difference",
    "size": "our difference without its sign",
    "interval": "the 95 % interval, which is Welch's for encoders",
    "value": "our number",
    "n": "how many runs, or places, were counted",
    "k": "at how many of the places it holds",
    "draws": "how many random draws",
    "counterexample": "where it fails: 'fails at tau = 1, by 0.25'",
    "statement": "the claim in words",
    "place": "where it is printed",
    "answer": "a verb: 'holds', 'met no counterexample', 'fails', 'holds the other way round', 'is open'",
    "certainty": "how sure a reader may be",
}
"""What a sentence may name of the leading claim, or, as ``{name.effect}``, of a claim of ``also``."""


Counted = Literal["ahead", "beyond", "level", "behind", "open"]
"""What comparisons of a study are counted as: the corrected interval lies above zero (``beyond``: and the estimate is
above the margin), the arm is equivalent, the corrected interval lies below zero, or the direction is open."""
Bounds = Annotated[tuple[NonNegativeInt, NonNegativeInt], AsList]
"""The least and the greatest number."""


class Question(Strict):
    """A question, and what is said for each outcome; ``TOGETHER`` and ``OF_ONE`` list what sentences may name."""

    question: Text
    paper: Identifier
    """The document that it is about, or ``several``."""
    lead: PositiveInt | None = None
    """Its place among the findings of the first screen; None: it is not there."""
    about: list[dict[Column, str | list[str]]] = Field(min_length=1)
    """Claims, each by its columns; ``*`` stands for any letters. One that finds no claim is an error."""
    rule: Literal["all", "most"] = "all"
    """``all``: it holds if all claims do, and fails (or is opposite) if one does; ``most``: what more than half say."""
    fixed: dict[Outcome, dict[Counted, Bounds]] = Field(default_factory=dict)
    """In place of a rule, the answer that a study fixed in advance: the first outcome whose numbers of comparisons lie
    within its bounds; else one cannot tell."""
    leading: str | None = None
    """The id of the claim whose numbers fill the sentence; None: the first."""
    also: dict[Identifier, str] = Field(default_factory=dict)
    """Other claims whose numbers a sentence names, by a short name."""
    says: dict[Outcome, Text]

    @model_validator(mode="after")
    def _every_outcome(self) -> "Question":
        possible = {*self.fixed, "cannot tell"} if self.fixed else OUTCOMES
        for outcome in OUTCOMES:
            if outcome in possible and outcome not in self.says:
                raise ValueError(f"says: needs a sentence for '{outcome}'")
            if outcome in self.says and outcome not in possible:
                raise ValueError(f"says.{outcome}: no numbers of `fixed` give this outcome")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> "Question":
        for outcome, sentence in self.says.items():
            for _, name, _, _ in Formatter().parse(sentence):
                first, dot, rest = (name or "").partition(".")
                known = rest in OF_ONE and first in self.also if dot else first in (*TOGETHER, *OF_ONE)
                if name is not None and not known:
                    raise ValueError(f"says.{outcome}: {{{name}}} is no name that a sentence can have")
        return self

    @model_validator(mode="after")
    def _leads_once(self) -> "Question":
        if self.leading in self.also.values():
            raise ValueError("also: names the leading claim again")
        return self


def load(config: Config) -> dict[str, tuple[Path, Question]]:
    """The questions of every findings.yaml by their ids, first those about several documents, each with its file."""
    found: dict[str, tuple[Path, Question]] = {}
    for document, file in config.said(FILE).items():
        listed = files.read_yaml(file)
        if not isinstance(listed, dict):
            raise HypersphereError(f"{file}: must map the ids of questions to questions")
        for name, one in listed.items():
            if name in found:
                raise HypersphereError(f"{file}: {name}: is a question of {found[name][0]} too")
            given = of_document(one, "paper", document, f"{file}: {name}")
            found[str(name)] = file, validate(Question, given, file, str(name))
    return found


def selects(selection: dict[Column, str | list[str]], claim: Mapping[str, Any]) -> bool:
    """Whether a claim's columns are those that are asked for."""
    return all(
        any(fnmatchcase(claim[column], one) for one in ([wanted] if isinstance(wanted, str) else wanted))
        for column, wanted in selection.items()
    )
