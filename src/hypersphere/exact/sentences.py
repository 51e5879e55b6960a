"""Sentences that a document says of its own printed numbers, checked on these numbers (config/sentences.py).

A sentence that its own tables contradict is refuted, however well the tables are reproduced.
"""

import pandas as pd

from hypersphere.audit.relations import HOLDS
from hypersphere.config import claims
from hypersphere.config.sentences import check_sentences
from hypersphere.exact.study import Context, ExactStudy, counted

COLUMNS = ["claim", "held", "places", "asked", "fails"]


def sentences(context: Context) -> ExactStudy:
    """Every sentence of a document about its own numbers: where it holds, and a place where it fails."""
    rows = []
    answers = []
    listed = claims.load(context.config.claims_file(context.paper))
    for one in check_sentences(context.config, context.paper, listed):
        quantifier = one.sentence.holds
        needed = HOLDS[quantifier](one.places)
        answers.append(counted(one.claim, one.held, one.places, one.reading, needed))
        rows.append((one.claim, one.held, one.places, quantifier, one.fails))
    return ExactStudy({"sentences": pd.DataFrame(rows, columns=COLUMNS)}, answers)
