"""GradScale changes gradients and leaves values alone (norms paper, Sec. 6, Listing 2)."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent


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


def test_power_0_is_ordinary_training(z: Tensor) -> None:
    z.requires_grad_()
    (plain,) = torch.autograd.grad(nt_xent(z[:3], z[3:], temperature=0.5), z)
    scaled = grad_scale(z, power=0)
    (with_layer,) = torch.autograd.grad(nt_xent(scaled[:3], scaled[3:], temperature=0.5), z)
    assert torch.equal(plain, with_layer)


@pytest.mark.parametrize(("power", "exponent"), [(0, -1), (1, 0), (2, 1)])
def test_power_1_cancels_the_dependence_of_a_cosines_gradient_on_the_norm(
    z: Tensor, power: float, exponent: int
) -> None:
    """Prop. 1: the cosine's gradient goes as norm^-1, so with power p it goes as norm^(p-1)."""
    target = torch.randn(6, 4, generator=torch.Generator().manual_seed(2))
    gradients = []
    for factor in (1.0, 10.0):
        leaf = (z * factor).requires_grad_()
        (gradient,) = torch.autograd.grad(negative_cosine(grad_scale(leaf, power=power), target), leaf)
        gradients.append(gradient)
    torch.testing.assert_close(gradients[1], gradients[0] * 10.0**exponent)


@pytest.mark.parametrize(("power", "factor"), [(0, 1.0), (1, 0.0), (2, 0.0), (-1, float("inf"))])
def test_zero_vector(power: float, factor: float) -> None:
    z = torch.zeros(1, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(grad_scale(z, power=power), z, torch.ones(1, 3))
    assert gradient.tolist() == [[factor] * 3]


def test_gradient_reaches_what_made_the_embedding(z: Tensor) -> None:
    """Chain rule by hand for z = w · x: each row's contribution is scaled by its own norm."""
    z = z.double()
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    grad_scale(w * z, power=1).sum().backward()
    expected = (z.sum(dim=1) * torch.linalg.vector_norm(2 * z, dim=1)).sum()
    torch.testing.assert_close(w.grad, expected)
