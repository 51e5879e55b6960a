"""Instance discrimination's softmax, and the slide's L_NCE in its readings (erratum S3)."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import (
    cosine,
    draw,
    normed,
    square,
)

Denominator = Literal["bank", "batch"]
DENOMINATOR = pytest.mark.parametrize("denominator", ["bank", "batch"])
INDEX = torch.tensor([4, 0, 4, 2])


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Four embeddings and a bank of six images; two rows are of the same image."""
    return draw(4, 3, dtype=dtype)[0], draw(6, 3, seed=1, dtype=dtype)[0]


def oracle(z: Tensor, bank: Tensor, t: float, beta: float = 0, denominator: Denominator = "bank") -> float:
    """-log(e^(cos(z_i, z_i^(t-1))/t) / sum_k e^(cos(z_i, .)/t)) + beta ||z_i - z_i^(t-1)||² of unit vectors, mean."""
    anchors, memory, losses = z.tolist(), bank.tolist(), []
    candidates = memory if denominator == "bank" else anchors
    for i, a in enumerate(anchors):
        before = memory[INDEX[i]]
        softmax = math.exp(cosine(a, before) / t) / sum(math.exp(cosine(a, v) / t) for v in candidates)
        losses.append(-math.log(softmax) + beta * square(normed(a), normed(before)))
    return sum(losses) / len(losses)


@DENOMINATOR
@pytest.mark.parametrize(("t", "beta"), [(0.07, 0.0), (0.5, 0.0), (0.5, 3.0), (2.0, 0.5)])
def test_is_the_slides_formula(t: float, beta: float, denominator: Denominator) -> None:
    z, bank = data()
    loss = nonparametric_softmax(z, INDEX, bank, temperature=t, proximal=beta, denominator=denominator)
    assert loss.item() == pytest.approx(oracle(z, bank, t, beta, denominator), rel=1e-12)


def test_images_have_no_order_and_the_bank_no_norms() -> None:
    z, bank = data()
    loss = nonparametric_softmax(z, INDEX, bank, temperature=0.5, proximal=0.7)
    images = torch.tensor([5, 3, 0, 1, 4, 2])
    renumbered = images.argsort()[INDEX]  # image i of the bank now lies where images says
    other = nonparametric_softmax(z, renumbered, bank[images] / 5, temperature=0.5, proximal=0.7)
    torch.testing.assert_close(other, loss)


@pytest.mark.parametrize("t", [0.1, 1.0])
def test_orthogonal_images_by_hand(t: float) -> None:
    """Each z on its own axis of a bank of three: log(1 + 2 e^(-1/t)); over a batch of two, log(1 + e^(-1/t))."""
    bank = torch.eye(3, dtype=torch.float64)
    z, index = bank[:2] * 4, torch.tensor([0, 1])
    by_bank = nonparametric_softmax(z, index, bank, temperature=t, proximal=9.0)
    assert by_bank.item() == pytest.approx(math.log1p(2 * math.exp(-1 / t)), abs=1e-12)
    by_batch = nonparametric_softmax(z, index, bank, temperature=t, denominator="batch")
    assert by_batch.item() == pytest.approx(math.log1p(math.exp(-1 / t)), abs=1e-12)


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
    bank = data()[1]
    index = torch.arange(6)
    by_batch = nonparametric_softmax(bank, index, bank, temperature=0.5, proximal=3.0, denominator="batch")
    torch.testing.assert_close(by_batch, nonparametric_softmax(bank, index, bank, temperature=0.5))


def test_the_proximal_term_changes_value_and_gradient_as_a_squared_chord() -> None:
    """2 beta (1 - cos): unit vectors, whatever the norms are."""
    z, bank = data()
    without = nonparametric_softmax(z, INDEX, bank, temperature=0.5)
    loss = nonparametric_softmax(z, INDEX, bank, temperature=0.5, proximal=2.0)
    cosines = [cosine(a, bank.tolist()[i]) for a, i in zip(z.tolist(), INDEX.tolist(), strict=True)]
    assert (loss - without).item() == pytest.approx(2 * 2 * (1 - sum(cosines) / 4), abs=1e-12)
