"""Steps: Corollary 3.3 and Theorem 3.4 of the norms paper, and the sharper bound of its proof."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from hypersphere.theory.norms.vectors import (
    RIGHT_ANGLE,
    STEP,
    Loss,
    across,
    angled,
    attraction,
    cosine,
    given,
    info_nce,
    largest,
    named,
    norm,
    points,
    sine,
    spread,
    squared_error,
    stepped,
    unit,
)
from hypersphere.theory.statement import PRINTED, Checked, Inputs, everywhere, gradient


def _grows(z: Tensor, gamma: Tensor, *, loss: Loss) -> Checked:
    """Each point's loss of norm, over the norm plus the longest possible step, gamma/||z||."""
    after = z - gamma[:, None, None] * gradient(loss, z)
    return largest((norm(z) - norm(after)) / (norm(z) + gamma[:, None] / norm(z)))


def _pythagoras(z: Tensor, gamma: Tensor, *, of_unit: bool) -> Checked:
    """||z_i'||² as claimed, over its size at a right angle, because steps may be much longer than the point."""
    after = norm(z - gamma[:, None, None] * gradient(attraction, z))[:, 0] ** 2
    other = across(unit(z[:, 1]) if of_unit else z[:, 1], z[:, 0])
    claimed = norm(z[:, 0]) ** 2 + (gamma * norm(other) / norm(z[:, 0])) ** 2
    longest = gamma / norm(z[:, 0]) * (1 if of_unit else torch.clamp(norm(z[:, 1]), min=1))
    return everywhere((after - claimed).abs() / (norm(z[:, 0]) ** 2 + longest**2))


def _improves(z: Tensor, gamma: Tensor, *, sign: float) -> Checked:
    """Ours: a step of z_i alone does not lower the cosine while gamma <= 2 ||z_i||²."""
    after = z[:, 0] + sign * gamma[:, None] * gradient(attraction, z)[:, 0]
    return Checked(gamma <= 2 * norm(z[:, 0]) ** 2, -attraction(z) - cosine(after, z[:, 1]))


def _short(generator: Generator, draws: int) -> Inputs:
    drawn = points(generator, draws)
    return drawn | {"gamma": norm(drawn["z"][:, 0]) ** 2 * spread(generator, -6, 0.6, draws)}


class Step(NamedTuple):
    cosine: Tensor
    sine: Tensor
    a: Tensor
    """gamma / rho²."""
    rho: Tensor


def _theorem_3_4(
    z: Tensor,
    gamma: Tensor,
    *,
    bound: Callable[[Step], Tensor],
    met: Callable[[Step], Tensor] = lambda s: s.a > 0,
    main_text: bool = False,
    strict: bool = False,
    equal: bool = False,
) -> Checked:
    """The cosine's change beyond the bound, over 1 + the bound's size.

    Whether a strict bound is reached says the closed form of what is left, because rounding hides it: 1 if it is.
    """
    rho = norm(z[:, 0])
    step = Step(cosine(z[:, 0], z[:, 1]), sine(z[:, 0], z[:, 1]), gamma / rho**2, rho)
    if main_text:
        after = z + (gamma / rho)[:, None, None] * across(z.flip(1), z)
    else:
        after = z - gamma[:, None, None] * gradient(attraction, z)
    limit = bound(step)
    beyond = (cosine(after[:, 0], after[:, 1]) - step.cosine - limit) / (1 + limit.abs())
    excess = beyond.abs() if equal else beyond
    return Checked(met(step), torch.where((_left(step) <= 0) & strict, 1.0, excess))


def _loose(s: Step) -> Tensor:
    return 2 * s.a * s.sine**2


def _sharp(s: Step) -> Tensor:
    return s.a * s.sine**2 * (2 - s.a * s.cosine)


def _acute(s: Step) -> Tensor:
    return s.cosine >= -1e-15  # a right angle may round to either side


def _acute_and_short(s: Step) -> Tensor:
    return _acute(s) & (s.a * s.sine <= 1)


def _by_rho(s: Step) -> Tensor:
    return s.rho * _loose(s)


def _left(s: Step) -> Tensor:
    """Ours: the bound less the change, which is 2 (a s)² (cos + a s²) / (1 + (a s)²)."""
    return 2 * (s.a * s.sine) ** 2 * (s.cosine + s.a * s.sine**2) / (1 + (s.a * s.sine) ** 2)


def _exact_change(s: Step) -> Tensor:
    return _loose(s) - _left(s)


def _acute_and_apart(s: Step) -> Tensor:
    return _acute(s) & (s.sine > 0)


class Largest(NamedTuple):
    excess: float
    """Relative excess over the bound of Theorem 3.4; negative if it is exceeded nowhere."""
    angle: float
    step: float


def largest_excess(angles: Tensor, steps: Tensor) -> Largest:
    """Over a grid of angles phi and steps a = gamma/rho²: change / bound - 1 = -a (cos + a s²) / (1 + a² s²).

    It is positive exactly where a < -cos(phi) / sin²(phi), so only at obtuse angles, and always below a.
    """
    c, s, a = angles.cos()[:, None], angles.sin()[:, None], steps[None]
    excess = -a * (c + a * s**2) / (1 + (a * s) ** 2)
    row, column = divmod(int(excess.argmax()), len(steps))
    return Largest(float(excess[row, column]), float(angles[row]), float(steps[column]))


_OBTUSE = given(z=[[[2, 1], [-2, 1]], [[1, 0], [-0.6, 0.8]]], gamma=[1, 0.25])
_ANY_ANGLE = given(z=[RIGHT_ANGLE, [[2, 1], [-2, 1]], [[1, 0], [1, 0]], [[1, 0], [-1, 0]]], gamma=[1, 1, 1, 1])
_ACUTE = given(z=[RIGHT_ANGLE, [[2, 0], [0, 2]], [[1, 0], [0.6, 0.8]], [[1, 0], [1, 0]]], gamma=[1, 1, 0.5, 1])
_LONG = given(z=[[[1, 0], [0.6, 0.8]]], gamma=[4])
_to_right_angle = partial(angled, widest=math.pi / 2)


def _bounded(bound: Callable[[Step], Tensor], **options: object) -> Callable[..., Checked]:
    return partial(_theorem_3_4, bound=bound, **options)  # type: ignore[arg-type]


STATEMENTS = (
    named("section_3.step", PRINTED, partial(_improves, sign=1), _short, STEP),
    named("section_3.step.n11", "N11", partial(_improves, sign=-1), _short, STEP),
    named("corollary_3_3.cosine", PRINTED, partial(_grows, loss=attraction), stepped, STEP),
    named("corollary_3_3.infonce", PRINTED, partial(_grows, loss=info_nce), stepped, STEP),
    named("corollary_3_3.squared_error", PRINTED, partial(_grows, loss=squared_error), stepped, STEP),
    named("appendix_a_3", PRINTED, partial(_pythagoras, of_unit=False), stepped, STEP),
    named("appendix_a_3.n12", "N12", partial(_pythagoras, of_unit=True), stepped, STEP),
    named("theorem_3_4.main_text", PRINTED, _bounded(_loose, main_text=True), angled, _ACUTE),
    named("theorem_3_4.main_text.n12", "N12", _bounded(_by_rho, met=_acute, main_text=True), _to_right_angle, _ACUTE),
    named("theorem_3_4.appendix", PRINTED, _bounded(_loose), angled, _OBTUSE),
    named("theorem_3_4.acute.n13", "N13", _bounded(_loose, met=_acute), _to_right_angle, _ACUTE),
    named(
        "theorem_3_4.strict.n13", "N13", _bounded(_loose, met=_acute_and_apart, strict=True), _to_right_angle, _ACUTE
    ),
    named("theorem_3_4.change.n13", "N13", _bounded(_exact_change, equal=True), angled, _ANY_ANGLE),
    named("theorem_3_4.all_angles.n13", "N13", _bounded(lambda s: (1 + s.a) * _loose(s)), angled, _ANY_ANGLE),
    named("appendix_a_4", PRINTED, _bounded(_sharp), angled, _OBTUSE),
    named("appendix_a_4.acute", PRINTED, _bounded(_sharp, met=_acute), _to_right_angle, _LONG),
    named("appendix_a_4.n13", "N13", _bounded(_sharp, met=_acute_and_short), _to_right_angle, _ACUTE),
)
