"""Cosines, sines, angles and distances: right where they are ordinary, and harmless where calculus is not."""

import math

import pytest
import torch

from hypersphere.objectives.geometry import angles, cosines, distances, sines, unit
from hypersphere.objectives.pairs import without_diagonal

from .shared import chord, cosine, draw, has_gradient_of_value, normed

HALF = [torch.float16, torch.bfloat16]
DTYPES = [*HALF, torch.float32, torch.float64]


def test_against_loops() -> None:
    """Sums and square roots in Python floats."""
    a, b = draw(3, 4)[0], draw(5, 4, seed=1)[0]
    for i, x in enumerate(a.tolist()):
        assert unit(a)[i].tolist() == pytest.approx(normed(x), abs=1e-14)
        for j, y in enumerate(b.tolist()):
            angle = math.acos(cosine(x, y))
            assert cosines(a, b)[i, j].item() == pytest.approx(cosine(x, y), abs=1e-14)
            assert angles(cosines(a, b))[i, j].item() == pytest.approx(angle, abs=1e-13)
            assert sines(cosines(a, b))[i, j].item() == pytest.approx(math.sin(angle), abs=1e-13)
            assert distances(a, b)[i, j].item() == pytest.approx(chord(x, y), abs=1e-13)


def test_gradients_are_those_of_the_values() -> None:
    a, b = draw(3, 4)[0], draw(2, 4, seed=1)[0]
    inside = torch.tensor([-0.99, -0.5, 0.0, 0.3, 0.99], dtype=torch.float64)
    for function, *inputs in (
        (cosines, a, b),
        (distances, a, b),
        (unit, a),
        (sines, inside),
        (angles, inside),
    ):
        has_gradient_of_value(function, *inputs)


def test_units_take_leading_axes_and_match_torch_in_single_precision() -> None:
    z = draw(6, 4, dtype=torch.float32)[0].view(2, 3, 4)
    assert torch.equal(unit(z), torch.nn.functional.normalize(z, dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_zero_row_stays_zero_and_its_gradient_is_the_incoming_one_over_eps(
    dtype: torch.dtype,
) -> None:
    """eps is 1e-12, and 2^-14, float16's smallest normal number, where 1e-12 would be 0 and 0/0 NaN."""
    z = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(unit(z), z, torch.full((2, 3), 0.5, dtype=dtype))
    assert unit(z).tolist() == [[0.0] * 3] * 2
    eps = 2.0**-14 if dtype == torch.float16 else 1e-12
    torch.testing.assert_close(gradient, torch.full((2, 3), 0.5 / eps, dtype=dtype))


@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_near_double(dtype: torch.dtype) -> None:
    a, b = draw(4, 8, dtype=dtype)[0], draw(5, 8, seed=1, dtype=dtype)[0]
    step, c = torch.finfo(dtype).eps, cosines(a, b)
    for function, tolerance, *inputs in (
        (cosines, 4, a, b),
        (distances, 16, a, b),
        (sines, 4, c),
        (angles, 4, c),
    ):
        found, exact = function(*inputs), function(*(x.double() for x in inputs))
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), exact, atol=tolerance * step, rtol=step)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("size", [300.0, 1e-4])
def test_distances_in_half_precision_do_not_leave_its_range(
    dtype: torch.dtype, size: float
) -> None:
    """300² is beyond float16's 65504 and (1e-4)² below its 6e-8; the distances, 520 and 1.7e-4, are neither."""
    a, b = torch.full((1, 3), size, dtype=dtype).requires_grad_(), torch.zeros(1, 3, dtype=dtype)
    found = distances(a, b)
    (gradient,) = torch.autograd.grad(found.sum(), a)
    assert found.item() == pytest.approx(a[0, 0].item() * math.sqrt(3), rel=0.01)
    assert gradient[0].tolist() == pytest.approx([1 / math.sqrt(3)] * 3, rel=0.02)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("cosine", "angle"), [(1.0, 0.0), (-1.0, math.pi)])
def test_poles_have_values_and_a_gradient_of_zero(
    dtype: torch.dtype, cosine: float, angle: float
) -> None:
    """The derivatives of arccos and of sqrt(1 - c²) are infinite at ±1; beyond, the functions do not exist."""
    beyond = torch.nextafter(
        torch.tensor(cosine, dtype=dtype), torch.tensor(2 * cosine, dtype=dtype)
    ).item()
    for c in (cosine, beyond):
        x = torch.tensor([c], dtype=dtype, requires_grad=True)
        for function, value in ((angles, angle), (sines, 0.0)):
            found = function(x)
            assert found.item() == pytest.approx(value, rel=2 * torch.finfo(dtype).eps)
            (gradient,) = torch.autograd.grad(found.sum(), x)
            assert gradient.item() == 0


def test_just_inside_the_poles_the_gradient_is_the_true_one() -> None:
    """c = 1 - 1e-8: arccos' = -1/s, (sqrt(1-c²))' = -c/s, with s² = 2e-8 - 1e-16 by hand."""
    c = torch.tensor([1 - 1e-8], dtype=torch.float64, requires_grad=True)
    s = math.sqrt(2e-8 - 1e-16)
    for function, slope in ((angles, -1 / s), (sines, -(1 - 1e-8) / s)):
        (gradient,) = torch.autograd.grad(function(c).sum(), c)
        assert gradient.item() == pytest.approx(slope, rel=1e-7)


def test_coincident_points_attract_nothing() -> None:
    """By hand: ||a - b|| has no gradient at a = b, and 0 is its subgradient of least norm; elsewhere it is a unit."""
    a = torch.tensor([[1.0, 2.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(distances(a, torch.tensor([[1.0, 2.0]])).sum(), a)
    assert gradient.tolist() == [[0, 0]]
    (gradient,) = torch.autograd.grad(distances(a, torch.tensor([[-2.0, -2.0]])).sum(), a)
    assert gradient.tolist() == [pytest.approx([0.6, 0.8])]


def test_distances_of_near_points_do_not_cancel() -> None:
    """sqrt(|a|² + |b|² - 2ab) would give 0 or NaN here."""
    a = torch.tensor([[1000.0, 1000.0]])
    b = a + torch.tensor([[0.0, 2.0**-10]])
    assert distances(a, b).item() == 2.0**-10


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_without_diagonal(n: int) -> None:
    """Each entry named by its place, so that order shows: row i is i·n … i·n+n-1 without i·n+i."""
    square = torch.arange(n * n).view(n, n)
    expected = [[i * n + j for j in range(n) if j != i] for i in range(n)]
    assert without_diagonal(square).tolist() == expected
