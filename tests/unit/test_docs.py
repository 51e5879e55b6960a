"""docs/reliability.md names its tests; a promise whose test is gone is no promise."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def absent(text: str) -> list[str]:
    """Tests that a text names and that are not there."""
    named = NAMED.findall(text)
    return [f"{file}::{test}" for file, test in named if test not in functions(ROOT / "tests" / file)]


def functions(path: Path) -> set[str]:
    """Names of a file's functions; none if there is no such file."""
    if not path.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_is_named_exists() -> None:
    assert len(NAMED.findall(PAGE)) > 50
    assert absent(PAGE) == []


def test_a_test_that_does_not_exist_is_noticed() -> None:
    """The control."""
    wrong = ["unit/test_docs.py::test_nothing", "unit/test_none.py::test_nothing"]
    assert (
        absent(
            " ".join(f"`{name}`" for name in wrong) + " `unit/test_docs.py::test_a_test_that_does_not_exist_is_noticed`"
        )
        == wrong
    )


def test_every_promise_has_a_test_and_a_control() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 40
    for row in rows:
        promise, test, control = (cell.strip() for cell in row.strip("|").split("|"))
        assert promise
        assert NAMED.search(test), row
        assert control, row
