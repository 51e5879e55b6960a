r"""numbers.tex: the report's numbers as macros, for a paper in LaTeX that has \input{numbers}.

A count has a macro of its own, \hypersphereStatementsFail. A number of a claim is \hypersphere{ID}{FIELD}.
"""

from collections.abc import Iterator, Mapping, Sequence

from hypersphere.config.rules import Answer
from hypersphere.provenance.tables import Row
from hypersphere.report import counts, findings
from hypersphere.report.entries import NOTHING

FILE = "numbers.tex"
PREFIX = "hypersphere"
FIELDS = ("published", "effect", "value", "interval", "n")
"""What a claim's macro can show, of the numbers that a finding can name."""
ESCAPED = {
    **{sign: f"\\{sign}" for sign in "%&#_$"},
    "−": r"\ensuremath{-}",
    "–": "--",
    "≤": r"\ensuremath{\le}",
    "∞": r"\ensuremath{\infty}",
}
"""Characters that LaTeX would not set as they are."""
LOOK_UP = r"""\makeatletter
\newcommand{\hypersphere}[2]{\@ifundefined{hypersphere@#1@#2}%
  {\PackageError{hypersphere}{no number #2 of claim #1}{claims.csv lists the claims}}%
  {\@nameuse{hypersphere@#1@#2}}}"""
"""The macro of a claim's number, which is an error where there is no such number."""


def build(claims: Sequence[Row]) -> str:
    """The text of numbers.tex, by the rows of the report's claims.csv."""
    numbers = counts.of_evidence(claims)
    lines = ["% Written by `make report`. Counts are of published claims.", *_of_counts(numbers)]
    lines.append(LOOK_UP)
    for claim in filter(findings.is_known, claims):
        lines += _of_claim(claim)
    return "\n".join([*lines, r"\makeatother", ""])


def _of_counts(numbers: Mapping[str, int]) -> Iterator[str]:
    r"""``\newcommand{\hypersphereStatementsFail}{22}``."""
    for key, number in numbers.items():
        words = key.title().replace("_", "")
        yield rf"\newcommand{{\{PREFIX}{words}}}{{{number}}}"


def _of_claim(claim: Row) -> Iterator[str]:
    """A line for each number of one claim; what it does not have has no line."""
    numbers = findings.numbers(claim)
    shown = {field: numbers[field] for field in FIELDS}
    shown |= {"result": Answer.of(claim["answer"]).result, "certainty": str(claim["certainty"])}
    for field, text in shown.items():
        if text not in ("", NOTHING):
            name = f"{PREFIX}@{name_of(claim['id'])}@{field}"
            yield rf"\@namedef{{{name}}}{{{escaped(text)}}}"


def name_of(claim: str) -> str:
    """The id of a claim as a macro has it: without ``%``, which would begin a comment."""
    return claim.replace("%", "")


def escaped(text: str) -> str:
    """A text as LaTeX sets it."""
    return "".join(ESCAPED.get(sign, sign) for sign in text)
