"""Methods compute as every command makes them: on one thread, and with deterministic algorithms alone."""

from collections.abc import Iterator

import pytest
import torch

from hypersphere.training import device


@pytest.fixture(autouse=True)
def deterministic() -> Iterator[None]:
    """As every command sets it; restored afterwards."""
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    device.make_deterministic(1)
    yield
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode(mode)
