"""Cut-initialisation: start with small weights, so that embeddings are small and gradients large."""

from typing import Literal

import torch
from torch import nn

from hypersphere.arguments import PositiveFloat
from hypersphere.errors import HypersphereError


@torch.no_grad()
def cut_initialisation(
    model: nn.Module,
    *,
    c: PositiveFloat,
    scope: Literal["all", "last_layer", "encoder", "encoder_weights"] = "all",
) -> None:
    """Divide parameters of ``model`` by ``c``, in place.

    Norms paper, Sec. 6 and Listing 1. ``all`` takes the listing literally: weights, biases, and batch norm's scale and
    shift; running statistics are buffers and stay. ``last_layer`` is the other value in the authors' configuration
    (their code has no branch for it): weight and bias of the last linear layer, so that embeddings without a batch norm
    after it shrink by exactly c, whatever the depth. The other two are ours, for the listing's ``model`` read as the
    network without its heads.

    Geometry: a gradient of the cosine is proportional to 1/norm: embeddings that begin nearer to the origin turn
    further with each step.

    Figure: embedding_norms/fig2a.

    Args:
        scope: ``last_layer``: the linear layer that is last in ``model.named_modules()``, in order of definition: the
            projector's last for SimCLR, the predictor's last for SimSiam. ``encoder``: every parameter of
            ``model.encoder``. ``encoder_weights``: only those of two dimensions or more, so neither biases nor batch
            norm; where batch norm follows, the encoder's output stays the same and its steps grow relative to it.
    """
    part: nn.Module | None = model
    if scope == "last_layer":
        part = next(
            (layer for layer in reversed([*model.modules()]) if isinstance(layer, nn.Linear)), None
        )
    elif scope != "all":
        part = getattr(model, "encoder", None)
    if not isinstance(part, nn.Module):
        needed = "a linear layer" if scope == "last_layer" else "an encoder"
        raise HypersphereError(
            f"cut_initialisation: scope '{scope}' needs {needed}, but the model has none"
        )
    for parameter in part.parameters():
        if scope != "encoder_weights" or parameter.ndim > 1:
            parameter.div_(c)
