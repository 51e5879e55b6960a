"""What of the checkout's data files decides a dataset's bytes: checksums of published files, and tables and lists.

A row of data/datasets.csv or data/checksums.csv counts for the datasets whose code includes its reader, a module of
``datasets/``. Its file's name and checksum count; addresses and words do not, because they change no byte.
"""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypersphere import files
from hypersphere.errors import HypersphereError

FOLDER = Path(__file__).parents[3] / "data"
TABLE, CHECKSUMS = FOLDER / "datasets.csv", FOLDER / "checksums.csv"
WHOLE = {"imagenet100": FOLDER / "imagenet100.txt", "corrupting.apply": FOLDER / "severities.csv"}
"""Files of which every byte counts, by the module of ``datasets/`` that reads them."""


def counted(modules: Iterable[str]) -> dict[str, str]:
    """What decides the bytes of a dataset that these modules make; all that they import must be among them.

    These are the checksums of published files by their names, and the sha256 of files of which every byte counts.
    """
    readers = {module.removeprefix("hypersphere.datasets.") for module in modules}
    found = {
        name: checksum for table in (TABLE, CHECKSUMS) for reader, name, checksum in _rows(table) if reader in readers
    }
    return found | {path.name: files.sha256(path) for reader, path in WHOLE.items() if reader in readers}


@cache
def _rows(table: Path) -> tuple[tuple[str, str, str], ...]:
    """Reader, file and checksum of each published file. The reader is in the first row of its dataset."""
    rows, reader = [], ""
    try:
        with table.open(encoding="utf-8", newline="") as handle:
            for row in csv.DictReader(handle):
                reader = row["reader"] or reader
                if row["file"]:
                    name = f"{row['dataset']}/{row['file']}" if "dataset" in row else row["file"]
                    rows.append((reader, name, row["md5"] if "md5" in row else row["checksum"]))
    except OSError as error:
        raise HypersphereError(f"{table}: cannot be read ({error.strerror}); it belongs to the checkout") from None
    return tuple(rows)
