"""The score of a policy: of a made-up task whose best and worst returns are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere.config.run import Dataset
from hypersphere_control.encoders.pixel_convnet import pixel_convnet
from hypersphere_control.environment import Settings
from hypersphere_control.probes import score as module
from hypersphere_control.probes.random_score import random_score
from hypersphere_control.probes.score import score

STEPS = 20


@dataclass
class Sign:
    """The frame is white or black; the reward is 1 for an action of the frame's sign, and frames take turns."""

    settings: Settings
    actions = 1
    white: bool = True

    def reset(self, seed: int, *purpose: str | int) -> np.ndarray:
        self.white = bool(purpose[-1] % 2)  # type: ignore[operator]
        return self._frame()

    def act(self, action: np.ndarray) -> tuple[np.ndarray, float]:
        reward = float((action[0] > 0) == self.white)
        self.white = not self.white
        return self._frame(), reward

    def _frame(self) -> np.ndarray:
        return np.full((3, 8, 8), 255 if self.white else 0, dtype=np.uint8)


class Agent:
    """Stands in for ``Frozen``: its policy acts by the brightness of the newest frame, times ``direction``."""

    def __init__(self, direction: float) -> None:
        self.encoder = pixel_convnet(frames=2, size=6, filters=2, layers=1)
        source = {
            "name": "control_task",
            "domain": "made",
            "task": "sign",
            "action_repeat": 50,
            "size": 8,
        }
        dataset = Dataset.model_validate({"name": "sign", "source": source})
        self.run = type("Run", (), {"seed": 3, "dataset": dataset})
        self.direction = direction

    def embed(self, stacks: Tensor) -> Tensor:
        assert stacks.shape[1:] == (6, 6, 6)
        brightness = stacks[:, -3:].mean(dim=(1, 2, 3)) - 0.5
        return torch.stack([self.direction * brightness, torch.full_like(brightness, 5.0)], dim=1)


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "_simulators", lambda settings, count: tuple(Sign(settings) for _ in range(count))
    )


@pytest.mark.parametrize(("direction", "expected"), [(1.0, STEPS), (-1.0, 0)])
def test_score_is_the_mean_return_of_the_mean_actions(direction: float, expected: float) -> None:
    assert score(Agent(direction), episodes=4).values == {"score": expected}  # type: ignore[arg-type]


def test_random_actions_are_right_half_the_time_whatever_the_agent() -> None:
    """Of 20 x 200 coins, the mean return is within five standard errors of 10."""
    one, other = (random_score(Agent(direction), episodes=200).values for direction in (1.0, -1.0))  # type: ignore[arg-type]
    assert one == other
    assert one["random_score"] == pytest.approx(STEPS / 2, abs=5 * (STEPS / 4 / 200) ** 0.5)


def test_an_encoder_that_is_no_agents_is_refused(refused: Any) -> None:
    frozen = Agent(1.0)
    frozen.encoder = torch.nn.Flatten()
    with refused("score"):
        score(frozen)  # type: ignore[arg-type]
