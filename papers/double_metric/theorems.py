"""Statements of the double-metric paper, and of ours that follow from its Eq. 2.

Shapes: n draws, d = 3 dimensions, m candidates of an anchor, the positive first.
"""

from functools import partial
from math import pi

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from torch.linalg import vector_norm

from hypersphere.exact.statement import Checked, Inputs, Statement, at_most, equal, given, gradient, spread


def uniform(g: Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=g, dtype=torch.float64)


def angle(g: Generator, *shape: int) -> Tensor:
    """Three of five draws are uniform in [0, pi]. One is near 0 and one near pi, some exactly 0 or pi."""
    kind, near = (5 * uniform(g, *shape)).long(), spread(g, -8, -1, *shape) * (uniform(g, *shape) > 0.1)
    return torch.where(kind == 0, near, torch.where(kind == 1, pi - near, pi * uniform(g, *shape)))


def directions(g: Generator, n: int) -> Tensor:
    return F.normalize(torch.randn(n, 3, generator=g, dtype=torch.float64), dim=1)


def at_angle(g: Generator, u: Tensor) -> Tensor:
    """A unit vector at a drawn angle to u, in a random direction."""
    return turned(u, directions(g, len(u)), angle(g, len(u)))


def turned(u: Tensor, towards: Tensor, theta: Tensor) -> Tensor:
    """u turned by theta in the plane of u and ``towards``."""
    perpendicular = F.normalize(towards - (towards * u).sum(dim=1, keepdim=True) * u, dim=1)
    return F.normalize(theta.cos()[:, None] * u + theta.sin()[:, None] * perpendicular, dim=1)


def path(g: Generator, n: int) -> Inputs:
    """Three points. In a quarter of the draws w is on the great circle of u and v, so that triangles are flat."""
    u = directions(g, n)
    v = at_angle(g, u)
    straight = turned(v, -u, angle(g, n))
    return {"u": u, "v": v, "w": torch.where(uniform(g, n, 1) < 0.25, straight, at_angle(g, v))}


def chord(u: Tensor, v: Tensor) -> Tensor:
    return vector_norm(u - v, dim=-1)


def arc(u: Tensor, v: Tensor) -> Tensor:
    """arccos(u·v), from the half-angle's tangent; arccos itself keeps only half of the digits near 0 and pi."""
    return 2 * torch.atan2(vector_norm(u - v, dim=-1), vector_norm(u + v, dim=-1))


# App. F: chord and arc are two metrics on one sphere, and topologically the same. Distances are at most pi, so an
# excess has scale 1 unless a check says otherwise.


X, Y, OPPOSITE = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
PATHS = given(u=[X, X, X], v=[X, Y, OPPOSITE], w=[Y, OPPOSITE, Y])


def theorem_1(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord <= arc <= pi/2 · chord. Scale: the chord."""
    d, along = chord(u, v), arc(u, v)
    return at_most(torch.stack([d, along], dim=1), torch.stack([along, pi / 2 * d], dim=1), d.where(d > 0, 1))


def theorem_1_chord(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord = 2 sin(arccos(u·v)/2), squared: near 0 arccos is exact to 1e-8, its square to 1e-16. Scale: 4."""
    theta = (u * v).sum(dim=1).clamp(-1, 1).acos()
    return equal(chord(u, v) ** 2, 4 * (theta / 2).sin() ** 2, 4)


def theorem_1_meridian(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """Turning w about v until it is opposite u takes it no nearer to u, and the arcs then add up, if at most to pi."""
    side = u - (u * v).sum(dim=1, keepdim=True) * v
    length = vector_norm(side, dim=1)
    gamma = arc(v, w)
    opposite = gamma.cos()[:, None] * v - gamma.sin()[:, None] * side / length.where(length > 0, 1)[:, None]
    added = (arc(u, opposite) - arc(u, v) - gamma).abs()
    # next to u = ±v the meridian itself is only known to rounding/length; next to pi the sum can round past pi
    met = (length > 1e-5) & (arc(u, v) + gamma < pi - 1e-5)
    left, right = (chord(u, w), added), (chord(u, opposite), torch.zeros_like(added))
    return at_most(torch.stack(left, dim=1), torch.stack(right, dim=1), met=met)


def short_path(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    first, share = angle(g, n), uniform(g, n)
    v = turned(u, directions(g, n), first)
    return {"u": u, "v": v, "w": turned(v, directions(g, n), (pi - first) * share)}


def lemma_1(u: Tensor, v: Tensor, w: Tensor, x: Tensor) -> Checked:
    """arc(u, v) = arc(w, x) iff chord(u, v) = chord(w, x), quantified: 4 sin²(|Δarc|/4) <= ±Δchord <= |Δarc|."""
    by = arc(u, v) - arc(w, x)
    change = (chord(u, v) - chord(w, x)) * torch.where(by < 0, -1, 1)
    left, right = (4 * (by / 4).sin() ** 2, change), (change, by.abs())
    return at_most(torch.stack(left, dim=1), torch.stack(right, dim=1))


def two_pairs(g: Generator, n: int) -> Inputs:
    """Two pairs. In half of the draws the second is a reflection of the first; the others are unrelated."""
    u, w, normal = directions(g, n), directions(g, n), directions(g, n)
    v, x = at_angle(g, u), at_angle(g, w)
    reflect = uniform(g, n, 1) < 0.5
    mirrored = [z - 2 * (z * normal).sum(dim=1, keepdim=True) * normal for z in (u, v)]
    return {"u": u, "v": v, "w": torch.where(reflect, mirrored[0], w), "x": torch.where(reflect, mirrored[1], x)}


def lemma_1_sum(u: Tensor, v: Tensor, w: Tensor, *, left_out: int) -> Checked:
    """Sum of (u_i - v_i)² over all but the last ``left_out`` coordinates = 2 (1 - u·v). Scale: 4."""
    summed = u.shape[1] - left_out
    return equal((u - v)[:, :summed].square().sum(dim=1), 2 * (1 - (u * v).sum(dim=1)), 4)


def definition_1(u: Tensor, v: Tensor, w: Tensor, *, printed: bool) -> Checked:
    """arc(u, w) <= arc(u, v) + arc(v, w). It is printed with the first term twice."""
    return at_most(arc(u, w), arc(u, v) + (arc(u, v) if printed else arc(v, w)))


def definition_4(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    return at_most((arc(u, v) + arc(v, w)).cos(), (u * w).sum(dim=1))


def proposition_2(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor) -> Checked:
    """d_b < r/epsilon implies d_a < r, and d_a < r/epsilon implies d_b < r. Scale: r."""
    met = sandwiched(d_a, d_b, epsilon) & ((d_b < r / epsilon) | (d_a < r / epsilon))
    implied = [torch.where(a < r / epsilon, b, 0) for a, b in ((d_b, d_a), (d_a, d_b))]
    return at_most(torch.stack(implied, dim=1), r[:, None], r, met)


def proposition_2_step(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor, *, printed: bool) -> Checked:
    """The proof's d_a <= d_b, which should be d_a <= epsilon · d_b. Scale: d_a."""
    return at_most(d_a, d_b * (1 if printed else epsilon), d_a, sandwiched(d_a, d_b, epsilon))


def sandwiched(d_a: Tensor, d_b: Tensor, epsilon: Tensor) -> Tensor:
    return (d_a / epsilon <= d_b) & (d_b <= d_a) & (d_a > 0)


def sandwiches(g: Generator, n: int) -> Inputs:
    d_a, epsilon, where = spread(g, -3, 3, n), 1 + spread(g, -3, 3, n), (1.4 * uniform(g, n) - 0.2).clamp(0, 1)
    d_b = d_a * (1 / epsilon + where * (1 - 1 / epsilon))
    return {"d_a": d_a, "d_b": d_b, "epsilon": epsilon, "r": d_b * epsilon * spread(g, -0.1, 0.3, n)}


def chord_of_cosine(u: Tensor, side: Tensor, theta: Tensor) -> Checked:
    """d chord / d cosine = -1/chord along a great circle, checked as chord · dchord + dcosine = 0."""

    def end(t: Tensor) -> Tensor:
        return t.cos()[:, None] * u + t.sin()[:, None] * side

    by_chord = gradient(lambda t: chord(u, end(t)), theta)
    by_cosine = gradient(lambda t: (u * end(t)).sum(dim=1), theta)
    return equal(chord(u, end(theta)) * by_chord, -by_cosine)


def great_circles(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    return {"u": u, "side": F.normalize(torch.linalg.cross(u, directions(g, n)), dim=1), "theta": angle(g, n)}


PAIRS = given(u=[X, X], v=[X, X], w=[X, Y], x=[Y, OPPOSITE])
DISTANCES = given(d_a=[1.0, 2.0], d_b=[1.0, 1.0], epsilon=[1.0, 2.0], r=[2.0, 3.0])
CIRCLE = given(u=[X], side=[Y], theta=[pi / 2])


# Eq. 1, 2 and 6 for one anchor, as functions of its cosines, the positive's first


def sides(cosines: Tensor) -> Tensor:
    """Distances of unit vectors with these cosines."""
    return (2 - 2 * cosines).sqrt()


def equation_2(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Tensor:
    """With the positive in both sums (D2)."""
    cross_entropy = -(cosines / temperature[:, None]).log_softmax(dim=1)[:, 0]
    return alpha * cross_entropy - beta * sides(cosines).log_softmax(dim=1)[:, 0]


def equation_2_literal(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor, sign: int) -> Tensor:
    """With the sums as printed, which leave out the positive; ``sign`` is that of the distances, 1 as printed."""
    terms = ((alpha, cosines / temperature[:, None]), (beta, sign * sides(cosines)))
    return sum((weight * (x[:, 1:].logsumexp(dim=1) - x[:, 0]) for weight, x in terms), torch.zeros_like(alpha))


def anchors(g: Generator, n: int) -> Inputs:
    """Four candidates; distances of 1e-4 to 2, so that 1/distance is finite."""
    halves = torch.where(uniform(g, n, 4) < 0.3, spread(g, -4, 0, n, 4), uniform(g, n, 4))
    cosines = 1 - 2 * halves**2
    weights = {name: spread(g, -3, 3, n) for name in ("alpha", "beta", "temperature")}
    return {"cosines": cosines.clamp(-1, 1 - 5e-9), **weights}


def near_positives(g: Generator, n: int) -> Inputs:
    """Anchors whose positive is the nearest, with a beta that is large enough to repel it."""
    drawn = anchors(g, n)
    cosines = drawn["cosines"].sort(dim=1, descending=True).values
    beta = sides(cosines[:, 0]) * drawn["alpha"] / drawn["temperature"] * (1 + spread(g, -3, 3, n))
    return {**drawn, "cosines": cosines, "beta": beta}


def radius(u: Tensor, v: Tensor, temperature: Tensor, *, power: float, other: float | None = None) -> Checked:
    """The inner product is u·v/tau where u has length tau^-power, and v the same or tau^-other. Scale: 1/tau."""
    of_u, of_v = (temperature[:, None] ** (power if each is None else each) for each in (None, other))
    return equal((u / of_u * (v / of_v)).sum(dim=1), (u * v).sum(dim=1) / temperature, 1 / temperature)


def equation_1(cosines: Tensor, temperature: Tensor, *, printed: bool, **weights: Tensor) -> Checked:
    """The loss without the positive in the sum; cross-entropy is its softplus. Scale: 1 + 1/tau, the size of logits.

    It has no ``weights``, which ``anchors`` draws for Eq. 2.
    """
    logits = cosines / temperature[:, None]
    literal = logits[:, 1:].logsumexp(dim=1) - logits[:, 0]
    left = literal if printed else torch.logaddexp(literal, torch.zeros_like(literal))  # F.softplus drops e^-20
    return equal(left, -logits.log_softmax(dim=1)[:, 0], 1 + 1 / temperature)


def equation_6(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    logits, d = cosines / temperature[:, None], sides(cosines)
    aligned = alpha * logits[:, 0] + beta * d[:, 0]
    spread = alpha * logits.logsumexp(dim=1) + beta * d.logsumexp(dim=1)
    left = equation_2(cosines, alpha, beta, temperature)
    return equal(left, spread - aligned, alpha * (1 + 1 / temperature) + beta)


def weighted_alignment(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor, *, sign: int) -> Checked:
    """-(alpha · cos/tau ± beta · chord) of the positive never rises with its cosine. Scale: the sum of both slopes."""
    positive = cosines[:, 0]
    rise = gradient(lambda c: -(alpha * c / temperature + sign * beta * sides(c)), positive)
    return at_most(rise, 0, alpha / temperature + beta / sides(positive))


def attraction(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor, *, sign: int) -> Checked:
    """The loss never rises with the positive's cosine. Scale: the sum of both terms' largest slopes."""
    rise = gradient(lambda c: equation_2_literal(c, alpha, beta, temperature, sign), cosines)[:, 0]
    return at_most(rise, 0, alpha / temperature + beta / sides(cosines[:, 0]))


def repulsion(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    """The printed loss does not fall with the cosine of a positive that is nearest, within beta · tau/alpha."""
    met = (cosines[:, :1] >= cosines).all(dim=1) & (sides(cosines[:, 0]) < beta * temperature / alpha)
    rise = gradient(lambda c: equation_2(c, alpha, beta, temperature), cosines)[:, 0]
    return at_most(-rise, 0, alpha / temperature + beta / sides(cosines[:, 0]), met)


def positive_slope(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    """The slope is beta (1 - q)/chord - alpha (1 - p)/tau, where p and q are the positive's softmax probabilities."""
    d = sides(cosines)
    p, q = (cosines / temperature[:, None]).softmax(dim=1)[:, 0], d.softmax(dim=1)[:, 0]
    largest = alpha / temperature + beta / d[:, 0]
    closed = beta * (1 - q) / d[:, 0] - alpha * (1 - p) / temperature
    rise = gradient(lambda c: equation_2(c, alpha, beta, temperature), cosines)[:, 0]
    return equal(rise, closed, largest)


def scaled_pairs(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    return {"u": u, "v": at_angle(g, u), "temperature": spread(g, -3, 3, n)}


TWO = given(cosines=[[0.0, 0.0], [0.0, -1.0]], temperature=[1.0, 1.0])
# DM4's weights (Table 1) at tau = 1: a positive at distance 1 is on the threshold, at distance 1/2 below it
UNIT = {"alpha": [1.0] * 2, "beta": [1.0] * 2, "temperature": [1.0] * 2}
FOUR = given(cosines=[[0.5, -1.0], [0.875, -1.0]], **UNIT)
SCALED = given(u=[[1.0, 0.0]], v=[[1.0, 0.0]], temperature=[0.5])


# App. G: gradients at one anchor u of inner products and distances, u itself free.


def appendix_g(
    u: Tensor,
    positive: Tensor,
    negatives: Tensor,
    temperature: Tensor,
    alpha: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    line: str = "last",
    sign: float = -1,
) -> Checked:
    """Where no candidate is at u, the gradient of Eq. 2 (without weights, of Eq. 1) is ``sign`` times a line of App. G.

    Negatives are [n, 2, d]. Autograd differentiates the loss as defined. D5: the paper's Eq. 1 and 2 are losses, but
    App. G differentiates minus them. Lines, where p and q are softmax probabilities by inner products and distances:

    - ``last``: alpha ((1 - p_+) v_+/tau - sum over negatives of p_- v_-/tau), where we read v_- as part of the sum, and
      beta ((u - v)/|u - v| - sum of q (u - v)/|u - v|), where the first v is v_+
    - ``last, v_-``: the same, where the first |u - v| is that of the sum's v, here the first v_-
    - ``middle``: v_+/tau - (1/Z) d/du sum of exp(u·v) as printed; 1/Z is inside of exp, so that nothing overflows
    - ``middle, tau``: the same with exp(u·v/tau) in the sum

    The scale is alpha/tau + beta, the size of a gradient made of unit vectors, or the claim's largest component if that
    is larger.
    """
    candidates, t = torch.cat([positive[:, None], negatives], dim=1), temperature[:, None]
    alpha = torch.ones_like(temperature) if alpha is None else alpha
    beta = torch.zeros_like(temperature) if beta is None else beta

    def equation_2_of(at: Tensor) -> Tensor:
        products, distances = (candidates * at[:, None]).sum(dim=2), vector_norm(at[:, None] - candidates, dim=2)
        return -alpha * (products / t).log_softmax(dim=1)[:, 0] - beta * distances.log_softmax(dim=1)[:, 0]

    inner, away = (candidates * u[:, None]).sum(dim=2), u[:, None] - candidates
    logits, d = inner / t, vector_norm(away, dim=2)
    if line.startswith("middle"):
        log_z = logits.logsumexp(dim=1, keepdim=True)
        printed = (inner - log_z).clamp(max=600).exp()
        weights = (logits - log_z).exp() / t if line == "middle, tau" else printed
        claim = positive / t - (weights[:, :, None] * candidates).sum(dim=1)
    else:
        p, q, terms = logits.softmax(dim=1), d.softmax(dim=1), candidates / t[:, :, None]
        nt_xent = (1 - p[:, :1]) * terms[:, 0] - (p[:, 1:, None] * terms[:, 1:]).sum(dim=1)
        first = away[:, 0] / d[:, 1 if line == "last, v_-" else 0, None]
        claim = alpha[:, None] * nt_xent + beta[:, None] * (first - (q[:, :, None] * away / d[:, :, None]).sum(dim=1))
    scale = torch.maximum(alpha / temperature + beta, claim.abs().amax(dim=1))
    return equal(gradient(equation_2_of, u), sign * claim, scale, (d > 0).all(dim=1))


def free_anchors(g: Generator, n: int, weights: tuple[str, ...] = ()) -> Inputs:
    u = directions(g, n)
    negatives = torch.stack([at_angle(g, u), directions(g, n)], dim=1)
    drawn = {"u": u, "positive": at_angle(g, u), "negatives": negatives, "temperature": spread(g, -3, 3, n)}
    return drawn | {name: spread(g, -3, 3, n) for name in weights}


_ANCHOR = {"u": [X, X], "positive": [Y, Y], "negatives": [[OPPOSITE]] * 2, "temperature": [1.0, 0.5]}
"""One negative opposite the anchor, the positive at a right angle; at tau 1 and 1/2."""
_NT_XENT = (free_anchors, given(**_ANCHOR))
_WEIGHTED = (partial(free_anchors, weights=("alpha", "beta")), given(**_ANCHOR, alpha=[1.0, 1.0], beta=[1.0, 1.0]))
"""The simple ones with the weights of DM4 (Table 1)."""

STATEMENTS = (
    Statement("double_metric.theorem_1", theorem_1, path, PATHS),
    Statement("double_metric.theorem_1_chord", theorem_1_chord, path, PATHS),
    Statement("double_metric.theorem_1_meridian", theorem_1_meridian, short_path, PATHS),
    Statement("double_metric.lemma_1", lemma_1, two_pairs, PAIRS),
    Statement("double_metric.lemma_1_identity", partial(lemma_1_sum, left_out=0), path, PATHS),
    Statement("double_metric.lemma_1_sum", partial(lemma_1_sum, left_out=1), path, PATHS),
    Statement("double_metric.lemma_1_sum.d23", partial(lemma_1_sum, left_out=0), path, PATHS),
    Statement("double_metric.definition_1", partial(definition_1, printed=True), path, PATHS),
    Statement("double_metric.definition_1.d22", partial(definition_1, printed=False), path, PATHS),
    Statement("double_metric.definition_4", definition_4, path, PATHS),
    Statement("double_metric.proposition_2", proposition_2, sandwiches, DISTANCES),
    Statement("double_metric.proposition_2_step", partial(proposition_2_step, printed=True), sandwiches, DISTANCES),
    Statement("double_metric.proposition_2_step.d7", partial(proposition_2_step, printed=False), sandwiches, DISTANCES),
    Statement("double_metric.chord_of_cosine", chord_of_cosine, great_circles, CIRCLE),
    Statement("double_metric.radius", partial(radius, power=1), scaled_pairs, SCALED),
    Statement("double_metric.radius.d24", partial(radius, power=0.5), scaled_pairs, SCALED),
    Statement("double_metric.radius_of_one.d24", partial(radius, power=1, other=0), scaled_pairs, SCALED),
    Statement("double_metric.equation_1", partial(equation_1, printed=True), anchors, TWO),
    Statement("double_metric.equation_1.d2", partial(equation_1, printed=False), anchors, TWO),
    Statement("double_metric.equation_2_slope", positive_slope, anchors, FOUR),
    Statement("double_metric.equation_2_repulsion", repulsion, near_positives, FOUR),
    Statement("double_metric.equation_2_attraction", partial(attraction, sign=1), anchors, FOUR),
    Statement("double_metric.equation_2_attraction.d1", partial(attraction, sign=-1), anchors, FOUR),
    Statement("double_metric.equation_6", equation_6, anchors, FOUR),
    Statement("double_metric.equation_6_alignment", partial(weighted_alignment, sign=1), anchors, FOUR),
    Statement("double_metric.equation_6_alignment.d1", partial(weighted_alignment, sign=-1), anchors, FOUR),
    Statement("double_metric.appendix_g_nt_xent", partial(appendix_g, sign=1), *_NT_XENT),
    Statement("double_metric.appendix_g_nt_xent.d5", appendix_g, *_NT_XENT),
    Statement("double_metric.appendix_g_temperature", partial(appendix_g, line="middle"), *_NT_XENT),
    Statement("double_metric.appendix_g_temperature.d5", partial(appendix_g, line="middle, tau"), *_NT_XENT),
    Statement("double_metric.appendix_g_double_metric", partial(appendix_g, sign=1), *_WEIGHTED),
    Statement("double_metric.appendix_g_double_metric.d5", appendix_g, *_WEIGHTED),
    Statement("double_metric.appendix_g_norm", partial(appendix_g, line="last, v_-"), *_WEIGHTED),
    Statement("double_metric.appendix_g_norm.d5", appendix_g, *_WEIGHTED),
)
