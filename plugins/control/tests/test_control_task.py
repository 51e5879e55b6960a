"""A control task as a dataset: frames of random actions, equal each time they are rendered."""

from pathlib import Path

import numpy as np
import pytest

from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere_control import rendering
from hypersphere_control.datasets.control_task import control_task

pytestmark = pytest.mark.skipif(bool(rendering.missing()), reason=rendering.missing())


def test_frames_are_one_episode_and_equal_each_time(tmp_path: Path) -> None:
    one, again = (
        control_task(tmp_path, domain="cartpole", task="swingup", action_repeat=50, size=12, shadows=False)
        for _ in range(2)
    )
    store.check(one, "datasets/control_task")
    images = one.splits["train"].images
    assert images.shape == (1000 // 50 + 1, 12, 12, 3)
    assert np.array_equal(images, again.splits["train"].images)
    assert len(np.unique(np.asarray(images), axis=0)) > 10  # the control: the cart moves
    assert "mujoco" in one.about["source"]


def test_an_unknown_domain_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match="kartpole/swingup: no such task"):
        control_task(tmp_path, domain="kartpole", task="swingup", action_repeat=8)
