"""Simulated tasks, as environments and as datasets: episodes are functions of their key, of 1,000 environment steps."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Component
from hypersphere.errors import HypersphereError
from hypersphere_control import rendering
from hypersphere_control.datasets.control_task import control_task
from hypersphere_control.environment import EPISODE, Environment, Settings

pytestmark = pytest.mark.skipif(bool(rendering.missing()), reason=rendering.missing())
SMALL = Settings("cartpole", "swingup", size=16, action_repeat=8, shadows=False)


def taken(environment: Environment, number: int, steps: int = 5) -> tuple[bytes, float]:
    """The frames of some steps as bytes, and the sum of their rewards."""
    frames, total = [environment.reset(0, "test", number)], 0.0
    for step in range(steps):
        frame, reward = environment.act(np.full(environment.actions, np.sin(step)))
        frames.append(frame)
        total += reward
    return np.stack(frames).tobytes(), total


def test_an_episode_depends_on_its_key_and_not_on_those_before() -> None:
    used, fresh = Environment(SMALL), Environment(SMALL)
    taken(used, 1, steps=40)
    assert taken(used, 2) == taken(fresh, 2)
    assert taken(fresh, 2) != taken(fresh, 3)


@pytest.mark.parametrize(
    ("domain", "task", "repeat", "actions"),
    [
        ("finger", "spin", 2, 2),
        ("cartpole", "swingup", 8, 1),
        ("reacher", "easy", 4, 2),
        ("cheetah", "run", 4, 6),
        ("walker", "walk", 2, 6),
        ("ball_in_cup", "catch", 4, 2),
    ],
)
def test_the_papers_tasks_are_as_declared(
    declared: Plan, domain: str, task: str, repeat: int, actions: int
) -> None:
    """Tassa et al. 2018 for the numbers of an action; an episode ends by time, after 1,000 environment steps."""
    (dataset,) = (one for one in declared.config.datasets.values() if one.name == f"control_{task}")
    settings = Settings.of(dataset.source)
    assert settings == (domain, task, 100, repeat, True)
    environment = Environment(settings._replace(size=8, shadows=False))
    assert environment.actions == actions
    environment.reset(0, "test")
    simulator, count, ended = environment._simulator, 0, False
    while not ended:
        ended, count = simulator.step(np.zeros(actions)).last(), count + 1
    assert count == EPISODE
    runs = [run for run in declared.runs.values() if run.dataset.name == dataset.name]
    assert {run.method.parameters["actions"] for run in runs} == {actions}


@pytest.fixture(scope="module")
def declared() -> Plan:
    """The repository's plan at the published scale."""
    return planning.make(Path(__file__).resolve().parents[3], {"scale": "paper"})


def test_an_action_is_held_and_its_rewards_are_summed() -> None:
    held, single = Environment(SMALL), Environment(SMALL._replace(action_repeat=1))
    held.reset(0, "test")
    single.reset(0, "test")
    frame, reward = held.act(np.array([0.7]))
    steps = [single.act(np.array([0.7])) for _ in range(8)]
    assert np.array_equal(frame, steps[-1][0])
    assert reward == pytest.approx(sum(one for _, one in steps))


def test_shadows_change_the_frames() -> None:
    plain, shaded = Environment(SMALL), Environment(SMALL._replace(shadows=True))
    assert not np.array_equal(plain.reset(0, "test"), shaded.reset(0, "test"))


def test_another_source_and_an_unknown_task_are_refused(tmp_path: Path, refused: Any) -> None:
    for source in (None, Component(name="mnist")):
        with refused("control", "dataset.source"):
            Settings.of(source)
    with pytest.raises(HypersphereError):  # the sentence lists the simulator's tasks
        Environment(SMALL._replace(task="swingdown"))
    with pytest.raises(HypersphereError):
        control_task(tmp_path, domain="kartpole", task="swingup", action_repeat=8)


def test_a_renderer_that_fails_is_a_sentence() -> None:
    """In a process of its own, because a backend is chosen once."""
    code = (
        "from hypersphere_control.environment import Environment, Settings\n"
        "Environment(Settings('cartpole', 'swingup', 8, 8, False)).reset(0)"
    )
    command = ["env", "-u", "DISPLAY", "MUJOCO_GL=glfw", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hypersphere.errors.HypersphereError: control: ")


def test_frames_are_of_one_episode(tmp_path: Path) -> None:
    found = control_task(
        tmp_path, domain="cartpole", task="swingup", action_repeat=50, size=12, shadows=False
    )
    images = np.asarray(found.splits["train"].images)
    assert images.shape == (1000 // 50 + 1, 12, 12, 3)
    assert len(np.unique(images, axis=0)) > 10  # the cart moves
