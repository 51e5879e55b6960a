"""Mini-batch SGD on frozen features, the same for every run: what the trained probes share."""

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
    """Minimise the cross-entropy, in place; the last, smaller batch of an epoch counts too.

    Args:
        model: maps [n, d] to a score for each class.
        bank: what to train on.
        labels: its classes.
        purpose: key of the order of images. Seeds and runs are not in it, so that the probe adds nothing to the
            variance between pretrainings.
        epochs: passes over the bank.
        batch: images per step.
        momentum: of SGD.
        rate: learning rate, given the epochs passed: 0 at the first step, below ``epochs`` at the last.
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
