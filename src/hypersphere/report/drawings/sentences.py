"""What a document's sentences say of its own printed numbers, and where they hold."""

import pandas as pd

from hypersphere.report.studies import Layout

ASKED = {"all": "everywhere", "most": "in most places", "some": "somewhere"}


def sentences(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    head = ["Sentence", "Of", "To hold", "Holds in", "Verdict", "The first place where it fails"]
    told = claims.set_index("id")
    body = []
    for row in table.to_dict("records"):
        claim = told.loc[row["claim"]]
        fails = "–"
        if isinstance(row["fails"], str):  # coordinates and a number: method=mocov3;variant=pos: -0.2
            place, _, number = row["fails"].rpartition(": ")
            values = [part.partition("=")[2] if "=" in part else part for part in place.split(";")]
            fails = f"{', '.join(filter(None, values))}: {number}".replace("-", "−")
        held = f"{row['held']} of {row['places']}"
        body.append([claim["sentence"], claim["source"], ASKED[row["asked"]], held, claim["verdict"], fails])
    note = (
        "Each sentence is checked on the numbers that the document itself prints; nothing is measured. In quotation "
        "marks are its own words. A place is a printed number, the difference of two, or a mean or range of several. "
        "A sentence that its own numbers contradict is refuted."
    )
    return Layout(head, body, note)
