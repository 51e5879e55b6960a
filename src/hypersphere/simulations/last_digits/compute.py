"""Last digits of printed accuracies: which there are, and how many are odd.

Where numbers spread over many units of their last decimal, each last digit is as likely as any other. An accuracy over
T test images moves in steps of 100 / T: with T = 5,000 one run has an even second decimal. The findings are about
numbers, never about people: quoted numbers, other test sets and means over runs all change digits.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from hypersphere.audit.chance import LEVEL, odd_p
from hypersphere.config import coordinates
from hypersphere.config.claims import Claim, load
from hypersphere.simulations.printed import TESTED, cells, in_order
from hypersphere.simulations.study import Context, Study, counted

FEWEST = 8
"""The least numbers of a group with a row of its own."""
COLUMNS = ["table", "group", "numbers", *(f"digit_{digit}" for digit in range(10)), "odd", "p_odd"]


class Number(NamedTuple):
    """A printed accuracy's last digit, its table, and its place among the settings and variants of that table."""

    table: str
    group: str
    digit: int


def last_digits_of(claims: Iterable[Claim]) -> list[Number]:
    """The last printed digit of each accuracy."""
    found = []
    for cell, claim in cells(claims):
        if claim.metric in TESTED:
            setting = coordinates.setting({key: value for key, value in claim.coordinates.items() if key != "target"})
            group = f"{setting}, {claim.variant}" if setting else ""  # a table without settings is one group
            found.append(Number(claim.source, group, cell.mean.as_tuple().digits[-1]))
    return found


def summary(numbers: Sequence[Number]) -> pd.DataFrame:
    """A row for each table, and for each setting and variant of a table that has enough numbers."""
    rows = []
    for table in in_order(number.table for number in numbers):
        of_table = [number for number in numbers if number.table == table]
        groups = [name for name in dict.fromkeys(number.group for number in of_table) if name]
        for group in ("", *groups):
            digits = [number.digit for number in of_table if group in ("", number.group)]
            if len(digits) >= FEWEST:
                odd = sum(digit % 2 for digit in digits)
                counts = {f"digit_{digit}": digits.count(digit) for digit in range(10)}
                rows.append(
                    {"table": table, "group": group, "numbers": len(digits), **counts}
                    | {"odd": odd, "p_odd": odd_p(odd, len(digits))}
                )
    return pd.DataFrame(rows, columns=COLUMNS)


def last_digits(context: Context) -> Study:
    """Last digits of all printed accuracies of a paper."""
    table = summary(last_digits_of(load(context.config.claims_file(context.paper))))
    even = counted(f"{context.paper}.last_digits.parity", int((table["p_odd"] >= LEVEL).sum()), len(table))
    return Study({"last_digits": table}, [even])
