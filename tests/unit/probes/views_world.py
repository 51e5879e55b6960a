"""Images, an encoder and a run made up here, for probes that look at two views of an image."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hypersphere.config.recipe import Views

STILL = Views(crop_scale=(1.0, 1.0), flip=0.0, jitter_probability=0.0, grayscale=0.0)
"""Views that differ from the image only by rounding: the whole image, cut to its most common shape."""


class World:
    """Stands in for ``Frozen``: one split, an embedding that is a function of the mean colour, and a run."""

    device = torch.device("cpu")

    def __init__(self, n: int, embed: Callable[[Tensor], Tensor], views: Views | None = None, **loss: Any) -> None:
        self.pixels = np.random.default_rng(0).integers(0, 256, (n, 6, 6, 3), dtype=np.uint8)
        self.embed = embed
        objective = SimpleNamespace(name="nt_xent", parameters={"temperature": 0.5, **loss})
        both = (views or Views(),) * 2
        self.run = SimpleNamespace(branches=both, objective=objective, logits=None)

    def images(self, split: str) -> np.ndarray:
        assert split == "test"
        return self.pixels


def colours(images: Tensor) -> Tensor:
    """Mean colours, centred: embeddings in three dimensions."""
    return images.mean(dim=(2, 3)) - 0.5
