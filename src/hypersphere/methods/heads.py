"""Projectors and predictors: multi-layer perceptrons as the papers draw them."""

from itertools import pairwise

from torch import nn


def mlp(
    sizes: list[int],
    *,
    batch_norm: bool,
    last_batch_norm: bool = False,
    bias: bool = True,
    activation: type[nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """Linear layers of the given sizes with an activation between them.

    Args:
        sizes: input, hidden …, output.
        batch_norm: whether batch norm stands before each activation.
        last_batch_norm: whether the output is batch-normalised too, without scale and shift (SimSiam, Sec. 3).
        bias: whether linear layers have one; those before a batch norm, which would take it out again, never do.
        activation: ReLU, but for DINO.
    """
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        last = i == len(sizes) - 2
        normed = last_batch_norm if last else batch_norm
        layers.append(nn.Linear(inputs, outputs, bias=bias and not normed))
        if normed:
            layers.append(nn.BatchNorm1d(outputs, affine=not last))
        if not last:
            layers.append(activation())
    return nn.Sequential(*layers)


def sizes(inputs: int, hidden: int, outputs: int, layers: int) -> list[int]:
    """Widths of ``layers`` linear layers: ``inputs``, ``hidden`` once less than there are layers, ``outputs``."""
    return [inputs, *[hidden] * (layers - 1), outputs]
