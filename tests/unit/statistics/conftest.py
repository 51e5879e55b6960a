"""The fixture that makes small projects with made-up measurements."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .world import World


@pytest.fixture(autouse=True, scope="module")
def _little_garbage() -> Iterator[None]:
    # multipletests collects garbage at each call: a tenth of a second over all that is imported, nothing once frozen
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """``make_world(level=…, seeds=…, paper={…}, epochs=…)``: a project over one temporary root."""

    def make(**options: Any) -> World:
        return World(tmp_path, **options)

    return make
