"""The fixtures and the option that tests of the core have, too."""

from contextlib import suppress

import pytest
from tests import conftest
from tests.conftest import _approved, approve, deterministic, refused, shared_data

__all__ = ["_approved", "approve", "deterministic", "refused", "shared_data"]


def pytest_addoption(parser: pytest.Parser) -> None:
    with suppress(ValueError):  # the tests of the core are in this run, and have added it
        conftest.pytest_addoption(parser)
