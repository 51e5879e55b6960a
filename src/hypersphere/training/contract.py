"""What every trainer is told, and what it gives back."""

from typing import Any, NamedTuple

import torch

from hypersphere.integrity import stop

HISTORY = "history.csv"
TIMING = "timing.csv"


class Execution(NamedTuple):
    """How to train, as opposed to what: on one machine none of this but ``device`` changes a byte of the result."""

    device: torch.device
    snapshots: frozenset[int]
    """Numbers of finished epochs at which to keep encoder and heads; at 0 they are untrained."""
    parts: dict[str, Any]
    """What decides the bytes (run, code, data …): only a resume state of the same parts is gone on with."""
    save_every: float = 60.0
    """Seconds between resume states."""
    request: stop.Request = stop.Request()
    """To stop: looked at between two steps."""


class Outcome(NamedTuple):
    """How training ended."""

    status: str
    """``finished`` or ``diverged``."""
    epochs: int
    starts: list[int]
    """The step at which each process that worked on the run began: [0], unless it was resumed."""
    snapshots: dict[str, str]
    """sha256 of each snapshot's two files, by its name."""
    seconds: float
    """Spent in epochs, by all processes together."""
