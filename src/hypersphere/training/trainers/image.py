"""Pretraining on images: the part of a dataset that a run is trained on, and which views a step sees.

Shapes: N images of a training set, n of a batch, v views of each, h = w pixels.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from hypersphere.augmentations.draws import Draws, draw
from hypersphere.augmentations.ops import CHUNK_BYTES, make_views
from hypersphere.config import registry
from hypersphere.config.run import Run
from hypersphere.datasets.types import CLASS, TRAIN
from hypersphere.training import loop
from hypersphere.training.checkpoint import Progress
from hypersphere.training.loop import Execution
from hypersphere.transfer import send

if TYPE_CHECKING:  # a run depends on a dataset's bytes, and not on the code that prepared it
    from hypersphere.datasets.store import Prepared, PreparedSplit


IMAGES = True
"""Its runs see augmented views of images."""


def pretrain(run: Run, data: "Prepared", execution: Execution, folder: Path) -> Progress:
    """Train one run on the training images of a prepared dataset, with the labels that its method learns."""
    split = data.split(TRAIN)
    views = Views(run, split.images, labels_of(run, split), split.index, execution.device)
    return loop.train(run, views, execution, folder)


def labels_of(run: Run, split: "PreparedSplit") -> Int[np.ndarray, "N"]:
    """The labels that a run learns; where images have none and no loss needs any, zeros, which nothing reads."""
    losses = filter(None, (run.objective, run.regulariser))
    needed = any("labels" in registry.needs(loss.name) for loss in losses)
    if not split.labels and not needed:
        return np.zeros(len(split.images), np.int64)
    name = run.method.parameters.get("labels", CLASS)
    return np.asarray(split.labels[str(name)])


RESIDENT = 8 * 2**30
"""Bytes. Larger sets of images stay on disk."""


class Views:
    """Augmented views of images that lie on the device as bytes; or on disk, if they are too many.

    From disk, images are read batch by batch at their places in the prepared file, so that order, views and resuming
    within an epoch are the same. Files of shards would bring neighbours together, and other bytes.

    ``numbers`` are the images' original ones, which key their views: an image has the same views in a part of a dataset
    as in the whole.
    """

    def __init__(
        self,
        run: Run,
        pixels: UInt8[np.ndarray, "N h w 3"],
        labels: Int[np.ndarray, "N"],
        numbers: Int[np.ndarray, "N"],
        device: torch.device,
    ) -> None:
        self.run, self.device = run, device
        self.stored = self.resident = None
        if pixels.nbytes > RESIDENT:
            self.stored = pixels
        else:
            self.resident = torch.from_numpy(np.array(pixels)).to(device)
        self.side = pixels.shape[1]
        self.at_once = CHUNK_BYTES // (len(run.branches) * 12 * self.side**2)
        self.labels = torch.from_numpy(np.array(labels)).to(device)
        self.numbers = torch.from_numpy(np.array(numbers))
        on_gpu = device.type == "cuda"
        self.ahead = ThreadPoolExecutor(max_workers=1) if on_gpu else None
        """Draws the next epoch while a GPU trains; a processor would take the time from training."""
        self.drawn: dict[int, Future[Draws]] = {}
        """Draws by epoch, of the next one alone."""

    def start(self, epoch: int) -> None:
        """Have the parameters of all augmentations of an epoch drawn, and begin to draw those of the next."""
        waiting = self.drawn.pop(epoch, None)
        self.draws = waiting.result() if waiting else self._draw(epoch)
        if self.ahead is not None and epoch + 1 < self.run.schedule.epochs:
            self.drawn[epoch + 1] = self.ahead.submit(self._draw, epoch + 1)

    def _draw(self, epoch: int) -> Draws:
        """The draws of an epoch; they are keyed by the images' original numbers."""
        count = int(self.numbers.max()) + 1
        drawn = draw(self.run.branches, count, self.side, self.run.seed, epoch)
        return drawn.take(self.numbers)

    def views(self, index: Int[Tensor, "n"]) -> Float[Tensor, "v n 3 h w"]:
        """Views of these images, values in [0, 1]. Draws stay on the CPU."""
        if self.resident is not None:
            pixels = self.resident[send(index, self.device)]
        else:
            assert self.stored is not None
            # in the file's order, for the disk's sake
            places, back = np.unique(index.numpy(), return_inverse=True)
            pixels = send(torch.from_numpy(self.stored[places][back]), self.device)
        return make_views(pixels, self.draws.take(index), self.run.branches)
