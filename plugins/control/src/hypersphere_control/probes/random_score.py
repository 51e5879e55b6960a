"""The return of random actions: what a control task gives away without a policy."""

import numpy as np
from jaxtyping import Float

from hypersphere.arguments import PositiveInt
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere_control.environment import random_actions
from hypersphere_control.probes.score import mean_return
from hypersphere_control.replay import Replay

MEASURES = ("random_score",)


def random_score(frozen: Frozen, *, episodes: PositiveInt = 10) -> ProbeResult:
    """Mean return of episodes with the first states of ``score``, in which each action is uniform. No encoder acts.

    Returns:
        ``random_score``, between 0 and 1,000.
    """

    def drawn(replay: Replay, step: int) -> Float[np.ndarray, "episodes a"]:
        return random_actions(
            (episodes, replay.actions.shape[2]), frozen.run.seed, "random actions", step
        )

    return ProbeResult({"random_score": mean_return(frozen, episodes, drawn, stack=1)})
