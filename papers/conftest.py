"""Theorems and studies of papers compute as commands do."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _as_commands_compute() -> None:
    # here: who only collects needs no torch
    from hypersphere.training.determinism import make_deterministic

    make_deterministic(1)
