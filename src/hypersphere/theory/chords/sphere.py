"""App. F of the double-metric paper: chord and arc are two metrics on one sphere, and topologically the same.

Distances are at most pi, so an excess has scale 1 unless a check says otherwise.
"""

from functools import partial
from math import pi

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from torch.linalg import vector_norm

from hypersphere.theory.chords.draws import (
    angle,
    arc,
    at_angle,
    chord,
    directions,
    identifier,
    inputs,
    magnitude,
    path,
    turned,
    uniform,
    worse,
)
from hypersphere.theory.statement import PRINTED, Checked, Inputs, Statement, everywhere, gradient

X, Y, OPPOSITE = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
PATHS = partial(inputs, u=[X, X, X], v=[X, Y, OPPOSITE], w=[Y, OPPOSITE, Y])


def theorem_1(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord <= arc <= pi/2 · chord. Scale: the chord."""
    d = chord(u, v)
    return everywhere(worse(d - arc(u, v), arc(u, v) - pi / 2 * d) / d.where(d > 0, 1))


def theorem_1_chord(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """chord = 2 sin(arccos(u·v)/2), squared: near 0 arccos is exact to 1e-8, its square to 1e-16. Scale: 4."""
    theta = (u * v).sum(dim=1).clamp(-1, 1).acos()
    return everywhere((chord(u, v) ** 2 - 4 * (theta / 2).sin() ** 2).abs() / 4)


def theorem_1_meridian(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    """Turning w about v until it is opposite u takes it no nearer to u, and the arcs then add up, if at most to pi."""
    side = u - (u * v).sum(dim=1, keepdim=True) * v
    length = vector_norm(side, dim=1)
    gamma = arc(v, w)
    opposite = gamma.cos()[:, None] * v - gamma.sin()[:, None] * side / length.where(length > 0, 1)[:, None]
    added = (arc(u, opposite) - arc(u, v) - gamma).abs()
    # next to u = ±v the meridian itself is only known to rounding/length; next to pi the sum can round past pi
    met = (length > 1e-5) & (arc(u, v) + gamma < pi - 1e-5)
    return Checked(met, worse(chord(u, w) - chord(u, opposite), added))


def short_path(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    first, share = angle(g, n), uniform(g, n)
    v = turned(u, directions(g, n), first)
    return {"u": u, "v": v, "w": turned(v, directions(g, n), (pi - first) * share)}


def lemma_1(u: Tensor, v: Tensor, w: Tensor, x: Tensor) -> Checked:
    """arc(u, v) = arc(w, x) iff chord(u, v) = chord(w, x), quantified: 4 sin²(|Δarc|/4) <= ±Δchord <= |Δarc|."""
    by = arc(u, v) - arc(w, x)
    change = (chord(u, v) - chord(w, x)) * torch.where(by < 0, -1, 1)
    return everywhere(worse(4 * (by / 4).sin() ** 2 - change, change - by.abs()))


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
    return everywhere(((u - v)[:, :summed].square().sum(dim=1) - 2 * (1 - (u * v).sum(dim=1))).abs() / 4)


def definition_1(u: Tensor, v: Tensor, w: Tensor, *, printed: bool) -> Checked:
    """arc(u, w) <= arc(u, v) + arc(v, w). It is printed with the first term twice."""
    return everywhere(arc(u, w) - arc(u, v) - (arc(u, v) if printed else arc(v, w)))


def definition_4(u: Tensor, v: Tensor, w: Tensor) -> Checked:
    return everywhere((arc(u, v) + arc(v, w)).cos() - (u * w).sum(dim=1))


def proposition_2(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor) -> Checked:
    """d_b < r/epsilon implies d_a < r, and d_a < r/epsilon implies d_b < r. Scale: r."""
    met = sandwiched(d_a, d_b, epsilon) & ((d_b < r / epsilon) | (d_a < r / epsilon))
    first, second = (torch.where(a < r / epsilon, b / r - 1, -1) for a, b in ((d_b, d_a), (d_a, d_b)))
    return Checked(met, worse(first, second))


def proposition_2_step(d_a: Tensor, d_b: Tensor, epsilon: Tensor, r: Tensor, *, printed: bool) -> Checked:
    """The proof's d_a <= d_b, which should be d_a <= epsilon · d_b. Scale: d_a."""
    return Checked(sandwiched(d_a, d_b, epsilon), 1 - d_b / d_a * (1 if printed else epsilon))


def sandwiched(d_a: Tensor, d_b: Tensor, epsilon: Tensor) -> Tensor:
    return (d_a / epsilon <= d_b) & (d_b <= d_a) & (d_a > 0)


def sandwiches(g: Generator, n: int) -> Inputs:
    d_a, epsilon, where = magnitude(g, n), 1 + magnitude(g, n), (1.4 * uniform(g, n) - 0.2).clamp(0, 1)
    d_b = d_a * (1 / epsilon + where * (1 - 1 / epsilon))
    return {"d_a": d_a, "d_b": d_b, "epsilon": epsilon, "r": d_b * epsilon * magnitude(g, n, low=-0.1, high=0.3)}


def chord_of_cosine(u: Tensor, side: Tensor, theta: Tensor) -> Checked:
    """d chord / d cosine = -1/chord along a great circle, checked as chord · dchord + dcosine = 0."""

    def end(t: Tensor) -> Tensor:
        return t.cos()[:, None] * u + t.sin()[:, None] * side

    by_chord, by_cosine = (
        gradient(lambda t: chord(u, end(t)), theta),
        gradient(lambda t: (u * end(t)).sum(dim=1), theta),
    )
    return everywhere((chord(u, end(theta)) * by_chord + by_cosine).abs())


def great_circles(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    return {"u": u, "side": F.normalize(torch.linalg.cross(u, directions(g, n)), dim=1), "theta": angle(g, n)}


PAIRS = partial(inputs, u=[X, X], v=[X, X], w=[X, Y], x=[Y, OPPOSITE])
DISTANCES = partial(inputs, d_a=[1.0, 2.0], d_b=[1.0, 1.0], epsilon=[1.0, 2.0], r=[2.0, 3.0])
CIRCLE = partial(inputs, u=[X], side=[Y], theta=[pi / 2])

STATEMENTS: tuple[Statement, ...] = tuple(
    Statement(identifier(name, reading), reading, check, draw, simple)
    for name, reading, check, draw, simple in (
        ("theorem_1", PRINTED, theorem_1, path, PATHS),
        ("theorem_1_chord", PRINTED, theorem_1_chord, path, PATHS),
        ("theorem_1_meridian", PRINTED, theorem_1_meridian, short_path, PATHS),
        ("lemma_1", PRINTED, lemma_1, two_pairs, PAIRS),
        ("lemma_1_identity", PRINTED, partial(lemma_1_sum, left_out=0), path, PATHS),
        ("lemma_1_sum", PRINTED, partial(lemma_1_sum, left_out=1), path, PATHS),
        ("lemma_1_sum", "D23", partial(lemma_1_sum, left_out=0), path, PATHS),
        ("definition_1", PRINTED, partial(definition_1, printed=True), path, PATHS),
        ("definition_1", "D22", partial(definition_1, printed=False), path, PATHS),
        ("definition_4", PRINTED, definition_4, path, PATHS),
        ("proposition_2", PRINTED, proposition_2, sandwiches, DISTANCES),
        ("proposition_2_step", PRINTED, partial(proposition_2_step, printed=True), sandwiches, DISTANCES),
        ("proposition_2_step", "D7", partial(proposition_2_step, printed=False), sandwiches, DISTANCES),
        ("chord_of_cosine", PRINTED, chord_of_cosine, great_circles, CIRCLE),
    )
)
