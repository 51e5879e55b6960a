"""Eq. 1 of the LMCL paper, against a loop over its symbols and its relatives, and the start of its toy study."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import NTXentLoss
from torch import Tensor

from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.nce import nce
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
    value_and_gradients,
)

NEGATIVES = pytest.mark.parametrize("negatives", ["same_view", "other_view", "both_views"])


def oracle(z_a: Tensor, z_b: Tensor, t: float, negatives: str) -> float:
    """Mean over x of -log(e^(x·x+) / (e^(x·x+) + sum of e^(x·x-))), in Python floats."""
    a, b = z_a.tolist(), z_b.tolist()
    losses = []
    for i, x in enumerate(a):
        own = math.exp(cosine(x, b[i]) / t)
        others = 0.0
        for j in range(len(a)):
            if j != i and negatives in ("same_view", "both_views"):
                others += math.exp(cosine(x, a[j]) / t)
            if j != i and negatives in ("other_view", "both_views"):
                others += math.exp(cosine(x, b[j]) / t)
        losses.append(-math.log(own / (own + others)))
    return sum(losses) / len(losses)


@NEGATIVES
@pytest.mark.parametrize(("n", "d", "t"), [(1, 2, 1.0), (2, 3, 1.0), (5, 4, 0.1), (7, 2, 2.0)])
def test_is_equation_1(n: int, d: int, t: float, negatives: str) -> None:
    z_a, z_b = draw(n, d)
    expected = oracle(z_a, z_b, t, negatives)
    assert nce(z_a, z_b, temperature=t, negatives=negatives).item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_defaults_are_the_papers() -> None:
    """No temperature in Eq. 1, and x- drawn as x is."""
    z_a, z_b = draw(5, 4)
    assert nce(z_a, z_b).item() == pytest.approx(oracle(z_a, z_b, 1.0, "same_view"), rel=1e-12)


@pytest.mark.parametrize(("n", "t"), [(2, 1.0), (4, 0.5), (9, 0.1)])
def test_images_on_axes_by_hand(n: int, t: float) -> None:
    """Own view at cosine 1, all others at 0: log(1 + n' e^(-1/t))."""
    z = torch.eye(n, dtype=torch.float64)
    for negatives, count in [("same_view", n - 1), ("other_view", n - 1), ("both_views", 2 * n - 2)]:
        expected = math.log1p(count * math.exp(-1 / t))
        assert nce(z, z, temperature=t, negatives=negatives).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("negatives", "symmetric"), [("both_views", nt_xent), ("other_view", multiview_coding)], ids=["simclr", "cmc"]
)
def test_both_directions_together_are_nt_xent_or_multiview_coding(negatives: str, symmetric: object) -> None:
    z = draw(5, 4)
    ours = value_and_gradients(
        lambda a, b: (
            (nce(a, b, temperature=0.3, negatives=negatives) + nce(b, a, temperature=0.3, negatives=negatives)) / 2
        ),
        *z,
    )
    theirs = value_and_gradients(lambda a, b: symmetric(a, b, temperature=0.3), *z)  # type: ignore[operator]
    torch.testing.assert_close(ours, theirs)


def test_the_literal_reading_differs_from_its_relatives() -> None:
    """Negatives of the same view only are neither SimCLR's nor CMC's, in either direction or both."""
    z_a, z_b = draw(5, 4)
    both_ways = (nce(z_a, z_b, temperature=0.5) + nce(z_b, z_a, temperature=0.5)) / 2
    for relative in (
        nt_xent(z_a, z_b, temperature=0.5),
        info_nce(z_a, z_b, temperature=0.5),
        multiview_coding(z_a, z_b, temperature=0.5),
    ):
        assert abs(both_ways - relative) > 1e-2
        assert abs(nce(z_a, z_b, temperature=0.5) - relative) > 1e-2


@NEGATIVES
def test_agrees_with_pytorch_metric_learning(negatives: str) -> None:
    """NTXentLoss takes positive and negative pairs as lists of indices, here Eq. 1's, into both views in one batch; it
    adds a smallest number inside the logarithm."""
    z_a, z_b = draw(5, 4)
    i, j = (~torch.eye(5, dtype=torch.bool)).nonzero(as_tuple=True)
    anchor, other = {"same_view": (i, j), "other_view": (i, j + 5)}.get(
        negatives, (torch.cat([i, i]), torch.cat([j, j + 5]))
    )
    indices = torch.arange(5), torch.arange(5) + 5, anchor, other
    theirs = NTXentLoss(temperature=0.3)(torch.cat([z_a, z_b]), indices_tuple=indices)
    torch.testing.assert_close(nce(z_a, z_b, temperature=0.3, negatives=negatives), theirs)


@pytest.mark.parametrize("normalised", [True, False])
def test_l9_a_projection_that_starts_at_zero_stays_there(normalised: bool) -> None:
    """Sec. 5.1 starts P at 0 (erratum L9). Un-normalised, Px·Px' = x'ᵀPᵀPx has gradient 0 at P = 0; normalised, 0/0 is
    taken as 0. Adam with gradient 0 does not move. The control starts beside it."""
    z_a, z_b = draw(6, 2)

    def after(start: Tensor) -> tuple[Tensor, Tensor]:
        p = start.clone().requires_grad_()
        adam = torch.optim.Adam([p], lr=0.001)
        steps = []
        for _ in range(3):
            adam.zero_grad()
            a, b = z_a @ p.T, z_b @ p.T
            if normalised:
                loss = nce(a, b) + distance_polarization(a, b, weight=0.1)
            else:
                logits = torch.cat([(a * b).sum(1, keepdim=True), (a @ a.T) - 1e9 * torch.eye(6)], dim=1)
                d = (1 - a @ a.T) / 2
                loss = -logits.log_softmax(1)[:, 0].mean() + 0.1 * (-(d - 0.1) * (d - 0.5)).relu().mean()
            loss.backward()
            assert p.grad is not None
            steps.append(p.grad.abs().max())
            adam.step()
        return p.detach(), torch.stack(steps)

    zero = torch.zeros(2, 2, dtype=torch.float64)
    p, gradients = after(zero)
    assert torch.equal(p, zero)
    assert gradients.max() == 0
    p, gradients = after(zero + 1e-2 * torch.tensor([[1.0, 0.3], [-0.2, 0.5]], dtype=torch.float64))
    assert gradients.min() > 1e-4
    assert (p - 1e-2 * torch.tensor([[1.0, 0.3], [-0.2, 0.5]])).abs().max() > 1e-3


@pytest.mark.parametrize("n", [1, 3, 512, 10**9])
def test_range_on_the_sphere_is_below_4_without_temperature(n: int) -> None:
    """All cosines in [-1, 1], t = 1, n negatives: from log(1 + n e^-2) to log(1 + n e^2), less than 4 apart, which is
    where the 4/lambda of Theorem 3 and footnote 5 comes from; at t = 0.1 the same argument gives 40 (erratum L7)."""
    spread = math.log1p(n * math.exp(2)) - math.log1p(n * math.exp(-2))
    assert 0 < spread < 4
    assert math.log1p(n * math.exp(20)) - math.log1p(n * math.exp(-20)) > 4
    if n <= 3:
        x = torch.tensor([1.0, 0.0], dtype=torch.float64)
        worst_a = x.expand(n + 1, 2)
        worst = nce(worst_a, -worst_a)  # positives opposite, negatives identical
        assert worst.item() == pytest.approx(math.log1p(n * math.exp(2)), abs=1e-12)
