"""The fixture that makes small projects with made-up measurements."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .world import World


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """``make_world(level=…, seeds=…, paper={…}, epochs=…)``: a project over one temporary root."""

    def make(**options: Any) -> World:
        return World(tmp_path, **options)

    return make
