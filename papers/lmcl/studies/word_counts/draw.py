"""A table of bags of words."""

import pandas as pd

from hypersphere.report.studies import Layout


def word_counts(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Bags of words on the six tasks of LMCL's Table 4, beside the table's columns."""
    head = ["Task", "Tested", "Majority", "Bag of words", "Printed", "Above the words"]
    body = []
    for row in table.to_dict("records"):
        printed = f"{row['least']:.1f} to {row['most']:.1f}"
        above = f"{row['least'] - row['words']:+.1f} to {row['most'] - row['words']:+.1f}".replace("-", "−")
        shown = [f"{row['majority']:.1f}", f"{row['words']:.1f}", printed, above]
        body.append([row["task"].upper(), f"{row['examples']:,}", *shown])
    of = table.set_index("task")
    least, words = of["least"].to_dict(), of["words"].to_dict()
    swapped = least["mpqa"] - words["subj"], least["subj"] - words["mpqa"]
    note = (
        "Accuracies in percent. A bag of words is logistic regression on which words occur; no encoder takes part. "
        "Printed are the six encoders of Table 4, the lowest and the highest. If SUBJ and MPQA were swapped, the "
        f"lowest would be {swapped[0]:.1f} and {swapped[1]:.1f} points above the words (L20)."
    )
    return Layout(head, body, note)
