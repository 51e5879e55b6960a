"""Statements of the norms paper, in the order of its text.

Shapes: draws, n points of a set, d dimensions. Row 0 of a set is the anchor i, row 1 its positive j, the others are
negatives. Gradients are autograd's, of the loss as it is defined. Cosines have scale 1, and a gradient has that of the
inverse of its point's norm, so that rounding errors of an excess are near 1e-16 unless a check says otherwise.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy import special
from torch import Generator, Tensor

from hypersphere.exact.statement import Checked, Inputs, Statement, at_most, equal, given, gradient, spread
from hypersphere.objectives.grad_scale import grad_scale

Loss = Callable[[Tensor], Tensor]

state = partial(Statement, tolerance=1e-11)
"""A statement whose rounding errors stay below 1e-12 for all draws, even for steps of 1000 norms."""


dot = torch.linalg.vecdot


def norm(a: Tensor) -> Tensor:
    return torch.linalg.vector_norm(a, dim=-1)


def unit(a: Tensor) -> Tensor:
    return a / norm(a)[..., None]


def across(a: Tensor, b: Tensor) -> Tensor:
    """The component of a that is orthogonal to b."""
    return a - dot(a, unit(b))[..., None] * unit(b)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return dot(a, b) / (norm(a) * norm(b))


def sine(a: Tensor, b: Tensor) -> Tensor:
    """2 sin(phi/2) cos(phi/2) from chords. It is exact near 0 and pi, where sqrt(1 - cos²) loses half its digits."""
    return norm(unit(a) - unit(b)) * norm(unit(a) + unit(b)) / 2


def attraction(z: Tensor) -> Tensor:
    return -cosine(z[:, 0], z[:, 1])


def squared_error(z: Tensor) -> Tensor:
    return (unit(z[:, 0]) - unit(z[:, 1])).square().sum(dim=-1)


def info_nce(z: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """Eq. 1 for the anchor; the positive is in the denominator."""
    similarity = cosine(z[:, :1], z[:, 1:]) / temperature
    return similarity.logsumexp(dim=1) - similarity[:, 0]


def points(generator: Generator, draws: int, n: int = 5, **others: tuple[float, float]) -> dict[str, Tensor]:
    """Norms 1e-4 … 1e4. A third of the positives are near the anchor, a third opposite to it, some exactly.

    ``others`` are log-uniform between powers of ten.
    """
    z = unit(torch.randn(draws, n, 4, generator=generator, dtype=torch.float64))
    near = torch.tensor([1.0, -1.0, 0.0], dtype=torch.float64)[torch.arange(draws) % 3][:, None]
    exactly = (torch.arange(draws) % 20 == 0)[:, None]
    noise = torch.where(near == 0, 1.0, spread(generator, -9, 0, draws, 1) * ~exactly)
    z[:, 1] = near * z[:, 0] + noise * z[:, 1]
    drawn = {"z": unit(z) * spread(generator, -4, 4, draws, n, 1)}
    return drawn | {name: spread(generator, *ends, draws) for name, ends in others.items()}


def angled(generator: Generator, draws: int, widest: float = math.pi) -> Inputs:
    """Pairs of equal norm at angles in [0, widest], a third near each end, one in 30 at 0; gamma/rho² in 1e-6 … 1e3."""
    end = spread(generator, -8, 0, draws)
    inner = widest * torch.rand(draws, generator=generator, dtype=torch.float64)
    kind = torch.arange(draws) % 30
    angle = torch.where(kind % 3 == 0, inner, torch.where(kind % 3 == 1, end, widest - end)) * (kind > 0)
    u, w = unit(torch.randn(2, draws, 4, generator=generator, dtype=torch.float64))
    other = angle.cos()[:, None] * u + angle.sin()[:, None] * unit(across(w, u))
    rho = spread(generator, -3, 3, draws)
    z = torch.stack([u, torch.where(angle[:, None] == 0, u, other)], dim=1) * rho[:, None, None]
    return {"z": z, "gamma": spread(generator, -6, 3, draws) * rho**2}


pairs, stepped = partial(points, n=2), partial(points, gamma=(-4, 4))
RIGHT_ANGLE = [[1, 0], [0, 1]]
TWO = given(z=[RIGHT_ANGLE, [[1, 0], [1, 0]], [[1, 0], [-1, 0]], [[2, 0], [3, 4]]])
STEP = given(z=[RIGHT_ANGLE, [[1, 0], [0, 2]], [[3, 4], [4, 3]]], gamma=[1, 1, 10])


# Propositions 3.1 and 3.2, and the paper's remarks on other losses


def _gradient_3_1(z: Tensor) -> Checked:
    length = norm(z[:, :1])
    return equal(gradient(attraction, z)[:, 0], -across(unit(z[:, 1]), z[:, 0]) / length, 1 / length)


def _tangent(z: Tensor, *, loss: Loss) -> Checked:
    return equal(dot(gradient(loss, z), z), 0)


def _magnitude(z: Tensor, *, loss: Loss, factor: float = 1, power: float = 0) -> Checked:
    """factor · sin(phi) · ||z||^(power - 1), for both points; in units of ||z||^(power - 1)."""
    scale = norm(z) ** (power - 1)
    return equal(norm(gradient(loss, z)), factor * sine(z[:, 0], z[:, 1])[:, None] * scale, scale)


def _inverse(z: Tensor, gamma: Tensor) -> Checked:
    """Scale the anchor by gamma and keep the others: its gradient shrinks by gamma."""
    scaled = torch.cat([z[:, :1] * gamma[:, None, None], z[:, 1:]], dim=1)
    near, far = (gradient(info_nce, x)[:, 0] for x in (z, scaled))
    return equal(far, near / gamma[:, None], 1 / (norm(z[:, 0]) * gamma))


def _equation_2(z: Tensor, temperature: Tensor | None = None) -> Checked:
    """The paper sets t = 1. With t (ours) the right side is divided by t, and so are roundings."""
    t = torch.ones(len(z), 1, dtype=z.dtype) if temperature is None else temperature[:, None]
    share = (dot(unit(z[:, :1]), unit(z[:, 1:])) / t).softmax(dim=1)[..., None]
    pull = across(unit(z[:, 1:]), z[:, :1])
    scale = 1 / (norm(z[:, :1]) * t)
    return equal(gradient(lambda x: info_nce(x, t), z)[:, 0], ((share * pull).sum(dim=1) - pull[:, 0]) * scale, scale)


def _equation_3(z: Tensor, *, sign: float, pull: float) -> Checked:
    """Gradients of all l != i: sign times the share of the denominator, minus ``pull`` for the positive."""
    share = dot(unit(z[:, :1]), unit(z[:, 1:])).softmax(dim=1)
    share = sign * share - pull * (torch.arange(share.shape[1]) == 0)
    scale = 1 / norm(z[:, 1:])[..., None]
    return equal(gradient(info_nce, z)[:, 1:], share[..., None] * across(unit(z[:, :1]), z[:, 1:]) * scale, scale)


_with_temperature, _HALF = partial(points, temperature=(-5, 3)), given(z=[RIGHT_ANGLE], temperature=[0.5])


# Steps: Corollary 3.3, Theorem 3.4, and the sharper bound of its proof


def _grows(z: Tensor, gamma: Tensor, *, loss: Loss) -> Checked:
    """No point's norm falls. Scale: the norm plus the longest possible step, gamma/||z||."""
    after = z - gamma[:, None, None] * gradient(loss, z)
    return at_most(norm(z), norm(after), norm(z) + gamma[:, None] / norm(z))


def _pythagoras(z: Tensor, gamma: Tensor, *, of_unit: bool) -> Checked:
    """||z_i'||² as claimed, over its size at a right angle, because steps may be much longer than the point."""
    after = norm(z - gamma[:, None, None] * gradient(attraction, z))[:, 0] ** 2
    other = across(unit(z[:, 1]) if of_unit else z[:, 1], z[:, 0])
    claimed = norm(z[:, 0]) ** 2 + (gamma * norm(other) / norm(z[:, 0])) ** 2
    longest = gamma / norm(z[:, 0]) * (1 if of_unit else torch.clamp(norm(z[:, 1]), min=1))
    return equal(after, claimed, norm(z[:, 0]) ** 2 + longest**2)


def _improves(z: Tensor, gamma: Tensor, *, sign: float) -> Checked:
    """Ours: a step of z_i alone does not lower the cosine while gamma <= 2 ||z_i||²."""
    after = z[:, 0] + sign * gamma[:, None] * gradient(attraction, z)[:, 0]
    return at_most(-attraction(z), cosine(after, z[:, 1]), met=gamma <= 2 * norm(z[:, 0]) ** 2)


def _short(generator: Generator, draws: int) -> Inputs:
    drawn = points(generator, draws)
    return drawn | {"gamma": norm(drawn["z"][:, 0]) ** 2 * spread(generator, -6, 0.6, draws)}


class Step:
    """A pair of one norm, rho, before a step of size gamma, and what is claimed of it."""

    def __init__(self, z: Tensor, gamma: Tensor) -> None:
        self.rho = norm(z[:, 0])
        self.cosine, self.sine = cosine(z[:, 0], z[:, 1]), sine(z[:, 0], z[:, 1])
        self.a = gamma / self.rho**2
        self.acute = self.cosine >= -1e-15  # a right angle may round to either side
        self.bound = 2 * self.a * self.sine**2  # Theorem 3.4
        self.sharper = self.a * self.sine**2 * (2 - self.a * self.cosine)  # App. A.4
        moved = (self.a * self.sine) ** 2
        self.left = 2 * moved * (self.cosine + self.a * self.sine**2) / (1 + moved)  # ours: the bound less the change


def _theorem_3_4(
    z: Tensor,
    gamma: Tensor,
    *,
    bound: Callable[[Step], Tensor],
    met: Callable[[Step], Tensor],
    main_text: bool = False,
    strict: bool = False,
    check: Callable[..., Checked] = at_most,
) -> Checked:
    """The cosine's change is at most the bound, or equals it. Scale: 1 + the bound's size.

    Whether a strict bound is reached says the closed form of what is left, because rounding hides it: 1 if it is.
    """
    step = Step(z, gamma)
    if main_text:
        after = z + (gamma / step.rho)[:, None, None] * across(z.flip(1), z)
    else:
        after = z - gamma[:, None, None] * gradient(attraction, z)
    limit = bound(step)
    change = cosine(after[:, 0], after[:, 1]) - step.cosine
    checked = check(change, limit, 1 + limit.abs(), met(step))
    return checked._replace(excess=torch.where((step.left <= 0) & strict, 1.0, checked.excess))


_every = partial(_theorem_3_4, met=lambda s: s.a > 0)
_acute = partial(_theorem_3_4, met=lambda s: s.acute)
_OBTUSE = given(z=[[[2, 1], [-2, 1]], [[1, 0], [-0.6, 0.8]]], gamma=[1, 0.25])
_OPPOSITE = given(z=[RIGHT_ANGLE, [[2, 1], [-2, 1]], [[1, 0], [1, 0]], [[1, 0], [-1, 0]]], gamma=[1, 1, 1, 1])
_SHARP = given(z=[RIGHT_ANGLE, [[2, 0], [0, 2]], [[1, 0], [0.6, 0.8]], [[1, 0], [1, 0]]], gamma=[1, 1, 0.5, 1])
_LONG = given(z=[[[1, 0], [0.6, 0.8]]], gamma=[4])
_AT_ANY, _ACUTE = (angled, _OPPOSITE), (partial(angled, widest=math.pi / 2), _SHARP)


# Propositions C.1 (two random directions) and D.1 (GradScale has no potential)


def _tail(d: Tensor, epsilon: Tensor, *, bound: Callable[[Tensor, Tensor], Tensor]) -> Checked:
    """P[cos >= 1 - eps] is at most a bound of d and 1 - eps. Scale: the bound, where it is not 0.

    (1 + cos)/2 has the distribution Beta((d-1)/2, (d-1)/2); on a line, cos is ±1.
    """
    half = (d - 1).numpy() / 2
    tail = np.where(half > 0, special.betainc(np.maximum(half, 0.5), np.maximum(half, 0.5), epsilon.numpy() / 2), 0.5)
    limit = bound(d, 1 - epsilon)
    return at_most(torch.from_numpy(tail), limit, limit.where(limit > 0, 1))


def _tails(generator: Generator, draws: int) -> Inputs:
    epsilon = spread(generator, -8, 0, draws) * (1 - 1e-9)
    flipped = torch.where(torch.arange(draws) % 2 == 0, epsilon, 1 - epsilon)
    return {"d": spread(generator, 0, 5, draws).round(), "epsilon": flipped}


def _field(t: Tensor, z: Tensor, alpha: Tensor) -> Tensor:
    """||z||^alpha times the gradient of t · z / ||z||."""
    (slope,) = torch.autograd.grad((dot(t, z) / norm(z)).sum(), z, create_graph=True)
    return norm(z)[:, None] ** alpha[:, None] * slope


def _no_potential(t: Tensor, z: Tensor, alpha: Tensor) -> Checked:
    """The asymmetry of the Jacobian is |alpha| ||z||^(alpha-2) sin(phi); with a potential it would be 0.

    In two dimensions or more, of which the proof speaks; on a line there are no half circles (N46).
    z is orthogonal to t (sin = 1). Scale: that size, so that an excess of 1 means that all of it is missing.
    """
    leaf = z.clone().requires_grad_()
    field = _field(t, leaf, alpha)
    rows = [torch.autograd.grad(column.sum(), leaf, retain_graph=True)[0] for column in field.unbind(dim=1)]
    jacobian = torch.stack(rows, dim=1)
    asymmetry = norm((jacobian - jacobian.mT).flatten(1)) / math.sqrt(2)
    claimed = alpha.abs() * norm(z) ** (alpha - 2)
    return at_most(claimed, asymmetry, claimed, alpha != 0)


def _fields(generator: Generator, draws: int) -> Inputs:
    t, z = unit(torch.randn(2, draws, 3, generator=generator, dtype=torch.float64))
    alpha = spread(generator, -3, 1, draws) * torch.where(torch.arange(draws) % 2 == 0, 1.0, -1.0)
    return {"t": t, "z": unit(across(z, t)) * spread(generator, -2, 2, draws, 1), "alpha": alpha}


def _half_circle(t: Tensor, z: Tensor, alpha: Tensor, *, sign: float) -> Checked:
    """Eq. 8: the integral from 2t past 2z to -2t, by 24 Gauss nodes (exact for sin), over the claimed size."""
    nodes, weights = (torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(24))
    total = torch.zeros(len(t), dtype=t.dtype)
    for node, weight in zip((nodes + 1) * math.pi / 2, weights * math.pi / 2, strict=True):
        point = (2 * (node.cos() * t + node.sin() * unit(z))).requires_grad_()
        velocity = 2 * (node.cos() * unit(z) - node.sin() * t)
        total = total + weight * dot(_field(t, point, alpha), velocity).detach()
    claimed = 2 ** (alpha + 1)
    return equal(total, sign * claimed, claimed)


_FIELD = given(t=[[1, 0], [1, 0], [0.6, 0.8]], z=[[0, 1], [0, 2], [-0.8, 0.6]], alpha=[1, -1, 2])
_TAIL = given(d=[1, 2, 3, 128], epsilon=[0.5, 0.5, 0.5, 0.1])

_cap = partial(_tail, bound=lambda d, x: ((1 - x) * (1 + x)) ** ((d - 1) / 2) / 2)  # ours, for x in [0, 1]
_scaled = partial(_magnitude, loss=lambda z: attraction(grad_scale(z, power=1)), power=1)
STATEMENTS: tuple[Statement, ...] = (
    state("norms.proposition_3_1.gradient", _gradient_3_1, pairs, TWO),
    state("norms.proposition_3_1.tangent", partial(_tangent, loss=attraction), pairs, TWO),
    state("norms.proposition_3_1.magnitude", partial(_magnitude, loss=attraction), pairs, TWO),
    state("norms.proposition_3_2.equation_2", _equation_2, points, TWO),
    state("norms.proposition_3_2.temperature", _equation_2, _with_temperature, _HALF),
    state("norms.proposition_3_2.equation_3", partial(_equation_3, sign=-1, pull=0), points, TWO),
    state("norms.proposition_3_2.equation_3.n10", partial(_equation_3, sign=1, pull=1), points, TWO),
    state("norms.proposition_3_2.tangent", partial(_tangent, loss=info_nce), points, TWO),
    state("norms.proposition_3_2.inverse_norm", _inverse, stepped, STEP),
    state("norms.section_3.squared_error.tangent", partial(_tangent, loss=squared_error), pairs, TWO),
    state("norms.section_3.squared_error.magnitude", partial(_magnitude, loss=squared_error, factor=2), pairs, TWO),
    state("norms.section_6.grad_scale", _scaled, pairs, TWO),
    state("norms.section_3.step", partial(_improves, sign=1), _short, STEP),
    state("norms.section_3.step.n11", partial(_improves, sign=-1), _short, STEP),
    state("norms.corollary_3_3.cosine", partial(_grows, loss=attraction), stepped, STEP),
    state("norms.corollary_3_3.infonce", partial(_grows, loss=info_nce), stepped, STEP),
    state("norms.corollary_3_3.squared_error", partial(_grows, loss=squared_error), stepped, STEP),
    state("norms.appendix_a_3", partial(_pythagoras, of_unit=False), stepped, STEP),
    state("norms.appendix_a_3.n12", partial(_pythagoras, of_unit=True), stepped, STEP),
    state("norms.theorem_3_4.main_text", partial(_every, bound=lambda s: s.bound, main_text=True), angled, _SHARP),
    state("norms.theorem_3_4.main_text.n12", partial(_acute, bound=lambda s: s.rho * s.bound, main_text=True), *_ACUTE),
    state("norms.theorem_3_4.appendix", partial(_every, bound=lambda s: s.bound), angled, _OBTUSE),
    state("norms.theorem_3_4.acute.n13", partial(_acute, bound=lambda s: s.bound), *_ACUTE),
    state(
        "norms.theorem_3_4.strict.n13",
        partial(_acute, bound=lambda s: s.bound, met=lambda s: s.acute & (s.sine > 0), strict=True),
        *_ACUTE,
    ),
    state("norms.theorem_3_4.change.n13", partial(_every, bound=lambda s: s.bound - s.left, check=equal), *_AT_ANY),
    state("norms.theorem_3_4.all_angles.n13", partial(_every, bound=lambda s: (1 + s.a) * s.bound), *_AT_ANY),
    state("norms.appendix_a_4", partial(_every, bound=lambda s: s.sharper), angled, _OBTUSE),
    state("norms.appendix_a_4.acute", partial(_acute, bound=lambda s: s.sharper), _ACUTE[0], _LONG),
    state(
        "norms.appendix_a_4.n13",
        partial(_acute, bound=lambda s: s.sharper, met=lambda s: s.acute & (s.a * s.sine <= 1)),
        *_ACUTE,
    ),
    state("norms.proposition_c_1", partial(_tail, bound=lambda d, x: 1 / (2 * d * x**2)), _tails, _TAIL),
    state("norms.proposition_c_1.exponential", _cap, _tails, _TAIL),
    state("norms.proposition_d_1", _no_potential, _fields, _FIELD),
    state("norms.appendix_d.equation_8", partial(_half_circle, sign=1), _fields, _FIELD),
    state("norms.appendix_d.equation_8.n47", partial(_half_circle, sign=-1), _fields, _FIELD),
)
