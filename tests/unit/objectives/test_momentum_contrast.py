"""MoCo's loss, against a loop over its equation, its limits, and lightly's loss with a memory bank."""

import math
import os

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.nt_xent import nt_xent

from .shared import (
    cosine,
    draw,
)

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"
from lightly.loss import NTXentLoss


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and a queue of nine."""
    return *draw(5, 4, dtype=dtype), draw(9, 4, seed=1, dtype=dtype)[0]


def oracle(q: Tensor, k: Tensor, queue: Tensor, t: float) -> float:
    """-log(exp(q·k+/t) / sum over one positive and the queue of exp(q·k_i/t)), unit vectors, mean over queries."""
    losses = []
    for a, own in zip(q.tolist(), k.tolist(), strict=True):
        terms = [math.exp(cosine(a, b) / t) for b in [own, *queue.tolist()]]
        losses.append(-math.log(terms[0] / sum(terms)))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("t", [0.07, 0.5, 2.0])
def test_is_equation_1(t: float) -> None:
    assert momentum_contrast(*data(), temperature=t).item() == pytest.approx(oracle(*data(), t), rel=1e-12)


def test_the_queue_has_no_order_and_no_norms() -> None:
    q, k, queue = data()
    loss = momentum_contrast(q, k, queue, temperature=0.5)
    torch.testing.assert_close(momentum_contrast(q, k, 2 * queue.flip(0), temperature=0.5), loss)


@pytest.mark.parametrize(("m", "cosine_of_queue"), [(1, 0.0), (3, 0.0), (4, -1.0), (7, 1.0)])
@pytest.mark.parametrize("t", [0.07, 0.5])
def test_aligned_keys_and_one_direction_of_negatives_by_hand(m: int, cosine_of_queue: float, t: float) -> None:
    """Positive at cosine 1, m negatives at c: log(1 + m e^((c-1)/t))."""
    q = torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    away = torch.tensor([[cosine_of_queue, 1 - abs(cosine_of_queue)]], dtype=torch.float64).expand(m, 2)
    expected = math.log1p(m * math.exp((cosine_of_queue - 1) / t))
    assert momentum_contrast(q, 3 * q, away, temperature=t).item() == pytest.approx(expected, abs=1e-12)


def test_other_keys_of_the_batch_are_no_negatives() -> None:
    """Nearest relative: in-batch negatives. One query alone, with the rest of the batch as its queue, is NT-Xent's row;
    a batch of five with a queue is the mean of its queries taken alone, which NT-Xent is not."""
    q, k, queue = data()
    alone = torch.stack([momentum_contrast(q[i : i + 1], k[i : i + 1], queue, temperature=0.5) for i in range(5)])
    torch.testing.assert_close(momentum_contrast(q, k, queue, temperature=0.5), alone.mean())
    assert abs(momentum_contrast(q, k, k, temperature=0.5) - nt_xent(q, k, temperature=0.5)) > 1e-2
    z = torch.cat([q, k])
    rows = []
    for i in range(10):
        j = (i + 5) % 10
        rest = [x for x in range(10) if x not in (i, j)]
        rows.append(momentum_contrast(z[i : i + 1], z[j : j + 1], z[rest], temperature=0.5))
    torch.testing.assert_close(torch.stack(rows).mean(), nt_xent(q, k, temperature=0.5))


def test_agrees_with_lightly() -> None:
    """NTXentLoss keeps the queue itself, in float32, and scores against it before the batch's keys enter."""
    q, k, _ = data(torch.float32)
    theirs = NTXentLoss(temperature=0.2, memory_bank_size=(9, 4))
    queue = theirs.memory_bank.bank.clone()
    torch.testing.assert_close(momentum_contrast(q, k, queue, temperature=0.2), theirs(q, k))
