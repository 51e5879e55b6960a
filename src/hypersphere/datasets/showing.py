"""The table of docs/datasets.md: ``python -m hypersphere.datasets.showing docs/datasets.md``."""

import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from hypersphere import files
from hypersphere.provenance import data_files
from hypersphere.wording import replace_between

BEGIN, END = "<!-- datasets -->", "<!-- end of datasets -->"
MEGABYTE = 10**6


def table() -> str:
    """Every dataset with what it holds, how large its files are, and its licence, in Markdown."""
    lines = ["| name | what it holds | download | licence |", "|---|---|--:|---|"]
    for dataset, rows in groupby(data_files.rows(data_files.TABLE), itemgetter("dataset")):
        listed = list(rows)
        first = listed[0]
        sizes = [int(row["bytes"]) for row in listed if row["bytes"]]
        size = f"{sum(sizes) / MEGABYTE:,.1f} MB" if sizes else ""
        name = f"[{first['title']}]({first['homepage']}), `{dataset}`"
        lines.append(f"| {name} | {first['content']} | {size} | {first['licence']} |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    return replace_between(page, BEGIN, END, table())


if __name__ == "__main__":
    file = Path(sys.argv[1])
    files.write_text(file, with_table(file.read_text(encoding="utf-8")))
