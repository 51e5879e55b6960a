"""What can be seen of a run while it trains: its history so far, a line for each epoch, and a heartbeat.

None of it decides a byte of the result.
"""

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.wording import count_of

HEARTBEAT = "heartbeat.txt"
"""In the folder of an unfinished run: its last line. Its time of change is that of a recent step."""
EVERY = 5.0
"""Seconds between two heartbeats, and between two lines of epochs that are shorter."""
COLLAPSED = 1.5
"""Embeddings of a smaller effective rank point the same way, almost all of them."""


class SignOfLife:
    """Says at most every few seconds how far a run is."""

    def __init__(self, folder: Path, name: str, epochs: int, images: int) -> None:
        self.folder = folder
        self.name = name
        self.epochs = epochs
        self.images = images
        """Of an epoch."""
        self.told = self.beaten = -math.inf
        self.line = "begun"

    def beat(self) -> None:
        """Show that steps are taken."""
        now = time.monotonic()
        if now - self.beaten >= EVERY:
            self.beaten = now
            files.write_text(self.folder / HEARTBEAT, f"{self.line}\n")

    def due(self, epoch: int) -> bool:
        """Whether a line on a finished epoch is to be said: of short epochs only some, and the last."""
        return epoch == self.epochs or time.monotonic() - self.told >= EVERY

    def tell(
        self, row: Mapping[str, float], timing: Sequence[Mapping[str, float]], rank: float
    ) -> None:
        """Print a line on an epoch, the last one of ``timing``, and keep it as the heartbeat.

        ``row`` is its row of the history, and ``rank`` the effective rank of some of its embeddings; nan: unknown.
        """
        self.told = time.monotonic()
        seconds = timing[-1]["seconds"]
        self.line = described(row, self.epochs, self.images, seconds, rank)
        print(f"{self.name}: {self.line}", flush=True)
        self.beaten = -math.inf
        self.beat()

    def end(self) -> None:
        """What is finished has no heartbeat."""
        (self.folder / HEARTBEAT).unlink(missing_ok=True)


class Alive(NamedTuple):
    """The last sign of life of a run that is not finished."""

    line: str
    ago: str
    """How long before now. A run of which this is many minutes hangs, or was killed."""


def read(folder: Path) -> Alive | None:
    """The sign of life in the folder of an unfinished run; None: it has none."""
    heartbeat = folder / HEARTBEAT
    try:
        changed = heartbeat.stat().st_mtime
        line = heartbeat.read_text(encoding="utf-8").strip()
    except OSError:  # it ended in the meantime
        return None
    return Alive(line, duration(max(0.0, time.time() - changed)))


def described(
    row: Mapping[str, float], epochs: int, images: int, seconds: float, rank: float
) -> str:
    """``epoch 3 of 16: loss 4.21, norm 1.3, learning rate 0.06, 5,120 images a second, 2 minutes left``."""
    epoch = int(row["epoch"])
    parts = [f"loss {row['loss']:.4g}", f"norm {row['norm']:.3g}"]
    if "learning_rate" in row:
        parts.append(f"learning rate {row['learning_rate']:.3g}")
    if seconds > 0:
        left = (epochs - epoch) * seconds
        parts += [f"{images / seconds:,.0f} images a second", f"{duration(left)} left"]
    if 0 < rank < COLLAPSED:
        parts.append(f"collapsed: the embeddings have an effective rank of {rank:.2f}")
    return f"epoch {epoch} of {epochs}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """Rounded to the unit that people would use: ``40 seconds``, ``5 minutes``, ``3 hours``."""
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return count_of(round(seconds / size), unit)
    return count_of(round(seconds), "second")
