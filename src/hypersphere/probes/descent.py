"""Mini-batch SGD on frozen features, shared by the trained probes and the same for every run."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from hypersphere import keyed


def fit(
    model: nn.Module,
    bank: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    *,
    purpose: str,
    epochs: int,
    batch: int,
    momentum: float,
    rate: Callable[[float], float],
) -> None:
    """Minimise the cross-entropy, in place. The last, smaller batch of an epoch is used too.

    Args:
        model: maps [n, d] to a score for each class.
        bank: features to train on.
        labels: their classes.
        purpose: key of the order of images. It contains no seed and no run, so the probe adds nothing to the variance
            between pretrainings.
        epochs: passes over the bank.
        batch: images per step.
        momentum: of SGD.
        rate: maps the epochs passed, from 0 to below ``epochs``, to the learning rate.
    """
    optimiser = torch.optim.SGD(model.parameters(), lr=rate(0), momentum=momentum)
    for epoch in range(epochs):
        order = torch.from_numpy(keyed.permutation(len(bank), 0, purpose, epoch)).to(bank.device)
        steps = order.split(batch)
        for step, index in enumerate(steps):
            optimiser.param_groups[0]["lr"] = rate(epoch + step / len(steps))
            loss = F.cross_entropy(model(bank[index]), labels[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
