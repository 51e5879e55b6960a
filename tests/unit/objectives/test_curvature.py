"""Eq. 10 and 11 of the margins paper, and the other curve of its pseudo-code."""

import math
from functools import partial
from typing import Literal

import pytest
import torch
import torch.nn.functional as F

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.curvature import curvature, gamma
from hypersphere.objectives.generalised_info_nce import generalised_info_nce

from .shared import cosine_gradient, cosines_and_targets, draw, weighted

Curve = Literal["equation_10", "algorithm_3"]
CURVES: list[Curve] = ["equation_10", "algorithm_3"]


def by_hand(x: float, c: float, curve: str) -> float:
    return (1 - x**c) ** (1 / c) if curve == "equation_10" else (1 - x) ** (1 / c)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("c", "s"), [(1 / 3, 1.0), (0.7, 2.5), (1.0, 40.0), (2.5, 40.0), (5.0, 1.0)])
def test_gradient_is_that_of_equation_11(c: float, s: float, curve: Curve) -> None:
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(partial(curvature, temperature=0.25, c=c, s=s, curve=curve), cosines, targets)

    def weight(row: list[float], p: list[int], j: int) -> float:
        return (1 - p[j]) + by_hand(math.acos(row[j]) / math.pi, c, curve) * s * p[j]

    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, weight))


@pytest.mark.parametrize(("c", "equation", "algorithm"), [
    (0.7, 0.506, 0.663), (0.5, 0.25, 0.563), (2.5, 0.987, 0.891), (5.0, 1.000, 0.944), (1.0, 0.75, 0.75),
])  # fmt: skip
def test_the_two_curves_differ_except_at_1(c: float, equation: float, algorithm: float) -> None:
    """Erratum M1: at theta = 45 degrees, worked with a calculator."""
    x = torch.tensor(0.25, dtype=torch.float64)
    for curve, expected in zip(CURVES, (equation, algorithm), strict=True):
        assert gamma(x, c, curve).item() == pytest.approx(expected, abs=5e-4)
        assert gamma(x, c, curve).item() == pytest.approx(by_hand(0.25, c, curve), rel=1e-12)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("c", [1e-3, 1 / 3, 0.7, 1.0, 2.5, 5.0, 1e3])
def test_curves_fall_from_1_to_0_convex_below_c_1_and_concave_above(c: float, curve: Curve) -> None:
    y = gamma(torch.linspace(0, 1, 101, dtype=torch.float64), c, curve)
    assert y[0] == 1
    assert y[-1] == 0
    assert (y.diff() <= 0).all()
    bend = y.diff().diff()
    assert (bend >= -1e-12).all() if c <= 1 else (bend <= 1e-12).all()


@pytest.mark.parametrize("c", [1 / 3, 2.5])
def test_equation_10_is_its_own_inverse_and_algorithm_3_is_not(c: float) -> None:
    """x^c + y^c = 1 is symmetric in x and y."""
    x = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    twice = {curve: gamma(gamma(x, c, curve), c, curve) for curve in CURVES}
    torch.testing.assert_close(twice["equation_10"], x)
    assert (twice["algorithm_3"] - x).abs().max() > 0.05


@pytest.mark.parametrize("curve", CURVES)
def test_large_c_is_plain(curve: Curve) -> None:
    """Sec. 5.3: at c = infinity the curve does nothing."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    found = cosine_gradient(partial(curvature, temperature=0.25, c=1e4, curve=curve), cosines, targets)
    torch.testing.assert_close(found, plain, rtol=1e-3, atol=0)
    bent = cosine_gradient(partial(curvature, temperature=0.25, c=1.0, curve=curve), cosines, targets)
    assert (bent - plain).abs().max() > 0.1


@pytest.mark.parametrize(("cosine", "expected"), [(1.0, 1.0), (0.0, 0.5), (-1.0, 0.0)])
def test_linear_curve_by_hand(cosine: float, expected: float) -> None:
    """c = 1 is 1 - theta/pi: full pull at 0, half at a right angle, none at the antipode."""
    c, one = torch.tensor([[cosine]], dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    found = cosine_gradient(partial(curvature, temperature=1.0, c=1.0), c, one, beta=0)
    assert found.item() == pytest.approx(-expected, abs=1e-12)


def test_byol_takes_it_with_targets_all_ones() -> None:
    """App. E; by hand: anchor i pulls along -(k - cos·q)/(||q||·t·n), times the curve at its own angle."""
    z_a, z_b = draw(6, 4)
    z_a.requires_grad_()
    to_logits = partial(curvature, temperature=0.25, c=2.5)
    loss = generalised_info_nce(z_a, z_b, to_logits, negatives="none", beta=0)
    (found,) = torch.autograd.grad(loss, z_a)
    q, k = F.normalize(z_a.detach(), dim=1), F.normalize(z_b, dim=1)
    for i in range(6):
        cosine = math.fsum((q[i] * k[i]).tolist())
        pull = by_hand(math.acos(cosine) / math.pi, 2.5, "equation_10") / (z_a[i].norm().item() * 0.25 * 6)
        torch.testing.assert_close(found[i], -pull * (k[i] - cosine * q[i]))
    plain = generalised_info_nce(z_a, z_b, partial(cosine_logits, temperature=0.25), negatives="none", beta=0)
    assert loss.item() == plain.item()
