"""Whether training repeats to the byte on a device: twice the same run, and once broken off and resumed."""

from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from hypersphere import files
from hypersphere.config.project import Precision
from hypersphere.speed.trial import Trial
from hypersphere.training.loop import HISTORY, Source
from hypersphere.training.weights import ENCODER, HEADS

STEPS = 2
"""Of an epoch; there are two epochs, so that states of optimiser, schedule and targets matter."""
SEEN = 2 * STEPS - 1
"""Steps whose views are made before the broken-off run ends: the last epoch is half over."""


class Repeats(NamedTuple):
    """What repeated."""

    equal: bool
    """Two runs have equal weights and history."""
    resumed: bool
    """A run that was broken off in its last epoch, and resumed from a state within it, has them too."""


class BrokenOffError(Exception):
    """Ends a run at a step, as a kill does."""


class Breaking:
    """Stands for a trial's source, and ends training when views of too many steps are asked for."""

    at_once = 1
    """Views of one pass a call, so that calls can be counted."""

    def __init__(self, source: Source, calls: int) -> None:
        self.source = source
        self.labels = source.labels
        self.left = calls

    def start(self, epoch: int) -> None:
        self.source.start(epoch)

    def views(self, index: Int[Tensor, "n"]) -> Shaped[Tensor, "v n ..."]:
        if self.left == 0:
            raise BrokenOffError
        self.left -= 1
        return self.source.views(index)


def of(trial: Trial, device: torch.device, precision: Precision) -> Repeats:
    """Train a run three times for two epochs of two steps each, the third time broken off and resumed."""
    short = trial._replace(steps=STEPS, epochs=2)
    source = short.source(device)
    passes = trial.run.batch.size // trial.run.batch.micro
    with files.temporary_folder("a trial's state") as folder:
        first, second, third = (folder / name for name in ("first", "second", "third"))
        short.train(first, source, device, precision)
        short.train(second, source, device, precision)
        try:
            breaking = Breaking(source, SEEN * passes)
            short.train(third, breaking, device, precision, save_every=0.0)
        except BrokenOffError:
            progress = short.train(third, source, device, precision)
        in_the_middle = progress.starts[1:] == [SEEN]
        return Repeats(
            equal=_digests(first) == _digests(second),
            resumed=in_the_middle and _digests(first) == _digests(third),
        )


def _digests(folder: Path) -> list[str]:
    """Of the files that a finished run keeps."""
    return [files.sha256(folder / name) for name in (ENCODER, HEADS, HISTORY)]
