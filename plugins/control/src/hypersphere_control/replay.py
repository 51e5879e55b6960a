"""Everything that an agent has seen, from which its updates draw.

Shapes: E episodes of T steps, a frame of 3 × h × w, a numbers of an action, f frames in a stack, n transitions in a
batch, s pixels of a crop's side.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from hypersphere import prng


class Transitions(NamedTuple):
    """A batch of moments, each with what followed it."""

    anchors: Float[Tensor, "n c s s"]
    """Crops of the observations, from 0 to 1; c = 3 f channels."""
    positives: Float[Tensor, "n c s s"]
    """Other crops of the same observations."""
    following: Float[Tensor, "n c s s"]
    """Crops of the next observations."""
    actions: Float[Tensor, "n a"]
    rewards: Float[Tensor, "n"]


class Replay(nn.Module):
    """Frames, actions and rewards of all episodes, as buffers: they are part of the resume state.

    Nothing is ever dropped, because there is room for all episodes of a run. Each frame is kept once.
    """

    frames: UInt8[Tensor, "E T+1 3 h w"]
    actions: Float[Tensor, "E T a"]
    rewards: Float[Tensor, "E T"]

    def __init__(self, episodes: int, steps: int, actions: int, size: int, stack: int) -> None:
        """Room for ``episodes`` of ``steps``; an observation is a stack of frames."""
        super().__init__()
        self.register_buffer(
            "frames", torch.zeros(episodes, steps + 1, 3, size, size, dtype=torch.uint8)
        )
        self.register_buffer("actions", torch.zeros(episodes, steps, actions))
        self.register_buffer("rewards", torch.zeros(episodes, steps))
        self.stack = stack

    @property
    def steps(self) -> int:
        """T."""
        return self.rewards.shape[1]

    def begin(self, episode: int, frame: UInt8[np.ndarray, "3 h w"]) -> None:
        """Keep an episode's first frame."""
        self.frames[episode, 0] = torch.from_numpy(frame)

    def add(
        self,
        episode: int,
        step: int,
        action: Float[np.ndarray, "a"],
        reward: float,
        frame: UInt8[np.ndarray, "3 h w"],
    ) -> None:
        """Keep a step: the action, its reward, and the frame that followed."""
        self.actions[episode, step] = torch.from_numpy(action)
        self.rewards[episode, step] = reward
        self.frames[episode, step + 1] = torch.from_numpy(frame)

    def observations(
        self, episode: Int[Tensor, "n"], step: Int[Tensor, "n"]
    ) -> UInt8[Tensor, "n c h w"]:
        """The stacks that end with these frames. An episode's first frame stands for those before it."""
        places = (step[:, None] - torch.arange(self.stack - 1, -1, -1)).clamp_min(0)
        return self.frames[episode[:, None], places].flatten(1, 2)

    def sample(
        self, stored: int, count: int, side: int, seed: int, *purpose: str | int
    ) -> Transitions:
        """Draw transitions with replacement, each with three random crops.

        Args:
            stored: how many of the first transitions there are to draw from.
            count: n.
            side: s.
            seed: with ``purpose``, the key of the draws.
        """
        drawn = torch.from_numpy(prng.uniform((count, 7), seed, *purpose))
        number = (drawn[:, 0] * stored).long()
        episode, step = number // self.steps, number % self.steps
        now, then = self.observations(episode, step), self.observations(episode, step + 1)
        return Transitions(
            crop(now, side, drawn[:, 1:3]),
            crop(now, side, drawn[:, 3:5]),
            crop(then, side, drawn[:, 5:7]),
            self.actions[episode, step],
            self.rewards[episode, step],
        )


def crop(
    images: UInt8[Tensor, "n c h w"], side: int, places: Float[Tensor, "n 2"] | None = None
) -> Float[Tensor, "n c side side"]:
    """Square crops as floats from 0 to 1: at ``places``, from 0 to 1 along each axis, or of the middle."""
    room = images.shape[-1] - side + 1
    if places is None:
        middle = (room - 1) // 2
        return images[..., middle : middle + side, middle : middle + side].float() / 255
    corners = (places * room).long().tolist()
    cut = [
        image[:, y : y + side, x : x + side] for image, (y, x) in zip(images, corners, strict=True)
    ]
    return torch.stack(cut).float() / 255
