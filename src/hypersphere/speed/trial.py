"""A trial: a run trained for a few steps on random images, by the loop that trains all runs.

``hypersphere rehearse`` asks by it whether a run works, and ``hypersphere first-look`` how fast it is.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from hypersphere.config.project import Compile, Precision
from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import Size
from hypersphere.training import loop
from hypersphere.training.checkpoint import Progress
from hypersphere.training.loop import Execution, Source
from hypersphere.training.trainers.image import Views


class Trial(NamedTuple):
    """A run, and the random images that it is tried on."""

    run: Run
    size: Size
    steps: int
    """Of an epoch: there are so many batches of images."""
    epochs: int = 1

    @property
    def images(self) -> int:
        return self.steps * self.run.batch.size

    def shortened(self) -> Run:
        """The run with the trial's number of epochs, and another name by that."""
        schedule = self.run.schedule.model_copy(update={"epochs": self.epochs})
        return self.run.model_copy(update={"schedule": schedule})

    def source(self, device: torch.device) -> Views:
        """Random images with the classes of the run's dataset, each as often as the others."""
        side = int(self.size.side)
        shape = (self.images, side, side, 3)
        pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        numbers = np.arange(self.images)
        return Views(self.shortened(), pixels, numbers % self.size.classes, numbers, device)

    def train(
        self,
        folder: Path,
        source: Source,
        device: torch.device,
        precision: Precision = "float32",
        save_every: float = math.inf,
        compile: Compile = "none",
    ) -> Progress:
        """Train it in ``folder`` on a source, which is the trial's own or stands for it."""
        run = self.shortened()
        identity = {"run": run.name}
        execution = Execution(device, frozenset(), identity, precision, compile, save_every)
        return loop.train(run, source, execution, folder)
