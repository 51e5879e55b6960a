"""Sentences that a document says of its own printed numbers, checked on these numbers (audit/claims.py).

sentences.yaml has the cells, relation and threshold of each sentence, claims.csv the numbers. Nothing is
measured: a sentence that its own tables contradict is refuted, however well they are reproduced.
"""

import pandas as pd

from hypersphere.audit.claims import HOLDS, READING, Cells, Check, Number, outcome
from hypersphere.config import claims, coordinates
from hypersphere.config.validation import read_mapping, validate
from hypersphere.errors import HypersphereError
from hypersphere.simulations.study import Context, Study, counted

COLUMNS = ["claim", "held", "places", "asked", "fails"]


def check(given: claims.Check) -> Check:
    """A check of sentences.yaml as one of an audit, whose coordinates are text."""

    def shown(cells: claims.Cells | None) -> Cells | None:
        named = cells.items() if cells is not None else ()
        found = {key: [coordinates.show(one) for one in coordinates.alternatives(value)] for key, value in named}
        return found if cells is not None else None

    return Check(**{**dict(given), **{name: shown(getattr(given, name)) for name in ("cells", "minus", "less")}})


def sentences(context: Context) -> Study:
    """Every sentence of a document about its own numbers: where it holds, and a place where it fails."""
    file = context.config.sentences_file(context.paper)
    listed = claims.load(context.config.claims_file(context.paper))
    readings = {claim.id: claim.reading for claim in listed}
    numbers, rows, answers = [], [], []
    for one in listed:
        if one.kind == "value" and one.reported is not None:
            at = coordinates.ordered({"artifact": one.artifact, READING: one.reading, **one.coordinates})
            numbers.append(Number({key: coordinates.show(value) for key, value in at.items()}, one.reported))
    said = {str(name): validate(claims.Sentence, one, file, str(name)) for name, one in read_mapping(file).items()}
    for claim, sentence in said.items():
        if claim not in readings:
            raise HypersphereError(f"{file}: {claim}: is no claim of {context.config.claims_file(context.paper)}")
        try:
            held, places, fails = outcome([check(one) for one in sentence.checks], numbers)
        except ValueError as error:
            raise HypersphereError(f"{file}: {claim}.{error}") from None
        answers.append(counted(claim, held, places, readings[claim], HOLDS[sentence.holds](places)))
        rows.append({"claim": claim, "held": held, "places": places, "asked": sentence.holds, "fails": fails})
    return Study({"sentences": pd.DataFrame(rows, columns=COLUMNS)}, answers)
