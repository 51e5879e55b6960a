"""Pretraining on neighbouring sentences, without augmentation.

Shapes: N pairs of neighbours in a training set, n in a batch, L words of a sentence.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from hypersphere.config.run import Run
from hypersphere.datasets.types import TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.training import loop, work
from hypersphere.training.checkpoint import Progress
from hypersphere.training.loop import Execution
from hypersphere.transfer import send

if TYPE_CHECKING:
    from hypersphere.datasets.store import Prepared


def pretrain(run: Run, data: "Prepared", execution: Execution, folder: Path) -> Progress:
    """Train one run on the pairs of sentences that a prepared dataset has for training: see ``loop.train``."""
    tokens = np.array(data.split(TRAIN).images)
    where = f"run {run.name}: dataset {run.dataset.name}"
    if tokens.ndim != 3 or tokens.shape[1] != 2:
        raise HypersphereError(
            f"{where}: holds arrays {tokens.shape[1:]}, and no pairs of neighbouring sentences"
        )
    known = int(run.encoder.parameters.get("vocabulary", 0))
    most = int(tokens.max())
    if most >= known:
        raise HypersphereError(
            f"{where}: has words up to number {most}, but encoder.vocabulary is {known}"
        )
    return loop.train(run, Neighbours(tokens, execution.device), execution, folder)


def flops(method: Method, count: int, words: float) -> int:
    """One pass over pairs of sentences of so many words on average: one word over and over.

    The sentences are on the processor, with data, because their lengths decide the work of a recurrent encoder.
    """
    ends = (torch.arange(count + 1, device="cpu") * words).floor()
    places = torch.arange(math.ceil(words), device="cpu")
    sentences = (places < ends.diff()[:, None]).int()
    return work.of_views(method, torch.stack([sentences] * 2))


class Neighbours:
    """Sentences, each with the next one."""

    at_once = 0

    def __init__(self, tokens: Int[np.ndarray, "N 2 L"], device: torch.device) -> None:
        self.tokens = torch.from_numpy(tokens).to(device)
        self.labels = torch.zeros(len(tokens), dtype=torch.int64, device=device)

    def start(self, epoch: int) -> None:
        """Nothing is drawn."""

    def views(self, index: Int[Tensor, "n"]) -> Int[Tensor, "2 n L"]:
        """The sentences of these pairs, then their neighbours."""
        return self.tokens[send(index, self.tokens.device)].transpose(0, 1)
