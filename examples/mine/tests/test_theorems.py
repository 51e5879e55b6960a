"""The lemma's two sides by hand."""

import math

import torch
from papers.mine.theorems import weight_of_nearest


def test_the_weight_of_the_nearest_by_hand() -> None:
    """Cosines of 1 and 0: 1 / (1 + exp(-1 / t))."""
    found = weight_of_nearest(torch.tensor([[1.0, 0.0]]), torch.tensor([0.5]))
    assert math.isclose(float(found), 1 / (1 + math.exp(-2)), rel_tol=1e-6)
