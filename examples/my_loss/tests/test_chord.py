"""The contract of every loss, and a case by hand."""

import pytest
import torch

from hypersphere.testing import check_objective
from my_loss.objectives.chord import chord


@pytest.mark.parametrize("push", [0.5, 1.0])
def test_it_keeps_the_contract(push: float) -> None:
    check_objective("chord", {"push": push})


def test_two_images_at_right_angles() -> None:
    """Views that agree are 0 apart, and images that are at right angles sqrt(2)."""
    z = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    assert chord(z, z, push=0.5).item() == pytest.approx(-0.5 * 2**0.5)
