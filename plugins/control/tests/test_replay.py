"""What an agent has seen: stacks of frames, crops, and which transitions are drawn."""

import numpy as np
import pytest
import torch

from hypersphere_control.replay import Replay, crop

EPISODES, STEPS, SIZE = 3, 4, 6


def frame(episode: int, step: int) -> np.ndarray:
    """A frame that says which one it is: channel 0 the episode, 1 the step, 2 the column."""
    columns = np.broadcast_to(np.arange(SIZE, dtype=np.uint8), (SIZE, SIZE))
    return np.stack([np.full((SIZE, SIZE), episode), np.full((SIZE, SIZE), step), columns]).astype(np.uint8)


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


@pytest.mark.parametrize(("step", "expected"), [(0, [0, 0, 0]), (1, [0, 0, 1]), (2, [0, 1, 2]), (4, [2, 3, 4])])
def test_a_stack_has_the_newest_frame_last_and_none_of_another_episode(
    replay: Replay, step: int, expected: list[int]
) -> None:
    stack = replay.observations(torch.tensor([1]), torch.tensor([step]))[0]
    assert stack[1::3, 0, 0].tolist() == expected
    assert stack[0::3].unique().tolist() == [1]


def test_a_drawn_transition_is_one_that_happened(replay: Replay) -> None:
    seen = replay.sample(EPISODES * STEPS, 500, SIZE, 0, "test")
    newest, next_newest = (part[:, -3:, 0, 0].mul(255).round() for part in (seen.anchors, seen.following))
    assert torch.equal(newest[:, :2], seen.actions)
    assert torch.equal(next_newest[:, 0], newest[:, 0])  # of the same episode
    assert torch.equal(next_newest[:, 1], newest[:, 1] + 1)
    assert torch.equal(seen.rewards, 10 * newest[:, 0] + newest[:, 1])
    assert len(seen.rewards.unique()) == EPISODES * STEPS


@pytest.mark.parametrize("stored", [1, 5])
def test_only_what_has_happened_is_drawn(replay: Replay, stored: int) -> None:
    seen = replay.sample(stored, 300, SIZE, 0, "test")
    assert sorted(seen.rewards.unique().tolist()) == [10.0 * (i // STEPS) + i % STEPS for i in range(stored)]


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


def test_all_that_was_seen_is_state(replay: Replay) -> None:
    other = Replay(EPISODES, STEPS, actions=2, size=SIZE, stack=3)
    other.load_state_dict(replay.state_dict())
    one, two = (each.sample(12, 20, 4, 0, "test") for each in (replay, other))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
