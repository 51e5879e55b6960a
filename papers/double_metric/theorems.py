"""Statements of the double-metric paper, and of ours that follow from its Eq. 2.

Shapes: n draws, d = 3 dimensions, m candidates of an anchor, the positive first. Distances are at most pi, so an excess
has scale 1 unless a check says otherwise.
"""

from collections.abc import Callable
from functools import partial
from math import pi
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from torch.linalg import vector_norm

from hypersphere.exact.statement import (
    Checked,
    Inputs,
    Statement,
    ascending,
    at_most,
    column,
    equal,
    given,
    gradient,
    inner,
    of_case,
    spread,
)
from hypersphere.generators import normal, uniform

X, Y, OPPOSITE = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


# Points of the sphere and their distances


def chord(u: Tensor, v: Tensor) -> Tensor:
    return vector_norm(u - v, dim=-1)


def arc(u: Tensor, v: Tensor) -> Tensor:
    """arccos(u·v), from the half-angle's tangent; arccos itself keeps only half of the digits near 0 and pi."""
    return 2 * torch.atan2(chord(u, v), chord(u, -v))


def on_circle(u: Tensor, side: Tensor, theta: Tensor) -> Tensor:
    """u turned by theta towards ``side``, a unit vector at a right angle to it."""
    return column(theta.cos()) * u + column(theta.sin()) * side


def across(towards: Tensor, u: Tensor) -> Tensor:
    """The component of ``towards`` that is orthogonal to u."""
    return towards - column(inner(towards, u)) * u


def turned(u: Tensor, towards: Tensor, theta: Tensor) -> Tensor:
    """u turned by theta in the plane of u and ``towards``."""
    side = F.normalize(across(towards, u), dim=1)
    return F.normalize(on_circle(u, side, theta), dim=1)


def directions(g: Generator, n: int) -> Tensor:
    return F.normalize(normal(g, n, 3), dim=1)


def angle(g: Generator, *shape: int) -> Tensor:
    """Three of five draws are uniform in [0, pi]. One is near 0 and one near pi, some exactly 0 or pi."""
    kind = (5 * uniform(g, *shape)).long()
    near = spread(g, -8, -1, *shape)
    near = near * (uniform(g, *shape) > 0.1)
    anywhere = pi * uniform(g, *shape)
    theta = torch.where(kind == 1, pi - near, anywhere)
    return torch.where(kind == 0, near, theta)


def wide(g: Generator, n: int) -> Tensor:
    """Positive numbers from a thousandth to a thousand."""
    return spread(g, -3, 3, n)


def at_angle(g: Generator, u: Tensor) -> Tensor:
    """A unit vector at a drawn angle to u, in a random direction."""
    towards = directions(g, len(u))
    return turned(u, towards, angle(g, len(u)))


# App. F: chord and arc are two metrics on one sphere, and topologically the same.


def path(g: Generator, n: int) -> Inputs:
    """Three points. In a quarter of the draws w is on the great circle of u and v, so that triangles are flat."""
    u = directions(g, n)
    v = at_angle(g, u)
    straight = turned(v, -u, angle(g, n))
    flat = uniform(g, n, 1) < 0.25
    w = torch.where(flat, straight, at_angle(g, v))
    return {"u": u, "v": v, "w": w}


def short_path(g: Generator, n: int) -> Inputs:
    """Three points whose two arcs are together at most pi."""
    u = directions(g, n)
    first = angle(g, n)
    share = uniform(g, n)
    v = turned(u, directions(g, n), first)
    w = turned(v, directions(g, n), (pi - first) * share)
    return {"u": u, "v": v, "w": w}


def two_pairs(g: Generator, n: int) -> Inputs:
    """Two pairs. In half of the draws the second is a reflection of the first; the others are unrelated."""
    u = directions(g, n)
    w = directions(g, n)
    mirror = directions(g, n)
    v = at_angle(g, u)
    x = at_angle(g, w)
    mirrored = uniform(g, n, 1) < 0.5
    w = torch.where(mirrored, reflection(u, mirror), w)
    x = torch.where(mirrored, reflection(v, mirror), x)
    return {
        "u": u,
        "v": v,
        "w": w,
        "x": x,
    }


def reflection(point: Tensor, mirror: Tensor) -> Tensor:
    """The point on the other side of the plane through 0 that is orthogonal to ``mirror``."""
    return point - 2 * column(inner(point, mirror)) * mirror


PATHS = given(
    u=[X, X, X],
    v=[X, Y, OPPOSITE],
    w=[Y, OPPOSITE, Y],
)
PAIRS = given(
    u=[X, X],
    v=[X, X],
    w=[X, Y],
    x=[Y, OPPOSITE],
)


def theorem_1(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord <= arc <= pi/2 · chord. Scale: the chord."""
    d = chord(u, v)
    scale = d.where(d > 0, 1)
    return ascending(
        d,
        arc(u, v),
        pi / 2 * d,
        scale=scale,
    )


def theorem_1_chord(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord = 2 sin(arccos(u·v)/2), squared: near 0 arccos is exact to 1e-8, its square to 1e-16. Scale: 4."""
    theta = inner(u, v).clamp(-1, 1).acos()
    return equal(
        chord(u, v) ** 2,
        4 * (theta / 2).sin() ** 2,
        4,
    )


def theorem_1_meridian(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """Turning w about v until it is opposite u takes it no nearer to u, and the arcs then add up, if at most to pi."""
    side = across(u, v)
    length = vector_norm(side, dim=1)
    gamma = arc(v, w)
    away = column(gamma.sin()) * side / column(length.where(length > 0, 1))
    opposite = column(gamma.cos()) * v - away
    missing = (arc(u, opposite) - arc(u, v) - gamma).abs()
    # next to u = ±v the meridian itself is only known to rounding/length; next to pi the sum can round past pi
    met = (length > 1e-5) & (arc(u, v) + gamma < pi - 1e-5)
    left = torch.stack([chord(u, w), missing], dim=1)
    right = torch.stack([chord(u, opposite), torch.zeros_like(missing)], dim=1)
    return at_most(left, right, met=met)


def lemma_1(u: Tensor, v: Tensor, w: Tensor, x: Tensor) -> Checked:
    """arc(u, v) = arc(w, x) iff chord(u, v) = chord(w, x), quantified: 4 sin²(|Δarc|/4) <= ±Δchord <= |Δarc|."""
    by_arc = arc(u, v) - arc(w, x)
    by_chord = chord(u, v) - chord(w, x)
    sign = torch.where(by_arc < 0, -1, 1)
    least = 4 * (by_arc / 4).sin() ** 2
    return ascending(least, by_chord * sign, by_arc.abs())


def lemma_1_sum(u: Tensor, v: Tensor, w: Tensor, *, left_out: int) -> Checked:
    """Sum of (u_i - v_i)² over all but the last ``left_out`` coordinates = 2 (1 - u·v). Scale: 4."""
    coordinates = u.shape[1] - left_out
    squares = (u - v)[:, :coordinates].square()
    return equal(
        squares.sum(dim=1),
        2 * (1 - inner(u, v)),
        4,
    )


def definition_1(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """arc(u, w) <= arc(u, v) + arc(v, w)."""
    return at_most(
        arc(u, w),
        arc(u, v) + arc(v, w),
    )


def definition_1_printed(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """The triangle's inequality with the first term twice."""
    return at_most(
        arc(u, w),
        arc(u, v) + arc(u, v),
    )


def definition_4(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """cos(arc(u, v) + arc(v, w)) <= u·w."""
    around = arc(u, v) + arc(v, w)
    return at_most(around.cos(), inner(u, w))


def sandwiches(g: Generator, n: int) -> Inputs:
    d_a = wide(g, n)
    epsilon = 1 + wide(g, n)
    place = (1.4 * uniform(g, n) - 0.2).clamp(0, 1)
    d_b = d_a * (1 / epsilon + place * (1 - 1 / epsilon))
    r = d_b * epsilon * spread(g, -0.1, 0.3, n)
    return {
        "d_a": d_a,
        "d_b": d_b,
        "epsilon": epsilon,
        "r": r,
    }


DISTANCES = given(
    d_a=[1.0, 2.0],
    d_b=[1.0, 1.0],
    epsilon=[1.0, 2.0],
    r=[2.0, 3.0],
)


def sandwiched(d_a: Tensor, d_b: Tensor, epsilon: Tensor) -> Tensor:
    """The hypothesis of Proposition 2: d_a/epsilon <= d_b <= d_a."""
    return (d_a / epsilon <= d_b) & (d_b <= d_a) & (d_a > 0)


def proposition_2(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor) -> Checked:
    """d_b < r/epsilon implies d_a < r, and d_a < r/epsilon implies d_b < r. Scale: r."""
    near_b = d_b < r / epsilon
    near_a = d_a < r / epsilon
    met = sandwiched(d_a, d_b, epsilon) & (near_b | near_a)
    implied = [torch.where(near_b, d_a, 0), torch.where(near_a, d_b, 0)]
    return at_most(
        torch.stack(implied, dim=1),
        column(r),
        r,
        met,
    )


def proposition_2_step(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor) -> Checked:
    """The proof's step, corrected: d_a <= epsilon · d_b. Scale: d_a."""
    return at_most(
        d_a,
        d_b * epsilon,
        d_a,
        sandwiched(d_a, d_b, epsilon),
    )


def proposition_2_step_printed(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor) -> Checked:
    """The proof's step, as printed: d_a <= d_b. Scale: d_a."""
    return at_most(
        d_a,
        d_b,
        d_a,
        sandwiched(d_a, d_b, epsilon),
    )


def great_circles(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    normal_to_both = torch.linalg.cross(u, directions(g, n))
    side = F.normalize(normal_to_both, dim=1)
    return {
        "u": u,
        "side": side,
        "theta": angle(g, n),
    }


CIRCLE = given(u=[X], side=[Y], theta=[pi / 2])


def chord_of_cosine(u: Tensor, side: Tensor, theta: Tensor) -> Checked:
    """d chord / d cosine = -1/chord along a great circle, checked as chord · dchord + dcosine = 0."""

    def chord_at(angle: Tensor) -> Tensor:
        return chord(u, on_circle(u, side, angle))

    def cosine_at(angle: Tensor) -> Tensor:
        return inner(u, on_circle(u, side, angle))

    return equal(
        chord_at(theta) * gradient(chord_at, theta),
        -gradient(cosine_at, theta),
    )


# Eq. 1, 2 and 6 for one anchor, as functions of its cosines, the positive's first


def positive(x: Tensor) -> Tensor:
    """The positive's entry."""
    return x[:, 0]


def sides(cosines: Tensor) -> Tensor:
    """Distances of unit vectors with these cosines."""
    return (2 - 2 * cosines).sqrt()


def cross_entropy(logits: Tensor) -> Tensor:
    """-log(exp(positive) / sum of exp)."""
    return -positive(logits.log_softmax(dim=1))


def literal_cross_entropy(logits: Tensor) -> Tensor:
    """-log(exp(positive) / sum over negatives of exp), as Eq. 1 and 2 are printed."""
    return logits[:, 1:].logsumexp(dim=1) - positive(logits)


class AnchorCosines(NamedTuple):
    """An anchor's cosines with its candidates, [n, m], and the parameters of Eq. 2, [n]."""

    cosines: Tensor
    temperature: Tensor
    alpha: Tensor
    beta: Tensor

    def logits(self, cosines: Tensor) -> Tensor:
        return cosines / column(self.temperature)

    def loss(self, cosines: Tensor) -> Tensor:
        """Eq. 2 with the positive in both sums (D2)."""
        by_angle = cross_entropy(self.logits(cosines))
        by_distance = cross_entropy(sides(cosines))
        return self.alpha * by_angle + self.beta * by_distance

    def literal_loss(self, cosines: Tensor, sign: int) -> Tensor:
        """Eq. 2 with the sums as printed, which leave out the positive; ``sign`` is of the distances, 1 as printed."""
        by_angle = literal_cross_entropy(self.logits(cosines))
        by_distance = literal_cross_entropy(sign * sides(cosines))
        return self.alpha * by_angle + self.beta * by_distance

    def slope(self) -> Tensor:
        """The slope of Eq. 2 in the positive's cosine."""
        return positive(gradient(self.loss, self.cosines))

    def slopes(self) -> Tensor:
        """The sum of both terms' largest slopes in the positive's cosine."""
        return self.alpha / self.temperature + self.beta / positive(sides(self.cosines))


def anchors(g: Generator, n: int) -> Inputs:
    """Four candidates; distances of 1e-4 to 2, so that 1/distance is finite."""
    near = uniform(g, n, 4) < 0.3
    halves = torch.where(near, spread(g, -4, 0, n, 4), uniform(g, n, 4))
    cosines = 1 - 2 * halves**2
    return {
        "cosines": cosines.clamp(-1, 1 - 5e-9),
        "alpha": wide(g, n),
        "beta": wide(g, n),
        "temperature": wide(g, n),
    }


def near_positives(g: Generator, n: int) -> Inputs:
    """Anchors whose positive is the nearest, with a beta that is large enough to repel it."""
    x = AnchorCosines(**anchors(g, n))
    cosines = x.cosines.sort(dim=1, descending=True).values
    threshold = positive(sides(cosines)) * x.alpha / x.temperature
    beta = threshold * (1 + wide(g, n))
    return x._replace(cosines=cosines, beta=beta)._asdict()


TWO = given(cosines=[[0.0, 0.0], [0.0, -1.0]], temperature=[1.0, 1.0])
FOUR = given(
    # DM4's weights (Table 1) at tau = 1: a positive at distance 1 is on the threshold, at distance 1/2 below it
    cosines=[[0.5, -1.0], [0.875, -1.0]],
    alpha=[1.0, 1.0],
    beta=[1.0, 1.0],
    temperature=[1.0, 1.0],
)


def scaled_pairs(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    v = at_angle(g, u)
    return {
        "u": u,
        "v": v,
        "temperature": wide(g, n),
    }


SCALED = given(u=[X], v=[X], temperature=[0.5])


def radius(
    u: Tensor, v: Tensor, temperature: Tensor, *, power: float, other: float | None = None
) -> Checked:
    """The inner product is u·v/tau where u has length tau^-power, and v the same or tau^-other. Scale: 1/tau."""
    if other is None:
        other = power
    long_u = u / column(temperature) ** power
    long_v = v / column(temperature) ** other
    return equal(
        inner(long_u, long_v),
        inner(u, v) / temperature,
        1 / temperature,
    )


def equation_1(cosines: Tensor, temperature: Tensor, **weights: Tensor) -> Checked:
    """Cross-entropy is the softplus of Eq. 1, which has no positive in its sum. Scale: 1 + 1/tau, the size of logits.

    ``anchors`` draws ``weights`` for Eq. 2; Eq. 1 has none.
    """
    logits = cosines / column(temperature)
    literal = literal_cross_entropy(logits)
    softplus = torch.logaddexp(literal, torch.zeros_like(literal))  # F.softplus drops e^-20
    return equal(
        softplus,
        cross_entropy(logits),
        1 + 1 / temperature,
    )


def equation_1_printed(cosines: Tensor, temperature: Tensor, **weights: Tensor) -> Checked:
    """Cross-entropy is Eq. 1 itself. Scale: 1 + 1/tau."""
    logits = cosines / column(temperature)
    return equal(
        literal_cross_entropy(logits),
        cross_entropy(logits),
        1 + 1 / temperature,
    )


def equation_6(x: AnchorCosines) -> Checked:
    """Eq. 2 is the spread of all candidates less the positive's alignment. Scale: alpha (1 + 1/tau) + beta."""
    logits = x.logits(x.cosines)
    d = sides(x.cosines)
    alignment = x.alpha * positive(logits) + x.beta * positive(d)
    dispersion = x.alpha * logits.logsumexp(dim=1) + x.beta * d.logsumexp(dim=1)
    return equal(
        x.loss(x.cosines),
        dispersion - alignment,
        scale=x.alpha * (1 + 1 / x.temperature) + x.beta,
    )


def weighted_alignment(x: AnchorCosines, *, sign: int) -> Checked:
    """-(alpha · cos/tau ± beta · chord) of the positive never rises with its cosine. Scale: the sum of both slopes."""

    def loss(cosine: Tensor) -> Tensor:
        by_angle = x.alpha * cosine / x.temperature
        by_distance = sign * x.beta * sides(cosine)
        return -(by_angle + by_distance)

    rise = gradient(loss, positive(x.cosines))
    return at_most(
        rise,
        0,
        x.slopes(),
    )


def attraction(x: AnchorCosines, *, sign: int) -> Checked:
    """The loss never rises with the positive's cosine. Scale: the sum of both terms' largest slopes."""
    slopes = gradient(lambda cosines: x.literal_loss(cosines, sign), x.cosines)
    return at_most(
        positive(slopes),
        0,
        x.slopes(),
    )


def repulsion(x: AnchorCosines) -> Checked:
    """The printed loss does not fall with the cosine of a positive that is nearest, within beta · tau/alpha."""
    nearest = (x.cosines[:, :1] >= x.cosines).all(dim=1)
    within = positive(sides(x.cosines)) < x.beta * x.temperature / x.alpha
    return at_most(
        -x.slope(),
        0,
        x.slopes(),
        nearest & within,
    )


def equation_2_slope(x: AnchorCosines) -> Checked:
    """The slope is beta (1 - q)/chord - alpha (1 - p)/tau, where p and q are the positive's softmax probabilities."""
    d = sides(x.cosines)
    p = positive(x.logits(x.cosines).softmax(dim=1))
    q = positive(d.softmax(dim=1))
    push = x.beta * (1 - q) / positive(d)
    pull = x.alpha * (1 - p) / x.temperature
    return equal(
        x.slope(),
        push - pull,
        x.slopes(),
    )


# App. G: gradients at one anchor u of inner products and distances, u itself free.


class FreeAnchor(NamedTuple):
    """An anchor that may leave the sphere, and its candidates, the positive first; its temperature is [n, 1]."""

    u: Tensor
    candidates: Tensor
    t: Tensor
    alpha: Tensor
    beta: Tensor

    def products(self) -> Tensor:
        return inner(self.candidates, column(self.u))

    def away(self) -> Tensor:
        """u - v for each candidate v, [n, m, d]."""
        return column(self.u) - self.candidates

    def distances(self) -> Tensor:
        return vector_norm(self.away(), dim=2)

    def loss(self) -> Tensor:
        """Eq. 2 with the positive in both sums (D2)."""
        by_angle = cross_entropy(self.products() / self.t)
        by_distance = cross_entropy(self.distances())
        return self.alpha * by_angle + self.beta * by_distance


def weighted_sum(weights: Tensor, vectors: Tensor) -> Tensor:
    """The candidates' vectors [n, m, d], each times its weight [n, m], and added up."""
    return (weights[:, :, None] * vectors).sum(dim=1)


def middle_line(x: FreeAnchor) -> Tensor:
    """v_+/tau - (1/Z) d/du sum of exp(u·v) as printed; 1/Z is inside of exp, so that nothing overflows."""
    products = x.products()
    log_z = (products / x.t).logsumexp(dim=1, keepdim=True)
    shares = (products - log_z).clamp(max=600).exp()
    return positive(x.candidates) / x.t - weighted_sum(shares, x.candidates)


def middle_line_with_tau(x: FreeAnchor) -> Tensor:
    """The middle line with exp(u·v/tau) in the sum."""
    logits = x.products() / x.t
    log_z = logits.logsumexp(dim=1, keepdim=True)
    shares = (logits - log_z).exp() / x.t
    return positive(x.candidates) / x.t - weighted_sum(shares, x.candidates)


def last_line(x: FreeAnchor, first: int = 0) -> Tensor:
    """The sum of two gradients, where p and q are softmax probabilities by inner products and distances.

    alpha ((1 - p_+) v_+/tau - sum over negatives of p_- v_-/tau), where we read v_- as part of the sum, and
    beta ((u - v)/|u - v| - sum of q (u - v)/|u - v|), where the first v is v_+; its |u - v| is of candidate ``first``.
    """
    terms = x.candidates / column(x.t)
    p = (x.products() / x.t).softmax(dim=1)
    pulled = (1 - p[:, :1]) * positive(terms)
    by_angle = pulled - weighted_sum(p[:, 1:], terms[:, 1:])
    away = x.away()
    d = x.distances()
    q = d.softmax(dim=1)
    pushed = q[:, :, None] * away / d[:, :, None]
    by_distance = positive(away) / column(d[:, first]) - pushed.sum(dim=1)
    return column(x.alpha) * by_angle + column(x.beta) * by_distance


def appendix_g(
    u: Tensor,
    positive: Tensor,
    negatives: Tensor,
    temperature: Tensor,
    alpha: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    line: Callable[[FreeAnchor], Tensor] = last_line,
    sign: float = -1,
) -> Checked:
    """Where no candidate is at u, the gradient of Eq. 2 (without weights, of Eq. 1) is ``sign`` times a line of App. G.

    Negatives are [n, 2, d]. Autograd differentiates the loss as defined. D5: the paper's Eq. 1 and 2 are losses, but
    App. G differentiates minus them. The scale is alpha/tau + beta, the size of a gradient made of unit vectors, or the
    claim's largest component if that is larger.
    """
    if alpha is None:
        alpha = torch.ones_like(temperature)
    if beta is None:
        beta = torch.zeros_like(temperature)
    candidates = torch.cat([column(positive), negatives], dim=1)
    anchor = FreeAnchor(u, candidates, column(temperature), alpha, beta)
    slope = gradient(lambda free: anchor._replace(u=free).loss(), u)
    claimed = line(anchor)
    scale = torch.maximum(alpha / temperature + beta, claimed.abs().amax(dim=1))
    apart = (anchor.distances() > 0).all(dim=1)
    return equal(slope, sign * claimed, scale, apart)


def free_anchors(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    near = at_angle(g, u)
    anywhere = directions(g, n)
    return {
        "u": u,
        "positive": at_angle(g, u),
        "negatives": torch.stack([near, anywhere], dim=1),
        "temperature": wide(g, n),
    }


def weighted_anchors(g: Generator, n: int) -> Inputs:
    drawn = dict(free_anchors(g, n))
    drawn["alpha"] = wide(g, n)
    drawn["beta"] = wide(g, n)
    return drawn


# One negative opposite the anchor, the positive at a right angle; at tau 1 and 1/2.
anchor_in_plane = partial(
    given,
    u=[X, X],
    positive=[Y, Y],
    negatives=[[OPPOSITE], [OPPOSITE]],
    temperature=[1.0, 0.5],
)
UNWEIGHTED = anchor_in_plane()
WEIGHTED = anchor_in_plane(alpha=[1.0, 1.0], beta=[1.0, 1.0])  # DM4 (Table 1)

on_cosines = partial(of_case, AnchorCosines)
last_coordinate_off = partial(lemma_1_sum, left_out=1)
all_coordinates = partial(lemma_1_sum, left_out=0)
# Signs of the distances' term: +1 as printed, -1 with D1.
attraction_printed = on_cosines(partial(attraction, sign=1))
attraction_d1 = on_cosines(partial(attraction, sign=-1))
alignment_printed = on_cosines(partial(weighted_alignment, sign=1))
alignment_d1 = on_cosines(partial(weighted_alignment, sign=-1))
# Lines of App. G
gradient_printed = partial(appendix_g, sign=1)
temperature_printed = partial(appendix_g, line=middle_line)
temperature_d5 = partial(appendix_g, line=middle_line_with_tau)
norm_printed = partial(appendix_g, line=partial(last_line, first=1))

STATEMENTS = (
    Statement("double_metric.theorem_1", theorem_1, path, PATHS),
    Statement("double_metric.theorem_1_chord", theorem_1_chord, path, PATHS),
    Statement("double_metric.theorem_1_meridian", theorem_1_meridian, short_path, PATHS),
    Statement("double_metric.lemma_1", lemma_1, two_pairs, PAIRS),
    Statement("double_metric.lemma_1_identity", all_coordinates, path, PATHS),
    Statement("double_metric.lemma_1_sum", last_coordinate_off, path, PATHS),
    Statement("double_metric.lemma_1_sum.d23", all_coordinates, path, PATHS),
    Statement("double_metric.definition_1", definition_1_printed, path, PATHS),
    Statement("double_metric.definition_1.d22", definition_1, path, PATHS),
    Statement("double_metric.definition_4", definition_4, path, PATHS),
    Statement("double_metric.proposition_2", proposition_2, sandwiches, DISTANCES),
    Statement(
        "double_metric.proposition_2_step", proposition_2_step_printed, sandwiches, DISTANCES
    ),
    Statement("double_metric.proposition_2_step.d7", proposition_2_step, sandwiches, DISTANCES),
    Statement("double_metric.chord_of_cosine", chord_of_cosine, great_circles, CIRCLE),
    Statement("double_metric.radius", partial(radius, power=1), scaled_pairs, SCALED),
    Statement("double_metric.radius.d24", partial(radius, power=0.5), scaled_pairs, SCALED),
    Statement(
        "double_metric.radius_of_one.d24", partial(radius, power=1, other=0), scaled_pairs, SCALED
    ),
    Statement("double_metric.equation_1", equation_1_printed, anchors, TWO),
    Statement("double_metric.equation_1.d2", equation_1, anchors, TWO),
    Statement("double_metric.equation_2_slope", on_cosines(equation_2_slope), anchors, FOUR),
    Statement("double_metric.equation_2_repulsion", on_cosines(repulsion), near_positives, FOUR),
    Statement("double_metric.equation_2_attraction", attraction_printed, anchors, FOUR),
    Statement("double_metric.equation_2_attraction.d1", attraction_d1, anchors, FOUR),
    Statement("double_metric.equation_6", on_cosines(equation_6), anchors, FOUR),
    Statement("double_metric.equation_6_alignment", alignment_printed, anchors, FOUR),
    Statement("double_metric.equation_6_alignment.d1", alignment_d1, anchors, FOUR),
    Statement("double_metric.appendix_g_nt_xent", gradient_printed, free_anchors, UNWEIGHTED),
    Statement("double_metric.appendix_g_nt_xent.d5", appendix_g, free_anchors, UNWEIGHTED),
    Statement(
        "double_metric.appendix_g_temperature", temperature_printed, free_anchors, UNWEIGHTED
    ),
    Statement("double_metric.appendix_g_temperature.d5", temperature_d5, free_anchors, UNWEIGHTED),
    Statement(
        "double_metric.appendix_g_double_metric", gradient_printed, weighted_anchors, WEIGHTED
    ),
    Statement("double_metric.appendix_g_double_metric.d5", appendix_g, weighted_anchors, WEIGHTED),
    Statement("double_metric.appendix_g_norm", norm_printed, weighted_anchors, WEIGHTED),
    Statement("double_metric.appendix_g_norm.d5", appendix_g, weighted_anchors, WEIGHTED),
)
