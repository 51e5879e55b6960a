"""findings.yaml: what a reader would ask, the claims that answer it, and a sentence for each outcome."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints, model_validator

from hypersphere import files
from hypersphere.config.project import Config, of_document
from hypersphere.config.validation import Identifier, PositiveInt, Strict, not_one_of, validate
from hypersphere.errors import HypersphereError

FILE = "findings.yaml"
Outcome = Literal["holds", "fails", "opposite", "cannot tell"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OfStudy = Literal["unclear", "level"]
Said = Outcome | OfStudy
"""A finished study can be neither yes nor no by its plan, ``unclear``, or have no answer because an arm is ``level``
with a control; the outcome is then ``cannot tell``."""
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
    "which_fail": "where those that fail are printed",
    "ours": "who found what: 'small encoders on real images give −0.6 [−1.4, +0.2] (n = 5)', or that nobody did",
    "printed_range": "the printed differences, from the smallest to the largest",
    "which_ahead": "of a study: arms that are better than their baseline, after correction; 'none' if there is none",
    "which_beyond": "of a study: the arms that are better by more than its margin",
    "which_level": "of a study: arms level with their baseline within its margin; they can be ahead or behind, too",
    "which_behind": "of a study: arms that are worse than their baseline, after correction",
    "which_open": "of a study: the arms that are none of these",
    "which_unread": "of a study: arms of which no direction is read, as they or what they are compared with are level",
}
"""What a sentence may name of the claims of a question together."""
OF_ONE = {
    "printed": "what the document prints",
    "effect": "our difference",
    "size": "our difference without its sign",
    "interval": "the 95 % interval, which is Welch's for encoders",
    "adjusted": "the interval after Holm's correction",
    "value": "our number",
    "n": "how many runs, or places, were counted",
    "k": "at how many of the places it holds",
    "draws": "how many random draws",
    "counterexample": "where it fails: 'fails at tau = 1, by 0.25'",
    "statement": "the claim in words",
    "place": "where it is printed",
    "answer": "a verb: 'holds', 'met no counterexample', 'fails', 'holds the other way round', 'is open'",
}
"""What a sentence may name of the leading claim, or, as ``{name.effect}``, of a claim of ``also``."""


class Question(Strict):
    """A question, and what is said for each outcome; ``TOGETHER`` and ``OF_ONE`` list what sentences may name."""

    question: Text
    paper: Identifier
    """The document that it is about, or ``several``."""
    lead: PositiveInt | None = None
    """Its place among the findings of the first screen; None: it is not there."""
    about: list[dict[Column, str | list[str]]] = Field(default_factory=list)
    """Claims, each by its columns; ``*`` stands for any letters. One that finds no claim is an error."""
    study: Identifier | None = None
    """In place of ``about`` and a rule: a study of the document, which fixed in advance what would count as an answer.
    ``holds`` is yes, ``fails`` no, ``unclear`` neither, ``level`` none, as an arm is level with a control; before all
    arms have their seeds it is ``cannot tell``."""
    rule: Literal["all", "most"] = "all"
    """``all``: it holds if all claims do, and fails (or is opposite) if one does; ``most``: what more than half say."""
    leading: str | None = None
    """The id of the claim whose numbers fill the sentence; None: the first."""
    also: dict[Identifier, str] = Field(default_factory=dict)
    """Other claims whose numbers a sentence names, by a short name."""
    says: dict[Said, Text]
    adds: Text | None = None
    """A sentence after that of any outcome, about claims of ``also``; left out while one of their runs is missing."""
    limits: list[Text] = Field(default_factory=list)
    """What the answer of a study does not say, a sentence each; shown with the study's tables."""

    @model_validator(mode="after")
    def _every_outcome(self) -> "Question":
        if (self.study is None) != bool(self.about):
            raise ValueError("about: give the claims, or a study")
        impossible = get_args(OfStudy) if self.study is None else ("opposite",)
        for outcome in impossible:
            if outcome in self.says:
                what = "no study has" if self.study else "only a study has"
                raise ValueError(f"says.{outcome}: {what} this outcome")
        for outcome in OUTCOMES if self.study is None else (*OUTCOMES, "unclear"):
            if outcome not in (*impossible, *self.says):
                raise ValueError(f"says: needs a sentence for '{outcome}'")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> "Question":
        sentences = {f"says.{outcome}": sentence for outcome, sentence in self.says.items()} | {"adds": self.adds or ""}
        for where, sentence in sentences.items():
            for _, name, _, _ in Formatter().parse(sentence):
                first, dot, rest = (name or "").partition(".")
                known = rest in OF_ONE and first in self.also if dot else first in (*TOGETHER, *OF_ONE)
                if name is not None and not known:
                    raise ValueError(f"{where}: {{{name}}} is no name that a sentence can have")
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
            question = validate(Question, given, file, str(name))
            if question.study is not None:
                studies = config.papers[document].studies
                if question.study not in studies:
                    raise HypersphereError(f"{file}: {name}: study: {not_one_of(question.study, [*studies])}")
                if studies[question.study].answers.level_arms == "no answer" and "level" not in question.says:
                    raise HypersphereError(f"{file}: {name}: says: needs a sentence for 'level'")
            found[str(name)] = file, question
    return found


def limits(config: Config) -> dict[str, list[str]]:
    """What the answer to each question does not say, by the question's id."""
    return {name: one.limits for name, (_, one) in load(config).items()}


def selects(selection: dict[Column, str | list[str]], claim: Mapping[str, Any]) -> bool:
    """Whether a claim's columns are those that are asked for."""
    return all(
        any(fnmatchcase(claim[column], one) for one in ([wanted] if isinstance(wanted, str) else wanted))
        for column, wanted in selection.items()
    )
