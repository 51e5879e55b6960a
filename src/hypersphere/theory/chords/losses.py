"""Eq. 1, 2 and 6 of the double-metric paper for one anchor, as functions of its cosines, the positive's first."""

from functools import partial

import torch
from torch import Generator, Tensor

from hypersphere.theory.chords.draws import (
    at_angle,
    directions,
    identifier,
    inputs,
    magnitude,
    uniform,
)
from hypersphere.theory.statement import PRINTED, Checked, Inputs, Statement, everywhere, gradient


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
    halves = torch.where(uniform(g, n, 4) < 0.3, magnitude(g, n, 4, low=-4, high=0), uniform(g, n, 4))
    cosines = 1 - 2 * halves**2
    weights = {name: magnitude(g, n) for name in ("alpha", "beta", "temperature")}
    return {"cosines": cosines.clamp(-1, 1 - 5e-9), **weights}


def near_positives(g: Generator, n: int) -> Inputs:
    """Anchors whose positive is the nearest, with a beta that is large enough to repel it."""
    drawn = anchors(g, n)
    cosines = drawn["cosines"].sort(dim=1, descending=True).values
    beta = sides(cosines[:, 0]) * drawn["alpha"] / drawn["temperature"] * (1 + magnitude(g, n))
    return {**drawn, "cosines": cosines, "beta": beta}


def radius(u: Tensor, v: Tensor, temperature: Tensor, *, power: float, other: float | None = None) -> Checked:
    """The inner product is u·v/tau where u has length tau^-power, and v the same or tau^-other. Scale: 1/tau."""
    of_u, of_v = (temperature[:, None] ** (power if each is None else each) for each in (None, other))
    return everywhere(((u / of_u * (v / of_v)).sum(dim=1) - (u * v).sum(dim=1) / temperature).abs() * temperature)


def equation_1(cosines: Tensor, temperature: Tensor, *, printed: bool) -> Checked:
    """The loss without the positive in the sum; cross-entropy is its softplus. Scale: 1 + 1/tau, the size of logits."""
    logits = cosines / temperature[:, None]
    literal = logits[:, 1:].logsumexp(dim=1) - logits[:, 0]
    left = literal if printed else torch.logaddexp(literal, torch.zeros_like(literal))  # F.softplus drops e^-20
    return everywhere((left + logits.log_softmax(dim=1)[:, 0]).abs() / (1 + 1 / temperature))


def equation_6(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    logits, d = cosines / temperature[:, None], sides(cosines)
    aligned = alpha * logits[:, 0] + beta * d[:, 0]
    spread = alpha * logits.logsumexp(dim=1) + beta * d.logsumexp(dim=1)
    left = equation_2(cosines, alpha, beta, temperature)
    return everywhere((left - (spread - aligned)).abs() / (alpha * (1 + 1 / temperature) + beta))


def weighted_alignment(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor, *, sign: int) -> Checked:
    """-(alpha · cos/tau ± beta · chord) of the positive never rises with its cosine. Scale: the sum of both slopes."""
    positive = cosines[:, 0]
    rise = gradient(lambda c: -(alpha * c / temperature + sign * beta * sides(c)), positive)
    return everywhere(rise / (alpha / temperature + beta / sides(positive)))


def attraction(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor, *, sign: int) -> Checked:
    """The loss never rises with the positive's cosine. Scale: the sum of both terms' largest slopes."""
    rise = gradient(lambda c: equation_2_literal(c, alpha, beta, temperature, sign), cosines)[:, 0]
    return everywhere(rise / (alpha / temperature + beta / sides(cosines[:, 0])))


def repulsion(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    """The printed loss does not fall with the cosine of a positive that is nearest, within beta · tau/alpha."""
    met = (cosines[:, :1] >= cosines).all(dim=1) & (sides(cosines[:, 0]) < beta * temperature / alpha)
    rise = gradient(lambda c: equation_2(c, alpha, beta, temperature), cosines)[:, 0]
    return Checked(met, -rise / (alpha / temperature + beta / sides(cosines[:, 0])))


def positive_slope(cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor) -> Checked:
    """The slope is beta (1 - q)/chord - alpha (1 - p)/tau, where p and q are the positive's softmax probabilities."""
    d = sides(cosines)
    p, q = (cosines / temperature[:, None]).softmax(dim=1)[:, 0], d.softmax(dim=1)[:, 0]
    largest = alpha / temperature + beta / d[:, 0]
    closed = beta * (1 - q) / d[:, 0] - alpha * (1 - p) / temperature
    rise = gradient(lambda c: equation_2(c, alpha, beta, temperature), cosines)[:, 0]
    return everywhere((rise - closed).abs() / largest)


def scaled_pairs(g: Generator, n: int) -> Inputs:
    u = directions(g, n)
    return {"u": u, "v": at_angle(g, u), "temperature": magnitude(g, n)}


def without_weights(g: Generator, n: int) -> Inputs:
    drawn = anchors(g, n)
    return {"cosines": drawn["cosines"], "temperature": drawn["temperature"]}


TWO = partial(inputs, cosines=[[0.0, 0.0], [0.0, -1.0]], temperature=[1.0, 1.0])
# DM4's weights (Table 1) at tau = 1: a positive at distance 1 is on the threshold, at distance 1/2 below it
UNIT = {"alpha": [1.0] * 2, "beta": [1.0] * 2, "temperature": [1.0] * 2}
FOUR = partial(inputs, cosines=[[0.5, -1.0], [0.875, -1.0]], **UNIT)
SCALED = partial(inputs, u=[[1.0, 0.0]], v=[[1.0, 0.0]], temperature=[0.5])

STATEMENTS: tuple[Statement, ...] = tuple(
    Statement(identifier(name, reading), reading, check, draw, simple)
    for name, reading, check, draw, simple in (
        ("radius", PRINTED, partial(radius, power=1), scaled_pairs, SCALED),
        ("radius", "D24", partial(radius, power=0.5), scaled_pairs, SCALED),
        ("radius_of_one", "D24", partial(radius, power=1, other=0), scaled_pairs, SCALED),
        ("equation_1", PRINTED, partial(equation_1, printed=True), without_weights, TWO),
        ("equation_1", "D2", partial(equation_1, printed=False), without_weights, TWO),
        ("equation_2_slope", PRINTED, positive_slope, anchors, FOUR),
        ("equation_2_repulsion", PRINTED, repulsion, near_positives, FOUR),
        ("equation_2_attraction", PRINTED, partial(attraction, sign=1), anchors, FOUR),
        ("equation_2_attraction", "D1", partial(attraction, sign=-1), anchors, FOUR),
        ("equation_6", PRINTED, equation_6, anchors, FOUR),
        ("equation_6_alignment", PRINTED, partial(weighted_alignment, sign=1), anchors, FOUR),
        ("equation_6_alignment", "D1", partial(weighted_alignment, sign=-1), anchors, FOUR),
    )
)
