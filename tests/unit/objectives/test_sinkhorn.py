"""Sinkhorn-Knopp codes, against scaling rows and columns of a matrix of Python floats, and against lightly."""

import os

import pytest
import torch

from hypersphere.objectives.sinkhorn import codes

from .shared import HALVES, balanced, scores

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"
from lightly.loss.swav_loss import sinkhorn


@pytest.mark.parametrize(("n", "k"), [(1, 2), (4, 4), (7, 3)])
@pytest.mark.parametrize("iterations", [1, 3, 10])
def test_scales_columns_and_rows(n: int, k: int, iterations: int) -> None:
    """Lightly's, too, which is in exponentials, and starts with a constant that cancels."""
    given = scores(n, k)[0]
    expected = torch.tensor(balanced(given.tolist(), 0.05, iterations), dtype=torch.float64)
    torch.testing.assert_close(codes(given, 0.05, iterations), expected)
    torch.testing.assert_close(codes(given, 0.05, iterations), sinkhorn(given, iterations, 0.05))


def test_rows_are_distributions_and_columns_become_equal() -> None:
    """Each of k prototypes gets n/k in the limit; after one iteration not yet."""
    given = scores(12, 4)[0]
    torch.testing.assert_close(codes(given, 0.05, 1).sum(dim=1), torch.ones(12, dtype=torch.float64))
    equal = torch.full((4,), 3.0, dtype=torch.float64)
    torch.testing.assert_close(codes(given, 0.2, 500).sum(dim=0), equal)
    assert (codes(given, 0.2, 1).sum(dim=0) - equal).abs().max() > 1e-3


def test_has_no_gradient() -> None:
    assert not codes(scores(4, 3)[0].requires_grad_(), 0.05, 3).requires_grad


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6])
def test_small_epsilon_is_finite(epsilon: float) -> None:
    """exp(1/epsilon) is infinite, and lightly's codes are not numbers."""
    given = scores(6, 4)[0].float()
    assert codes(given, epsilon, 3).isfinite().all()
    assert not sinkhorn(given, 3, epsilon).isfinite().all()


@HALVES
def test_half_precision_is_near(dtype: torch.dtype) -> None:
    given = scores(6, 4)[0].to(dtype)
    ours = codes(given, 0.05, 3)
    assert ours.dtype == dtype
    torch.testing.assert_close(ours.double(), codes(given.double(), 0.05, 3), atol=4e-3, rtol=0)
