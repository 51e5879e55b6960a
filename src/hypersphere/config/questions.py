"""findings.yaml: what a reader would ask, the claims that answer it, and a sentence for each outcome."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from string import Formatter
from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from hypersphere.config.project import Config, of_document
from hypersphere.config.rules import Answer
from hypersphere.config.validation import (
    Identifier,
    PositiveInt,
    Strict,
    Text,
    check_name,
    read_mapping,
    validate,
)
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
Evaluation = Literal["holds", "fails"]
"""The outcomes for which every question has a headline of its own."""
OfStudy = Literal["unclear"]
Said = Literal[
    "holds", "fails", "direction only", "opposite", "cannot tell", "not tested", "unclear"
]
"""A finished study can be neither yes nor no by its plan, ``unclear``; the outcome is then ``cannot tell``."""
Column = Literal[
    "id",
    "paper",
    "artifact",
    "kind",
    "origin",
    "answered_by",
    "method",
    "variant",
    "dataset",
    "metric",
    "reading",
]
Selection = dict[Column, str | list[str]]
"""Claims by their columns; ``*`` stands for any letters."""
OF_GROUP = (
    "holds",
    "direction_only",
    "fails",
    "opposite",
    "disagree",
    "cannot_tell",
    "not_tested",
    "unknown",
    "all",
    "measured",
    "at_published_scale",
    "k_all",
    "n_all",
)
"""What a sentence may name of the claims of a question or, as ``{name.fails}``, of a group of ``groups``."""
TOGETHER = (
    *OF_GROUP,
    "which_fail",
    "encoders",
    "ahead",
    "beyond",
    "level",
    "behind",
    "which_ahead",
    "which_beyond",
    "which_level",
    "which_behind",
    "which_open",
    "which_unread",
)
"""What a sentence may name of the claims of a question together (docs/report.md)."""
OF_ONE = (
    "published",
    "effect",
    "size",
    "interval",
    "adjusted",
    "value",
    "n",
    "k",
    "draws",
    "counterexample",
    "statement",
    "place",
    "answer",
)
"""What a sentence may name of the leading claim, or, as ``{name.effect}``, of a claim of ``also``."""


class Question(Strict):
    """A question, and what is said for each outcome; ``TOGETHER`` and ``OF_ONE`` list what sentences may name."""

    question: Text
    paper: Identifier
    """The paper that it is about, or ``several``."""
    lead: PositiveInt | Literal["not known"] | None = None
    """Its place among the findings of the first screen. ``not known``: it is the paragraph on what we do not know."""
    about: list[Selection] = Field(default_factory=list)
    """The claims that answer it. A selection that finds no claim is an error."""
    study: Identifier | None = None
    """The study of the paper that answers it, in place of ``about`` and a rule. The study fixed beforehand what counts.
    ``holds`` is yes, ``fails`` no, ``unclear`` neither; before the study is finished it is ``cannot tell``."""
    rule: Literal["all", "most"] = "all"
    """``all``: it holds if all claims do, and fails (or is opposite) if one does; ``most``: what more than half say."""
    leading: str | None = None
    """The id of the claim whose numbers fill the sentence; None: the first."""
    also: dict[Identifier, str] = Field(default_factory=dict)
    """Other claims whose numbers a sentence names, by a short name."""
    groups: dict[Identifier, Selection] = Field(default_factory=dict)
    """Other claims that a sentence counts, by a short name."""
    headline: dict[Said, Text]
    """What each outcome means, in at most 30 words. An outcome without a headline has a general one."""
    says: dict[Said, Text] = Field(default_factory=dict)
    """How we know, after the headline. What encoders measured is added by itself."""
    adds: Text | None = None
    """A sentence after that of any outcome, about claims of ``also``; left out while one of their runs is missing."""
    limits: list[Text] = Field(default_factory=list)
    """What the answer of a study does not say, a sentence each; shown with the study's tables."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.study is None) != bool(self.about):
            raise ValueError("about: give the claims, or a study")
        if self.study is None:
            needed, impossible, who = get_args(Evaluation), get_args(OfStudy), "only a study has"
        else:
            needed = (*get_args(Evaluation), *get_args(OfStudy))
            impossible, who = ("opposite", "direction only"), "no study has"
        sentences = self.sentences()
        for field in ("headline", "says"):
            for outcome in impossible:
                if f"{field}.{outcome}" in sentences:
                    raise ValueError(f"{field}.{outcome}: {who} this outcome")
        for outcome in needed:
            if outcome not in self.headline:
                raise ValueError(f"headline: needs a sentence for '{outcome}'")
        for where, sentence in sentences.items():
            for name in _names_in(where, sentence):
                if not self._has(name):
                    raise ValueError(f"{where}: {{{name}}} is not a name that a sentence can have")
        if self.leading in self.also.values():
            raise ValueError("also: names the leading claim again")
        for name in self.groups:
            if name in self.also:
                raise ValueError(f"groups.{name}: is a name of also")
        return self

    def sentences(self) -> dict[str, str]:
        """Its sentences by their fields, ``headline.holds``."""
        headlines = {f"headline.{outcome}": sentence for outcome, sentence in self.headline.items()}
        evidence = {f"says.{outcome}": sentence for outcome, sentence in self.says.items()}
        return headlines | evidence | ({"adds": self.adds} if self.adds else {})

    def _has(self, name: str) -> bool:
        """Whether a sentence can have the name."""
        owner, dot, field = name.partition(".")
        if not dot:
            return name in TOGETHER or name in OF_ONE
        if owner in self.groups:
            return field in OF_GROUP
        return owner in self.also and field in OF_ONE


def _names_in(where: str, sentence: str) -> list[str]:
    """The names in the braces of a sentence, which take neither a format nor a conversion."""
    try:
        parts = list(Formatter().parse(sentence))
    except ValueError:
        raise ValueError(
            f"{where}: a brace is not closed or not opened; write {{{{ or }}}} for one of the text"
        ) from None
    for _, name, form, conversion in parts:
        if form or conversion:
            raise ValueError(f"{where}: {{{name}}} takes no format; its measure says its decimals")
    return [name for _, name, _, _ in parts if name is not None]


@dataclass(frozen=True)
class Chosen:
    """The claims that a question finds, by their ids."""

    about: list[str]
    leading: str
    groups: dict[str, list[str]]


def choose(where: str, one: Question, listed: Mapping[str, Mapping[str, Any]]) -> Chosen:
    """The claims that a question is about and counts, among claims by id."""
    of_study: Selection = {"id": f"{one.paper}.{one.study}.*"}
    about: dict[str, None] = {}
    for place, selection in enumerate(one.about or [of_study]):
        about |= dict.fromkeys(_claims_of(f"{where}: about.{place}", selection, listed))
    groups = {}
    for name, selection in one.groups.items():
        groups[name] = _claims_of(f"{where}: groups.{name}", selection, listed)
    leading = one.leading or next(iter(about))
    named = {f"also.{name}": claim for name, claim in one.also.items()}
    for field, claim in {"leading": leading, **named}.items():
        if claim not in listed:
            raise HypersphereError(f"{where}: {field}: there is no claim '{claim}'")
    return Chosen(list(about), leading, groups)


def _claims_of(
    where: str, selection: Selection, listed: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """The ids of the claims of a selection, at least one."""
    ids = list(listed)
    for column, given in selection.items():
        patterns = [given] if isinstance(given, str) else given
        matches = re.compile("|".join(map(translate, patterns))).match
        ids = [claim for claim in ids if matches(listed[claim][column])]
    if not ids:
        raise HypersphereError(f"{where}: finds no claim")
    return ids


def check_names(
    where: str, one: Question, leading: Mapping[str, Any], also: Mapping[str, Mapping[str, Any]]
) -> None:
    """Check that each claim whose number a sentence names is of a kind that has such a number."""
    for place, sentence in one.sentences().items():
        for name in _names_in(place, sentence):
            owner, _, field = name.rpartition(".")
            if owner in one.groups or field not in _NEEDS:
                continue
            claim = also[owner] if owner else leading
            if not _NEEDS[field](claim):
                raise HypersphereError(
                    f"{where}: {place}: {{{name}}}: the claim {claim['id']} cannot have one"
                )


_NEEDS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "effect": lambda claim: claim["kind"] == "comparison",
    "size": lambda claim: claim["kind"] == "comparison",
    "value": lambda claim: claim["kind"] != "comparison",
    "draws": lambda claim: claim["answered_by"] == "theorem",
    "counterexample": lambda claim: claim["answered_by"] == "theorem",
    "statement": lambda claim: claim["sentence"] != "",
    "place": lambda claim: claim["source"] != "",
}
"""What a claim must be to have a number or words of that name."""


def load(config: Config) -> dict[str, tuple[Path, Question]]:
    """The questions of every findings.yaml by their ids, first those about several papers, each with its file."""
    questions: dict[str, tuple[Path, Question]] = {}
    for document, file in config.files_named(FILE).items():
        for name, one in read_mapping(file).items():
            if name in questions:
                raise HypersphereError(f"{file}: {name}: is a question of {questions[name][0]} too")
            given = of_document(one, "paper", document, f"{file}: {name}")
            question = validate(Question, given, file, str(name))
            if question.study is not None:
                studies = config.papers[document].studies
                check_name(question.study, studies, f"{file}: {name}: study")
            questions[str(name)] = file, question
    return questions
