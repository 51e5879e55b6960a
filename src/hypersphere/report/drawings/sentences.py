"""What the sentences of a paper say of its published numbers, and where they hold."""

import pandas as pd

from hypersphere.report.studies import Layout

ASKED = {"all": "everywhere", "most": "in most places", "some": "somewhere"}


def sentences(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    head = [
        "Sentence",
        "Of",
        "To hold",
        "Holds in",
        "Verdict",
        "The first place where it fails",
    ]
    told = claims.set_index("id")
    body = []
    for row in table.to_dict("records"):
        claim = told.loc[row["claim"]]
        body.append(
            [
                claim["sentence"],
                claim["source"],
                ASKED[row["asked"]],
                f"{row['held']} of {row['places']}",
                claim["verdict"],
                _place_in_words(row["fails"]) if isinstance(row["fails"], str) else "–",
            ]
        )
    note = (
        "Each sentence is checked on the numbers that the paper itself publishes; nothing is measured. In quotation "
        "marks are its own words. A place is a published number, the difference of two, or a mean or range of several. "
        "A sentence that its own numbers contradict is refuted."
    )
    return Layout(head, body, note)


def _place_in_words(fails: str) -> str:
    """A place and its number without the keys: of ``method=mocov3;variant=pos: -0.2`` it is "mocov3, pos: −0.2"."""
    place, _, number = fails.rpartition(": ")
    values = [part.split("=", 1)[-1] for part in place.split(";")]
    named = ", ".join(filter(None, values))
    return f"{named}: {number}".replace("-", "−")
