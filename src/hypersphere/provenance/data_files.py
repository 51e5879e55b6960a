"""What of the checkout's data files decides a dataset's bytes: checksums in data/datasets.csv, and lists of classes.

A row of that table counts for the datasets whose code includes its reader, a module of ``datasets/``. Its file's name
and md5 count; addresses and words do not, because they change no byte.
"""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypersphere import files

FOLDER = Path(__file__).parents[3] / "data"
TABLE = FOLDER / "datasets.csv"
LISTS = {"imagenet100": FOLDER / "imagenet100.txt"}
"""Lists of classes by the module of ``datasets/`` that reads them."""


def counted(modules: Iterable[str], table: Path | None = None) -> dict[str, str]:
    """What decides the bytes of a dataset that these modules make: md5 of published files, sha256 of lists, by name.

    ``modules`` are dotted names, with all modules that they import; ``table`` is by default that of the checkout.
    """
    readers = {module.removeprefix("hypersphere.datasets.") for module in modules}
    found = {name: md5 for reader, name, md5 in _rows(table or TABLE) if reader in readers}
    return found | {path.name: files.sha256(path) for reader, path in LISTS.items() if reader in readers}


@cache
def _rows(table: Path) -> tuple[tuple[str, str, str], ...]:
    """Reader, file and md5 of each published file. The reader is in the first row of its dataset."""
    rows, reader = [], ""
    for row in csv.DictReader(files.read_text(table).splitlines()):
        reader = row["reader"] or reader
        if row["file"]:
            rows.append((reader, f"{row['dataset']}/{row['file']}", row["md5"]))
    return tuple(rows)
