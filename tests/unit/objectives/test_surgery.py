"""Gradient surgery: Eq. 9, the weight of Eq. 12 and the ratio of Lemma 4.2 of the margins paper; and GradScale."""

import math

import pytest
import torch

from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.surgery import attenuation, ratio_of_sums, scale_gradient

from .shared import draw


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 20.0, 1e30])
def test_scale_gradient_is_equation_9(weight: float) -> None:
    """The paper's x·w + sg(x)·(1 - w) has this gradient too, but not these bits."""
    x = torch.randn(50, generator=torch.Generator().manual_seed(0)).requires_grad_()
    w = torch.tensor(weight)
    scaled = scale_gradient(x, w)
    assert torch.equal(scaled, x)
    (gradient,) = torch.autograd.grad(scaled.square().sum(), x)
    (paper,) = torch.autograd.grad((2 * x.detach() * (x * w + x.detach() * (1 - w))).sum(), x)
    torch.testing.assert_close(gradient, paper)
    torch.testing.assert_close(gradient, 2 * x.detach() * weight)


def test_an_infinite_slope_of_the_weight_never_enters() -> None:
    """sqrt at 0: were the weight not stopped, 0 times infinity."""
    x = torch.tensor([2.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(scale_gradient(x, 5 + (x - 2).sqrt()), x)
    assert gradient.item() == 5


def test_attenuation_does_not_cancel() -> None:
    """By hand, one negative at logit -30: 1 - q = 1/(1 + e^30), of which float64's 1 - q keeps three digits."""
    logits, targets = (
        torch.tensor([[0.0, -30.0]], dtype=torch.float64),
        torch.tensor([[1.0, 0.0]], dtype=torch.float64),
    )
    assert attenuation(logits, targets, 1.0).item() == pytest.approx(1 + math.exp(30), rel=1e-12)
    q = logits.softmax(dim=1)[0, 0].item()
    assert 1 / (1 - q) != pytest.approx(1 + math.exp(30), rel=1e-6)  # control


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_stay_finite(dtype: torch.dtype) -> None:
    """Past 1/eps, the loss that is multiplied has no digit left of 1 - q."""
    logits, targets = (
        torch.tensor([[1e4, -1e4]], dtype=dtype),
        torch.tensor([[1.0, 0.0]], dtype=dtype),
    )
    bound = 1 / torch.finfo(dtype).eps
    assert attenuation(logits, targets, 1.0).item() == bound
    assert attenuation(logits, targets, 0.0).item() == 1
    assert ratio_of_sums(logits, -logits - 1e4).item() == pytest.approx(bound, rel=0.05)


def test_ratio_of_sums_by_hand() -> None:
    """(1 + e) / (1 + 1), and of huge logits whose exponentials overflow."""
    above, below = (
        torch.tensor([[0.0, 1.0]], dtype=torch.float64),
        torch.zeros(1, 2, dtype=torch.float64),
    )
    for shift in (0.0, 1e5):
        found = ratio_of_sums(above + shift, below + shift).item()
        assert found == pytest.approx((1 + math.e) / 2, rel=1e-10)


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, -1])
def test_grad_scale_multiplies_the_gradient_by_the_norm_to_the_power_and_changes_no_value(
    power: float,
) -> None:
    """Row by row from the definition."""
    z, upstream = draw(6, 4)
    z.requires_grad_()
    scaled = grad_scale(z, power=power)
    assert torch.equal(scaled, z)
    (gradient,) = torch.autograd.grad(scaled, z, upstream)
    for i, row in enumerate(z.detach()):
        torch.testing.assert_close(
            gradient[i], upstream[i] * row.square().sum().item() ** (power / 2)
        )


@pytest.mark.parametrize(
    ("power", "factor"),
    [(0, 1.0), (0.5, 0.0), (1, 0.0), (2, 0.0), (-0.5, float("inf")), (-1, float("inf"))],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_grad_scale_of_a_zero_vector(power: float, factor: float, dtype: torch.dtype) -> None:
    """By hand: 0^p, which is 1 for p = 0."""
    z = torch.zeros(1, 3, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(grad_scale(z, power=power), z, torch.ones(1, 3, dtype=dtype))
    assert gradient.tolist() == [[factor] * 3]
