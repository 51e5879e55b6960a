"""The fixture that makes small projects with made-up measurements."""

from pathlib import Path
from typing import Any

import pytest

from .world import Make, World


@pytest.fixture
def make_world(tmp_path: Path) -> Make:
    """``make_world(level=…, seeds=…, paper={…}, epochs=…)``: a project over one temporary root."""

    def make(**options: Any) -> World:
        return World(tmp_path, **options)

    return make
