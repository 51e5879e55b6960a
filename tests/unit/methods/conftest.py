"""Methods compute as every command makes them."""

import pytest


@pytest.fixture(autouse=True)
def _as_commands_compute(deterministic: None) -> None:
    """Every test here: on one thread, with deterministic algorithms alone."""
