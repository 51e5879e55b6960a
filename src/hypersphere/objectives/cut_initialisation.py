"""Cut-initialisation: start with small weights, hence small embeddings, hence large gradients."""

import torch
from pydantic import PositiveFloat
from torch import nn


@torch.no_grad()
def cut_initialisation(model: nn.Module, *, c: PositiveFloat) -> None:
    """Divide every parameter of ``model`` by ``c``, in place.

    Norms paper, Sec. 6 and Listing 1, taken literally: weights, biases, and batch norm's scale and shift; running
    statistics are buffers, and stay.

    Args:
        model: encoder, projector and predictor, freshly initialised.
        c: the cut constant; 1 changes nothing.
    """
    for parameter in model.parameters():
        parameter.div_(c)
