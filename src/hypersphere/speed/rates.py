"""The table of what was measured on a device, data/rates/<device>.csv: written as a look goes, read by what plans."""

import csv
import io
import math
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.speed.stopwatch import PARTS

FOLDER = Path("data/rates")
PEAKS = Path(__file__).with_name("peaks.csv")
"""Rated 10^12 operations a second of cards, by precision, from their data sheets."""
COLUMNS = (
    "device",
    "kind",
    "torch",
    "threads",
    "run",
    "method",
    "network",
    "side",
    "batch",
    "micro",
    "precision",
    "steps",
    "milliseconds",
    *PARTS,
    "idle",
    "images_a_second",
    "tflops",
    "peak_share",
    "memory_gb",
    "predicted_gb",
    "equal",
    "resumed",
    "note",
)
"""``kind`` is that of the device: cpu or cuda. Parts and ``idle`` are shares of a step. ``equal`` and ``resumed``: yes,
no, or empty where it was not tried. ``note``: why there are no numbers."""
WAYS = ("device", "torch", "run", "compared", "times", "note")
"""The columns of data/rates/<device>-ways.csv: how many times as fast a step, or views, are otherwise."""


def network(run: Run, side: float) -> str:
    """What decides a rate in the first place: ``resnet depth=18 stem=cifar, 32 px``."""
    parameters = [f"{name}={value}" for name, value in sorted(run.encoder.parameters.items())]
    return f"{' '.join([run.encoder.name, *parameters])}, {run.views.side or side:g} px"


def processor() -> str:
    """The name of this computer's processor, or of its kind where the system does not tell."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def file_of(root: Path, device: str, ending: str = ".csv") -> Path:
    """The table of a device by its name: data/rates/nvidia-h100-80gb-hbm3.csv."""
    words = re.findall(r"[a-z0-9]+", device.lower())
    return root / FOLDER / f"{'-'.join(words)}{ending}"


def write(file: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table whole, or leave the older one."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(file, text.getvalue())


def measured(root: Path, kind: str) -> dict[str, dict[str, float]]:
    """10^12 operations a second by network, for each device of a kind that was looked at.

    Of several runs with a network, the slowest counts: a plan should not promise more than was seen.
    """
    found: dict[str, dict[str, float]] = {}
    for file in sorted((root / FOLDER).glob("*.csv")):
        if file.stem.endswith("-ways"):
            continue
        for row in _measured_rows(file):
            if row["kind"] == kind:
                of_device = found.setdefault(row["device"], {})
                slowest = of_device.get(row["network"], math.inf)
                of_device[row["network"]] = min(slowest, float(row["tflops"]))
    return found


def _measured_rows(file: Path) -> Iterator[dict[str, str]]:
    """The rows of a table of rates that have one; another table is refused."""
    table = csv.DictReader(io.StringIO(files.read_text(file)))
    for name in COLUMNS:
        if name not in (table.fieldnames or ()):
            raise HypersphereError(f"{file}: {name}: the column is missing")
    for line, row in enumerate(table, start=2):
        if not row["tflops"]:
            continue
        try:
            positive = float(row["tflops"]) > 0
        except ValueError:
            positive = False
        if not positive:
            raise HypersphereError(f"{file}: line {line}: tflops: must be a positive number")
        yield row


def peak(device: str, precision: str) -> tuple[float, str] | None:
    """A card's rated 10^12 operations a second in a precision, and where that is stated; None: not in the table."""
    with PEAKS.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            if device.startswith(row["device"]):
                return float(row[precision]), row["source"]
    return None
