"""Statements of the margins paper about gradients (Sec. 4, 5.5, App. A), and identities that it does not state.

Shapes: n draws, m candidates of one anchor. Gradients are autograd's, of Eq. 5 itself. Equalities between quotients are
checked after multiplying by their denominators, because p - beta·q cancels where a probability nears its target. Where
such an equality fails, its sides are shown as printed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from hypersphere.exact.statement import Checked, Inputs, Statement, at_most, given, gradient
from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.surgery import scale_gradient

TINY = 1e-290  # sides of an equality below this have underflowed
EPS = 1e-15  # below this, autograd's 1 - q~ is rounding, and a weight of its inverse multiplies nothing


class Case:
    """Angles and targets [n, m], parameters [n, 1] (default: no margins, beta = 1), and q with and without margins."""

    def __init__(self, theta: Tensor, p: Tensor, temperature: Tensor, **parameters: Tensor) -> None:
        self.theta, self.p, self.t = theta, p, temperature[:, None]
        given = {"beta": torch.ones_like(temperature)} | parameters
        zero = torch.zeros_like(temperature)
        self.m1, self.m2, self.beta, self.alpha = (given.get(x, zero)[:, None] for x in ("m1", "m2", "beta", "alpha"))
        self.without, self.q = (softmax(logits(theta)) for logits in (self.plain, self.logits))
        # exp of the margins' change of the positive's logit (A.3), [n, 1]
        self.eta = self.positive(self.logits(theta) - self.plain(theta)).exp()
        self.bent = (theta + self.m1 * p).sin()
        self.sums_to_1 = (p.sum(dim=1, keepdim=True) - 1).abs() < 1e-12
        self.one_hot = self.sums_to_1 & ((p == 0) | (p == 1)).all(dim=1, keepdim=True)

    def plain(self, theta: Tensor) -> Tensor:
        """Eq. 2."""
        return theta.cos() / self.t

    def logits(self, theta: Tensor) -> Tensor:
        """Eq. 4."""
        return ((theta + self.m1 * self.p).cos() - self.m2 * self.p) / self.t

    def loss(self, logits: Tensor) -> Tensor:
        """Eq. 5, summed over draws."""
        return info_nce_of_logits(logits, self.p, self.beta[:, 0]) * len(logits)

    def slope(self, to_logits: Callable[[Tensor], Tensor], weight: Tensor | float = 1.0) -> Tensor:
        """dL/dtheta, by autograd; ``weight`` is that of Eq. 9."""
        weight = torch.as_tensor(weight, dtype=self.theta.dtype)
        return gradient(lambda x: self.loss(scale_gradient(to_logits(x), weight)), self.theta)

    def positive(self, x: Tensor) -> Tensor:
        """The positive's entry of x, [n, 1]."""
        return (x * self.p).sum(dim=1, keepdim=True)

    def type_i(self, eta: Tensor | float) -> tuple[Tensor, Tensor]:
        """Eq. 9's weight 1/(1 - alpha·q~) at alpha = 1 - eta, and where it is more than rounding; both [n, 1]."""
        left_over = self.positive(self.without) * eta + (self.without * (1 - self.p)).sum(dim=1, keepdim=True)
        return 1 / left_over.clamp(min=EPS), self.one_hot & (left_over > EPS)

    def sums(self) -> Tensor:
        """Sums of exponentiated logits, without and with margins, divided by one common factor, [2, n, 1]."""
        both = torch.stack([self.plain(self.theta), self.logits(self.theta)])
        return (both - both.amax(dim=(0, 2), keepdim=True)).exp().sum(dim=2, keepdim=True)

    def far(self, candidates: Tensor) -> Tensor:
        """Candidates of an m2 that is infinite up to rounding: 4 outweighs the cosines, and exp(-40) is left."""
        negatives = torch.tensor(self.p.shape[1] > 1)
        return self.one_hot & (self.m2 >= 4 + 40 * self.t) & negatives & candidates


def softmax(logits: Tensor) -> Tensor:
    return (logits - logits.logsumexp(dim=1, keepdim=True)).exp()


def equal(left: Tensor, right: Tensor, scale: Tensor, where: Tensor) -> Checked:
    """Check an equality for every candidate. A draw meets the hypothesis if any of its candidates does."""
    excess = (left - right).abs() / scale.clamp(min=TINY)
    return Checked(where.any(dim=1), torch.where(where, excess, 0).amax(dim=1), left, right)


def equation_3(x: Case, printed: bool = True) -> Checked:
    """The middle expression equals the right side, or InfoNCE + log(beta). Scale: the terms of the sum."""
    logits, log_beta = x.plain(x.theta), x.beta.log()
    total = logits.logsumexp(dim=1, keepdim=True)
    middle = -x.positive(logits - log_beta - total)
    right = -x.positive(logits) + (x.beta * total if printed else total + log_beta)
    scale = 1 + logits.abs().amax(dim=1, keepdim=True) + (1 + x.beta) * total.abs() + log_beta.abs()
    return equal(middle, right, scale, (x.beta > 0) & x.sums_to_1)


def equation_13(x: Case) -> Checked:
    """dL/dlogit = -p + beta·q. Scale: p + beta·q."""
    q = x.beta * x.without
    return equal(gradient(x.loss, x.plain(x.theta)), q - x.p, q + x.p, x.sums_to_1)


def equation_15(x: Case) -> Checked:
    """dL/dtheta = (p - beta·q)·sin(theta + m1·p)/t; without margins Eq. 14. Scale: the same with plus."""
    q, factor = x.beta * x.q, x.bent / x.t
    return equal(x.slope(x.logits), (x.p - q) * factor, (x.p + q) * factor.abs(), x.sums_to_1)


def equation_16(x: Case, printed: bool = True) -> Checked:
    """The printed fraction (p - beta·q~)/(p - beta·q) should be 1. Scale: |sin|·(p + beta·q + beta·q~)/t."""
    without, q = x.beta * x.without, x.beta * x.q
    below = x.p - (q if printed else without)
    where = x.sums_to_1 & (x.theta.sin() > 0) & (below.abs() > TINY)
    right = (x.p - q) * x.bent / x.t * ((x.p - without) / torch.where(where, below, 1))
    return equal(x.slope(x.logits), right, (x.p + without + q) * x.bent.abs() / x.t, where)


def theorem_4_1(x: Case) -> Checked:
    """Eq. 6 times its two denominators. Scale: the same with p + beta·q in place of p - beta·q."""
    without, q, sine = x.beta * x.without, x.beta * x.q, x.theta.sin()
    left = x.slope(x.logits) * sine * (x.p - without)
    right = x.slope(x.plain) * x.bent * (x.p - q)
    scale = (x.p + without) * (x.p + q) * sine / x.t
    return equal(left, right, scale, x.sums_to_1 & (sine > 0) & (x.p != without))


def lemma_4_2(x: Case) -> Checked:
    """(p - q)·sum with margins = (p - q~)·sum without. Scale: the same with plus."""
    without, margin = x.sums()
    scale = (x.p + x.q) * margin + (x.p + x.without) * without
    return equal((x.p - x.q) * margin, (x.p - x.without) * without, scale, x.one_hot & (x.p != x.without))


def lemma_4_2_closing_form(x: Case, printed: bool = True) -> Checked:
    """The closing form equals 1/(q·eta + 1 - q), after expanding by q/exp(logit~). Scale: all terms."""
    without, margin = x.sums()
    q, eta = x.positive(x.q if printed else x.without), x.eta
    below = q * eta + 1 - q
    checked = equal(margin, without * below, margin + without * (1 + q * eta), x.one_hot & (q > 0))
    return checked._replace(left=without / margin, right=1 / below)


def lemma_4_3(x: Case) -> Checked:
    """Eq. 7 times its denominators. Scale: both sides with p + q in place of p - q, and with 1 + eta·q~."""
    sine, positive, eta = x.theta.sin(), x.positive(x.without), x.eta
    left = x.slope(x.logits) * sine * (1 - (1 - eta) * positive)
    scale = ((x.p + x.q) * (1 + eta * positive) + x.p + x.without) * sine / x.t
    return equal(left, x.slope(x.plain) * x.bent, scale, x.one_hot & (sine > 0))


def lemma_4_4(x: Case) -> Checked:
    """The positive's gradient at an m2 that is infinite up to rounding. Scale: 1/t."""
    return equal(x.slope(x.logits), (x.theta + x.m1).sin() / x.t, 1 / x.t, x.far(x.p == 1))


def identity_lemma_4_4_negatives(x: Case) -> Checked:
    """The negatives' gradients tend to -sin(theta)/t times the softmax over negatives. Scale: the right side."""
    right = -softmax(x.plain(x.theta).masked_fill(x.p == 1, -math.inf)) * x.theta.sin() / x.t
    return equal(x.slope(x.logits), right, right.abs(), x.far(x.p == 0))


def section_4_1_peak(angle: Tensor, probability: Tensor, temperature: Tensor, m1: Tensor) -> Checked:
    """At fixed q~, 1/(1 - (1 - eta)·q~) is largest at theta = (pi - m1)/2. Scale: the sum of both denominators."""
    at_angle, at_peak = (
        1 - probability + probability * (((theta + m1).cos() - theta.cos()) / temperature).exp()
        for theta in (angle, (math.pi - m1) / 2)
    )
    return at_most(at_peak, at_angle, at_peak + at_angle, m1 <= math.pi)


def section_4_2_growth(
    angle: Tensor,
    probability: Tensor,
    temperature: Tensor,
    m1: Tensor,
    m2: Tensor,
    where: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda eta, m1, m2: m2 > 0,
) -> Checked:
    """1/(1 - (1 - eta)·q~) is larger at q~ than at q~/2. Scale: the sum of both denominators.

    The sentence is about the subtractive margin, so there must be one. At m2 >= 1 - cos(m1) eta is at most 1 at every
    angle, because cos(theta + m1) - cos(theta) is largest at pi.
    """
    eta = (((angle + m1).cos() - angle.cos() - m2) / temperature).exp()
    small, large = (1 - q + q * eta for q in (probability / 2, probability))
    checked = at_most(large, small, large + small, where(eta, m1, m2))
    return checked._replace(left=1 / small, right=1 / large)


def section_5_5_alpha(x: Case, printed: bool = True) -> Checked:
    """Type I at alpha = 1 - eta equals the margins' gradient. Scale: both with plus, type I's times its weight."""
    weight, where = x.type_i(x.eta)
    scale = ((x.p + x.without) * weight * x.theta.sin() + (x.p + x.q) * x.bent.abs()) / x.t
    where = where & ((x.m1 == 0) | torch.tensor(printed))
    return equal(x.slope(x.plain, weight), x.slope(x.logits), scale, where)


def section_5_5_factor(x: Case) -> Checked:
    """Type I's weight at alpha = 1 - eta is Eq. 7's factor: (p - q~)·weight = p - q. Scale: the same with plus."""
    weight, where = x.type_i(x.eta)
    return equal((x.p - x.without) * weight, x.p - x.q, (x.p + x.without) * weight + x.p + x.q, where)


def identity_type_i_decoupled(x: Case) -> Checked:
    """Type I at alpha = 1 equals -logit + log of the sum over negatives. Scale: (p + q~)·sin/t times the weight."""
    weight, where = x.type_i(0.0)

    def decoupled(theta: Tensor) -> Tensor:
        logits = x.plain(theta)
        return (logits.masked_fill(x.p == 1, -math.inf).logsumexp(dim=1) - (logits * x.p).sum(dim=1)).sum()

    scale = (x.p + x.without) * x.theta.sin() / x.t * weight
    return equal(x.slope(x.plain, weight), gradient(decoupled, x.theta), scale, where)


def identity_subtractive_is_type_i(x: Case) -> Checked:
    """m2 = -t·log(1 - alpha) equals type I, in the gradients of logits. Scale: (p + q~) times the weight."""
    weight, where = x.type_i(1 - x.alpha)
    m2_over_t = -torch.log1p(-x.alpha)
    left = gradient(lambda logits: x.loss(logits - m2_over_t * x.p), x.plain(x.theta))
    right = gradient(lambda logits: x.loss(scale_gradient(logits, weight)), x.plain(x.theta))
    return equal(left, right, (x.p + x.without) * weight, where)


def _random(keys: Mapping[str, str], generator: torch.Generator, n: int) -> Inputs:
    """Random inputs of a check, with four candidates. Extremes: angles of 1e-8 and pi - 1e-8, exponentials of ±630."""

    def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64) * (high - low) + low

    def one_of(*choices: Tensor) -> Tensor:
        index = torch.randint(len(choices), choices[0].shape, generator=generator)
        return torch.stack(choices).gather(0, index[None])[0]

    def angles(*shape: int) -> Tensor:
        near = 10 ** uniform(*shape, low=-8, high=-1)
        return one_of(*(uniform(*shape, high=math.pi) for _ in range(4)), near, math.pi - near)

    soft = -uniform(n, 4).clamp(min=1e-12).log()
    one_hot = torch.eye(4, dtype=torch.float64)[torch.randint(4, (n,), generator=generator)]
    temperature = 10 ** uniform(n, low=-2.5, high=3)
    zero, one = torch.zeros(n, dtype=torch.float64), torch.ones(n, dtype=torch.float64)
    small = 10 ** uniform(n, low=-12, high=-1)
    drawn = {
        "theta": angles(n, 4),
        "p": torch.where(uniform(n, 1) < 0.8, one_hot, soft / soft.sum(dim=1, keepdim=True)),
        "temperature": temperature,
        "m1": one_of(zero, uniform(n, high=math.pi), uniform(n, high=math.pi), 3.1 * one),
        "m1 (mostly 0)": one_of(zero, zero, zero, zero, zero, uniform(n)),
        "m2": one_of(zero, uniform(n), 10 ** uniform(n, low=-3, high=1)),
        "m2 (wide)": uniform(n, high=4),
        "m2 (far)": (4 + 40 * temperature) * one_of(one, 1 + uniform(n), 10 + uniform(n), uniform(n)),
        "beta": one_of(one, one, uniform(n, high=3), uniform(n, high=3), zero),
        "alpha": one_of(zero, uniform(n), uniform(n), 1 - small),
        "angle": angles(n),
        "probability": one_of(uniform(n), small, 1 - small),
    }
    return {name: drawn[key] for name, key in keys.items()}


ROUND = tuple(
    {"theta": [1.0, 1.0], "p": [1.0, 0.0], "temperature": 1.0, "m1": m1, "m2": m2, "beta": beta, "alpha": 0.5}
    | {"angle": angle, "probability": 0.5, "m1 (mostly 0)": 0.0, "m2 (wide)": m2, "m2 (far)": 44.0}
    for m1, m2, beta, angle in [
        *[(0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 1.0, 2.0), (1.0, 0.0, 1.0, 3.0), (1.0, 1.0, 2.0, 2.0)],
        (1.0, 0.1, 1.0, 3.0),
    ]
)
"""Two candidates, one of them the positive, both at 1 radian, margins from none to both."""
ALONE = tuple({"theta": [0.0], "p": [1.0], "temperature": 1.0, "beta": beta} for beta in (1.0, 2.0))  # no negative


def _state(name: str, check: Callable[..., Checked], takes: str, cases: Sequence[dict[str, Any]] = ROUND) -> Statement:
    """``name`` is its id, and ``takes`` lists keys of _random; the first word of each names an input."""
    keys = {key.partition(" ")[0]: key for key in takes.split(", ")}
    simple = given(**{one: [case[key] for case in cases] for one, key in keys.items()})
    of_inputs = (lambda **inputs: check(Case(**inputs))) if "theta" in keys else check
    return Statement(name, of_inputs, partial(_random, keys), simple)


PLAIN, WITH_BETA = "theta, p, temperature", "theta, p, temperature, beta"
MARGINS, ALL = "theta, p, temperature, m1, m2", "theta, p, temperature, m1, m2, beta"
FAR, SCALARS = "theta, p, temperature, m1, m2 (far)", "angle, probability, temperature, m1"
_SMALL_ETA = partial(section_4_2_growth, where=lambda eta, m1, m2: eta <= 1)
_WIDE = partial(section_4_2_growth, where=lambda eta, m1, m2: m2 >= 1 - m1.cos())
STATEMENTS = (
    _state("margins.equation_3", equation_3, WITH_BETA, ALONE),
    _state("margins.equation_3.m2", partial(equation_3, printed=False), WITH_BETA, ALONE),
    _state("margins.equation_13", equation_13, WITH_BETA),
    _state("margins.equation_14", equation_15, WITH_BETA),
    _state("margins.equation_15", equation_15, ALL),
    _state("margins.equation_16", equation_16, ALL),
    _state("margins.equation_16.m8", partial(equation_16, printed=False), ALL),
    _state("margins.theorem_4_1", theorem_4_1, ALL),
    _state("margins.lemma_4_2", lemma_4_2, MARGINS),
    _state("margins.lemma_4_2_closing_form", lemma_4_2_closing_form, MARGINS),
    _state("margins.lemma_4_2_closing_form.m7", partial(lemma_4_2_closing_form, printed=False), MARGINS),
    _state("margins.lemma_4_3", lemma_4_3, MARGINS),
    _state("margins.lemma_4_4", lemma_4_4, FAR),
    _state("margins.identity_lemma_4_4_negatives", identity_lemma_4_4_negatives, FAR),
    _state("margins.section_4_1_peak", section_4_1_peak, SCALARS),
    _state("margins.section_4_2_growth", section_4_2_growth, f"{SCALARS}, m2"),
    _state("margins.section_4_2_growth.m33", _SMALL_ETA, f"{SCALARS}, m2"),
    _state("margins.section_4_2_growth_wide.m33", _WIDE, f"{SCALARS}, m2 (wide)"),
    _state("margins.section_5_5_alpha", section_5_5_alpha, MARGINS),
    _state("margins.section_5_5_factor.m13", section_5_5_factor, MARGINS),
    _state("margins.section_5_5_alpha.m13", partial(section_5_5_alpha, printed=False), f"{PLAIN}, m1 (mostly 0), m2"),
    _state("margins.identity_type_i_decoupled", identity_type_i_decoupled, PLAIN),
    _state("margins.identity_subtractive_is_type_i", identity_subtractive_is_type_i, f"{PLAIN}, alpha"),
)
