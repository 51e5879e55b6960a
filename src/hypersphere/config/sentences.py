"""Sentences that a document says of its own printed numbers, with the places where each holds (audit/relations.py).

sentences.yaml has the cells, relation and threshold of each sentence, claims.csv the numbers. Nothing is measured.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hypersphere.audit.relations import READING, Check, Number, outcome
from hypersphere.config import claims
from hypersphere.config.coordinates import alternatives, ordered, show
from hypersphere.config.project import Config
from hypersphere.config.validation import read_mapping, validate
from hypersphere.errors import HypersphereError


class Told(NamedTuple):
    """One sentence: the claim's id and reading, and in how many places it holds, of all."""

    claim: str
    reading: str
    sentence: claims.Sentence
    held: int
    places: int
    fails: str
    """The first place where it fails; empty if it holds everywhere."""


def told(config: Config, paper: str, listed: Sequence[claims.Claim]) -> list[Told]:
    """Every sentence of a document's sentences.yaml, by its claims. One that their numbers do not allow is refused."""
    file = config.sentences_file(paper)
    readings = {claim.id: claim.reading for claim in listed}
    numbers = []
    for one in listed:
        if one.kind == "value" and one.reported is not None:
            at = ordered({"artifact": one.artifact, READING: one.reading, **one.coordinates})
            numbers.append(Number({key: show(value) for key, value in at.items()}, one.reported))
    found = []
    for name, given in read_mapping(file).items():
        sentence = validate(claims.Sentence, given, file, str(name))
        if name not in readings:
            raise HypersphereError(f"{file}: {name}: is not a claim of {config.claims_file(paper)}")
        try:
            checks = [_check(one) for one in sentence.checks]
            artifacts = _artifacts(checks)
            held, places, fails = outcome(
                checks, [one for one in numbers if one.at["artifact"] in artifacts]
            )
        except ValueError as error:
            raise HypersphereError(f"{file}: {name}.{error}") from None
        found.append(Told(str(name), readings[name], sentence, held, places, fails))
    return found


def _artifacts(checks: Sequence[Check]) -> set[str]:
    """The artifacts whose numbers some checks need: of thousands, a sentence is about a few."""
    cells = [
        cells
        for check in checks
        for cells in (check.cells, check.minus, check.less)
        if cells is not None
    ]
    return {name for one in cells for name in one.get("artifact", ())}


def _check(declared: claims.Check) -> Check:
    """The check with its cells' values as text, as those of printed numbers are."""
    fields = dict(declared)
    for name in ("cells", "minus", "less"):
        if (cells := fields[name]) is not None:
            fields[name] = {key: [*map(show, alternatives(value))] for key, value in cells.items()}
    return Check(**fields)
