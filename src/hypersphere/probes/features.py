"""Frozen features: what every probe sees."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from hypersphere.datasets.store import Prepared
from hypersphere.views.ops import to_float

BLOCK = 512
"""Images per forward pass; evaluation batch norm makes rows independent of it."""


class Features(NamedTuple):
    """Training (bank) and test features of one dataset under one encoder."""

    bank: Float[Tensor, "n d"]
    bank_labels: Int[Tensor, "n"]
    queries: Float[Tensor, "m d"]
    query_labels: Int[Tensor, "m"]
    classes: int


def extract(encoder: nn.Module, data: Prepared, device: torch.device) -> Features:
    """Backbone features of plain images, evaluation batch norm.

    Args:
        encoder: maps [n, 3, h, w] to [n, d]; put into evaluation mode.
        data: its training set is the bank, imbalanced if it is; its test set the queries.
        device: where to compute; the result stays there.
    """
    encoder.eval().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    labels = [torch.from_numpy(np.array(part)).to(device) for part in (data.train_labels, data.test_labels)]
    bank, queries = (_forward(encoder, part, device) for part in (data.train_images, data.test_images))
    return Features(bank, labels[0], queries, labels[1], data.classes)


@torch.inference_mode()
def _forward(encoder: nn.Module, images: UInt8[np.ndarray, "n h w 3"], device: torch.device) -> Float[Tensor, "n d"]:
    blocks = (torch.from_numpy(np.array(images[i : i + BLOCK])).to(device) for i in range(0, len(images), BLOCK))
    return torch.cat([encoder(to_float(block)).float() for block in blocks])


class Pixels(nn.Module):
    """The encoder that does nothing: raw pixels, flattened."""

    def forward(self, images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n chw"]:
        """Flatten."""
        return images.flatten(1)
