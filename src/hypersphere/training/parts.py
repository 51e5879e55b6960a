"""An encoder that takes a pass part by part, so that a card need not hold the whole pass.

Cached gradients (Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup"): heads and
loss see the features of the whole pass, and the backward pass computes one part's activations after the other's anew.
Gradients are those of the whole pass. Batch norms in the encoder see one part at a time, as on as many devices.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


def take_in_parts(encoder: nn.Module, parts: int) -> None:
    """Let an encoder take each batch of a training pass in as many equal parts.

    The encoder's ``forward`` is replaced, and not its class, so that its tensors keep their names. A copy of the
    encoder, such as a momentum target, takes parts with its own weights.
    """
    encoder.forward = partial(_by_parts, encoder, parts)


def _by_parts(
    encoder: nn.Module, parts: int, images: Float[Tensor, "n 3 h w"]
) -> Float[Tensor, "n d"]:
    """Features of the images; in evaluation all at once, because there each image's features are its own."""
    forward = partial(type(encoder).forward, encoder)
    if not encoder.training:
        return forward(images)
    each = images.split(len(images) // parts)
    if not torch.is_grad_enabled():
        return torch.cat([forward(part) for part in each])
    again = partial(_first_and_again, encoder)
    return torch.cat(
        [checkpoint(forward, part, use_reentrant=False, context_fn=again) for part in each]
    )


def _first_and_again(
    encoder: nn.Module,
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """The contexts of a part's forward pass and of its recomputation."""
    return nullcontext(), _buffers_kept(encoder)


@contextmanager
def _buffers_kept(encoder: nn.Module) -> Iterator[None]:
    """Put back what a forward pass moves, the running statistics of batch norms, so that each image moves them once.

    A batch norm without running statistics saves fewer tensors, and torch would refuse the recomputation.
    """
    before = [buffer.clone() for buffer in encoder.buffers()]
    try:
        yield
    finally:
        for buffer, value in zip(encoder.buffers(), before, strict=True):
            buffer.copy_(value)
