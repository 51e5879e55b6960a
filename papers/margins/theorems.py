"""Statements of the margins paper about gradients (Sec. 4, 5.5, App. A), and identities that it does not state.

Shapes: n draws, m candidates of one anchor. Gradients are autograd's, of Eq. 5 itself. Equalities between quotients are
checked after multiplying by their denominators, because p - beta·q cancels where a probability nears its target. Where
such an equality fails, its sides are shown as printed.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from hypersphere import generators
from hypersphere.exact.statement import (
    Checked,
    Inputs,
    Statement,
    at_most,
    column,
    given,
    gradient,
    of_case,
)
from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.surgery import scale_gradient

TINY = 1e-290  # sides of an equality below this have underflowed
# below this, autograd's 1 - q~ is rounding, and a weight of its inverse multiplies nothing
EPS = 1e-15


class Case:
    """Angles and targets [n, m], parameters [n, 1] (default: no margins, beta = 1), and q with and without margins."""

    def __init__(
        self,
        theta: Tensor,
        p: Tensor,
        temperature: Tensor,
        m1: Tensor | float = 0.0,
        m2: Tensor | float = 0.0,
        beta: Tensor | float = 1.0,
        alpha: Tensor | float = 0.0,
    ) -> None:
        def of_each_draw(parameter: Tensor | float) -> Tensor:
            numbers = torch.as_tensor(parameter, dtype=temperature.dtype)
            return column(numbers.expand_as(temperature))

        self.theta = theta
        self.p = p
        self.t = column(temperature)
        self.m1 = of_each_draw(m1)
        self.m2 = of_each_draw(m2)
        self.beta = of_each_draw(beta)
        self.alpha = of_each_draw(alpha)
        self.without = softmax(self.plain(theta))
        self.q = softmax(self.logits(theta))
        # exp of the margins' change of the positive's logit (A.3), [n, 1]
        self.eta = self.positive(self.logits(theta) - self.plain(theta)).exp()
        self.sine = theta.sin()
        self.bent = (theta + self.m1 * p).sin()
        self.sums_to_1 = (total_of(p) - 1).abs() < 1e-12
        self.one_hot = self.sums_to_1 & ((p == 0) | (p == 1)).all(dim=1, keepdim=True)

    def plain(self, theta: Tensor) -> Tensor:
        """Eq. 2."""
        return theta.cos() / self.t

    def logits(self, theta: Tensor) -> Tensor:
        """Eq. 4."""
        bent = (theta + self.m1 * self.p).cos()
        return (bent - self.m2 * self.p) / self.t

    def loss(self, logits: Tensor) -> Tensor:
        """Eq. 5, total_of over draws."""
        return info_nce_of_logits(logits, self.p, self.beta[:, 0]) * len(logits)

    def slope(self, to_logits: Callable[[Tensor], Tensor], weight: Tensor | float = 1.0) -> Tensor:
        """dL/dtheta, by autograd; ``weight`` is Eq. 9's."""
        weight = torch.as_tensor(weight, dtype=self.theta.dtype)

        def loss_of_angles(theta: Tensor) -> Tensor:
            return self.loss(scale_gradient(to_logits(theta), weight))

        return gradient(loss_of_angles, self.theta)

    def positive(self, x: Tensor) -> Tensor:
        """The positive's entry of x, [n, 1]."""
        return total_of(x * self.p)

    def negatives(self, logits: Tensor) -> Tensor:
        """The logits, where the positive's is minus infinity."""
        return logits.masked_fill(self.p == 1, -math.inf)

    def type_i(self, eta: Tensor | float) -> tuple[Tensor, Tensor]:
        """Eq. 9's weight 1/(1 - alpha·q~) at alpha = 1 - eta, and where it is more than rounding; both [n, 1]."""
        of_negatives = total_of(self.without * (1 - self.p))
        left_over = self.positive(self.without) * eta + of_negatives
        weight = 1 / left_over.clamp(min=EPS)
        return weight, self.one_hot & (left_over > EPS)

    def sums(self) -> Tensor:
        """Sums of exponentiated logits, without and with margins, divided by one common factor, [2, n, 1]."""
        both = torch.stack([self.plain(self.theta), self.logits(self.theta)])
        largest = both.amax(dim=(0, 2), keepdim=True)
        return (both - largest).exp().sum(dim=2, keepdim=True)

    def far(self, candidates: Tensor) -> Tensor:
        """Candidates of an m2 that is infinite up to rounding: 4 outweighs the cosines, and exp(-40) is left."""
        if self.p.shape[1] == 1:
            return torch.zeros_like(candidates)
        infinite = self.m2 >= 4 + 40 * self.t
        return self.one_hot & infinite & candidates


def total_of(x: Tensor) -> Tensor:
    """The sum over candidates, [n, 1]."""
    return x.sum(dim=1, keepdim=True)


def softmax(logits: Tensor) -> Tensor:
    return (logits - logits.logsumexp(dim=1, keepdim=True)).exp()


def equal(left: Tensor, right: Tensor, scale: Tensor, where: Tensor) -> Checked:
    """Check an equality for every candidate. A draw meets the hypothesis if any of its candidates does."""
    excess = (left - right).abs() / scale.clamp(min=TINY)
    worst = torch.where(where, excess, 0).amax(dim=1)
    return Checked(where.any(dim=1), worst, left, right)


# Eq. 3 and its gradients


def equation_3(x: Case, printed: bool = True) -> Checked:
    """The middle expression equals the right side, or InfoNCE + log(beta). Scale: the terms of the sum."""
    logits = x.plain(x.theta)
    log_beta = x.beta.log()
    total = logits.logsumexp(dim=1, keepdim=True)
    middle = -x.positive(logits - log_beta - total)
    of_all = x.beta * total if printed else total + log_beta
    right = -x.positive(logits) + of_all
    largest = logits.abs().amax(dim=1, keepdim=True)
    scale = 1 + largest + (1 + x.beta) * total.abs() + log_beta.abs()
    return equal(
        middle,
        right,
        scale,
        (x.beta > 0) & x.sums_to_1,
    )


def equation_13(x: Case) -> Checked:
    """dL/dlogit = -p + beta·q. Scale: p + beta·q."""
    q = x.beta * x.without
    found = gradient(x.loss, x.plain(x.theta))
    return equal(
        found,
        q - x.p,
        q + x.p,
        x.sums_to_1,
    )


def equation_15(x: Case) -> Checked:
    """dL/dtheta = (p - beta·q)·sin(theta + m1·p)/t; without margins Eq. 14. Scale: the same with plus."""
    q = x.beta * x.q
    factor = x.bent / x.t
    return equal(
        x.slope(x.logits),
        (x.p - q) * factor,
        (x.p + q) * factor.abs(),
        x.sums_to_1,
    )


def equation_16(x: Case, printed: bool = True) -> Checked:
    """The printed fraction (p - beta·q~)/(p - beta·q) should be 1. Scale: |sin|·(p + beta·q + beta·q~)/t."""
    without = x.beta * x.without
    q = x.beta * x.q
    above = x.p - without
    below = x.p - q if printed else above
    where = x.sums_to_1 & (x.sine > 0) & (below.abs() > TINY)
    fraction = above / torch.where(where, below, 1)
    return equal(
        x.slope(x.logits),
        (x.p - q) * x.bent / x.t * fraction,
        (x.p + without + q) * x.bent.abs() / x.t,
        where,
    )


# Sec. 4 and App. A: what margins do to gradients


def theorem_4_1(x: Case) -> Checked:
    """Eq. 6 times its two denominators. Scale: the same with p + beta·q in place of p - beta·q."""
    without = x.beta * x.without
    q = x.beta * x.q
    left = x.slope(x.logits) * x.sine * (x.p - without)
    right = x.slope(x.plain) * x.bent * (x.p - q)
    scale = (x.p + without) * (x.p + q) * x.sine / x.t
    where = x.sums_to_1 & (x.sine > 0) & (x.p != without)
    return equal(left, right, scale, where)


def lemma_4_2(x: Case) -> Checked:
    """(p - q)·sum with margins = (p - q~)·sum without. Scale: the same with plus."""
    sum_without, sum_with = x.sums()
    return equal(
        (x.p - x.q) * sum_with,
        (x.p - x.without) * sum_without,
        (x.p + x.q) * sum_with + (x.p + x.without) * sum_without,
        x.one_hot & (x.p != x.without),
    )


def lemma_4_2_closing_form(x: Case, printed: bool = True) -> Checked:
    """The closing form equals 1/(q·eta + 1 - q), after expanding by q/exp(logit~). Scale: all terms."""
    sum_without, sum_with = x.sums()
    q = x.positive(x.q if printed else x.without)
    below = q * x.eta + 1 - q
    scale = sum_with + sum_without * (1 + q * x.eta)
    checked = equal(sum_with, sum_without * below, scale, x.one_hot & (q > 0))
    return checked._replace(left=sum_without / sum_with, right=1 / below)


def lemma_4_3(x: Case) -> Checked:
    """Eq. 7 times its denominators. Scale: both sides with p + q in place of p - q, and with 1 + eta·q~."""
    positive = x.positive(x.without)
    left = x.slope(x.logits) * x.sine * (1 - (1 - x.eta) * positive)
    right = x.slope(x.plain) * x.bent
    terms = (x.p + x.q) * (1 + x.eta * positive) + x.p + x.without
    return equal(
        left,
        right,
        terms * x.sine / x.t,
        x.one_hot & (x.sine > 0),
    )


def lemma_4_4(x: Case) -> Checked:
    """The positive's gradient at an m2 that is infinite up to rounding. Scale: 1/t."""
    return equal(
        x.slope(x.logits),
        (x.theta + x.m1).sin() / x.t,
        1 / x.t,
        x.far(x.p == 1),
    )


def identity_lemma_4_4_negatives(x: Case) -> Checked:
    """The negatives' gradients tend to -sin(theta)/t times the softmax over negatives. Scale: the right side."""
    share = softmax(x.negatives(x.plain(x.theta)))
    limit = -share * x.sine / x.t
    return equal(
        x.slope(x.logits),
        limit,
        limit.abs(),
        x.far(x.p == 0),
    )


class Scalar(NamedTuple):
    """A positive's angle and its probability q~ without margins, each by itself, [n]."""

    angle: Tensor
    probability: Tensor
    temperature: Tensor
    m1: Tensor
    m2: Tensor = torch.zeros((), dtype=torch.float64)

    def eta(self, theta: Tensor) -> Tensor:
        """eta of Lemma 4.3."""
        change = (theta + self.m1).cos() - theta.cos() - self.m2
        return (change / self.temperature).exp()


def denominator(q: Tensor, eta: Tensor) -> Tensor:
    """1 - (1 - eta)·q~, the denominator of Eq. 7."""
    return 1 - q + q * eta


def section_4_1_peak(x: Scalar) -> Checked:
    """At fixed q~, 1/(1 - (1 - eta)·q~) is largest at theta = (pi - m1)/2. Scale: the sum of both denominators."""
    peak = (math.pi - x.m1) / 2
    at_angle = denominator(x.probability, x.eta(x.angle))
    at_peak = denominator(x.probability, x.eta(peak))
    return at_most(
        at_peak,
        at_angle,
        at_peak + at_angle,
        x.m1 <= math.pi,
    )


def section_4_2_growth(x: Scalar) -> Checked:
    """1/(1 - (1 - eta)·q~) is larger at q~ than at q~/2. Scale: the sum of both denominators.

    The sentence is about the subtractive margin, so there must be one.
    """
    eta = x.eta(x.angle)
    at_half = denominator(x.probability / 2, eta)
    at_whole = denominator(x.probability, eta)
    checked = at_most(at_whole, at_half, at_whole + at_half, x.m2 > 0)
    return checked._replace(left=1 / at_half, right=1 / at_whole)


def section_4_2_growth_small(x: Scalar) -> Checked:
    """The same where eta is at most 1."""
    return section_4_2_growth(x)._replace(met=x.eta(x.angle) <= 1)


def section_4_2_growth_wide(x: Scalar) -> Checked:
    """The same where m2 >= 1 - cos(m1).

    There eta is at most 1 at every angle, because cos(theta + m1) - cos(theta) is largest at pi.
    """
    return section_4_2_growth(x)._replace(met=x.m2 >= 1 - x.m1.cos())


# Sec. 5.5 and identities of ours: margins as attenuation of type I


def section_5_5_alpha_printed(x: Case) -> Checked:
    """Type I at alpha = 1 - eta equals the margins' gradient. Scale: both with plus, type I's times its weight."""
    weight, where = x.type_i(x.eta)
    of_type_i = (x.p + x.without) * weight * x.sine
    of_margins = (x.p + x.q) * x.bent.abs()
    return equal(
        x.slope(x.plain, weight),
        x.slope(x.logits),
        (of_type_i + of_margins) / x.t,
        where,
    )


def section_5_5_alpha(x: Case) -> Checked:
    """The same without an angular margin."""
    checked = section_5_5_alpha_printed(x)
    return checked._replace(met=checked.met & (x.m1[:, 0] == 0))


def section_5_5_factor(x: Case) -> Checked:
    """Type I's weight at alpha = 1 - eta is Eq. 7's factor: (p - q~)·weight = p - q. Scale: the same with plus."""
    weight, where = x.type_i(x.eta)
    scale = (x.p + x.without) * weight + x.p + x.q
    return equal(
        (x.p - x.without) * weight,
        x.p - x.q,
        scale,
        where,
    )


def identity_type_i_decoupled(x: Case) -> Checked:
    """Type I at alpha = 1 equals -logit + log of the sum over negatives. Scale: (p + q~)·sin/t times the weight."""

    def decoupled(theta: Tensor) -> Tensor:
        logits = x.plain(theta)
        of_negatives = x.negatives(logits).logsumexp(dim=1, keepdim=True)
        return of_negatives - x.positive(logits)

    weight, where = x.type_i(0.0)
    return equal(
        x.slope(x.plain, weight),
        gradient(decoupled, x.theta),
        (x.p + x.without) * x.sine / x.t * weight,
        where,
    )


def identity_subtractive_is_type_i(x: Case) -> Checked:
    """m2 = -t·log(1 - alpha) equals type I, in the gradients of logits. Scale: (p + q~) times the weight."""
    weight, where = x.type_i(1 - x.alpha)
    m2_over_t = -torch.log1p(-x.alpha)

    def with_margin(logits: Tensor) -> Tensor:
        return x.loss(logits - m2_over_t * x.p)

    def attenuated_loss(logits: Tensor) -> Tensor:
        return x.loss(scale_gradient(logits, weight))

    logits = x.plain(x.theta)
    return equal(
        gradient(with_margin, logits),
        gradient(attenuated_loss, logits),
        (x.p + x.without) * weight,
        where,
    )


# Random inputs


def random_inputs(generator: Generator, n: int) -> dict[str, Tensor]:
    """All inputs that statements choose from, with four candidates.

    Extremes: angles of 1e-8 and pi - 1e-8, exponentials of ±630. Entries are drawn in this order.
    """

    def uniform(*m: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Numbers [n] between the ends, or [n, m]."""
        return generators.uniform(generator, n, *m) * (high - low) + low

    def log_uniform(low: float, high: float, *m: int) -> Tensor:
        return 10 ** uniform(*m, low=low, high=high)

    def one_of(*choices: Tensor) -> Tensor:
        index = torch.randint(len(choices), choices[0].shape, generator=generator)
        return torch.stack(choices).gather(0, index[None])[0]

    def angles(*m: int) -> Tensor:
        near = log_uniform(-8, -1, *m)
        anywhere = [uniform(*m, high=math.pi) for _ in range(4)]
        return one_of(*anywhere, near, math.pi - near)

    exponential = -uniform(4).clamp(min=1e-12).log()
    soft = exponential / total_of(exponential)
    positive = torch.randint(4, (n,), generator=generator)
    one_hot = torch.eye(4, dtype=torch.float64)[positive]
    temperature = log_uniform(-2.5, 3)
    infinite = 4 + 40 * temperature
    small = log_uniform(-12, -1)
    zero = torch.zeros(n, dtype=torch.float64)
    one = torch.ones(n, dtype=torch.float64)
    return {
        "theta": angles(4),
        "p": torch.where(uniform(1) < 0.8, one_hot, soft),
        "temperature": temperature,
        "m1": one_of(zero, uniform(high=math.pi), uniform(high=math.pi), 3.1 * one),
        "m1_mostly_0": one_of(zero, zero, zero, zero, zero, uniform()),
        "m2": one_of(zero, uniform(), log_uniform(-3, 1)),
        "m2_wide": uniform(high=4),
        "m2_far": infinite * one_of(one, 1 + uniform(), 10 + uniform(), uniform()),
        "beta": one_of(one, one, uniform(high=3), uniform(high=3), zero),
        "alpha": one_of(zero, uniform(), uniform(), 1 - small),
        "angle": angles(),
        "probability": one_of(uniform(), small, 1 - small),
    }


Names = Mapping[str, str]
"""Which of the random inputs a check takes, by the check's own names."""


def taking(*names: str, **others: str) -> dict[str, str]:
    return dict(zip(names, names, strict=True)) | others


def chosen(names: Names, generator: Generator, n: int) -> Inputs:
    every = random_inputs(generator, n)
    return {name: every[key] for name, key in names.items()}


SAME = 5
ROUND: dict[str, list[Any]] = {
    "theta": [[1.0, 1.0]] * SAME,
    "p": [[1.0, 0.0]] * SAME,
    "temperature": [1.0] * SAME,
    "m1": [0.0, 0.0, 1.0, 1.0, 1.0],
    "m1_mostly_0": [0.0] * SAME,
    "m2": [0.0, 1.0, 0.0, 1.0, 0.1],
    "m2_wide": [0.0, 1.0, 0.0, 1.0, 0.1],
    "m2_far": [44.0] * SAME,
    "beta": [1.0, 1.0, 1.0, 2.0, 1.0],
    "alpha": [0.5] * SAME,
    "angle": [1.0, 2.0, 3.0, 2.0, 3.0],
    "probability": [0.5] * SAME,
}
"""Two candidates, one of them the positive, both at 1 radian, margins from none to both."""
ALONE: dict[str, list[Any]] = {
    "theta": [[0.0], [0.0]],
    "p": [[1.0], [1.0]],
    "temperature": [1.0, 1.0],
    "beta": [1.0, 2.0],
}
"""A positive without a negative."""


def state(
    id: str,
    check: Callable[[Any], Checked],
    names: Names,
    simple: Mapping[str, list[Any]] = ROUND,
    case: Callable[..., Any] = Case,
) -> Statement:
    """A statement about the case that these inputs make."""
    written = {name: simple[key] for name, key in names.items()}
    return Statement(id, of_case(case, check), partial(chosen, names), given(**written))


state_of_scalar = partial(state, case=Scalar)

PLAIN = taking("theta", "p", "temperature")
WITH_BETA = PLAIN | taking("beta")
WITH_ALPHA = PLAIN | taking("alpha")
MARGINS = PLAIN | taking("m1", "m2")
ALL = MARGINS | taking("beta")
FAR = PLAIN | taking("m1", m2="m2_far")
MOSTLY_SUBTRACTIVE = PLAIN | taking("m2", m1="m1_mostly_0")
ANGULAR = taking("angle", "probability", "temperature", "m1")
BOTH = ANGULAR | taking("m2")
WIDE = ANGULAR | taking(m2="m2_wide")

equation_3_m2 = partial(equation_3, printed=False)
equation_16_m8 = partial(equation_16, printed=False)
closing_form_m7 = partial(lemma_4_2_closing_form, printed=False)

STATEMENTS = (
    state("margins.equation_3", equation_3, WITH_BETA, ALONE),
    state("margins.equation_3.m2", equation_3_m2, WITH_BETA, ALONE),
    state("margins.equation_13", equation_13, WITH_BETA),
    state("margins.equation_14", equation_15, WITH_BETA),
    state("margins.equation_15", equation_15, ALL),
    state("margins.equation_16", equation_16, ALL),
    state("margins.equation_16.m8", equation_16_m8, ALL),
    state("margins.theorem_4_1", theorem_4_1, ALL),
    state("margins.lemma_4_2", lemma_4_2, MARGINS),
    state("margins.lemma_4_2_closing_form", lemma_4_2_closing_form, MARGINS),
    state("margins.lemma_4_2_closing_form.m7", closing_form_m7, MARGINS),
    state("margins.lemma_4_3", lemma_4_3, MARGINS),
    state("margins.lemma_4_4", lemma_4_4, FAR),
    state("margins.identity_lemma_4_4_negatives", identity_lemma_4_4_negatives, FAR),
    state_of_scalar("margins.section_4_1_peak", section_4_1_peak, ANGULAR),
    state_of_scalar("margins.section_4_2_growth", section_4_2_growth, BOTH),
    state_of_scalar("margins.section_4_2_growth.m33", section_4_2_growth_small, BOTH),
    state_of_scalar("margins.section_4_2_growth_wide.m33", section_4_2_growth_wide, WIDE),
    state("margins.section_5_5_alpha", section_5_5_alpha_printed, MARGINS),
    state("margins.section_5_5_factor.m13", section_5_5_factor, MARGINS),
    state("margins.section_5_5_alpha.m13", section_5_5_alpha, MOSTLY_SUBTRACTIVE),
    state("margins.identity_type_i_decoupled", identity_type_i_decoupled, PLAIN),
    state("margins.identity_subtractive_is_type_i", identity_subtractive_is_type_i, WITH_ALPHA),
)
