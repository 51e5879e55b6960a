"""Instance discrimination's softmax, and the slide's L_NCE in its readings (erratum S3)."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import (
    CASES,
    HALVES,
    TINY,
    cosine,
    difficult,
    draw,
    has_gradient_of_value,
    is_finite,
    is_near_in_half,
    normed,
    rotation,
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


@DENOMINATOR
def test_gradient_is_that_of_the_value(denominator: Denominator) -> None:
    z, bank = data()
    has_gradient_of_value(
        lambda a: nonparametric_softmax(a, INDEX, bank, temperature=0.5, proximal=0.7, denominator=denominator),
        z,
    )


def test_symmetries_and_their_limits() -> None:
    z, bank = data()
    loss = nonparametric_softmax(z, INDEX, bank, temperature=0.5, proximal=0.7)
    order, images = torch.tensor([2, 0, 3, 1]), torch.tensor([5, 3, 0, 1, 4, 2])
    renumbered = images.argsort()[INDEX]  # image i of the bank now lies where images says
    for a, index, memory in [
        (z[order], INDEX[order], bank),
        (z, renumbered, bank[images]),
        (z @ rotation(3), INDEX, bank @ rotation(3)),
        (7 * z, INDEX, bank / 5),
    ]:
        torch.testing.assert_close(nonparametric_softmax(a, index, memory, temperature=0.5, proximal=0.7), loss)
    assert abs(nonparametric_softmax(z, INDEX[order], bank, temperature=0.5, proximal=0.7) - loss) > 1e-2  # control


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


@HALVES
def test_half_precision_is_finite_and_near(dtype: torch.dtype) -> None:
    is_near_in_half(
        lambda a, b: nonparametric_softmax(a, INDEX, b, temperature=0.5, proximal=0.5), *data(), dtype=dtype
    )


@DENOMINATOR
@TINY
def test_tiny_temperature_is_finite(t: float, denominator: Denominator) -> None:
    z, bank = data(torch.float32)
    is_finite(lambda a: nonparametric_softmax(a, INDEX, bank, temperature=t, denominator=denominator), z)


@CASES
def test_difficult_points_are_finite(case: str) -> None:
    z, bank = difficult(case)
    is_finite(lambda a: nonparametric_softmax(a, torch.arange(3), bank, temperature=0.1, proximal=1.0), z)
