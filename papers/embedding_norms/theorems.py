"""Statements of the norms paper, in the order of its text.

Shapes: draws, n points of a set, d dimensions. Row 0 of a set is the anchor i, row 1 its positive j, the others are
negatives. Gradients are autograd's, of the loss as it is defined. Cosines have scale 1, and a gradient has the scale of
its point's inverse norm, so that rounding errors of an excess are near 1e-16 unless a check says otherwise.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from scipy import special
from torch import Generator, Tensor

from hypersphere.exact.statement import (
    Checked,
    Inputs,
    Statement,
    at_most,
    column,
    equal,
    given,
    gradient,
    spread,
)
from hypersphere.generators import normal, uniform
from hypersphere.objectives.grad_scale import grad_scale

Loss = Callable[[Tensor], Tensor]

state = partial(Statement, tolerance=1e-11)
"""A statement whose rounding errors stay below 1e-12 for all draws, even for steps of 1000 norms."""


dot = torch.linalg.vecdot


def norm(a: Tensor) -> Tensor:
    return torch.linalg.vector_norm(a, dim=-1)


def unit(a: Tensor) -> Tensor:
    return a / vectors(norm(a))


def across(a: Tensor, b: Tensor) -> Tensor:
    """The component of a that is orthogonal to b."""
    along = vectors(dot(a, unit(b))) * unit(b)
    return a - along


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return dot(a, b) / (norm(a) * norm(b))


def sine(a: Tensor, b: Tensor) -> Tensor:
    """2 sin(phi/2) cos(phi/2) from chords. It is exact near 0 and pi, where sqrt(1 - cos²) loses half its digits."""
    chord = norm(unit(a) - unit(b))
    chord_to_opposite = norm(unit(a) + unit(b))
    return chord * chord_to_opposite / 2


def anchor(z: Tensor) -> Tensor:
    return z[:, 0]


def anchors(z: Tensor) -> Tensor:
    """The anchor as a set of one point."""
    return z[:, :1]


def positive(z: Tensor) -> Tensor:
    return z[:, 1]


def others(z: Tensor) -> Tensor:
    """The positive and the negatives."""
    return z[:, 1:]


def vectors(numbers: Tensor) -> Tensor:
    """One number for each point, to be multiplied with the point."""
    return numbers[..., None]


def every_point(numbers: Tensor) -> Tensor:
    """One number for each draw, to be multiplied with all points of its set."""
    return numbers[:, None, None]


# Losses, a number for each set


def attraction(z: Tensor) -> Tensor:
    return -cosine(anchor(z), positive(z))


def squared_error(z: Tensor) -> Tensor:
    between = unit(anchor(z)) - unit(positive(z))
    return between.square().sum(dim=-1)


def info_nce(z: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """Eq. 1 for the anchor; the positive is in the denominator."""
    similarity = cosine(anchors(z), others(z)) / temperature
    return similarity.logsumexp(dim=1) - similarity[:, 0]


def scaled_attraction(z: Tensor) -> Tensor:
    return attraction(grad_scale(z, power=1))


# Sets of points


def points(
    generator: Generator, draws: int, n: int = 5, **parameters: tuple[float, float]
) -> dict[str, Tensor]:
    """Norms 1e-4 … 1e4. A third of the positives are near the anchor, a third opposite to it, some exactly.

    ``parameters`` are log-uniform between powers of ten.
    """
    z = unit(normal(generator, draws, n, 4))
    draw = torch.arange(draws)
    near = torch.tensor([1.0, -1.0, 0.0], dtype=torch.float64)[draw % 3]
    exactly = draw % 20 == 0
    small = spread(generator, -9, 0, draws, 1) * ~column(exactly)
    noise = torch.where(column(near) == 0, 1.0, small)
    z[:, 1] = column(near) * anchor(z) + noise * positive(z)
    drawn = {"z": unit(z) * spread(generator, -4, 4, draws, n, 1)}
    for name, ends in parameters.items():
        drawn[name] = spread(generator, *ends, draws)
    return drawn


def angled(generator: Generator, draws: int, widest: float = math.pi) -> Inputs:
    """Pairs of equal norm at angles in [0, widest], a third near each end, one in 30 at 0; gamma/rho² in 1e-6 … 1e3."""
    near = spread(generator, -8, 0, draws)
    anywhere = widest * uniform(generator, draws)
    kind = torch.arange(draws) % 30
    near_an_end = torch.where(kind % 3 == 1, near, widest - near)
    angle = torch.where(kind % 3 == 0, anywhere, near_an_end)
    angle = angle * (kind > 0)
    u, w = unit(normal(generator, 2, draws, 4))
    side = unit(across(w, u))
    v = column(angle.cos()) * u + column(angle.sin()) * side
    v = torch.where(column(angle) == 0, u, v)
    rho = spread(generator, -3, 3, draws)
    z = torch.stack([u, v], dim=1) * every_point(rho)
    return {"z": z, "gamma": spread(generator, -6, 3, draws) * rho**2}


def short_steps(generator: Generator, draws: int) -> Inputs:
    """Sets with a gamma of at most 4 ||z_i||²."""
    drawn = points(generator, draws)
    share = spread(generator, -6, 0.6, draws)
    drawn["gamma"] = norm(anchor(drawn["z"])) ** 2 * share
    return drawn


pairs = partial(points, n=2)
with_step = partial(points, gamma=(-4, 4))
with_temperature = partial(points, temperature=(-5, 3))
acute_angles = partial(angled, widest=math.pi / 2)

RIGHT_ANGLE = [[1, 0], [0, 1]]
LONG_RIGHT_ANGLE = [[2, 0], [0, 2]]
SAME = [[1, 0], [1, 0]]
APART = [[1, 0], [-1, 0]]
ACUTE = [[1, 0], [0.6, 0.8]]
OBTUSE = [[2, 1], [-2, 1]]
PAIRS = given(z=[RIGHT_ANGLE, SAME, APART, [[2, 0], [3, 4]]])
HALF_TEMPERATURE = given(z=[RIGHT_ANGLE], temperature=[0.5])
STEPS = given(z=[RIGHT_ANGLE, [[1, 0], [0, 2]], [[3, 4], [4, 3]]], gamma=[1, 1, 10])
OBTUSE_STEPS = given(z=[OBTUSE, [[1, 0], [-0.6, 0.8]]], gamma=[1, 0.25])
ALL_STEPS = given(z=[RIGHT_ANGLE, OBTUSE, SAME, APART], gamma=[1, 1, 1, 1])
ACUTE_STEPS = given(z=[RIGHT_ANGLE, LONG_RIGHT_ANGLE, ACUTE, SAME], gamma=[1, 1, 0.5, 1])
LONG_STEP = given(z=[ACUTE], gamma=[4])


# Propositions 3.1 and 3.2, and the paper's remarks on other losses


def gradient_3_1(z: Tensor) -> Checked:
    """The gradient at the anchor is -(unit z_j across z_i) / ||z_i||."""
    length = norm(anchors(z))
    pull = across(unit(positive(z)), anchor(z))
    return equal(
        anchor(gradient(attraction, z)),
        -pull / length,
        scale=1 / length,
    )


def tangent(z: Tensor, *, loss: Loss) -> Checked:
    """The gradient is orthogonal to its point."""
    return equal(
        dot(gradient(loss, z), z),
        0,
    )


def magnitude(z: Tensor, *, loss: Loss, factor: float = 1, power: float = 0) -> Checked:
    """factor · sin(phi) · ||z||^(power - 1), for both points; in units of ||z||^(power - 1)."""
    scale = norm(z) ** (power - 1)
    phi_sine = column(sine(anchor(z), positive(z)))
    return equal(
        norm(gradient(loss, z)),
        factor * phi_sine * scale,
        scale,
    )


def inverse_norm(z: Tensor, gamma: Tensor) -> Checked:
    """Scale the anchor by gamma and keep the others: its gradient shrinks by gamma."""
    far_anchor = anchors(z) * every_point(gamma)
    moved_out = torch.cat([far_anchor, others(z)], dim=1)
    near = anchor(gradient(info_nce, z))
    far = anchor(gradient(info_nce, moved_out))
    return equal(
        far,
        near / column(gamma),
        scale=1 / (norm(anchor(z)) * gamma),
    )


def equation_2(z: Tensor, temperature: Tensor | None = None) -> Checked:
    """The paper sets t = 1. With t (ours) the right side is divided by t, and so are roundings."""
    if temperature is None:
        temperature = torch.ones(len(z), dtype=z.dtype)
    t = column(temperature)
    share = (unit_products(z) / t).softmax(dim=1)
    pull = across(unit(others(z)), anchors(z))
    push = (vectors(share) * pull).sum(dim=1)
    scale = 1 / (norm(anchors(z)) * t)
    found = gradient(lambda x: info_nce(x, t), z)
    return equal(
        anchor(found),
        (push - pull[:, 0]) * scale,
        scale,
    )


def equation_3(z: Tensor, *, sign: float, pull: float) -> Checked:
    """Gradients of all l != i: sign times the share of the denominator, minus ``pull`` for the positive."""
    share = unit_products(z).softmax(dim=1)
    is_positive = torch.arange(share.shape[1]) == 0
    force = sign * share - pull * is_positive
    scale = 1 / vectors(norm(others(z)))
    return equal(
        others(gradient(info_nce, z)),
        vectors(force) * across(unit(anchors(z)), others(z)) * scale,
        scale,
    )


def unit_products(z: Tensor) -> Tensor:
    """Cosines of the anchor with all others, as inner products of unit vectors."""
    return dot(unit(anchors(z)), unit(others(z)))


# Steps: Corollary 3.3, Theorem 3.4, and the sharper bound of its proof


def descend(z: Tensor, gamma: Tensor, loss: Loss = attraction) -> Tensor:
    """All points after a step of gradient descent."""
    return z - every_point(gamma) * gradient(loss, z)


def grows(z: Tensor, gamma: Tensor, *, loss: Loss) -> Checked:
    """No point's norm falls. Scale: the norm plus the longest possible step, gamma/||z||."""
    before = norm(z)
    after = norm(descend(z, gamma, loss))
    return at_most(
        before,
        after,
        scale=before + column(gamma) / before,
    )


def appendix_a_3(
    z: Tensor, gamma: Tensor, *, pulling: Callable[[Tensor], Tensor] = unit
) -> Checked:
    """||z_i'||² = ||z_i||² + (gamma/||z_i||)² ||``pulling``(z_j) across z_i||²; printed for z_j, true for its unit.

    Its scale is its size at a right angle, because steps may be much longer than the point.
    """
    rho = norm(anchor(z))
    other = pulling(positive(z))
    step = gamma * norm(across(other, anchor(z))) / rho
    longest = gamma / rho * norm(other).clamp(min=1)
    return equal(
        norm(descend(z, gamma))[:, 0] ** 2,
        rho**2 + step**2,
        scale=rho**2 + longest**2,
    )


def improves(z: Tensor, gamma: Tensor, *, sign: float) -> Checked:
    """Ours: a step of z_i alone does not lower the cosine while gamma <= 2 ||z_i||²."""
    step = sign * column(gamma) * anchor(gradient(attraction, z))
    after = anchor(z) + step
    return at_most(
        -attraction(z),
        cosine(after, positive(z)),
        met=gamma <= 2 * norm(anchor(z)) ** 2,
    )


class Step:
    """A pair of one norm, rho, before a step of size gamma, and what is claimed of it."""

    def __init__(self, z: Tensor, gamma: Tensor) -> None:
        self.rho = norm(anchor(z))
        self.cosine = cosine(anchor(z), positive(z))
        self.sine = sine(anchor(z), positive(z))
        self.a = gamma / self.rho**2

    # Bounds of the cosine's change

    def bound(self) -> Tensor:
        """Theorem 3.4."""
        return 2 * self.a * self.sine**2

    def rho_times_bound(self) -> Tensor:
        return self.rho * self.bound()

    def bound_of_all_angles(self) -> Tensor:
        """Ours."""
        return (1 + self.a) * self.bound()

    def sharper_bound(self) -> Tensor:
        """App. A.4."""
        return self.a * self.sine**2 * (2 - self.a * self.cosine)

    def left(self) -> Tensor:
        """Ours: the bound less the change."""
        moved = (self.a * self.sine) ** 2
        return 2 * moved * (self.cosine + self.a * self.sine**2) / (1 + moved)

    def change(self) -> Tensor:
        return self.bound() - self.left()

    # Hypotheses

    def moves(self) -> Tensor:
        return self.a > 0

    def acute(self) -> Tensor:
        return self.cosine >= -1e-15  # a right angle may round to either side

    def acute_and_apart(self) -> Tensor:
        return self.acute() & (self.sine > 0)

    def acute_and_short(self) -> Tensor:
        return self.acute() & (self.a * self.sine <= 1)


def main_text_step(z: Tensor, gamma: Tensor) -> Tensor:
    """Each point moved by gamma/rho times the other's component across it."""
    rho = norm(anchor(z))
    return z + every_point(gamma / rho) * across(z.flip(1), z)


def theorem_3_4(
    z: Tensor,
    gamma: Tensor,
    *,
    bound: Callable[[Step], Tensor] = Step.bound,
    met: Callable[[Step], Tensor] = Step.moves,
    step: Callable[[Tensor, Tensor], Tensor] = descend,
    check: Callable[..., Checked] = at_most,
) -> Checked:
    """The cosine's change is at most the bound, or equals it. Scale: 1 + the bound's size."""
    before = Step(z, gamma)
    after = step(z, gamma)
    change = cosine(anchor(after), positive(after)) - before.cosine
    limit = bound(before)
    return check(
        change,
        limit,
        1 + limit.abs(),
        met(before),
    )


def theorem_3_4_strict(
    z: Tensor, gamma: Tensor, *, met: Callable[[Step], Tensor] = Step.acute_and_apart
) -> Checked:
    """The cosine's change is less than the bound.

    Whether the bound is reached says the closed form of what is left, because rounding hides it: an excess of 1 if so.
    """
    checked = theorem_3_4(z, gamma, met=met)
    reached = Step(z, gamma).left() <= 0
    return checked._replace(excess=torch.where(reached, 1.0, checked.excess))


# Propositions C.1 (two random directions) and D.1 (GradScale has no potential)


def tail(d: Tensor, epsilon: Tensor, *, bound: Callable[[Tensor, Tensor], Tensor]) -> Checked:
    """P[cos >= 1 - eps] is at most a bound of d and 1 - eps. Scale: the bound, where it is not 0.

    (1 + cos)/2 has the distribution Beta((d-1)/2, (d-1)/2); on a line, cos is ±1.
    """
    half = (d - 1).numpy() / 2
    shape = np.maximum(half, 0.5)
    probability = special.betainc(shape, shape, epsilon.numpy() / 2)
    probability = np.where(half > 0, probability, 0.5)
    limit = bound(d, 1 - epsilon)
    return at_most(
        torch.from_numpy(probability),
        limit,
        scale=limit.where(limit > 0, 1),
    )


def printed_tail(d: Tensor, x: Tensor) -> Tensor:
    return 1 / (2 * d * x**2)


def cap(d: Tensor, x: Tensor) -> Tensor:
    """Ours, for x in [0, 1]: half of (1 - x²)^((d-1)/2)."""
    return ((1 - x) * (1 + x)) ** ((d - 1) / 2) / 2


def tails(generator: Generator, draws: int) -> Inputs:
    small = spread(generator, -8, 0, draws) * (1 - 1e-9)
    even = torch.arange(draws) % 2 == 0
    epsilon = torch.where(even, small, 1 - small)
    return {"d": spread(generator, 0, 5, draws).round(), "epsilon": epsilon}


TAILS = given(d=[1, 2, 3, 128], epsilon=[0.5, 0.5, 0.5, 0.1])


def _field(t: Tensor, z: Tensor, alpha: Tensor) -> Tensor:
    """||z||^alpha times the gradient of t · z / ||z||."""
    projection = dot(t, z) / norm(z)
    (slope,) = torch.autograd.grad(projection.sum(), z, create_graph=True)
    return column(norm(z)) ** column(alpha) * slope


def fields(generator: Generator, draws: int) -> Inputs:
    """Unit vectors t, points z at a right angle to t, and powers alpha of both signs."""
    t, z = unit(normal(generator, 2, draws, 3))
    even = torch.arange(draws) % 2 == 0
    alpha = spread(generator, -3, 1, draws) * torch.where(even, 1.0, -1.0)
    length = spread(generator, -2, 2, draws, 1)
    return {"t": t, "z": unit(across(z, t)) * length, "alpha": alpha}


FIELDS = given(
    t=[[1, 0], [1, 0], [0.6, 0.8]],
    z=[[0, 1], [0, 2], [-0.8, 0.6]],
    alpha=[1, -1, 2],
)


def no_potential(t: Tensor, z: Tensor, alpha: Tensor) -> Checked:
    """The asymmetry of the Jacobian is |alpha| ||z||^(alpha-2) sin(phi); with a potential it would be 0.

    In two dimensions or more, of which the proof speaks; on a line there are no half circles (N46).
    z is orthogonal to t (sin = 1). Scale: that size, so that an excess of 1 means that all of it is missing.
    """
    leaf = z.clone().requires_grad_()
    field = _field(t, leaf, alpha)
    rows = []
    for component in field.unbind(dim=1):
        (row,) = torch.autograd.grad(component.sum(), leaf, retain_graph=True)
        rows.append(row)
    jacobian = torch.stack(rows, dim=1)
    difference = jacobian - jacobian.mT
    asymmetry = norm(difference.flatten(1)) / math.sqrt(2)
    claimed = alpha.abs() * norm(z) ** (alpha - 2)
    return at_most(claimed, asymmetry, claimed, alpha != 0)


def half_circle(t: Tensor, z: Tensor, alpha: Tensor, *, sign: float) -> Checked:
    """Eq. 8: the integral from 2t past 2z to -2t, by 24 Gauss nodes (exact for sin), over the claimed size."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    angles = (torch.from_numpy(nodes) + 1) * math.pi / 2
    steps = torch.from_numpy(weights) * math.pi / 2
    side = unit(z)
    integral = torch.zeros_like(alpha)
    for angle, step in zip(angles, steps, strict=True):
        point = 2 * (angle.cos() * t + angle.sin() * side)
        velocity = 2 * (angle.cos() * side - angle.sin() * t)
        field = _field(t, point.requires_grad_(), alpha).detach()
        integral = integral + step * dot(field, velocity)
    claimed = 2 ** (alpha + 1)
    return equal(integral, sign * claimed, claimed)


# Of a theorem that is stated for several losses or in several readings, each has a name.
cosine_tangent = partial(tangent, loss=attraction)
cosine_magnitude = partial(magnitude, loss=attraction)
info_nce_tangent = partial(tangent, loss=info_nce)
squared_tangent = partial(tangent, loss=squared_error)
squared_magnitude = partial(magnitude, loss=squared_error, factor=2)
scaled_magnitude = partial(magnitude, loss=scaled_attraction, power=1)
equation_3_printed = partial(equation_3, sign=-1, pull=0)
equation_3_n10 = partial(equation_3, sign=1, pull=1)
cosine_grows = partial(grows, loss=attraction)
info_nce_grows = partial(grows, loss=info_nce)
squared_grows = partial(grows, loss=squared_error)
appendix_a_3_printed = partial(appendix_a_3, pulling=torch.clone)
main_text = partial(theorem_3_4, step=main_text_step)
main_text_n12 = partial(main_text, bound=Step.rho_times_bound, met=Step.acute)
acute = partial(theorem_3_4, met=Step.acute)
exact_change = partial(theorem_3_4, bound=Step.change, check=equal)
all_angles = partial(theorem_3_4, bound=Step.bound_of_all_angles)
sharper = partial(theorem_3_4, bound=Step.sharper_bound)
sharper_acute = partial(sharper, met=Step.acute)
sharper_short = partial(sharper, met=Step.acute_and_short)

STATEMENTS: tuple[Statement, ...] = (
    state("norms.proposition_3_1.gradient", gradient_3_1, pairs, PAIRS),
    state("norms.proposition_3_1.tangent", cosine_tangent, pairs, PAIRS),
    state("norms.proposition_3_1.magnitude", cosine_magnitude, pairs, PAIRS),
    state("norms.proposition_3_2.equation_2", equation_2, points, PAIRS),
    state("norms.proposition_3_2.temperature", equation_2, with_temperature, HALF_TEMPERATURE),
    state("norms.proposition_3_2.equation_3", equation_3_printed, points, PAIRS),
    state("norms.proposition_3_2.equation_3.n10", equation_3_n10, points, PAIRS),
    state("norms.proposition_3_2.tangent", info_nce_tangent, points, PAIRS),
    state("norms.proposition_3_2.inverse_norm", inverse_norm, with_step, STEPS),
    state("norms.section_3.squared_error.tangent", squared_tangent, pairs, PAIRS),
    state("norms.section_3.squared_error.magnitude", squared_magnitude, pairs, PAIRS),
    state("norms.section_6.grad_scale", scaled_magnitude, pairs, PAIRS),
    state("norms.section_3.step", partial(improves, sign=1), short_steps, STEPS),
    state("norms.section_3.step.n11", partial(improves, sign=-1), short_steps, STEPS),
    state("norms.corollary_3_3.cosine", cosine_grows, with_step, STEPS),
    state("norms.corollary_3_3.infonce", info_nce_grows, with_step, STEPS),
    state("norms.corollary_3_3.squared_error", squared_grows, with_step, STEPS),
    state("norms.appendix_a_3", appendix_a_3_printed, with_step, STEPS),
    state("norms.appendix_a_3.n12", appendix_a_3, with_step, STEPS),
    state("norms.theorem_3_4.main_text", main_text, angled, ACUTE_STEPS),
    state("norms.theorem_3_4.main_text.n12", main_text_n12, acute_angles, ACUTE_STEPS),
    state("norms.theorem_3_4.appendix", theorem_3_4, angled, OBTUSE_STEPS),
    state("norms.theorem_3_4.acute.n13", acute, acute_angles, ACUTE_STEPS),
    state("norms.theorem_3_4.strict.n13", theorem_3_4_strict, acute_angles, ACUTE_STEPS),
    state("norms.theorem_3_4.change.n13", exact_change, angled, ALL_STEPS),
    state("norms.theorem_3_4.all_angles.n13", all_angles, angled, ALL_STEPS),
    state("norms.appendix_a_4", sharper, angled, OBTUSE_STEPS),
    state("norms.appendix_a_4.acute", sharper_acute, acute_angles, LONG_STEP),
    state("norms.appendix_a_4.n13", sharper_short, acute_angles, ACUTE_STEPS),
    state("norms.proposition_c_1", partial(tail, bound=printed_tail), tails, TAILS),
    state("norms.proposition_c_1.exponential", partial(tail, bound=cap), tails, TAILS),
    state("norms.proposition_d_1", no_potential, fields, FIELDS),
    state("norms.appendix_d.equation_8", partial(half_circle, sign=1), fields, FIELDS),
    state("norms.appendix_d.equation_8.n47", partial(half_circle, sign=-1), fields, FIELDS),
)
