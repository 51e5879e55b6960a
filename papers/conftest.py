"""Theorems and studies of papers compute as commands do."""

import pytest

from hypersphere.training.determinism import make_deterministic


@pytest.fixture(scope="module", autouse=True)
def _as_commands_compute() -> None:
    make_deterministic(1)
