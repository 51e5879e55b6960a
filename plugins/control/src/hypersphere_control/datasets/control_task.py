"""A control task as a dataset: what an agent sees there that acts at random."""

from importlib.metadata import version
from pathlib import Path

import numpy as np

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import CLASS, TRAIN, Arrays, Split
from hypersphere_control.environment import Environment, Settings, random_actions

NEEDS = "hypersphere_control.rendering"
"""Says what is missing here."""


def control_task(
    root: Path,
    download: bool = True,
    *,
    domain: str,
    task: str,
    action_repeat: PositiveInt,
    size: PositiveInt = 100,
    shadows: bool = True,
) -> Arrays:
    """The frames of one episode of random actions: ``images`` [N, size, size, 3], in one class.

    Agents are trained on the task itself, and not on these frames. They are pixels to look at, and their digest is that
    of the simulator and the renderer: another release, or another renderer, is other data.

    Args:
        domain: of the DeepMind Control Suite (Tassa et al. 2018): ``cartpole``.
        task: of that domain: ``swingup``.
        action_repeat: environment steps for which an action is held (CURL's appendix has one for each task).
        size: pixels of a frame's side.
        shadows: render shadows and reflections, as the suite does.
    """
    environment = Environment(Settings(domain, task, size, action_repeat, shadows))
    frames = [environment.reset(0, "frames")]
    for action in random_actions((environment.settings.steps, environment.actions), 0, "frames"):
        frames.append(environment.act(action)[0])
    images = np.stack(frames).transpose(0, 2, 3, 1)
    split = Split(np.ascontiguousarray(images), {CLASS: np.zeros(len(images), dtype=np.int64)})
    about = {
        "source": f"dm-control {version('dm-control')}, mujoco {version('mujoco')}: {domain}/{task}",
        "licence": "Apache-2.0",
        "citation": "Tassa et al. 2018, DeepMind Control Suite",
    }
    return Arrays({TRAIN: split}, {CLASS: (f"{domain} {task}",)}, about)
