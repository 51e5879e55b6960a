"""What the sentences of a paper say of its published numbers, and where they hold."""

import pandas as pd

from hypersphere.report.studies import Layout

ASKED = {"all": "everywhere", "most": "in most places", "some": "somewhere"}


def sentences(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    of_claims = claims.set_index("id").loc[table["claim"]].reset_index()
    places = table["fails"].map(_place_in_words, na_action="ignore")
    shown = {
        "Sentence": of_claims["sentence"],
        "Of": of_claims["source"],
        "To hold": table["asked"].map(ASKED),
        "Holds in": table["held"].astype(str) + " of " + table["places"].astype(str),
        "Verdict": of_claims["verdict"],
        "The first place where it fails": places.fillna("–"),
    }
    note = (
        "Each sentence is checked on the numbers that the paper itself publishes; nothing is measured. In quotation "
        "marks are its own words. A place is a published number, the difference of two, or a mean or range of several. "
        "A sentence that its own numbers contradict is refuted."
    )
    return Layout.of_table(pd.DataFrame(shown), note)


def _place_in_words(fails: str) -> str:
    """A place and its number without the keys: of ``method=mocov3;variant=pos: -0.2`` it is "mocov3, pos: −0.2"."""
    place, _, number = fails.rpartition(": ")
    values = [part.split("=", 1)[-1] for part in place.split(";")]
    return f"{', '.join(filter(None, values))}: {number}".replace("-", "−")
