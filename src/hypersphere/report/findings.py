"""What was found, in plain sentences whose numbers are links, and a matrix of documents and verdicts.

Printed claims, readings corrected by an erratum and claims of our own are counted apart, and so are trained encoders,
exact studies and theorems.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from hypersphere.config.project import Config
from hypersphere.config.verdicts import Verdict
from hypersphere.report import claims
from hypersphere.report.claims import Entry, kind_of
from hypersphere.report.results import settles

KINDS = {"theorem": "Theorems", "study": "Exact studies", "encoder": "Trained encoders"}
"""What answers a claim (``claims.kind_of``), as headings; those whose answers have no scale come first."""


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
        Outcome("open", "Open", "is open or in part", "are open or hold in part"),
        Outcome("unjudged", "Cannot be judged", "cannot be judged", "cannot be judged"),
        Outcome("measured", "Measured", "was measured", "were measured"),
        Outcome("waiting", "Not run", "was not run", "were not run"),
    )
}
OUTCOME_OF: dict[str, str] = {verdict: verdict.outcome for verdict in Verdict}
MARKS = {"holds": "✓", "fails": "✕", "open": "~", "unjudged": "?", "measured": "○", "waiting": ""}
"""The sign of each outcome in the grid, so that it does not depend on colour."""


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
    return OUTCOME_OF.get(claim.verdict, "open")


def address(**filters: str) -> str:
    """The address of the page filtered: ``#?document=margins&verdict=refuted``."""
    return f"#?{urlencode({key: value for key, value in filters.items() if value})}"


def matrix(config: Config, entries: Sequence[Entry], origin: str, exact: bool = False) -> Matrix:
    """The counts of every document and outcome (``exact``: verdict), kinds beside each other; sums in the last row."""
    of_origin = [claim for claim in entries if claim.origin == origin]
    cells = [(claim.paper, _column(claim, exact)) for claim in of_origin]
    found = Counter(cells)
    columns = sorted({column for _, column in cells}, key=_place)

    def row(paper: str, title: str) -> Row:
        asked = [name for name in config.papers if paper in ("", name)]
        counts = [sum(found[name, column] for name in asked) for column in columns]
        links = [address(document=paper, kind=one.kind, origin=origin, verdict=one.verdict) for one in columns]
        return Row(paper, title, tuple(zip(counts, links, strict=True)))

    rows = [row(paper.paper, paper.title) for paper in config.papers.values()]
    spans = [
        (heading, sum(one.kind == kind for one in columns), sum(kind_of(claim) == kind for claim in of_origin))
        for kind, heading in KINDS.items()
    ]
    shown = [one for one in rows if any(number for number, _ in one.cells)]
    return Matrix(origin, exact, [span for span in spans if span[1]], columns, [*shown, row("", "All documents")])


def _column(claim: Entry, exact: bool) -> Column:
    if exact:
        return Column(kind_of(claim), claim.verdict, claim.verdict, claim.tone)
    outcome = OUTCOMES[outcome_of(claim)]
    return Column(kind_of(claim), outcome.name, outcome.heading, claim.tone)


def _place(column: Column) -> tuple[int, int, str]:
    """The order of columns: by kind, then settled verdicts first."""
    order = [*OUTCOMES, *claims.ORDER]
    return list(KINDS).index(column.kind), order.index(column.verdict), column.verdict


def sentences(config: Config, entries: Sequence[Entry]) -> list[list[Part]]:
    """One sentence for each kind of printed claim, then one for corrected readings and claims of our own."""
    printed = [claim for claim in entries if claim.origin == "printed"]
    told = [_of_kind(config, kind, [claim for claim in printed if kind_of(claim) == kind]) for kind in KINDS]
    return [sentence for sentence in told if sentence] + _apart(entries)


_OPENINGS = {
    "theorem": ("Of ", " printed theorems and identities"),
    "study": ("Of ", " printed numbers and sentences that exact studies answer"),
    "encoder": ("Of ", " printed numbers and comparisons of trained encoders"),
}


def _of_kind(config: Config, kind: str, shown: Sequence[Entry]) -> list[Part]:
    if not shown:
        return []
    before, after = _OPENINGS[kind]
    parts = [Part(before), Part(str(len(shown)), address(kind=kind, origin="printed")), Part(f"{after}, ")]
    parts += _outcomes(shown, kind=kind, origin="printed")
    present = {outcome_of(claim) for claim in shown}
    if kind == "theorem" and present & {"holds", "fails"}:
        return [
            *parts,
            Part(". Failing means a counterexample; holding means that random draws met none, which is no proof."),
        ]
    if kind == "encoder" and not settles(config):
        return [*parts, Part(f". What is measured at scale {config.scale_name} counts for or against none of them.")]
    return [*parts, Part(".")]


def _outcomes(shown: Sequence[Entry], **base: str) -> list[Part]:
    """``22 hold, 30 fail and 2 cannot be judged``, the numbers linked."""
    numbers = Counter(map(outcome_of, shown))
    listed = [(outcome, numbers[outcome.name]) for outcome in OUTCOMES.values() if numbers[outcome.name]]
    parts: list[Part] = []
    for place, (outcome, number) in enumerate(listed):
        joint = "" if place == 0 else " and " if place == len(listed) - 1 else ", "
        said = outcome.one if number == 1 else outcome.many
        parts += [Part(joint), Part(f"{number} {said}", address(**base, verdict=outcome.name))]
    return [part for part in parts if part.text]


def _apart(entries: Sequence[Entry]) -> list[list[Part]]:
    """Corrected readings and claims of our own that were judged, a sentence each."""
    told = []
    for origin, what in (("corrected", "readings corrected by an erratum"), ("ours", "claims of our own")):
        answered = [claim for claim in entries if claim.origin == origin and kind_of(claim) != "encoder"]
        parts: list[Part] = []
        for kind, noun in (("theorem", "theorems"), ("study", "exact studies")):
            shown = [claim for claim in answered if kind_of(claim) == kind]
            if shown:
                link = address(kind=kind, origin=origin)
                parts += [Part("; " if parts else ""), Part(str(len(shown)), link), Part(f" of {noun}: ")]
                parts += _outcomes(shown, kind=kind, origin=origin)
        if parts:
            told.append([Part(f"Counted apart, {what}: "), *(part for part in parts if part.text), Part(".")])
    return told


def examples(entries: Sequence[Entry], paper: str, most: int = 2) -> list[Example]:
    """The printed sentences of a document that fail and that hold: the shortest of each artifact, a few of them."""
    printed = [claim for claim in entries if claim.origin == "printed" and claim.paper == paper]
    found = []
    for name in ("fails", "holds"):
        tone = "disagree" if name == "fails" else "agree"
        settled = [claim for claim in printed if claim.tone == tone]
        said = [claim for claim in settled if claim.sentence]
        by_length = sorted(said, key=lambda claim: (len(claim.sentence), claim.id))
        of_artifact: dict[str, Entry] = {}
        for claim in by_length:
            of_artifact.setdefault(claim.artifact, claim)
        shown = list(of_artifact.values())[:most]
        if shown:
            link = address(document=paper, origin="printed", verdict=name)
            found.append(Example(OUTCOMES[name], link, shown, len(settled) - len(shown)))
    return found
