"""Parts of an agent: soft actor-critic's equations, the convolutions, and what it has seen."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from hypersphere.training.build import initialise
from hypersphere_control import soft_actor_critic as sac
from hypersphere_control.encoders.pixel_convnet import pixel_convnet
from hypersphere_control.replay import Replay, crop


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


def test_density_stays_finite_where_tanh_rounds_to_one() -> None:
    found = sac.drawn(torch.tensor([[30.0, 0.0]]), torch.zeros(1, 1))
    assert found.actions.item() == 1
    # the slope's logarithm is 2 (log 2 - 30), and the normal's density at its mean has deviation e^-4
    expected = 4 - 0.5 * math.log(2 * math.pi) - 2 * (math.log(2) - 30)
    assert found.log_probability.item() == pytest.approx(expected, rel=1e-5)


def test_target_takes_the_lower_critic_and_pays_for_certainty() -> None:
    aim = sac.target(
        torch.tensor([1.0]),
        torch.tensor([[5.0], [3.0]]),
        torch.tensor([2.0]),
        torch.tensor(0.5),
        discount=0.9,
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


@pytest.mark.parametrize("entropy", [2.0, 0.5])
def test_temperature_falls_while_the_policy_is_more_random_than_aimed_at(entropy: float) -> None:
    """1 is aimed at: a descent lowers the temperature where its gradient is positive."""
    temperature = torch.tensor(0.3, requires_grad=True)
    sac.temperature_loss(temperature, torch.tensor([-entropy]), 1.0).backward()
    assert temperature.grad is not None
    assert temperature.grad.item() == pytest.approx(entropy - 1)


def test_the_published_size() -> None:
    """Laskin et al. 2020: 84 pixels, four layers of 32 filters, 35 x 35 places at the end (from memory)."""
    encoder = pixel_convnet()
    assert encoder.feature_dim == 32 * 35 * 35
    assert encoder(torch.rand(2, 9, 84, 84)).shape == (2, encoder.feature_dim)


def test_initial_weights_are_orthogonal_in_the_middle_and_zero_around_it() -> None:
    """Xiao et al. 2018; with ReLU's gain, the middle times its transpose is twice the identity."""
    encoder: Any = pixel_convnet(size=20, filters=8)
    initialise(encoder, seed=3)
    for layer in encoder.layers:
        weight = layer.weight.detach().clone()
        middle = weight[:, :, 1, 1].clone()
        torch.testing.assert_close(middle @ middle.T, 2 * torch.eye(8), atol=1e-5, rtol=0)
        weight[:, :, 1, 1] = 0
        assert not weight.any()
        assert not layer.bias.any()


def test_too_few_pixels_are_refused(refused: Any) -> None:
    with refused("pixel_convnet", "size"):
        pixel_convnet(size=8)


EPISODES, STEPS, SIZE = 3, 4, 6


def frame(episode: int, step: int) -> np.ndarray:
    """A frame that says which one it is: channel 0 the episode, 1 the step, 2 the column."""
    columns = np.broadcast_to(np.arange(SIZE, dtype=np.uint8), (SIZE, SIZE))
    return np.stack([np.full((SIZE, SIZE), episode), np.full((SIZE, SIZE), step), columns]).astype(
        np.uint8
    )


@pytest.fixture
def replay() -> Replay:
    """Three episodes of four steps, in stacks of three frames; an action and a reward say which step they are of."""
    made = Replay(EPISODES, STEPS, actions=2, size=SIZE, stack=3)
    for episode in range(EPISODES):
        made.begin(episode, frame(episode, 0))
        for step in range(STEPS):
            action = np.array([episode, step], dtype=np.float32)
            made.add(episode, step, action, 10.0 * episode + step, frame(episode, step + 1))
    return made


@pytest.mark.parametrize(
    ("step", "expected"), [(0, [0, 0, 0]), (1, [0, 0, 1]), (2, [0, 1, 2]), (4, [2, 3, 4])]
)
def test_a_stack_has_the_newest_frame_last_and_none_of_another_episode(
    replay: Replay, step: int, expected: list[int]
) -> None:
    stack = replay.observations(torch.tensor([1]), torch.tensor([step]))[0]
    assert stack[1::3, 0, 0].tolist() == expected
    assert stack[0::3].unique().tolist() == [1]


def test_a_drawn_transition_is_one_that_happened(replay: Replay) -> None:
    seen = replay.sample(EPISODES * STEPS, 500, SIZE, 0, "test")
    newest, next_newest = (
        part[:, -3:, 0, 0].mul(255).round() for part in (seen.anchors, seen.following)
    )
    assert torch.equal(newest[:, :2], seen.actions)
    assert torch.equal(next_newest[:, 0], newest[:, 0])  # of the same episode
    assert torch.equal(next_newest[:, 1], newest[:, 1] + 1)
    assert torch.equal(seen.rewards, 10 * newest[:, 0] + newest[:, 1])
    assert len(seen.rewards.unique()) == EPISODES * STEPS


@pytest.mark.parametrize("stored", [1, 5])
def test_only_what_has_happened_is_drawn(replay: Replay, stored: int) -> None:
    seen = replay.sample(stored, 300, SIZE, 0, "test")
    assert sorted(seen.rewards.unique().tolist()) == [
        10.0 * (i // STEPS) + i % STEPS for i in range(stored)
    ]


def test_draws_depend_on_their_key_alone(replay: Replay) -> None:
    one, again, other = (replay.sample(12, 8, 4, 0, "test", step) for step in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    assert not torch.equal(one.anchors, other.anchors)


def test_crops_are_drawn_one_by_one_and_reach_every_place(replay: Replay) -> None:
    side = 4
    seen = replay.sample(12, 400, side, 0, "test")
    for part in (seen.anchors, seen.positives, seen.following):
        assert part.shape[-2:] == (side, side)
        assert sorted(part[:, 2, 0, 0].mul(255).round().unique().tolist()) == [0, 1, 2]
    assert not torch.equal(seen.anchors, seen.positives)


def test_the_middle_crop_is_the_middle() -> None:
    image = torch.arange(36, dtype=torch.uint8).reshape(1, 1, 6, 6)
    assert crop(image, 2).mul(255).round().flatten().tolist() == [14, 15, 20, 21]
