"""Tasks of the DeepMind Control Suite, seen in frames. An episode is a function of its key, on one machine.

Shapes: h = w pixels of a frame's side, a numbers of an action.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Float, UInt8

from hypersphere import prng
from hypersphere.config import registry
from hypersphere.config.run import Component
from hypersphere.errors import HypersphereError
from hypersphere_control import rendering

EPISODE = 1000
"""Environment steps in an episode of every task of the suite that ends by time alone (Tassa et al. 2018)."""
CAMERA = 0
"""The camera of the task itself. No background moves with it."""


class Settings(NamedTuple):
    """A task, and how an agent sees it."""

    domain: str
    task: str
    size: int
    """Pixels of a frame's side."""
    action_repeat: int
    """Environment steps for which an action is held; an agent's step is as many."""
    shadows: bool
    """Render shadows and reflections: in software, nine tenths of the time."""

    @classmethod
    def of(cls, source: Component | None) -> Self:
        """The settings that a dataset's source declares."""
        if source is None or source.name != "control_task":
            raise HypersphereError(
                f"control: dataset.source: must be control_task (given: {source and source.name})"
            )
        return cls(
            **registry.schema("datasets", source.name)
            .model_validate(source.parameters)
            .model_dump()
        )

    @property
    def steps(self) -> int:
        """An agent's steps in an episode."""
        return EPISODE // self.action_repeat


class Environment:
    """One simulated task."""

    def __init__(self, settings: Settings) -> None:
        """Build the simulator."""
        if reason := rendering.missing():
            raise HypersphereError(f"control: {reason}")
        rendering.choose()
        try:
            from dm_control import suite  # a second, and it asks for a renderer
        except (ImportError, AttributeError, RuntimeError) as error:
            raise HypersphereError(
                f"control: dm_control cannot be imported ({_one_line(error)})"
            ) from None
        name = settings.domain, settings.task
        if name not in suite.ALL_TASKS:
            known = ", ".join("/".join(one) for one in suite.BENCHMARKING)
            raise HypersphereError(
                f"control: {settings.domain}/{settings.task}: no such task; there is {known}"
            )
        self.settings = settings
        # its stream is frozen; it is seeded anew for each episode
        self._random = np.random.RandomState(0)
        self._simulator: Any = suite.load(*name, task_kwargs={"random": self._random})
        specification = self._simulator.action_spec()
        self._lowest, self._highest = specification.minimum, specification.maximum
        self.actions: int = specification.shape[0]
        """Numbers of an action."""

    def reset(self, seed: int, *purpose: str | int) -> UInt8[np.ndarray, "3 h w"]:
        """Begin the episode of a key. Returns its first frame."""
        self._random.seed(prng.torch_seed(seed, *purpose) % 2**32)
        self._simulator.reset()
        return self._frame()

    def act(self, action: Float[np.ndarray, "a"]) -> tuple[UInt8[np.ndarray, "3 h w"], float]:
        """Hold an action, each number from -1 to 1. Returns the next frame and the sum of the rewards, each 0 to 1."""
        scaled = self._lowest + (np.clip(action, -1, 1) + 1) / 2 * (self._highest - self._lowest)
        reward = 0.0
        for _ in range(self.settings.action_repeat):
            moment = self._simulator.step(scaled)
            reward += float(moment.reward or 0.0)
            if moment.last():
                break
        return self._frame(), reward

    def _frame(self) -> UInt8[np.ndarray, "3 h w"]:
        size, plain = self.settings.size, {"shadow": False, "reflection": False}
        flags = {} if self.settings.shadows else {"render_flag_overrides": plain}
        try:
            frame = self._simulator.physics.render(size, size, camera_id=CAMERA, **flags)
        except Exception as error:  # each renderer has errors of its own
            advice = "install libgl1-mesa-dri, or set MUJOCO_GL to egl, osmesa or glfw"
            raise HypersphereError(
                f"control: this machine cannot render ({_one_line(error)}); {advice}"
            ) from None
        return np.ascontiguousarray(frame.transpose(2, 0, 1))


def random_actions(
    shape: tuple[int, ...], seed: int, *purpose: str | int
) -> Float[np.ndarray, "... a"]:
    """Actions of independent numbers, uniform from -1 to 1, of a key."""
    return 2 * prng.uniform(shape, seed, *purpose) - 1


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
