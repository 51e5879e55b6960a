"""The fixtures that tests of the core have, too."""

from tests.conftest import deterministic, shared_data

__all__ = ["deterministic", "shared_data"]
