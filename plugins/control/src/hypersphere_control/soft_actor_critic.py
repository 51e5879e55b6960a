"""Soft actor-critic (Haarnoja et al. 2018, "Algorithms and Applications"), one function for each equation.

Shapes: n states in a batch, a numbers of an action, 2 critics. Equations are numbered from memory.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

LOWEST, HIGHEST = -10.0, 2.0
"""Bounds of the logarithm of the policy's standard deviation, as in CURL's code (from memory)."""


class Drawn(NamedTuple):
    """Actions of a policy."""

    actions: Float[Tensor, "n a"]
    """Each number from -1 to 1."""
    log_probability: Float[Tensor, "n"]
    """The logarithm of the actions' density, in nats."""


def drawn(output: Float[Tensor, "n 2a"], noise: Float[Tensor, "n a"]) -> Drawn:
    """Actions tanh(mean + deviation · noise), and log density - Σ log(1 - action²) (App. C, Eq. 21).

    Args:
        output: the policy's means, then its unbounded logarithms of standard deviations.
        noise: standard normal.

    Numerics: the bounds are reached smoothly, by tanh; 1 - tanh(u)² is 4 / (e^u + e^-u)², which no rounding makes zero.
    """
    mean, unbounded = output.chunk(2, dim=1)
    log_deviation = LOWEST + (HIGHEST - LOWEST) / 2 * (unbounded.tanh() + 1)
    before = mean + log_deviation.exp() * noise
    normal = -0.5 * noise.square() - log_deviation - 0.5 * math.log(2 * math.pi)
    slope = 2 * (math.log(2) - before - torch.nn.functional.softplus(-2 * before))
    return Drawn(before.tanh(), (normal - slope).sum(dim=1))


def target(
    rewards: Float[Tensor, "n"],
    following: Float[Tensor, "2 n"],
    log_probability: Float[Tensor, "n"],
    temperature: Float[Tensor, ""],
    discount: float,
) -> Float[Tensor, "n"]:
    """reward + discount · (min over critics of Q(next) - temperature · log probability) (Eq. 3 and 5).

    Episodes of the suite end by time alone, so that no state is terminal and every next state counts.
    """
    return rewards + discount * (following.amin(dim=0) - temperature * log_probability)


def critic_loss(values: Float[Tensor, "2 n"], targets: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    """Mean squared error of each critic, summed over the two (Eq. 5)."""
    return (values - targets).square().mean(dim=1).sum()


def actor_loss(
    values: Float[Tensor, "2 n"],
    log_probability: Float[Tensor, "n"],
    temperature: Float[Tensor, ""],
) -> Float[Tensor, ""]:
    """Mean of temperature · log probability - min over critics of Q (Eq. 7)."""
    return (temperature * log_probability - values.amin(dim=0)).mean()


def temperature_loss(
    temperature: Float[Tensor, ""], log_probability: Float[Tensor, "n"], entropy: float
) -> Float[Tensor, ""]:
    """Mean of -temperature · (log probability + entropy aimed at) (Eq. 18)."""
    return (-temperature * (log_probability.detach() + entropy)).mean()
