"""Methods compute as every command makes them."""

import os

import pytest

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release


@pytest.fixture(autouse=True)
def _as_commands_compute(deterministic: None) -> None:
    """Every test here: on one thread, with deterministic algorithms alone."""
