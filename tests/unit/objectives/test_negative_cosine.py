"""L^A of the norms paper, Sec. 3, against a loop, the paper's gradient, and cases by hand."""

import os

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.objectives.negative_cosine import negative_cosine

from .shared import cosine, draw

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"


def oracle(p: Tensor, z: Tensor) -> float:
    """Sums and square roots in Python floats."""
    total = 0.0
    for a, b in zip(p.tolist(), z.tolist(), strict=True):
        total -= cosine(a, b)
    return total / len(p)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (8, 16)])
def test_is_the_mean_negative_cosine(n: int, d: int) -> None:
    p, z = draw(n, d)
    assert negative_cosine(p, z).item() == pytest.approx(oracle(p, z), abs=1e-12)
    assert negative_cosine(p, z).item() == pytest.approx(-F.cosine_similarity(p, z).mean().item(), abs=1e-12)


@pytest.mark.parametrize(("z", "expected"), [([5.0, 0.0], -1.0), ([0.0, 2.0], 0.0), ([-1.0, 0.0], 1.0), ([0, 0], 0)])
def test_by_hand(z: list[float], expected: float) -> None:
    """Parallel, orthogonal, antipodal, zero."""
    p = torch.tensor([[3.0, 0.0]], dtype=torch.float64)
    assert negative_cosine(p, torch.tensor([z], dtype=torch.float64)).item() == pytest.approx(expected, abs=1e-12)


def test_gradient_is_proposition_1s() -> None:
    """Norms paper, Prop. 1: the gradient of the cosine is (I - p p^T / |p|²) z_hat / |p|; here negative, over n."""
    p, z = draw()
    p.requires_grad_()
    (gradient,) = torch.autograd.grad(negative_cosine(p, z), p)
    for i in range(len(p)):
        norm = torch.linalg.vector_norm(p[i])
        project = torch.eye(4, dtype=torch.float64) - torch.outer(p[i], p[i]) / norm**2
        torch.testing.assert_close(gradient[i], -(project @ (z[i] / z[i].norm())) / norm / len(p))


def test_differs_from_its_relatives() -> None:
    """The dot product without normalisation, and BYOL's squared distance, which is 2 + 2 · loss."""
    p, z = draw()
    loss = negative_cosine(p, z)
    assert abs(loss + (p * z).sum(dim=1).mean()) > 1e-2
    distance = (F.normalize(p, dim=1) - F.normalize(z, dim=1)).square().sum(dim=1).mean()
    torch.testing.assert_close(distance, 2 + 2 * loss)
    assert abs(distance - loss) > 1e-2


def test_agrees_with_lightly() -> None:
    from lightly.loss import NegativeCosineSimilarity

    p, z = draw()
    torch.testing.assert_close(negative_cosine(p, z), NegativeCosineSimilarity()(p, z))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_zero_prediction_has_a_finite_gradient(dtype: torch.dtype) -> None:
    """float16 rounds 1e-12, torch's guard against a norm of 0, to 0 itself."""
    p = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
    loss = negative_cosine(p, torch.ones(2, 3, dtype=dtype))
    loss.backward()
    assert loss.item() == 0
    assert p.grad is not None
    assert p.grad.isfinite().all()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_identical_and_antipodal_points_have_no_gradient(dtype: torch.dtype, sign: int) -> None:
    """Prop. 1: the gradient's magnitude is sin(phi) / ||p||, so 0 at both poles; the value is -cos(phi)."""
    p, _ = draw(4, 4, dtype=dtype)
    p.requires_grad_()
    loss = negative_cosine(p, sign * p.detach())
    (gradient,) = torch.autograd.grad(loss, p)
    step = torch.finfo(dtype).eps
    assert loss.item() == pytest.approx(-sign, abs=4 * step)
    assert gradient.abs().max().item() < 4 * step


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_and_double_precision_are_to_the_byte_what_the_first_release_gave(dtype: torch.dtype) -> None:
    p, z = (x.requires_grad_() for x in draw(8, 16, dtype=dtype))
    first = -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(dim=1).mean()
    ours = negative_cosine(p, z)
    assert torch.equal(ours, first)
    assert torch.equal(torch.autograd.grad(ours, p)[0], torch.autograd.grad(first, p)[0])
