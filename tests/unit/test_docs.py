"""docs/reliability.md names its tests; a promise whose test is gone is no promise."""

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py::\w+)`")
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
Missing = Callable[[list[str]], list[str]]


def test_every_test_that_is_named_exists(missing_tests: Missing) -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 50
    assert missing_tests(named) == []


def test_a_test_that_does_not_exist_is_noticed(missing_tests: Missing) -> None:
    """The control."""
    wrong = ["unit/test_docs.py::test_nothing", "tests/unit/test_none.py::test_nothing"]
    assert missing_tests([*wrong, "unit/test_docs.py::test_a_test_that_does_not_exist_is_noticed"]) == wrong


def test_every_promise_has_a_test_and_a_control() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 40
    for row in rows:
        promise, test, control = (cell.strip() for cell in row.strip("|").split("|"))
        assert promise
        assert NAMED.search(test), row
        assert control, row
