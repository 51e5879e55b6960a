"""Projectors and predictors: multi-layer perceptrons as the papers draw them."""

from itertools import pairwise

from torch import nn


def mlp(sizes: list[int], *, batch_norm: bool, last_batch_norm: bool = False) -> nn.Sequential:
    """Linear layers of the given sizes with ReLU between them.

    Args:
        sizes: input, hidden …, output.
        batch_norm: whether batch norm stands before each ReLU (the linear layer then has no bias).
        last_batch_norm: whether the output is batch-normalised too, without scale and shift (SimSiam, Sec. 3).
    """
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        last = i == len(sizes) - 2
        normed = last_batch_norm if last else batch_norm
        layers.append(nn.Linear(inputs, outputs, bias=not normed))
        if normed:
            layers.append(nn.BatchNorm1d(outputs, affine=not last))
        if not last:
            layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers)
