"""The debiased loss of Chuang et al. 2020, against its estimator in exponentials; it is nt_xent at tau_plus = 0."""

import math
import os

import pytest
import torch
from pytorch_metric_learning.losses import NTXentLoss
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.objectives.debiased import debiased
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
    has_gradient_of_value,
    is_finite,
    value_and_gradients,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"
from lightly.loss import DCLLoss

PRIORS = pytest.mark.parametrize("tau_plus", [0.0, 0.1, 0.5])


def oracle(z_a: Tensor, z_b: Tensor, t: float, tau_plus: float) -> float:
    """-log(pos / (pos + N g)), g = max((mean of neg - tau_plus pos)/(1 - tau_plus), e^(-1/t)), mean over 2n anchors."""
    z, n = [*z_a.tolist(), *z_b.tolist()], len(z_a)
    losses = []
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        positive = math.exp(cosine(z[i], z[j]) / t)
        negatives = [math.exp(cosine(z[i], z[k]) / t) for k in range(2 * n) if k not in (i, j)]
        mean = sum(negatives) / len(negatives)
        g = max((mean - tau_plus * positive) / (1 - tau_plus), math.exp(-1 / t))
        losses.append(-math.log(positive / (positive + len(negatives) * g)))
    return sum(losses) / len(losses)


@PRIORS
@pytest.mark.parametrize(("n", "d", "t"), [(2, 3, 0.5), (5, 4, 0.2), (7, 2, 2.0)])
def test_is_the_estimator(n: int, d: int, t: float, tau_plus: float) -> None:
    z_a, z_b = draw(n, d)
    expected = oracle(z_a, z_b, t, tau_plus)
    assert debiased(z_a, z_b, temperature=t, tau_plus=tau_plus).item() == pytest.approx(expected, rel=1e-12)


def near(n: int, d: int, apart: float) -> tuple[Tensor, Tensor]:
    """Second views close to the first, so that the corrected sum falls to its bound."""
    z_a, noise = draw(n, d)
    return z_a, z_a + apart * noise


@PRIORS
def test_gradient_is_that_of_the_value_at_the_bound_too(tau_plus: float) -> None:
    """Where it is active for all anchors; at drawn points it is for few or none."""
    has_gradient_of_value(lambda a, b: debiased(a, b, temperature=0.3, tau_plus=tau_plus), *near(4, 3, 0.01))


@pytest.mark.parametrize("t", [1e-3, 1e-6])
def test_the_bound_is_finite_at_tiny_temperatures(t: float) -> None:
    is_finite(lambda a, b: debiased(a, b, temperature=t, tau_plus=0.5), *(z.float() for z in near(8, 4, 1e-4)))


@PRIORS
@pytest.mark.parametrize("n", [2, 5])
def test_identical_embeddings_by_hand(n: int, tau_plus: float) -> None:
    """All exponentials equal: N g = N (1 - tau_plus) e^(1/t) / (1 - tau_plus), so log(1 + N) = log(2n - 1)."""
    z = torch.tensor([[3.0, 4.0]], dtype=torch.float64).expand(n, 2)
    loss = debiased(z, z, temperature=0.5, tau_plus=tau_plus)
    assert loss.item() == pytest.approx(math.log(2 * n - 1), abs=1e-12)


def test_orthogonal_images_by_hand() -> None:
    """n = 2, t = 1, tau_plus = 0.1: pos = e, neg = 1, N = 2; (2 - 0.2 e)/0.9 = 1.618 is above 2/e."""
    z = torch.eye(2, dtype=torch.float64)
    expected = math.log1p((2 - 0.2 * math.e) / 0.9 / math.e)
    assert debiased(z, z, temperature=1.0, tau_plus=0.1).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("tau_plus", [0.1, 0.5])
def test_the_bound_by_hand(tau_plus: float) -> None:
    """Images at opposite points: the corrected sum 2 e^(-1/t) - 2 tau_plus e^(1/t) is negative, and the bound,
    2 e^(-1/t), leaves log(1 + 2 e^(-2/t)). The gradient comes through the positives alone, at their maximum."""
    z = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    value, gradients = value_and_gradients(lambda a, b: debiased(a, b, temperature=0.5, tau_plus=tau_plus), z, z)
    assert value.item() == pytest.approx(math.log1p(2 * math.exp(-4)), abs=1e-12)
    assert gradients.abs().max() < 1e-15


def test_at_the_bound_negatives_have_no_gradient() -> None:
    """Close views: turning any image along with its other view changes nothing; without correction it would."""
    z_a, z_b = near(5, 4, 0.01)
    generator = torch.zeros(4, 4, dtype=torch.float64)
    generator[0, 1], generator[1, 0] = 1.0, -1.0

    def gradient(tau_plus: float) -> Tensor:
        # both views of an image turn by one angle in the plane of the first two axes: their own cosine stays
        def loss(angle: Tensor) -> Tensor:
            turn = torch.linalg.matrix_exp(torch.einsum("n,ij->nij", angle, generator))
            a, b = ((turn @ z[:, :, None])[:, :, 0] for z in (z_a, z_b))
            return debiased(a, b, temperature=0.3, tau_plus=tau_plus)

        return value_and_gradients(loss, torch.zeros(5, dtype=torch.float64))[1]

    assert gradient(0.5).abs().max() < 1e-14
    assert gradient(0.0).abs().max() > 1e-3


def test_nothing_left_after_the_correction_is_finite() -> None:
    """One negative at the anchor's own place, one opposite, N = 2, tau_plus = 1/2: e^(1/t) - e^(1/t) is 0 to the bit,
    whose logarithm is infinite; that anchor costs log(1 + 2 e^(-2/t)) = 0."""
    z_a = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    z_b = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    value = is_finite(lambda a, b: debiased(a, b, temperature=1e-3, tau_plus=0.5), z_a, z_b)
    # the second image's views are opposite. At e1: pos e^(-1/t), negatives 2 e^(1/t), so N g = 4 e^(1/t). At -e1:
    # pos and negatives all e^(-1/t), so N g = 2 e^(-1/t)
    third, last = 2000 + math.log(4), math.log(3)
    assert value.item() == pytest.approx((third + last) / 4, rel=1e-6)


def test_without_prior_it_is_nt_xent_and_with_one_is_not() -> None:
    z = draw(5, 4)
    plain = value_and_gradients(lambda a, b: nt_xent(a, b, temperature=0.5), *z)
    torch.testing.assert_close(
        value_and_gradients(lambda a, b: debiased(a, b, temperature=0.5, tau_plus=0.0), *z), plain
    )
    value, gradients = value_and_gradients(lambda a, b: debiased(a, b, temperature=0.5, tau_plus=0.1), *z)
    assert abs(value - plain[0]) > 1e-3
    assert (gradients - plain[1]).norm() > 0.01 * plain[1].norm()


def test_x1_dcl_is_not_decoupled_contrastive_learning() -> None:
    """lightly's DCLLoss is Yeh et al.'s: no positive in the denominator, nothing subtracted. Pytorch-metric-learning's
    NTXentLoss is this one at tau_plus = 0."""
    z_a, z_b = draw(5, 4)
    for tau_plus in (0.0, 0.1):
        assert abs(debiased(z_a, z_b, temperature=0.5, tau_plus=tau_plus) - DCLLoss(temperature=0.5)(z_a, z_b)) > 0.05
    theirs = NTXentLoss(temperature=0.5)(torch.cat([z_a, z_b]), torch.arange(5).repeat(2))
    torch.testing.assert_close(debiased(z_a, z_b, temperature=0.5, tau_plus=0.0), theirs)


def test_one_image_has_no_negatives_and_costs_nothing() -> None:
    value, gradients = value_and_gradients(lambda a, b: debiased(a, b, temperature=0.5, tau_plus=0.1), *draw(1, 3))
    assert value == 0
    assert gradients.abs().max() == 0


def test_a_prior_of_one_is_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"tau_plus: must be below 1, but is 1\.0"):
        debiased(*draw(3, 2), temperature=0.5, tau_plus=1.0)
