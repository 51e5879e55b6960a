"""Pretraining on images: which views a step sees.

Shapes: N images of a training set, n of a batch, v views of each, h = w pixels.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.declared.run import Run
from hypersphere.training import loop
from hypersphere.training.contract import Execution, Outcome
from hypersphere.training.images import Images, training_images
from hypersphere.views.draws import draw
from hypersphere.views.ops import make_views

if TYPE_CHECKING:
    from hypersphere.datasets.store import Prepared


def pretrain(run: Run, data: "Prepared", execution: Execution, folder: Path) -> Outcome:
    """Train one run on the training images of a prepared dataset: see ``loop.train``."""
    return train(run, training_images(data), execution, folder)


def train(run: Run, images: Images, execution: Execution, folder: Path) -> Outcome:
    """Train one run on images in memory: see ``loop.train``."""
    return loop.train(run, Views(run, images, execution.device), execution, folder)


class Views:
    """Augmented views of images that lie on the device as bytes."""

    def __init__(self, run: Run, images: Images, device: torch.device) -> None:
        self.run = run
        self.pixels = torch.from_numpy(np.array(images.pixels)).to(device)
        self.labels = torch.from_numpy(np.array(images.labels)).to(device)
        self.numbers = torch.from_numpy(np.array(images.numbers))

    def start(self, epoch: int) -> None:
        """Draw the parameters of all augmentations; they are keyed by the images' original numbers."""
        count = int(self.numbers.max()) + 1
        drawn = draw(self.run.branches, count, self.pixels.shape[1], self.run.seed, epoch)
        self.draws = drawn.take(self.numbers)

    def views(self, index: Int[Tensor, "n"]) -> Float[Tensor, "v n 3 h w"]:
        """Views of these images, values in [0, 1]. Draws stay on the CPU."""
        return make_views(self.pixels[index.to(self.pixels.device)], self.draws.take(index), self.run.branches)
