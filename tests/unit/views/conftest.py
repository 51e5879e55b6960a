"""Images that the views are made of."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The images are too small for more, and tests that run side by side would wait for one another."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def raw() -> Tensor:
    """Bytes [24, 16, 16, 3], a black, a white and a grey image among them (hue and saturation have corners there)."""
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (24, 16, 16, 3), dtype=np.uint8))
    images[0], images[1], images[2] = 0, 255, 77
    images[3, :, :, 1:] = 0  # pure red
    return images
