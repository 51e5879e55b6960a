"""What of the checkout's data files decides a dataset's bytes: checksums in data/datasets.csv, and lists of classes.

A row of that table counts for the datasets whose code includes its reader, a module of ``datasets/``. Its file's name
and md5 count; addresses and words do not, because they change no byte.
"""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypersphere import files
from hypersphere.errors import HypersphereError

FOLDER = Path(__file__).parents[3] / "data"
TABLE = FOLDER / "datasets.csv"
LISTS = {"imagenet100": FOLDER / "imagenet100.txt"}
"""Lists of classes by the module of ``datasets/`` that reads them."""


def counted(modules: Iterable[str], table: Path | None = None) -> dict[str, str]:
    """What decides the bytes of a dataset that these modules make.

    Args:
        modules: dotted names, with all modules that they import.
        table: the published files; by default those of the checkout.

    Returns:
        md5 by name for published files, sha256 by name for lists.

    Raises:
        HypersphereError: a file is missing; it belongs to the checkout.
    """
    readers = {module.removeprefix("hypersphere.datasets.") for module in modules}
    found = {name: md5 for reader, name, md5 in _rows(table or TABLE) if reader in readers}
    return found | {path.name: files.sha256(path) for reader, path in LISTS.items() if reader in readers}


@cache
def _rows(table: Path) -> tuple[tuple[str, str, str], ...]:
    """Reader, file and md5 of each published file. The reader is in the first row of its dataset."""
    rows, reader = [], ""
    try:
        with table.open(encoding="utf-8", newline="") as handle:
            for row in csv.DictReader(handle):
                reader = row["reader"] or reader
                if row["file"]:
                    rows.append((reader, f"{row['dataset']}/{row['file']}", row["md5"]))
    except OSError as error:
        raise HypersphereError(f"{table}: cannot be read ({error.strerror}); it belongs to the checkout") from None
    return tuple(rows)
