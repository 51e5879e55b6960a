"""Losses against a queue or a memory bank, and against another network's or view's distribution."""

import pytest
import torch
from lightly.loss import DINOLoss, NTXentLoss
from lightly.loss.swav_loss import sinkhorn
from torch import Tensor

from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.nce_memory_bank import nce_memory_bank
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.swapped_prediction import codes, swapped_prediction

from . import oracles
from .shared import balanced, cosine, draw, scores, value_and_gradients


def queued(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and a queue of nine."""
    return *draw(5, 4, dtype=dtype), draw(9, 4, seed=1, dtype=dtype)[0]


def test_momentum_contrast_agrees_with_lightly() -> None:
    """NTXentLoss keeps the queue itself, in float32, and scores against it before the batch's keys enter."""
    q, k, _ = queued(torch.float32)
    theirs = NTXentLoss(temperature=0.2, memory_bank_size=(9, 4))
    queue = theirs.memory_bank.bank.clone()
    torch.testing.assert_close(momentum_contrast(q, k, queue, temperature=0.2), theirs(q, k))


INDEX = torch.tensor([4, 0, 4, 2])

NOISE = torch.tensor([[1, 1, 3], [5, 2, 0], [0, 4, 3], [3, 5, 1]])


def banked(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Four embeddings and a bank of six images."""
    return draw(4, 3, dtype=dtype)[0], draw(6, 3, seed=1, dtype=dtype)[0]


def test_gradient_is_that_of_the_value_at_fixed_normaliser() -> None:
    """Central differences of the oracle with Z held: the loss's own value moves Z, so gradcheck would not do."""
    z, bank = banked()
    lists = INDEX.tolist(), bank.tolist(), NOISE.tolist()
    big_z, step = oracles.normaliser(z.tolist(), lists[1], lists[2], 0.5), 1e-5
    leaf = z.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(nce_memory_bank(leaf, INDEX, bank, NOISE, temperature=0.5, proximal=0.7), leaf)
    for i in range(4):
        for j in range(3):
            shift = torch.zeros_like(z)
            shift[i, j] = step
            ends = [oracles.nce_memory_bank((z + sign * shift).tolist(), *lists, 0.5, 0.7, big_z) for sign in (1, -1)]
            assert gradient[i, j].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)


def test_its_gradient_tends_to_that_of_the_softmax_it_estimates() -> None:
    """Nearest relative. With all images as noise r times over, m = r·images: h -> 0, and the gradient tends to
    (sum of P(k) cos'(k) - cos'(own))/t, the softmax's; the values differ."""
    z, bank = banked()
    z = z[:1].requires_grad_()
    (softmax,) = torch.autograd.grad(nonparametric_softmax(z, INDEX[:1], bank, temperature=0.5), z)
    gaps = []
    for repeats in (1, 10, 1000):
        noise = torch.arange(6).repeat(repeats)[None]
        loss = nce_memory_bank(z, INDEX[:1], bank, noise, temperature=0.5)
        (gradient,) = torch.autograd.grad(loss, z)
        gaps.append(((gradient - softmax).norm() / softmax.norm()).item())
        assert abs(loss.item() - nonparametric_softmax(z, INDEX[:1], bank, temperature=0.5).item()) > 0.5
    assert gaps[0] > 0.05
    assert gaps[2] < 1e-3 < gaps[1]


def test_the_literal_denominator_lacks_the_positive_and_so_has_no_probability() -> None:
    """S3, by hand: one image, its embedding turned round since: -log(e^(-1/t) / e^(1/t)) = 2/t, where a softmax over
    the bank of one image is 1 and costs nothing."""
    z = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    index = torch.tensor([0])
    for t in (0.5, 2.0):
        literal = nonparametric_softmax(z, index, -z, temperature=t, denominator="batch")
        assert literal.item() == pytest.approx(2 / t, abs=1e-12)
        assert nonparametric_softmax(z, index, -z, temperature=t).item() == pytest.approx(0, abs=1e-12)


def test_the_literal_loss_is_that_of_the_bank_when_the_batch_is_the_bank() -> None:
    """Where it provably coincides: all images at once, unmoved since the last epoch."""
    bank = banked()[1]
    index = torch.arange(6)
    by_batch = nonparametric_softmax(bank, index, bank, temperature=0.5, proximal=3.0, denominator="batch")
    torch.testing.assert_close(by_batch, nonparametric_softmax(bank, index, bank, temperature=0.5))


def test_the_proximal_term_changes_value_and_gradient_as_a_squared_chord() -> None:
    """2 beta (1 - cos): unit vectors, whatever the norms are."""
    z, bank = banked()
    without = nonparametric_softmax(z, INDEX, bank, temperature=0.5)
    loss = nonparametric_softmax(z, INDEX, bank, temperature=0.5, proximal=2.0)
    cosines = [cosine(a, bank.tolist()[i]) for a, i in zip(z.tolist(), INDEX.tolist(), strict=True)]
    assert (loss - without).item() == pytest.approx(2 * 2 * (1 - sum(cosines) / 4), abs=1e-12)


def taught(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Student's and teacher's four outputs for five images, and a centre."""
    return *draw(5, 4, dtype=dtype, scale=1), draw(1, 4, seed=1, dtype=dtype, scale=1)[0][0]


def distilled(student: Tensor, teacher: Tensor, centre: Tensor, t_s: float = 0.5, t_t: float = 0.2) -> Tensor:
    return self_distillation(student, teacher, centre, student_temperature=t_s, teacher_temperature=t_t)


def test_gradient_reaches_the_student_alone() -> None:
    student, teacher, centre = (z.requires_grad_() for z in taught())
    gradients = torch.autograd.grad(distilled(student, teacher, centre), (student, teacher, centre), allow_unused=True)
    assert gradients[0].any()
    assert gradients[1] is None
    assert gradients[2] is None


def test_self_distillation_agrees_with_lightly() -> None:
    """DINOLoss with two crops is the mean over both directions; its centre is renewed after the loss."""
    student, teacher, centre = taught(torch.float32)
    theirs = DINOLoss(output_dim=4, teacher_temp=0.2, student_temp=0.5)
    theirs.center = centre.view(1, 1, 4).clone()
    crops = [teacher, teacher.flip(0)], [student, student.roll(1, dims=0)]
    expected = theirs(*crops)
    ours = (distilled(crops[1][1], crops[0][0], centre) + distilled(crops[1][0], crops[0][1], centre)) / 2
    torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize(("n", "k"), [(1, 2), (4, 4), (7, 3)])
@pytest.mark.parametrize("iterations", [1, 3, 10])
def test_scales_columns_and_rows(n: int, k: int, iterations: int) -> None:
    """Lightly's, too, which is in exponentials, and starts with a constant that cancels."""
    given = scores(n, k)[0]
    expected = torch.tensor(balanced(given.tolist(), 0.05, iterations), dtype=torch.float64)
    torch.testing.assert_close(codes(given, 0.05, iterations), expected)
    torch.testing.assert_close(codes(given, 0.05, iterations), sinkhorn(given, iterations, 0.05))


def test_gradient_is_prediction_minus_code() -> None:
    """By hand: d/ds of -q·log softmax(s/t) is (softmax(s/t) - q)/t for each of 2n predictions; codes pass nothing."""
    a, b = scores(5, 4)
    _, gradients = value_and_gradients(lambda x, y: swapped_prediction(x, y, temperature=0.3), a, b)
    p, q = (torch.cat([a, b]) / 0.3).softmax(dim=1), torch.cat([codes(b, 0.05, 3), codes(a, 0.05, 3)])
    torch.testing.assert_close(gradients, (p - q) / 0.3 / 10)
