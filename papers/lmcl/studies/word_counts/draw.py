"""A table of bags of words."""

import pandas as pd

from hypersphere.report.studies import Layout


def word_counts(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Bags of words on the six tasks of LMCL's Table 4, beside the table's columns."""
    head = ["Task", "Tested", "Majority", "Bag of words", "Published", "Above the words"]
    body = []
    for row in table.to_dict("records"):
        above = f"{row['least'] - row['words']:+.1f} to {row['most'] - row['words']:+.1f}"
        body.append(
            [
                row["task"].upper(),
                f"{row['examples']:,}",
                f"{row['majority']:.1f}",
                f"{row['words']:.1f}",
                f"{row['least']:.1f} to {row['most']:.1f}",
                above.replace("-", "−"),
            ]
        )
    of_task = table.set_index("task")
    least = of_task["least"].to_dict()
    words = of_task["words"].to_dict()
    subj = least["mpqa"] - words["subj"]
    mpqa = least["subj"] - words["mpqa"]
    note = (
        "Accuracies in percent. A bag of words is logistic regression on which words occur; no encoder takes part. "
        "Published are the six encoders of Table 4, the lowest and the highest. If SUBJ and MPQA were swapped, the "
        f"lowest would be {subj:.1f} and {mpqa:.1f} points above the words (L20)."
    )
    return Layout(head, body, note)
