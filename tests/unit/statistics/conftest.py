"""The fixture that makes small projects with made-up measurements."""

from functools import partial
from pathlib import Path

import pytest

from .world import Make, World


@pytest.fixture
def make_world(tmp_path: Path) -> Make:
    """``make_world(level=…, seeds=…, paper={…}, epochs=…)``: a project over one temporary root."""
    return partial(World, tmp_path)
