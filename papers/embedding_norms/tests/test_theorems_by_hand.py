"""Counterexamples to the norms paper's statements once more, in plain Python floats, and how far Theorem 3.4 is off."""

import math

import pytest
import torch

from tests.unit.exact.statements import example

from .test_theorems import BY_ID

F64 = torch.float64


def test_equation_3_with_two_points_by_hand() -> None:
    """n = 2: the positive is the whole denominator, so L = 0 and its gradient 0. Printed: -(1/1) (1) (1, 0)."""
    found = example(BY_ID["proposition_3_2.equation_3"])
    assert found == {"z": [[1, 0], [0, 1]], "left": [0, 0], "right": [-1, 0]}


def test_equation_3_with_a_negative_by_hand() -> None:
    """z_i = z_j = (1, 0), z_l = (0, y): L = log(e + e^cos) - 1, whose slope along x at z_l is +1/(e + 1) / y; printed
    with a minus. At z_j = (0, 1), same z_i, z_l = (1, 0): slope (1/(1 + e) - 1), of which the printed form has only the
    first part."""

    def loss(z_j: tuple[float, float], z_l: tuple[float, float]) -> float:
        cosines = [x / math.hypot(x, y) for x, y in (z_j, z_l)]
        return math.log(sum(math.exp(c) for c in cosines)) - cosines[0]

    step = 1e-6
    slope = (loss((1, 0), (step, 2)) - loss((1, 0), (-step, 2))) / (2 * step)
    assert slope == pytest.approx(1 / (math.e + 1) / 2, abs=1e-9)
    slope = (loss((step, 1), (1, 0)) - loss((-step, 1), (1, 0))) / (2 * step)
    assert slope == pytest.approx(1 / (1 + math.e) - 1, abs=1e-9)
    z = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]], dtype=F64)
    excess = BY_ID["proposition_3_2.equation_3"].check(z=z).excess.item()
    assert excess == pytest.approx(2 / (math.e + 1), abs=1e-12)  # once up, once down


def moved(z_i: list[float], z_j: list[float], size: float) -> float:
    """The cosine after both points moved by ``size`` times what the other has across them."""
    after = []
    for x, y in ((z_i, z_j), (z_j, z_i)):
        along = sum(a * b for a, b in zip(x, y, strict=True)) / sum(a * a for a in x)
        after.append([a + size * (b - along * a) for a, b in zip(x, y, strict=True)])
    return (
        sum(a * b for a, b in zip(*after, strict=True))
        / math.hypot(*after[0])
        / math.hypot(*after[1])
    )


@pytest.mark.parametrize(
    ("name", "z", "gamma", "left", "right"),
    [
        # the gradient of -cos is (0, -1), adding it gives (1, -1): cos -1/sqrt(2) after 0
        ("section_3.step", [[1, 0], [0, 1]], 1, 0, -1 / math.sqrt(2)),
        # the step is a unit, so ||z_i'||² = 2; printed 1 + ||(0, 2)||² = 5
        ("appendix_a_3", [[1, 0], [0, 2]], 1, 2, 5),
        # rho = 2 at a right angle: (2, 0) + (0, 2)/2 = (2, 1) and (1, 2), cos 4/5; bound 2 · 1/4 = 1/2
        ("theorem_3_4.main_text", [[2, 0], [0, 2]], 1, 0.8, 0.5),
        # rho² = 5, cos -3/5, sin² 16/25, a = 1/5: bounds 2/5 · 16/25 and 1/5 · 16/25 · (2 + 3/25). The points become
        # (±1.84, 1.32), so the change is -1.6432/5.128 + 0.6
        ("theorem_3_4.appendix", [[2, 1], [-2, 1]], 1, 0.6 - 1.6432 / 5.128, 0.256),
        ("appendix_a_4", [[2, 1], [-2, 1]], 1, 0.6 - 1.6432 / 5.128, 0.27136),
        # the step overshoots, and the bound promises 4 · 0.64 · (2 - 2.4) < 0: less than the points have lost
        ("appendix_a_4.acute", [[1, 0], [0.6, 0.8]], 4, (0.6 + 5.12 - 6.144) / 11.24 - 0.6, -1.024),
    ],
)
def test_counterexample_by_hand(
    name: str, z: list[list[float]], gamma: float, left: float, right: float
) -> None:
    found = example(BY_ID[name])
    assert (found["z"], found["gamma"]) == (z, gamma)
    assert (found["left"], found["right"]) == (pytest.approx(left, abs=1e-12), pytest.approx(right))


def test_moved_points_by_hand() -> None:
    """Those above; the last (0.6 + 8 · 0.64 - 16 · 0.64 · 0.6) / (1 + 16 · 0.64)."""
    assert moved([2, 0], [0, 2], 1 / 2) == pytest.approx(0.8)
    # gamma/rho times z_j/rho
    assert moved([2, 1], [-2, 1], 1 / 5) == pytest.approx(-1.6432 / 5.128, abs=1e-12)
    assert moved([1, 0], [0.6, 0.8], 4) == pytest.approx((0.6 + 5.12 - 6.144) / 11.24)


def test_two_radians_and_a_tenth() -> None:
    """phi = 2, rho = 1, gamma = 0.1: change 0.1708, bound 0.1654, sharper bound 0.1688 (all to four digits)."""
    z_j = [math.cos(2), math.sin(2)]
    change = moved([1, 0], z_j, 0.1) - math.cos(2)
    assert round(change, 4) == 0.1708
    assert round(0.2 * math.sin(2) ** 2, 4) == 0.1654
    assert round(0.1 * math.sin(2) ** 2 * (2 - 0.1 * math.cos(2)), 4) == 0.1688


def test_strictness_by_hand() -> None:
    """Identical points do not move: both sides are 0. At a right angle and a = 1 the change is 1, and the bound 2."""
    assert moved([1, 0], [1, 0], 1) - 1 == 0
    assert moved([1, 0], [0, 1], 1) == pytest.approx(1)
    points = torch.tensor([[[1, 0], [1, 0]], [[1, 0], [0, 1]]], dtype=F64)
    checked = BY_ID["theorem_3_4.strict.n13"].check(z=points, gamma=torch.ones(2, dtype=F64))
    assert checked.met.tolist() == [False, True]
    assert (float(checked.left[1]), float(checked.right[1])) == (pytest.approx(1), pytest.approx(2))
    assert float(checked.excess[1]) == pytest.approx((1 - 2) / (1 + 2))


def test_one_dimension_has_a_potential_for_every_power_by_hand() -> None:
    """On the line without 0, t z/|z| is a sign: its derivative is 0, and so is |z| times that, the slope of q = 0."""
    step = 1e-3
    for z in (1.0, -2.0):
        derivative = ((z + step) / abs(z + step) - (z - step) / abs(z - step)) / (2 * step)
        assert abs(z) ** 1 * derivative == 0


def test_equation_8_by_hand() -> None:
    """alpha = 1 on the half circle 2(cos, sin): ||z|| grad p · dz = 2 · (-sin) d(angle), in all -4; printed 2² = 4."""
    found = example(BY_ID["appendix_d.equation_8"])
    assert (found["t"], found["alpha"]) == ([1, 0], 1)
    count = 20000
    total = sum(-2 * math.sin((k + 0.5) * math.pi / count) * math.pi / count for k in range(count))
    assert total == pytest.approx(-4, abs=1e-6)
    assert (found["left"], found["right"]) == (pytest.approx(-4), 2**2)


# By how much Theorem 3.4 fails.


def excess(angle: float, step: float) -> float:
    """Change / bound - 1 at the angle phi and the step a = gamma/rho²: -a (cos + a s²) / (1 + a² s²).

    It is positive exactly where a < -cos(phi) / sin²(phi), so only at obtuse angles, and always below a.
    """
    c, s = math.cos(angle), math.sin(angle)
    return -step * (c + step * s**2) / (1 + (step * s) ** 2)


def test_the_excess_is_that_of_the_update_itself() -> None:
    """Against the moved points."""
    for angle in torch.linspace(0.05, 3.09, 39, dtype=F64).tolist():
        for step in (0.01, 0.1, 0.5, 1.0):
            change = moved([1, 0], [math.cos(angle), math.sin(angle)], step) - math.cos(angle)
            assert excess(angle, step) == pytest.approx(
                change / (2 * step * math.sin(angle) ** 2) - 1, abs=1e-9
            )


@pytest.mark.parametrize("step", [0.1, 1.0, 10.0])
def test_the_bound_fails_most_near_opposite_points_and_by_the_step_itself(step: float) -> None:
    """By hand, sin -> 0, cos -> -1: -a (-1 + 0) / (1 + 0) = a. So 2 a sin² is short by a factor of 1 + a at most."""
    grid = [
        *torch.linspace(0, 3, 301, dtype=F64).tolist(),
        *(math.pi - 10.0**power for power in range(-6, 0)),
    ]
    largest, angle = max((excess(angle, step), angle) for angle in grid)
    assert largest == pytest.approx(step, rel=1e-4)
    assert largest < step
    assert angle == pytest.approx(math.pi, abs=1e-5)


def test_where_the_bound_fails() -> None:
    """Just where a < -cos/sin²: nowhere up to a right angle; at 2 radians below 0.5033 (0.41615 / 0.82682)."""
    acute = torch.linspace(0, math.pi / 2, 50, dtype=F64).tolist()
    any_step = torch.logspace(-3, 3, 25, dtype=F64).tolist()
    assert max(excess(angle, step) for angle in acute for step in any_step) <= 1e-15
    assert excess(2.0, 0.5) > 0 > excess(2.0, 0.507)
