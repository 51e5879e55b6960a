"""Soft actor-critic's equations against closed forms, torch's distributions, and gradients by hand."""

import math

import pytest
import torch
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from hypersphere_control import soft_actor_critic as sac


def test_density_is_that_of_torchs_squashed_normal() -> None:
    """torch.distributions is the independent implementation."""
    random = torch.Generator().manual_seed(0)
    output, noise = (torch.randn(50, n, generator=random, dtype=torch.float64) for n in (6, 3))
    found = sac.drawn(output, noise)
    mean, unbounded = output.chunk(2, dim=1)
    deviation = (-10 + 6 * (unbounded.tanh() + 1)).exp()
    squashed = TransformedDistribution(Normal(mean, deviation), [TanhTransform()])
    torch.testing.assert_close(found.actions, (mean + deviation * noise).tanh())
    expected = squashed.log_prob(found.actions.clamp(-1 + 1e-12, 1 - 1e-12)).sum(dim=1)
    torch.testing.assert_close(found.log_probability, expected, rtol=1e-4, atol=1e-4)


def test_density_integrates_to_one() -> None:
    """In one dimension: by the trapezoid rule over actions."""
    output = torch.tensor([[0.3, 0.6]], dtype=torch.float64)  # log deviation -10 + 6 (tanh 0.6 + 1) = -0.78
    noise = torch.linspace(-9, 9, 20001, dtype=torch.float64)[:, None]
    found = sac.drawn(output.expand(len(noise), 2), noise)
    area = torch.trapezoid(found.log_probability.exp(), found.actions[:, 0])
    assert area.item() == pytest.approx(1, abs=1e-4)


def test_density_stays_finite_where_tanh_rounds_to_one() -> None:
    found = sac.drawn(torch.tensor([[30.0, 0.0]]), torch.zeros(1, 1))
    assert found.actions.item() == 1
    # the slope's logarithm is 2 (log 2 - 30), and the normal's density at its mean has deviation e^-4
    expected = 4 - 0.5 * math.log(2 * math.pi) - 2 * (math.log(2) - 30)
    assert found.log_probability.item() == pytest.approx(expected, rel=1e-5)


def test_target_takes_the_lower_critic_and_pays_for_certainty() -> None:
    aim = sac.target(
        torch.tensor([1.0]), torch.tensor([[5.0], [3.0]]), torch.tensor([2.0]), torch.tensor(0.5), discount=0.9
    )
    assert aim.item() == pytest.approx(1 + 0.9 * (3 - 0.5 * 2))


def test_critics_loss_is_the_sum_of_both_errors() -> None:
    values, targets = torch.tensor([[1.0, 2.0], [4.0, 4.0]]), torch.tensor([1.0, 4.0])
    assert sac.critic_loss(values, targets).item() == pytest.approx((0 + 4) / 2 + (9 + 0) / 2)


def test_actors_loss_follows_the_lower_critic_alone() -> None:
    values = torch.tensor([[1.0, 5.0], [2.0, 3.0]], requires_grad=True)
    loss = sac.actor_loss(values, torch.tensor([0.2, 0.4]), torch.tensor(0.1))
    assert loss.item() == pytest.approx(((0.02 - 1) + (0.04 - 3)) / 2)
    loss.backward()
    assert values.grad is not None
    assert values.grad.tolist() == [[-0.5, 0.0], [0.0, -0.5]]


@pytest.mark.parametrize(("entropy", "sign"), [(2.0, 1), (0.5, -1)])
def test_temperature_falls_while_the_policy_is_more_random_than_aimed_at(entropy: float, sign: int) -> None:
    """The entropy is 2 or 0.5, and 1 is aimed at: a descent lowers the temperature where its gradient is positive."""
    temperature = torch.tensor(0.3, requires_grad=True)
    sac.temperature_loss(temperature, torch.tensor([-entropy]), 1.0).backward()
    assert temperature.grad is not None
    assert temperature.grad.item() == pytest.approx(entropy - 1)
    assert math.copysign(1, temperature.grad.item()) == sign
