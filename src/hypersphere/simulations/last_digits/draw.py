"""A table of last digits."""

import pandas as pd

from hypersphere.report.studies import Layout


def last_digits(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """The last digits of printed accuracies, table by table."""
    head = ["Printed in", "Of", "Accuracies", *(str(digit) for digit in range(10)), "odd", "p of odd or even"]
    body = []
    for row in table.to_dict("records"):
        group = "all" if pd.isna(row["group"]) else row["group"]
        digits = [str(row[f"digit_{digit}"]) for digit in range(10)]
        body.append([row["table"], group, str(row["numbers"]), *digits, str(row["odd"]), f"{row['p_odd']:.2g}"])
    note = (
        "Below each digit: how many accuracies end in it, with the zeros that their table prints. p: exact, two-sided, "
        f"of so many odd digits if odd and even were equally likely; {len(table)} rows are tested, and nothing is "
        "corrected for that. Means of three runs over 10,000 images end in 0, 3 and 7 in the third decimal, means of "
        "five in even digits; one run over 5,000 images has an even second decimal. Quoted numbers, dropped batches "
        "and other test sets change digits too."
    )
    return Layout(head, body, note)
