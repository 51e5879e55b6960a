"""The DP regulariser: what the LMCL paper says of it (errata L2-L6, L12, L26); and uniformity as strong as it is."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.matched_uniformity import matched_uniformity
from hypersphere.objectives.nce import nce
from hypersphere.objectives.uniformity import uniformity

from ...fixtures import Refused
from . import oracles
from .shared import draw, simplex, slopes, value_and_gradients


def at(distance: float | Tensor) -> Tensor:
    """Two points on the circle at D = distance."""
    c = 1 - 2 * torch.as_tensor(distance, dtype=torch.float64)
    return torch.stack(
        [torch.tensor([1.0, 0.0], dtype=torch.float64), torch.stack([c, (1 - c * c).sqrt()])]
    )


@pytest.mark.parametrize(
    ("distance", "penalty"),
    [(0.0, 0.0), (0.05, 0.0), (0.2, 0.03), (0.3, 0.04), (0.4, 0.03), (0.6, 0.0), (1.0, 0.0)],
)
def test_two_points_by_hand(distance: float, penalty: float) -> None:
    """(D - 0.1)(0.5 - D) inside (0.1, 0.5), largest (0.4/2)² = 0.04 at D = 0.3; 0 outside."""
    z = at(distance)
    assert distance_polarization(z, z, weight=1.0).item() == pytest.approx(penalty, abs=1e-15)
    assert distance_polarization(z, z, weight=1.0, reduction="sum").item() == pytest.approx(
        2 * penalty, abs=1e-15
    )


@pytest.mark.parametrize(
    ("distance", "sign"), [(0.2, 1), (0.29, 1), (0.31, -1), (0.4, -1), (0.05, 0), (0.7, 0)]
)
def test_l4_descent_moves_a_pair_to_the_nearer_threshold(distance: float, sign: int) -> None:
    """Below the watershed D = 0.3 (cos 0.4) the penalty grows with D: the pair is pulled together; above, apart. So
    delta+ = 0.1 is on the side of similar pairs, and is the lower of the two."""
    slope_at = torch.func.grad(lambda d: distance_polarization(at(d), at(d), weight=1.0))
    slope = slope_at(torch.tensor(distance, dtype=torch.float64))
    assert slope.item() == pytest.approx(sign * abs(0.6 - 2 * distance), abs=1e-12)


@pytest.mark.parametrize(("lower", "upper"), [(0.1, 0.5), (0.0, 1.0), (0.3, 0.4)])
def test_l3_the_elementwise_minimum_is_never_positive(lower: float, upper: float) -> None:
    """The paper puts min(., 0) in [0, 1]; it lies in [-(delta- - delta+)²/4, 0]. Summed as it is, it would reward
    the margin region. The l1 norm is then at most that fraction of the l0 norm R0: 4 % here."""
    z, _ = draw(12, 3)
    values = list(oracles.products(z.tolist(), lower, upper))
    deepest = (upper - lower) ** 2 / 4
    assert min(values) < 0
    assert all(-deepest - 1e-15 <= x <= 0 for x in values)
    r0 = sum(x != 0 for x in values)
    r1 = distance_polarization(z, z, weight=1.0, lower=lower, upper=upper, reduction="sum").item()
    assert 0 < r1 == pytest.approx(-sum(values), rel=1e-12)
    assert r1 <= deepest * r0


def test_l2_a_pair_in_the_margin_counts_in_r0() -> None:
    """Footnote 2 as extracted says min(...) = 0 there; a pair in the region gives a negative product, one outside 0."""
    assert all(x < 0 for x in oracles.products(at(0.3).tolist(), 0.1, 0.5))
    assert all(x == 0 for x in oracles.products(at(0.05).tolist(), 0.1, 0.5))
    assert all(x == 0 for x in oracles.products(at(0.7).tolist(), 0.1, 0.5))


@pytest.mark.parametrize("n", [4, 16, 64])
def test_l5_sum_and_mean_differ_by_the_number_of_pairs(n: int) -> None:
    z_a, z_b = draw(n, 3)
    mean = distance_polarization(z_a, z_b, weight=0.1)
    assert 0 < mean <= 0.1 * 0.04
    torch.testing.assert_close(
        distance_polarization(z_a, z_b, weight=0.1, reduction="sum"), n * (n - 1) * mean
    )


def test_l6_which_pairs_are_compared_matters() -> None:
    z_a, z_b = draw(6, 4)
    values = [
        distance_polarization(z_a, z_b, weight=1.0, among=among).item()
        for among in ("first_view", "each_view", "both_views")
    ]
    assert all(abs(x - y) > 1e-4 for x, y in itertools.combinations(values, 2))
    torch.testing.assert_close(
        distance_polarization(z_a, z_a, weight=1.0),
        distance_polarization(z_a, z_b, weight=1.0, among="first_view"),
    )


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_l12_there_is_a_kink_at_each_threshold(threshold: float) -> None:
    """Called Lipschitz-smooth: but the slope jumps by delta- - delta+ = 0.4 however near one looks. At 0.3, where the
    penalty is a parabola, it does not."""

    def slope(d: float) -> float:
        h = 1e-7
        values = [distance_polarization(at(x), at(x), weight=1.0).item() for x in (d - h, d + h)]
        return (values[1] - values[0]) / (2 * h)

    for near in (1e-2, 1e-4, 1e-6):
        inside, outside = (1, -1) if threshold == 0.1 else (-1, 1)
        jump = slope(threshold + inside * near) - slope(threshold + outside * near)
        assert abs(jump) == pytest.approx(0.4, abs=2.1 * near + 1e-6)
        assert abs(slope(0.3 + near) - slope(0.3 - near)) < 4.1 * near + 1e-6


@pytest.mark.parametrize("n", [3, 8, 32])
def test_l26_a_regular_simplex_minimises_the_whole_objective(n: int) -> None:
    """Both terms at once, whatever lambda is. NCE: log(1 + sum of e^(c_j - p)) is convex and p <= 1, so it is at least
    log(1 + (n-1) e^(mean c - 1)), and the mean of c over all pairs at least -1/(n-1). R1: all D = n/(2(n-1)) > 0.5."""
    z = simplex(n)
    bound = math.log1p((n - 1) * math.exp(-1 / (n - 1) - 1))
    assert nce(z, z).item() == pytest.approx(bound, abs=1e-12)
    assert distance_polarization(z, z, weight=1.0).item() == 0
    assert all(nce(*draw(n, n, seed=seed)) > bound for seed in range(5))


def errors(z: Tensor, labels: Tensor, mu: float, with_itself: bool) -> float:
    """Left of Eq. 13: E[max(0.5 - mu - D, 0)] over pairs of different classes, + E[max(D - 0.1 - mu, 0)] over pairs of
    one class, in which a point's pair with itself may count."""
    unit = torch.nn.functional.normalize(z, dim=1)
    d = (1 - unit @ unit.T) / 2
    same = labels[:, None] == labels[None]
    one_class = same if with_itself else same & ~torch.eye(len(z), dtype=torch.bool)
    return ((0.5 - mu - d[~same]).relu().mean() + (d[one_class] - 0.1 - mu).relu().mean()).item()


@pytest.mark.parametrize(("classes", "members"), [(4, 8), (10, 3), (40, 3)])
@pytest.mark.parametrize("with_itself", [False, True])
def test_l26_theorem_3_fails_at_a_minimiser(classes: int, members: int, with_itself: bool) -> None:
    """Right of Eq. 13: a multiple of R1, which is 0, and (Kmax/Kmin)/C, which is 1/C for classes of one size. Labels
    enter the left only, so nothing holds a class together. All points at one (R1 = 0 again) break the bound too, and
    would with the two lost relations y = y and y != y the other way round. Control: one point per class meets it."""
    labels = torch.arange(classes).repeat_interleave(members)
    spread, one_point = simplex(len(labels)), torch.ones(len(labels), 2, dtype=torch.float64)
    assert distance_polarization(one_point, one_point, weight=1.0) == 0
    assert errors(spread, labels, 0.1, with_itself) > 1 / classes
    assert errors(one_point, labels, 0.1, with_itself) > 1 / classes
    by_class = simplex(classes)[labels]
    assert errors(by_class, labels, 0.1, with_itself) < 1e-12
    assert distance_polarization(by_class, by_class, weight=1.0) == 0


@pytest.mark.parametrize(("lower", "upper"), [(0.5, 0.1), (0.3, 0.3)])
def test_thresholds_in_the_wrong_order_are_a_sentence(
    refused: Refused, lower: float, upper: float
) -> None:
    with refused("distance_polarization", "lower"):
        distance_polarization(*draw(3, 2), weight=1.0, lower=lower, upper=upper)


@pytest.mark.parametrize("among", ["first_view", "each_view", "both_views"])
def test_one_image_has_no_pairs_and_no_penalty(among: str) -> None:
    z = torch.ones(1, 2, dtype=torch.float64)
    assert distance_polarization(z, z, weight=1.0, among=among) == 0


# Uniformity that keeps its value and direction and takes the gradient norm of distance polarization (ours).


def gradient(z: tuple[Tensor, Tensor], **parameters: Any) -> Tensor:
    return value_and_gradients(lambda a, b: matched_uniformity(a, b, **parameters), *z)[1]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weight", [0.1, 7.0])
def test_the_gradient_has_the_norm_of_distance_polarization_and_the_direction_of_uniformity(
    reduction: str, weight: float
) -> None:
    """The former is LMCL's Eq. 10 at lambda 1, by central differences in every coordinate of both views."""
    z = draw(4, 3)
    ours = gradient(z, weight=weight, reduction=reduction)
    polarization = slopes(
        lambda zs: oracles.distance_polarization(*zs.tolist(), 1, reduction=reduction),
        torch.stack(z),
    )
    expected = weight * polarization.norm().item()
    assert expected > 1e-4
    assert ours.norm().item() == pytest.approx(expected, rel=1e-6)
    plain = value_and_gradients(uniformity, *z)[1]
    torch.testing.assert_close(ours / ours.norm(), plain / plain.norm())
    assert ours.norm().item() != pytest.approx(plain.norm().item(), rel=0.1)  # the nearest relative


@pytest.mark.parametrize("t", [0.5, 2.0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_value_is_uniformitys_to_the_bit_and_needs_no_gradient(
    t: float, dtype: torch.dtype
) -> None:
    """A probe may ask for the value alone."""
    z = draw(dtype=dtype)
    for with_gradient in (True, False):
        with torch.set_grad_enabled(with_gradient):
            assert torch.equal(matched_uniformity(*z, weight=0.1, t=t), uniformity(*z, t=t))


@pytest.mark.parametrize("side", [0.3, 1.5])
def test_where_no_distance_is_in_the_region_nothing_is_pushed(side: float) -> None:
    """By hand: chords of 0.3 and 1.5 are distances D = chord²/4 of 0.02 and 0.56, on either side of 0.1 and 0.5."""
    assert gradient((simplex(4, side), simplex(4, side)), weight=1).abs().max() < 1e-12
    assert gradient((simplex(4, 1.0), simplex(4, 1.0)), weight=1).norm() > 1e-3
