"""Eq. 4 and Alg. 2 of the margins paper, past pi too, against arccos in Python floats and pytorch-metric-learning."""

import math
from functools import partial
from typing import Any, Literal

import pytest
import torch

from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.margin_logits import margin_logits

from .shared import cosine_gradient, cosines_and_targets, draw

Beyond = Literal["printed", "monotone"]
BEYOND: list[Beyond] = ["printed", "monotone"]


def oracle(c: float, p: float, t: float, m1: float, m2: float, beyond: str) -> float:
    angle = math.acos(c)
    if beyond == "monotone" and angle + m1 * p > math.pi:
        return (c - m1 * p * math.sin(m1 * p) - m2 * p) / t
    return (math.cos(angle + m1 * p) - m2 * p) / t


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize(("m1", "m2"), [(0.4, 0.0), (0.0, 0.4), (0.6, 0.8), (3.1, 0.0)])
def test_is_equation_4(m1: float, m2: float, beyond: Beyond) -> None:
    cosines, targets = cosines_and_targets(40)
    rows = zip(cosines.tolist(), targets.tolist(), strict=True)
    expected = [[oracle(c, p, 0.25, m1, m2, beyond) for c, p in zip(*row, strict=True)] for row in rows]
    found = margin_logits(cosines, targets, temperature=0.25, angular=m1, subtractive=m2, beyond_pi=beyond)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("beyond", BEYOND)
def test_soft_targets_take_their_share_of_the_margins(beyond: Beyond) -> None:
    """Eq. 4 is written for any p."""
    found = margin_logits(
        torch.tensor([[0.3]], dtype=torch.float64), torch.tensor([[0.4]], dtype=torch.float64),
        temperature=0.5, angular=0.5, subtractive=0.2, beyond_pi=beyond,
    )  # fmt: skip
    assert found.item() == pytest.approx(oracle(0.3, 0.4, 0.5, 0.5, 0.2, beyond), abs=1e-12)


@pytest.mark.parametrize("m1", [0.0, 0.4, 3.1])
@pytest.mark.parametrize(("m2", "beta"), [(0.0, 1.0), (0.6, 1.0), (0.6, 0.3)])
def test_gradient_is_equation_15(m1: float, m2: float, beta: float) -> None:
    """(p - beta·q)·sin(theta + m1·p)/t in the angle, so -that/sin(theta) in the cosine; q with margins, in Python."""
    t, (cosines, targets) = 0.25, cosines_and_targets()
    found = cosine_gradient(partial(margin_logits, temperature=t, angular=m1, subtractive=m2), cosines, targets, beta)
    for i, (row, p) in enumerate(zip(cosines.tolist(), targets.tolist(), strict=True)):
        weights = [math.exp(oracle(c, y, t, m1, m2, "printed")) for c, y in zip(row, p, strict=True)]
        for j, c in enumerate(row):
            angle = math.acos(c)
            slope = (p[j] - beta * weights[j] / math.fsum(weights)) * math.sin(angle + m1 * p[j]) / t
            assert found[i, j].item() == pytest.approx(-slope / math.sin(angle), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("c", "m1", "printed", "monotone"), [
    (0.5, math.pi / 3, -0.5, -0.5),  # 60 + 60 degrees
    (0.0, math.pi / 2, -1.0, -1.0),  # pi exactly: not beyond
    (-1.0, math.pi / 3, -0.5, -1 - math.pi / 3 * math.sqrt(3) / 2),  # antipodal: 180 + 60 degrees
    (1.0, math.pi / 6, math.sqrt(3) / 2, math.sqrt(3) / 2),  # identical
])  # fmt: skip
def test_by_hand(c: float, m1: float, printed: float, monotone: float) -> None:
    cosine, one = torch.tensor([[c]], dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    for beyond, expected in zip(BEYOND, (printed, monotone), strict=True):
        found = margin_logits(cosine, one, temperature=1.0, angular=m1, subtractive=0.25, beyond_pi=beyond)
        assert found.item() == pytest.approx(expected - 0.25, abs=1e-12)


def slope(theta: float, beyond: Beyond) -> float:
    """d logit / d theta over -sin(theta): the multiplier of Theorem 4.1."""
    angle = torch.tensor([[theta]], dtype=torch.float64, requires_grad=True)
    logit = margin_logits(angle.cos(), torch.ones(1, 1).double(), temperature=1.0, angular=0.5, beyond_pi=beyond)
    (found,) = torch.autograd.grad(logit.sum(), angle)
    return found.item() / -math.sin(theta)


def test_past_pi_the_printed_margin_pushes_positives_away() -> None:
    """Erratum M10, by hand: sin(3.5)/sin(3.0) = -2.49; the guard's slope is that of the cosine, 1."""
    assert slope(3.0, "printed") == pytest.approx(math.sin(3.5) / math.sin(3.0), rel=1e-9)
    assert slope(3.0, "printed") == pytest.approx(-2.49, abs=0.005)
    assert slope(3.0, "monotone") == pytest.approx(1, rel=1e-9)
    assert slope(2.6, "printed") == pytest.approx(slope(2.6, "monotone"), rel=1e-12)  # 3.1 is not past pi
    assert slope(2.6, "printed") > 0


@pytest.mark.parametrize(("m1", "guarded"), [(0.1, True), (0.5, True), (1.6, True), (2.3, True), (2.4, False)])
def test_monotone_falls_with_the_angle_and_printed_does_not(m1: float, guarded: bool) -> None:
    """By hand: at theta = pi - m1 the guard jumps from -1 to -(cos m1 + m1·sin m1), upwards past m1 = 2.331."""
    assert (math.cos(m1) + m1 * math.sin(m1) > 1) == guarded
    cosines = torch.linspace(0, math.pi, 1001, dtype=torch.float64).cos()[:, None]
    steps = {}
    for beyond in BEYOND:
        logits = margin_logits(cosines, torch.ones_like(cosines), temperature=1.0, angular=m1, beyond_pi=beyond)
        steps[beyond] = logits.diff(dim=0).max().item()
    assert (steps["monotone"] < 0) == guarded
    assert steps["printed"] > 0


@pytest.mark.parametrize("beyond", BEYOND)
def test_without_margins_it_is_cosine_logits(beyond: Beyond) -> None:
    cosines, targets = cosines_and_targets()
    plain = cosine_logits(cosines, targets, temperature=0.25)
    assert torch.equal(margin_logits(cosines, targets, temperature=0.25, beyond_pi=beyond), plain)
    assert (margin_logits(cosines, targets, temperature=0.25, angular=0.1) - plain).abs().max() > 1e-2


def test_the_two_margins_differ() -> None:
    """A subtractive margin keeps the slope in the cosine at 1/t; an angular one does not."""
    cosines, targets = cosines_and_targets()
    cosines.requires_grad_()
    for parameters, constant in (({"subtractive": 0.4}, True), ({"angular": 0.4}, False)):
        logits = margin_logits(cosines, targets, temperature=0.25, **parameters)
        (found,) = torch.autograd.grad(logits.sum(), cosines)
        assert torch.allclose(found, torch.full_like(found, 4.0)) == constant


@pytest.mark.parametrize(("name", "theirs", "ours"), [
    ("ArcFaceLoss", {"margin": math.degrees(0.5)}, {"angular": 0.5, "beyond_pi": "monotone"}),
    ("CosFaceLoss", {"margin": 0.35}, {"subtractive": 0.35}),
])  # fmt: skip
def test_agrees_with_pytorch_metric_learning(name: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """2.9.0: class vectors are our other view, class i is image i, scale is 1/t, ArcFace's margin is in degrees."""
    from pytorch_metric_learning import losses

    z_a, z_b = draw(8, 3)
    z_b[0] = -z_a[0]  # a positive past pi
    loss = getattr(losses, name)(num_classes=8, embedding_size=3, scale=4, **theirs)
    loss.W.data = z_b.T.clone()
    found = generalised_info_nce(z_a, z_b, partial(margin_logits, temperature=0.25, **ours), negatives="other_view")
    torch.testing.assert_close(found, loss(z_a, torch.arange(8)))
    if "beyond_pi" in ours:  # control: the printed rule is another loss
        printed = partial(margin_logits, temperature=0.25, angular=0.5)
        assert abs(generalised_info_nce(z_a, z_b, printed, negatives="other_view") - found) > 1e-3
