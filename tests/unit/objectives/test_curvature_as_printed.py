"""Alg. 3 of the margins paper as printed, and what its 1/pi does (erratum M3)."""

import math
from functools import partial

import pytest
import torch

from hypersphere.objectives.curvature import curvature
from hypersphere.objectives.curvature_as_printed import curvature_as_printed

from .shared import cosine_gradient, cosines_and_targets, softmax


@pytest.mark.parametrize(("c", "s"), [(0.7, 1.0), (1.0, 20.0), (2.5, 40.0)])
def test_values_and_gradients_are_those_of_the_pseudo_code(c: float, s: float) -> None:
    """In Python floats: the positive's value is cos/(pi·t), and q is that of the smaller logit."""
    t, (cosines, targets) = 0.25, cosines_and_targets()
    to_logits = partial(curvature_as_printed, temperature=t, c=c, s=s)
    logits, found = to_logits(cosines, targets), cosine_gradient(to_logits, cosines, targets)
    for i, (row, p) in enumerate(zip(cosines.tolist(), targets.tolist(), strict=True)):
        values = [x / t / (math.pi if y else 1) for x, y in zip(row, p, strict=True)]
        q = softmax(values)
        for j, x in enumerate(row):
            scale = s * (1 - math.acos(x) / math.pi) ** (1 / c) if p[j] else 1
            assert logits[i, j].item() == pytest.approx(values[j], abs=1e-12)
            assert found[i, j].item() == pytest.approx(scale * (q[j] - p[j]) / t, rel=1e-9, abs=1e-12)


def test_by_hand() -> None:
    """cos = 1, c = s = 1: value 1/pi; beta 0: pull 1."""
    one = torch.ones(1, 1, dtype=torch.float64)
    to_logits = partial(curvature_as_printed, temperature=1.0, c=1.0)
    assert to_logits(one, one).item() == pytest.approx(1 / math.pi, abs=1e-15)
    assert cosine_gradient(to_logits, one, one, beta=0).item() == pytest.approx(-1, abs=1e-12)


def test_the_misprint_changes_the_negatives_too_and_vanishes_without_them() -> None:
    """Against the same curve with its value kept: App. E says that only gradients are modified."""
    cosines, targets = cosines_and_targets()
    printed = partial(curvature_as_printed, temperature=0.25, c=0.7, s=20.0)
    meant = partial(curvature, temperature=0.25, c=0.7, s=20.0, curve="algorithm_3")
    difference = (cosine_gradient(printed, cosines, targets) - cosine_gradient(meant, cosines, targets)).abs()
    assert difference[targets == 0].max() > 0.1
    assert difference[targets == 1].max() > 0.1
    ones = torch.ones_like(targets[:, :1])
    alone = [cosine_gradient(to_logits, cosines[:, :1], ones, beta=0) for to_logits in (printed, meant)]
    torch.testing.assert_close(alone[0], alone[1])
