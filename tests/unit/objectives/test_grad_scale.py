"""GradScale changes gradients and leaves values alone (norms paper, Sec. 6, Listing 2)."""

import pytest
import torch

from hypersphere.objectives.grad_scale import grad_scale

from .shared import draw


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, -1])
def test_the_gradient_is_multiplied_by_the_norm_to_the_power_and_no_byte_of_the_value_changes(power: float) -> None:
    """Row by row from the definition."""
    z, upstream = draw(6, 4)
    z.requires_grad_()
    scaled = grad_scale(z, power=power)
    assert torch.equal(scaled, z)
    (gradient,) = torch.autograd.grad(scaled, z, upstream)
    for i, row in enumerate(z.detach()):
        torch.testing.assert_close(gradient[i], upstream[i] * row.square().sum().item() ** (power / 2))


@pytest.mark.parametrize(
    ("power", "factor"), [(0, 1.0), (0.5, 0.0), (1, 0.0), (2, 0.0), (-0.5, float("inf")), (-1, float("inf"))]
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_zero_vector(power: float, factor: float, dtype: torch.dtype) -> None:
    """By hand: 0^p, which is 1 for p = 0."""
    z = torch.zeros(1, 3, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(grad_scale(z, power=power), z, torch.ones(1, 3, dtype=dtype))
    assert gradient.tolist() == [[factor] * 3]
