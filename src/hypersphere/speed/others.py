"""Views and steps of other libraries beside ours, where they are installed."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from hypersphere.errors import HypersphereError
from hypersphere.speed import rate
from hypersphere.speed.stopwatch import wait
from hypersphere.speed.trial import Trial
from hypersphere.training.build import build_encoder

BATCHES = 12
"""Of each library; the first ``WARM`` are not timed, because loading processes fill their queues meanwhile."""
WARM = 4


class Pictures(Dataset[Any]):
    """Random images with a transform, as a loader's workers take them."""

    def __init__(self, count: int, side: int, transform: Callable[[Any], Any]) -> None:
        shape = (256, side, side, 3)
        self.pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        self.count = count
        self.transform = transform

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> Any:
        from PIL import Image

        return self.transform(Image.fromarray(self.pixels[place % len(self.pixels)]))


def lightly(trial: Trial, device: torch.device, workers: int, seconds: float) -> float:
    """How many times as fast as a step of the trial a step of SimCLR in lightly is, with the same encoder and batch.

    ``workers`` processes load its images. ``seconds`` are for our own steps.
    """
    ours = rate.timed(trial, device, "float32", seconds)
    passes = trial.run.batch.size / trial.run.batch.micro
    return ours.seconds / ours.steps / passes / _of_lightly(trial, device, workers)


def _of_lightly(trial: Trial, device: torch.device, workers: int) -> float:
    """Seconds of lightly's step."""
    try:
        from lightly.loss import NTXentLoss
        from lightly.models.modules import SimCLRProjectionHead
        from lightly.transforms import SimCLRTransform
    except ImportError:
        raise HypersphereError("lightly is not installed: pip install lightly") from None
    run = trial.run
    side = int(trial.size.side)
    transform = SimCLRTransform(side, gaussian_blur=0.0, normalize=None)
    pictures = Pictures(run.batch.micro * BATCHES, side, transform)
    loader = DataLoader(pictures, run.batch.micro, num_workers=workers, pin_memory=True)
    encoder = build_encoder(run)
    head = SimCLRProjectionHead(int(encoder.feature_dim), 256, 128)  # type: ignore[arg-type]
    model = torch.nn.Sequential(encoder, head).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    model.train()
    criterion = NTXentLoss(temperature=0.5)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step(views: Sequence[Tensor]) -> None:
        projected = [model(view.to(device, non_blocking=True)) for view in views]
        loss = criterion(*projected)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return _seconds_of(step, loader, device)


def kornia(trial: Trial, device: torch.device, seconds: float) -> float:
    """How many times as fast as ours kornia makes SimCLR's two views of a step's images, on the device."""
    ours = rate.timed(trial, device, "float32", seconds, parts=True)
    passes = trial.run.batch.size / trial.run.batch.micro
    return ours.spent["views"] / ours.steps / passes / _of_kornia(trial, device)


def _of_kornia(trial: Trial, device: torch.device) -> float:
    """Seconds of two views of a pass."""
    try:
        import kornia.augmentation as augmentation
    except ImportError:
        raise HypersphereError("kornia is not installed: pip install kornia") from None
    side = int(trial.size.side)
    view = torch.nn.Sequential(
        augmentation.RandomResizedCrop((side, side), scale=(0.08, 1.0)),
        augmentation.RandomHorizontalFlip(),
        augmentation.ColorJitter(0.8, 0.8, 0.8, 0.2, p=0.8),
        augmentation.RandomGrayscale(p=0.2),
    )
    images = torch.rand(trial.run.batch.micro, 3, side, side, device=device)

    def both(batch: Tensor) -> None:
        view(batch)
        view(batch)

    return _seconds_of(both, repeat(images, BATCHES), device)


def _seconds_of(step: Callable[[Any], None], batches: Iterable[Any], device: torch.device) -> float:
    """Seconds of a step, after the first ``WARM`` of ``BATCHES``."""
    begun = 0.0
    for number, batch in enumerate(batches):
        if number == WARM:
            wait(device)
            begun = time.perf_counter()
        step(batch)
    wait(device)
    return (time.perf_counter() - begun) / (BATCHES - WARM)


def all_workers() -> int:
    """A loading process for each core but the one that trains."""
    return max(1, (os.cpu_count() or 1) - 1)
