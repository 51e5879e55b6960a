"""Projectors and predictors: multi-layer perceptrons."""

from itertools import pairwise

from torch import nn


def mlp(
    sizes: list[int],
    *,
    batch_norm: bool,
    last_batch_norm: bool = False,
    last_affine: bool = False,
    bias: bool = True,
    activation: type[nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """Linear layers of the given sizes with an activation between them.

    Args:
        sizes: input, hidden …, output.
        batch_norm: batch norm before each activation.
        last_batch_norm: batch norm of the output too.
        last_affine: that one has scale and shift; it has none in SimSiam (Sec. 3).
        bias: linear layers have a bias, except those before a batch norm, which would remove it again.
        activation: ReLU; DINO takes GELU.
    """
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        last = i == len(sizes) - 2
        normalised = last_batch_norm if last else batch_norm
        layers.append(nn.Linear(inputs, outputs, bias=bias and not normalised))
        if normalised:
            layers.append(nn.BatchNorm1d(outputs, affine=last_affine or not last))
        if not last:
            layers.append(activation())
    return nn.Sequential(*layers)


def sizes(inputs: int, hidden: int, outputs: int, layers: int) -> list[int]:
    """Widths of ``layers`` linear layers: ``inputs``, then ``hidden`` (layers - 1) times, then ``outputs``."""
    return [inputs, *[hidden] * (layers - 1), outputs]
