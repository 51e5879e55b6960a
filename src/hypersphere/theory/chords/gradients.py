"""App. G of the double-metric paper: gradients at one anchor u of inner products and distances, u itself free.

Autograd differentiates the definitions. An excess is the largest component of the difference. Its scale is
alpha/tau + beta, the size of a gradient made of unit vectors, or the claim's largest component if that is larger. D5:
Eq. 1 and 2 are losses, but App. G differentiates minus them.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.linalg import vector_norm

from hypersphere.theory.chords.draws import at_angle, directions, identifier, inputs, magnitude
from hypersphere.theory.statement import PRINTED, Checked, Inputs, Statement, gradient


class Anchor(NamedTuple):
    u: Tensor
    positive: Tensor
    negatives: Tensor
    """[n, 2, d]"""
    temperature: Tensor
    alpha: Tensor = torch.tensor(1.0)
    beta: Tensor = torch.tensor(0.0)

    @property
    def candidates(self) -> Tensor:
        return torch.cat([self.positive[:, None], self.negatives], dim=1)


def logits(a: Anchor, u: Tensor) -> Tensor:
    return (a.candidates * u[:, None]).sum(dim=2) / a.temperature[:, None]


def distances(a: Anchor, u: Tensor) -> Tensor:
    return vector_norm(u[:, None] - a.candidates, dim=2)


def equation_1(a: Anchor, u: Tensor) -> Tensor:
    return -logits(a, u).log_softmax(dim=1)[:, 0]


def equation_2(a: Anchor, u: Tensor) -> Tensor:
    return a.alpha * equation_1(a, u) - a.beta * distances(a, u).log_softmax(dim=1)[:, 0]


def minus_equation_2(a: Anchor, u: Tensor) -> Tensor:
    """L_DM as written in App. G."""
    return -equation_2(a, u)


def final_line_nt_xent(a: Anchor) -> Tensor:
    """(1 - p_+) v_+/tau - sum over negatives of p_- v_-/tau, where we read v_- as part of the sum."""
    p = logits(a, a.u).softmax(dim=1)
    terms = a.candidates / a.temperature[:, None, None]
    return (1 - p[:, :1]) * terms[:, 0] - (p[:, 1:, None] * terms[:, 1:]).sum(dim=1)


def middle_line_nt_xent(a: Anchor, *, temperature_in_the_sum: bool) -> Tensor:
    """v_+/tau - (1/Z) d/du sum of exp(u·v), which should be exp(u·v/tau). 1/Z is inside of exp: no overflow."""
    scaled, inner = logits(a, a.u), (a.candidates * a.u[:, None]).sum(dim=2)
    log_z = scaled.logsumexp(dim=1, keepdim=True)
    printed = (inner - log_z).clamp(max=600).exp()
    weights = (scaled - log_z).exp() / a.temperature[:, None] if temperature_in_the_sum else printed
    return a.positive / a.temperature[:, None] - (weights[:, :, None] * a.candidates).sum(dim=1)


def final_line_double_metric(a: Anchor, *, over_positive: bool) -> Tensor:
    """App. G's last line. The v of beta (u - v_+)/|u - v| is read as v_+, or as the sum's v, here the first v_-."""
    d, away = distances(a, a.u), a.u[:, None] - a.candidates
    q = d.softmax(dim=1)
    first = away[:, 0] / d[:, 0 if over_positive else 1, None]
    spread = (q[:, :, None] * away / d[:, :, None]).sum(dim=1)
    return a.alpha[:, None] * final_line_nt_xent(a) + a.beta[:, None] * (first - spread)


def matches(
    definition: Callable[[Anchor, Tensor], Tensor], claimed: Callable[[Anchor], Tensor], sign: int = 1
) -> Callable[..., Checked]:
    """Check that the gradient of the definition is ``sign`` times the claimed one where no candidate is at u."""

    def check(**columns: Tensor) -> Checked:
        a = Anchor(**columns)
        apart = (distances(a, a.u) > 0).all(dim=1)
        claim = claimed(a)
        difference = gradient(lambda u: definition(a, u), a.u) - sign * claim
        scale = torch.maximum(a.alpha / a.temperature + a.beta, claim.abs().amax(dim=1))
        return Checked(apart, difference.abs().amax(dim=1) / scale)

    return check


def anchors(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    negatives = torch.stack([at_angle(g, u), directions(g, n)], dim=1)
    return {"u": u, "positive": at_angle(g, u), "negatives": negatives, "temperature": magnitude(g, n)}


def weighted_anchors(g: Generator, n: int) -> Inputs:
    return {**anchors(g, n), "alpha": magnitude(g, n), "beta": magnitude(g, n)}


def simple() -> Inputs:
    """One negative opposite the anchor, the positive at a right angle; at tau 1 and 1/2."""
    u, positive, negative = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
    return inputs(u=[u] * 2, positive=[positive] * 2, negatives=[[negative]] * 2, temperature=[1.0, 0.5])


def weighted_simple() -> Inputs:
    """The same with the weights of DM4 (Table 1)."""
    return {**simple(), **inputs(alpha=[1.0, 1.0], beta=[1.0, 1.0])}


_MIDDLE = {choice: partial(middle_line_nt_xent, temperature_in_the_sum=choice) for choice in (False, True)}
_LAST = {choice: partial(final_line_double_metric, over_positive=choice) for choice in (False, True)}

STATEMENTS: tuple[Statement, ...] = (
    *(
        Statement(identifier(name, reading), reading, check, anchors, simple)
        for name, reading, check in (
            ("appendix_g_nt_xent", PRINTED, matches(equation_1, final_line_nt_xent)),
            ("appendix_g_nt_xent", "D5", matches(equation_1, final_line_nt_xent, sign=-1)),
            ("appendix_g_temperature", PRINTED, matches(equation_1, _MIDDLE[False], sign=-1)),
            ("appendix_g_temperature", "D5", matches(equation_1, _MIDDLE[True], sign=-1)),
        )
    ),
    *(
        Statement(identifier(name, reading), reading, check, weighted_anchors, weighted_simple)
        for name, reading, check in (
            ("appendix_g_double_metric", PRINTED, matches(equation_2, _LAST[True])),
            ("appendix_g_double_metric", "D5", matches(equation_2, _LAST[True], sign=-1)),
            ("appendix_g_norm", PRINTED, matches(minus_equation_2, _LAST[False])),
            ("appendix_g_norm", "D5", matches(minus_equation_2, _LAST[True])),
        )
    ),
)
