"""The finished results of a scale, as `make reproduce` left them: `make test-results` gives the same settings."""

from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config import settings as given
from hypersphere.config.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--set KEY=VALUE`, as for the command `hypersphere`."""
    parser.addoption(
        "--set", action="append", help="a setting of the scale whose results are tested"
    )


@pytest.fixture(scope="session")
def plan(request: pytest.FixtureRequest) -> Plan:
    """The plan of the results. Without settings these tests skip; with settings, missing results are a failure."""
    settings = request.config.getoption("--set", default=None)
    if settings is None:
        pytest.skip("tests of finished results; run them with: make reproduce test-results")
    made = planning.make(ROOT, given.parse(settings))
    if not (made.config.results / "scorecard.html").is_file():
        pytest.fail(f"{made.config.results}: no finished results; `make reproduce` makes them")
    return made
