"""Images that the views are made of."""

import numpy as np
import pytest
import torch
from torch import Tensor


@pytest.fixture
def raw() -> Tensor:
    """Bytes [24, 16, 16, 3], a black, a white and a grey image among them (hue and saturation have corners there)."""
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (24, 16, 16, 3), dtype=np.uint8))
    images[0], images[1], images[2] = 0, 255, 77
    images[3, :, :, 1:] = 0  # pure red
    return images
