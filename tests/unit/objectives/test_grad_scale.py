"""GradScale changes gradients and leaves values alone (norms paper, Sec. 6, Listing 2)."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.grad_scale import grad_scale

from .shared import has_gradient_of_value


class Listing2(torch.autograd.Function):
    """The paper's own lines."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, power: float = 0) -> Tensor:
        ctx.save_for_backward(z)
        ctx.power = power
        return z

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Tensor, None]:
        z = ctx.saved_tensors[0]
        norm = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        return grad_output[0] * norm**ctx.power, None


@pytest.fixture
def z() -> Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(0)) * 5


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, -1])
def test_value_is_untouched_to_the_byte(z: Tensor, power: float) -> None:
    assert grad_scale(z, power=power).numpy().tobytes() == z.numpy().tobytes()


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, -1])
def test_gradient_is_multiplied_by_the_norm_to_the_power(z: Tensor, power: float) -> None:
    """Row by row from the definition, and against Listing 2."""
    upstream = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(grad_scale(z, power=power), z, upstream)
    for i in range(6):
        torch.testing.assert_close(gradient[i], upstream[i] * z[i].detach().square().sum().item() ** (power / 2))
    (listing,) = torch.autograd.grad(Listing2.apply(z, power), z, upstream)
    assert torch.equal(gradient, listing)


@pytest.mark.parametrize(
    ("power", "factor"), [(0, 1.0), (0.5, 0.0), (1, 0.0), (2, 0.0), (-0.5, float("inf")), (-1, float("inf"))]
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_zero_vector(power: float, factor: float, dtype: torch.dtype) -> None:
    """By hand: 0^p, which is 1 for p = 0."""
    z = torch.zeros(1, 3, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(grad_scale(z, power=power), z, torch.ones(1, 3, dtype=dtype))
    assert gradient.tolist() == [[factor] * 3]


def test_is_no_gradient_of_a_rescaled_value(z: Tensor) -> None:
    """Nearest relative: multiplying the value by ||z|| as well, whose gradient has a radial part. And gradcheck must
    refuse every power but 0: the value's own derivative is the identity's."""
    z = z.double().requires_grad_()
    (ours,) = torch.autograd.grad(grad_scale(z, power=1).sum(), z)
    (other,) = torch.autograd.grad((z * torch.linalg.vector_norm(z, dim=1, keepdim=True)).sum(), z)
    assert (ours - other).abs().max() > 1e-2
    has_gradient_of_value(lambda x: grad_scale(x, power=0), z)
    assert not torch.autograd.gradcheck(lambda x: grad_scale(x, power=1), (z,), raise_exception=False)


def test_gradient_reaches_what_made_the_embedding(z: Tensor) -> None:
    """Chain rule by hand for z = w · x: each row's contribution is scaled by its own norm."""
    z = z.double()
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    grad_scale(w * z, power=1).sum().backward()
    expected = (z.sum(dim=1) * torch.linalg.vector_norm(2 * z, dim=1)).sum()
    torch.testing.assert_close(w.grad, expected)
