"""findings.yaml: what a reader would ask, the claims that answer it, and a sentence for each outcome."""

from pathlib import Path
from string import Formatter
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from hypersphere.config.project import Config, of_document
from hypersphere.config.rules import Answer
from hypersphere.config.validation import Identifier, PositiveInt, Strict, Text, not_one_of, read_mapping, validate
from hypersphere.errors import HypersphereError

FILE = "findings.yaml"
OUTCOMES = (
    Answer.HOLDS,
    Answer.DIRECTION_ONLY,
    Answer.FAILS,
    Answer.OPPOSITE,
    Answer.CANNOT_TELL,
    Answer.NOT_TESTED,
)
"""What the claims of a question come to."""
Asked = Literal["holds", "fails", "opposite", "cannot tell"]
"""The outcomes for which every question has a sentence of its own."""
OfStudy = Literal["unclear"]
Said = Asked | Literal["direction only", "not tested"] | OfStudy
"""A finished study can be neither yes nor no by its plan, ``unclear``; the outcome is then ``cannot tell``."""
Column = Literal[
    "id", "paper", "artifact", "kind", "origin", "answered_by", "method", "variant", "dataset", "metric", "reading"
]
TOGETHER = (
    *("holds", "direction_only", "fails", "opposite", "disagree", "cannot_tell", "not_tested", "unknown"),
    *("all", "measured", "which_fail", "ours", "printed_range"),
    *("which_ahead", "which_beyond", "which_level", "which_behind", "which_open", "which_unread"),
)
"""What a sentence may name of the claims of a question together (docs/report.md)."""
OF_ONE = (
    *("printed", "effect", "size", "interval", "adjusted", "value", "n", "k", "draws", "counterexample", "statement"),
    *("place", "answer"),
)
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
    ``holds`` is yes, ``fails`` no, ``unclear`` neither; before the study is finished it is ``cannot tell``."""
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
    def _whole(self) -> Self:
        if (self.study is None) != bool(self.about):
            raise ValueError("about: give the claims, or a study")
        impossible = get_args(OfStudy) if self.study is None else ("opposite",)
        for outcome in impossible:
            if outcome in self.says:
                what = "no study has" if self.study else "only a study has"
                raise ValueError(f"says.{outcome}: {what} this outcome")
        asked = get_args(Asked)
        for outcome in asked if self.study is None else (*asked, "unclear"):
            if outcome not in (*impossible, *self.says):
                raise ValueError(f"says: needs a sentence for '{outcome}'")
        sentences = {f"says.{outcome}": sentence for outcome, sentence in self.says.items()} | {"adds": self.adds or ""}
        for where, sentence in sentences.items():
            for _, name, _, _ in Formatter().parse(sentence):
                first, dot, rest = (name or "").partition(".")
                known = rest in OF_ONE and first in self.also if dot else first in (*TOGETHER, *OF_ONE)
                if name is not None and not known:
                    raise ValueError(f"{where}: {{{name}}} is no name that a sentence can have")
        if self.leading in self.also.values():
            raise ValueError("also: names the leading claim again")
        return self


def load(config: Config) -> dict[str, tuple[Path, Question]]:
    """The questions of every findings.yaml by their ids, first those about several documents, each with its file."""
    found: dict[str, tuple[Path, Question]] = {}
    for document, file in config.said(FILE).items():
        for name, one in read_mapping(file).items():
            if name in found:
                raise HypersphereError(f"{file}: {name}: is a question of {found[name][0]} too")
            given = of_document(one, "paper", document, f"{file}: {name}")
            question = validate(Question, given, file, str(name))
            if question.study is not None:
                studies = config.papers[document].studies
                if question.study not in studies:
                    raise HypersphereError(f"{file}: {name}: study: {not_one_of(question.study, [*studies])}")
            found[str(name)] = file, question
    return found
