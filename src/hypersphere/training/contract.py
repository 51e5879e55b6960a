"""What every trainer takes besides the run, and what it returns."""

from typing import Any, NamedTuple

import torch

from hypersphere.provenance import stop
from hypersphere.training.processes import Group

HISTORY = "history.csv"
TIMING = "timing.csv"


class Execution(NamedTuple):
    """How to train, as opposed to what: on one machine only ``device`` changes a byte of the weights."""

    device: torch.device
    snapshots: frozenset[int]
    """Numbers of finished epochs at which encoder and heads are saved; at 0 they are untrained."""
    identity: dict[str, Any]
    """What determines the bytes (run, code, data …): only a resume state of the same identity is resumed."""
    precision: torch.dtype = torch.float32
    """Of matrix products and convolutions in the forward and backward pass."""
    compile: bool = False
    """Compile the encoder."""
    save_every: float = 60.0
    """Seconds between resume states."""
    request: stop.Request = stop.Request()
    """Set by a signal; training stops after the current step."""
    group: Group = Group()
    """The processes that train the run together."""


class Outcome(NamedTuple):
    """How training ended."""

    status: str
    """``finished`` or ``diverged``."""
    epochs: int
    starts: list[int]
    """The step at which each process that trained the run started: [0] unless it was resumed."""
    snapshots: dict[str, str]
    """File name to sha256, for both files of each snapshot."""
    seconds: float
    """Spent in epochs, by all processes together."""
