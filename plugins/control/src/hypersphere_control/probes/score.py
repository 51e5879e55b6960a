"""The return of a frozen agent's policy."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float

from hypersphere.arguments import PositiveInt
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere_control.encoders.pixel_convnet import PixelConvnet
from hypersphere_control.environment import Environment, Settings
from hypersphere_control.replay import Replay, crop

MEASURES = ("score",)


def score(frozen: Frozen, *, episodes: PositiveInt = 10) -> ProbeResult:
    """Mean return of episodes in which the agent takes its policy's mean action (LMCL, Table 5; CURL, Sec. 5).

    The episodes go side by side, one step at a time, so that the encoder sees them as one batch. Their first states
    depend on the run's seed, and are none that it was trained on.

    Returns:
        ``score``: between 0 and 1,000, because each environment step's reward is between 0 and 1.

    Raises:
        NotFiniteError: the policy's actions are NaN or infinite.
    """
    encoder = frozen.encoder
    if not isinstance(encoder, PixelConvnet):
        raise HypersphereError("score: needs an agent, whose encoder is pixel_convnet")

    def mean_actions(replay: Replay, step: int) -> Float[np.ndarray, "episodes a"]:
        seen = replay.observations(torch.arange(episodes), torch.full((episodes,), step))
        means = frozen.embed(crop(seen, encoder.size)).chunk(2, dim=1)[0]
        return means.tanh().cpu().numpy()

    return ProbeResult({MEASURES[0]: mean_return(frozen, episodes, mean_actions, encoder.frames)})


def mean_return(
    frozen: Frozen,
    episodes: int,
    actions: Callable[[Replay, int], Float[np.ndarray, "episodes a"]],
    stack: int,
) -> float:
    """The mean over episodes of the sum of rewards, of a policy that sees all that has happened so far."""
    settings = Settings.of(frozen.run.dataset.source)
    tasks = _simulators(settings, episodes)
    replay = Replay(episodes, settings.steps, tasks[0].actions, settings.size, stack)
    for episode, task in enumerate(tasks):
        replay.begin(episode, task.reset(frozen.run.seed, "score", episode))
    for step in range(settings.steps):
        chosen = actions(replay, step).astype(np.float32)
        for episode, task in enumerate(tasks):
            frame, reward = task.act(chosen[episode])
            replay.add(episode, step, chosen[episode], reward, frame)
    return float(replay.rewards.sum(dim=1).double().mean())


@lru_cache(maxsize=1)
def _simulators(settings: Settings, count: int) -> tuple[Environment, ...]:
    """Simulators of one task. A reset leaves nothing of what was done with them before."""
    return tuple(Environment(settings) for _ in range(count))
