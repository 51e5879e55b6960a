"""What was found, in plain sentences whose numbers are links, and a matrix of documents and verdicts.

Claims of different origins are counted apart, and so are those that different kinds of evidence answer.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from hypersphere.config.project import Config
from hypersphere.config.rules import Verdict
from hypersphere.report import claims
from hypersphere.report.claims import KINDS, Entry, kind_of
from hypersphere.report.results import settles
from hypersphere.wording import counted


class Outcome(NamedTuple):
    """Verdicts that say the same to a reader in a hurry."""

    name: str
    heading: str
    one: str
    """What one claim did, after its number: ``holds``."""
    many: str

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdicts that say it."""
        return tuple(verdict for verdict in Verdict if verdict.outcome == self.name)


OUTCOMES = {
    one.name: one
    for one in (
        Outcome("holds", "Holds", "holds", "hold"),
        Outcome("fails", "Fails", "fails", "fail"),
        Outcome("borne", "Agrees with its own table", "agrees with its own table", "agree with their own table"),
        Outcome("contradicted", "Contradicts its own table", "contradicts its own table", "contradict their own table"),
        Outcome("open", "Open", "is open or in part", "are open or hold in part"),
        Outcome("unjudged", "Cannot be judged", "cannot be judged", "cannot be judged"),
        Outcome("measured", "Measured", "was measured", "were measured"),
        Outcome("waiting", "Not run", "was not run", "were not run"),
    )
}
MARKS = {"holds": "✓", "fails": "✕", "borne": "=", "contradicted": "≠", "open": "~", "unjudged": "?", "measured": "○"}
MARKS |= {"waiting": ""}
"""The sign of each outcome in the grid, so that it does not depend on colour."""


DIRECTIONS = {
    "same": "in the printed direction",
    "opposite": "in the opposite direction",
    "no effect": "without an effect",
    "unclear": "without a clear direction",
}
"""What our effect says of a printed one below the published scale, in words."""


class Part(NamedTuple):
    """A piece of a sentence; ``link`` is empty for plain text."""

    text: str
    link: str = ""


class Column(NamedTuple):
    """Claims of one kind and verdict, or of one kind and outcome."""

    kind: str
    verdict: str
    """A verdict, or the name of an outcome: what the page is filtered to."""
    heading: str
    tone: str


class Row(NamedTuple):
    """A document's counts, or the sum over documents (``id`` is empty)."""

    id: str
    title: str
    cells: tuple[tuple[int, str], ...]
    """(number of claims, address of the page filtered to them), one for each column."""


class Matrix(NamedTuple):
    """Documents and verdicts, for claims of one origin."""

    origin: str
    exact: bool
    """Whether columns are verdicts, not outcomes."""
    spans: list[tuple[str, int, int]]
    """(heading, number of columns, number of claims) of each kind."""
    columns: list[Column]
    rows: list[Row]


class Example(NamedTuple):
    """A document's claims that failed or held, for the first screen."""

    outcome: Outcome
    link: str
    shown: list[Entry]
    more: int


def outcome_of(claim: Entry) -> str:
    """A key of ``OUTCOMES``."""
    return Verdict.of(claim.verdict).outcome


def address(**filters: str) -> str:
    """The address of the page filtered: ``#?document=margins&verdict=refuted``."""
    return f"#?{urlencode({key: value for key, value in filters.items() if value})}"


def matrix(config: Config, entries: Sequence[Entry], origin: str, exact: bool = False) -> Matrix:
    """The counts of every document and outcome (``exact``: verdict), kinds beside each other; sums in the last row."""
    cells = []
    for claim in (claim for claim in entries if claim.origin == origin):
        outcome = OUTCOMES[outcome_of(claim)]
        verdict, heading = (claim.verdict, claim.verdict) if exact else (outcome.name, outcome.heading)
        cells.append((claim.paper, Column(kind_of(claim), verdict, heading, claim.tone)))
    found, order = Counter(cells), [*OUTCOMES, *claims.ORDER]
    columns = sorted(
        {column for _, column in cells},
        key=lambda one: (list(KINDS).index(one.kind), order.index(one.verdict), one.verdict),
    )
    rows = []
    for name, title in [(name, paper.title) for name, paper in config.papers.items()] + [("", "All documents")]:
        asked = [name] if name else list(config.papers)
        counts = [sum(found[paper, column] for paper in asked) for column in columns]
        links = [address(document=name, kind=one.kind, origin=origin, verdict=one.verdict) for one in columns]
        if any(counts) or not name:
            rows.append(Row(name, title, tuple(zip(counts, links, strict=True))))
    spans = []
    for kind, (heading, _) in KINDS.items():
        wide = sum(one.kind == kind for one in columns)
        spans += [(heading, wide, sum(column.kind == kind for _, column in cells))] if wide else []
    return Matrix(origin, exact, spans, columns, rows)


_MEANINGS = {
    "theorem": " Failing means a counterexample; holding means that random draws met none, which is no proof.",
    "sentence": " That is no evidence on what a sentence says of the world.",
}


def sentences(config: Config, entries: Sequence[Entry]) -> list[list[Part]]:
    """One sentence for each kind of printed claim, and after that of encoders one on the directions at this scale."""
    told = []
    for kind, (_, what) in KINDS.items():
        shown = [claim for claim in entries if claim.origin == "printed" and kind_of(claim) == kind]
        if not shown:
            continue
        meaning = _MEANINGS.get(kind, "")
        if kind == "encoder" and not settles(config):
            meaning = f" What is measured at scale {config.scale_name} counts for or against none of them."
        total = Part(str(len(shown)), address(kind=kind, origin="printed"))
        told.append([Part("Of "), total, Part(f" printed {what}, "), *_outcomes(shown, kind), Part(f".{meaning}")])
        directions = Counter(claim.direction for claim in shown if claim.direction)
        if directions:
            told.append([Part(f"{counted(directions.total(), 'measured comparison')} among them: ")])
            for name, saying in DIRECTIONS.items():
                if directions[name]:
                    link = address(kind=kind, origin="printed", verdict=name)
                    told[-1] += [Part(", ")] if len(told[-1]) > 1 else []
                    told[-1].append(Part(f"{directions[name]} {saying}", link))
            told[-1].append(Part("."))
    return told


def _outcomes(shown: Sequence[Entry], kind: str) -> list[Part]:
    """``22 hold, 30 fail and 2 cannot be judged``, the numbers linked."""
    numbers = Counter(map(outcome_of, shown))
    listed = [(outcome, numbers[outcome.name]) for outcome in OUTCOMES.values() if numbers[outcome.name]]
    parts: list[Part] = []
    for place, (outcome, number) in enumerate(listed):
        if place:
            parts.append(Part(" and " if place == len(listed) - 1 else ", "))
        said = outcome.one if number == 1 else outcome.many
        parts.append(Part(f"{number} {said}", address(kind=kind, origin="printed", verdict=outcome.name)))
    return parts


def examples(entries: Sequence[Entry], paper: str, gravity: Callable[[Entry], int], most: int = 2) -> list[Example]:
    """The printed sentences of a document that fail and that hold: the gravest and shortest of each artifact."""
    found = []
    for name, tone in (("fails", "disagree"), ("holds", "agree")):
        settled = [one for one in entries if (one.origin, one.paper, one.tone) == ("printed", paper, tone)]
        of_artifact: dict[str, Entry] = {}
        for claim in sorted(settled, key=lambda claim: (gravity(claim), len(claim.sentence), claim.id)):
            if claim.sentence:
                of_artifact.setdefault(claim.artifact, claim)
        shown = list(of_artifact.values())[:most]
        if shown:
            link = address(document=paper, origin="printed", verdict=name)
            found.append(Example(OUTCOMES[name], link, shown, len(settled) - len(shown)))
    return found
