"""Sec. 5.4 and Alg. 4 of the margins paper: the ratio of Lemma 4.2 as a weight, on positives or on the row."""

import math
from functools import partial
from typing import Literal

import pytest
import torch

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.ratio_scaling import ratio_scaling

from .shared import cosine_gradient, cosines_and_targets, softmax, weighted

Scope = Literal["positives", "row"]
SCOPES: list[Scope] = ["positives", "row"]


def with_margin(row: list[float], p: list[int], t: float, m1: float) -> list[float]:
    return [math.cos(math.acos(c) + m1 * y) / t for c, y in zip(row, p, strict=True)]


def ratio(row: list[float], p: list[int], t: float, m1: float) -> float:
    return math.fsum(math.exp(c / t) for c in row) / math.fsum(math.exp(x) for x in with_margin(row, p, t, m1))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("m1", [0.2, 0.4, 0.8, 1.6, 3.1])
def test_gradient_is_weighted_by_the_ratio(m1: float, scope: Scope) -> None:
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=m1, scope=scope), cosines, targets)

    def weight(row: list[float], p: list[int], j: int) -> float:
        return ratio(row, p, 0.25, m1) if p[j] or scope == "row" else 1

    torch.testing.assert_close(found, weighted(cosines, targets, 0.25, weight))


@pytest.mark.parametrize("m1", [0.4, 3.1])
def test_row_has_the_margins_own_probabilities(m1: float) -> None:
    """Lemma 4.2: (p - q~)·ratio = p - q, q the softmax with the margin; computed here from that softmax alone."""
    cosines, targets = cosines_and_targets()
    found = cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=m1, scope="row"), cosines, targets)
    for i, (row, p) in enumerate(zip(cosines.tolist(), targets.int().tolist(), strict=True)):
        q = softmax(with_margin(row, p, 0.25, m1))
        expected = torch.tensor([(q[j] - p[j]) / 0.25 for j in range(len(row))], dtype=torch.float64)
        torch.testing.assert_close(found[i], expected)


def test_the_two_scopes_differ_in_the_negatives_only() -> None:
    """Erratum M4: on the row it weights an anchor's loss, on the positives it is an s that depends on the data."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    row, positives = (cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=1.6, scope=s), cosines, targets)
                      for s in ("row", "positives"))  # fmt: skip
    torch.testing.assert_close(row[targets == 1], positives[targets == 1])
    assert torch.equal(positives[targets == 0], plain[targets == 0])
    assert (row - positives)[targets == 0].abs().max() > 0.1
    torch.testing.assert_close(row.sum(dim=1), torch.zeros(5, dtype=torch.float64), atol=1e-12, rtol=0)
    assert positives.sum(dim=1).abs().min() > 1e-3  # control: no longer the gradient of a softmax


@pytest.mark.parametrize("scope", SCOPES)
def test_without_a_margin_it_is_plain(scope: Scope) -> None:
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    found = cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=0.0, scope=scope), cosines, targets)
    torch.testing.assert_close(found, plain, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("theta", "expected"), [(0.3, 2183), (2.5, 0.001824)])
def test_near_pi_the_ratio_is_almost_exp_of_twice_the_cosine(theta: float, expected: float) -> None:
    """Erratum M10, worked by hand without negatives: exp((cos(theta) - cos(theta + 3.1))/0.25)."""
    cosine, one = torch.tensor([[theta]], dtype=torch.float64).cos(), torch.ones(1, 1, dtype=torch.float64)
    found = -cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=3.1), cosine, one, beta=0).item() * 0.25
    assert found == pytest.approx(math.exp((math.cos(theta) - math.cos(theta + 3.1)) / 0.25), rel=1e-9)
    assert found == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("m1", [0.4, 1.6, 3.1])
def test_bounded_by_the_negatives_share(m1: float) -> None:
    """With any margin the sum keeps its negatives: ratio <= 1/(1 - q~), so that |(p - q~)·ratio| <= 1."""
    cosines, targets = cosines_and_targets(200)
    found = cosine_gradient(partial(ratio_scaling, temperature=0.1, angular=m1), cosines, targets)
    assert found[targets == 1].abs().max() <= (1 + 1e-6) / 0.1
