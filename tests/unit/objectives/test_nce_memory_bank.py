"""Noise-contrastive estimation over a memory bank, against Wu et al.'s P, Z and h written out."""

import math

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.nce_memory_bank import nce_memory_bank
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import (
    cosine,
    draw,
    has_gradient_of_value,
    normed,
    square,
)

INDEX = torch.tensor([4, 0, 4, 2])
NOISE = torch.tensor([[1, 1, 3], [5, 2, 0], [0, 4, 3], [3, 5, 1]])


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Four embeddings and a bank of six images."""
    return draw(4, 3, dtype=dtype)[0], draw(6, 3, seed=1, dtype=dtype)[0]


def normaliser(z: Tensor, bank: Tensor, t: float) -> float:
    """Eq. 8: images/m · sum over the noise, mean over the anchors."""
    anchors, memory, n = z.tolist(), bank.tolist(), len(z)
    images, m = len(bank), NOISE.shape[1]
    total = sum(math.exp(cosine(anchors[i], memory[k]) / t) for i in range(n) for k in NOISE[i].tolist())
    return images / m * total / n


def oracle(z: Tensor, bank: Tensor, t: float, proximal: float, big_z: float) -> float:
    """P = exp(cos/t)/Z; h = P/(P + m P_n), P_n = 1/images; -log h - sum log(1 - h) + proximal ||.||², mean."""
    anchors, memory = z.tolist(), bank.tolist()
    images, m = len(bank), NOISE.shape[1]

    def h(i: int, k: int) -> float:
        p = math.exp(cosine(anchors[i], memory[k]) / t) / big_z
        return p / (p + m / images)

    losses = []
    for i, a in enumerate(anchors):
        own = int(INDEX[i])
        loss = -math.log(h(i, own)) - sum(math.log(1 - h(i, k)) for k in NOISE[i].tolist())
        losses.append(loss + proximal * square(normed(a), normed(memory[own])))
    return sum(losses) / len(losses)


@pytest.mark.parametrize(("t", "proximal"), [(0.2, 0.0), (0.5, 0.0), (0.5, 3.0), (2.0, 0.5)])
def test_is_wu_et_als_equations(t: float, proximal: float) -> None:
    z, bank = data()
    expected = oracle(z, bank, t, proximal, normaliser(z, bank, t))
    loss = nce_memory_bank(z, INDEX, bank, NOISE, temperature=t, proximal=proximal)
    assert loss.item() == pytest.approx(expected, rel=1e-10)


def test_gradient_is_that_of_the_value_at_fixed_normaliser() -> None:
    """Central differences of the oracle with Z held: the loss's own value moves Z, so gradcheck would not do."""
    z, bank = data()
    big_z, step = normaliser(z, bank, 0.5), 1e-5
    leaf = z.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(nce_memory_bank(leaf, INDEX, bank, NOISE, temperature=0.5, proximal=0.7), leaf)
    for i in range(4):
        for j in range(3):
            shift = torch.zeros_like(z)
            shift[i, j] = step
            ends = [oracle(z + sign * shift, bank, 0.5, 0.7, big_z) for sign in (1, -1)]
            assert gradient[i, j].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)


def test_gradcheck_along_a_path_that_keeps_the_normaliser() -> None:
    """Noise on the third axis only: turning the anchor about it leaves every noise cosine, and so Z, as it is."""
    bank = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    index, noise = torch.tensor([0]), torch.tensor([[1, 1]])

    def turned(angle: Tensor) -> Tensor:
        z = torch.stack([angle.cos(), angle.sin(), angle * 0 + 0.5])[None]
        return nce_memory_bank(z, index, bank, noise, temperature=0.5, proximal=0.7)

    has_gradient_of_value(turned, torch.tensor(0.8, dtype=torch.float64))


def test_images_have_no_order_and_their_number_cancels() -> None:
    z, bank = data()

    def value(*inputs: Tensor) -> Tensor:
        return nce_memory_bank(*inputs, temperature=0.5, proximal=0.7)

    loss = value(z, INDEX, bank, NOISE)
    images = torch.tensor([5, 3, 0, 1, 4, 2])
    place = images.argsort()  # image i of the bank now lies where images says
    torch.testing.assert_close(value(z, place[INDEX], bank[images] / 5, place[NOISE]), loss)
    torch.testing.assert_close(value(z, INDEX, bank, NOISE.flip(1)), loss)
    torch.testing.assert_close(value(z, INDEX, torch.cat([bank, bank]), NOISE), loss)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_all_alike_by_hand(m: int) -> None:
    """Every exponential is the same, so Z P(k) = images and h = 1/(1 + m): log(1 + m) + m log((1 + m)/m)."""
    one = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    bank, noise = one.expand(7, 2), torch.zeros(2, m, dtype=torch.long)
    loss = nce_memory_bank(one.expand(2, 2), torch.tensor([1, 2]), bank, noise, temperature=0.3, proximal=9.0)
    assert loss.item() == pytest.approx(math.log(1 + m) + m * math.log((1 + m) / m), abs=1e-12)


def test_its_gradient_tends_to_that_of_the_softmax_it_estimates() -> None:
    """Nearest relative. With all images as noise r times over, m = r·images: h -> 0, and the gradient tends to
    (sum of P(k) cos'(k) - cos'(own))/t, the softmax's; the values differ."""
    z, bank = data()
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
