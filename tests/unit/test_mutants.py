"""Mutants are drawn by hash; what the tables say of them is counted by hand."""

from pathlib import Path

import pytest

from tests.mutants import PACKAGES, Outcome, changes_code, command, in_turn, sample, table

KEYS = [f"src/hypersphere/config/plan.py core/AddNot {place}" for place in range(60)]


def test_a_sample_is_that_of_the_seed_alone_and_hardly_changes_with_the_source() -> None:
    drawn = sample(KEYS, 20, 0, lambda _: True)
    assert drawn == sample(reversed(KEYS), 20, 0, lambda _: True)
    assert drawn[:5] == sample(KEYS, 5, 0, lambda _: True)
    assert drawn != sample(KEYS, 20, 1, lambda _: True)
    gone = {*drawn[:3]}
    assert sample(KEYS, 20, 0, lambda key: key not in gone)[:17] == drawn[3:]


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        ("a = 1 + 2", "a = 1 - 2", True),
        ("def f(a: int | None) -> int | str: ...", "def f(a: int & None) -> int & str: ...", False),
        ("a: int | None = 1", "a: int & None = 1", False),
        ("def f(a=1): ...", "def f(a=2): ...", True),
        ("f(**a)", "f(/a)", False),
    ],
)
def test_mutants_count_that_are_python_and_change_more_than_annotations(
    before: str, after: str, counts: bool
) -> None:
    assert changes_code(before, after) == counts


def test_a_modules_own_tests_come_first_or_else_those_that_name_it() -> None:
    texts = {
        "u/test_a.py": "",
        "u/test_b.py": "import plan, cells",
        "u/test_plan.py": "",
        "u/test_plan_use.py": "",
    }
    assert in_turn("plan", texts) == (
        ["u/test_plan.py", "u/test_plan_use.py"],
        ["u/test_a.py", "u/test_b.py"],
    )
    assert in_turn("cells", texts) == (
        ["u/test_b.py"],
        ["u/test_a.py", "u/test_plan.py", "u/test_plan_use.py"],
    )
    assert in_turn("cell", texts) == ([], sorted(texts))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_mutant_of_each_package_meets_all_tests_of_the_package(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    modules = sorted(Path("src/hypersphere", package).rglob("*.py"))
    tests = [str(path) for path in Path("tests/unit", package).rglob("test_*.py")]
    assert len(modules) > 1
    assert tests
    for module in modules:
        typed = command(module)
        assert all(typed.count(test) == 1 for test in tests), module


def test_the_table_counts_and_lists() -> None:
    """Wilson's interval of 3 of 4, by hand with z = 1.96: (0.75 + 0.4802 ± 0.6409) / 1.9604."""
    said = ["killed", "timed out", "survived", "killed"]
    outcomes = [
        Outcome("config", KEYS[n], 7 + n, one, "a | b", "a & b") for n, one in enumerate(said)
    ]
    text = table(outcomes, {"config": 60})
    assert "| config | 60 | 4 | 3 | 1 | 75% (30% to 95%) |" in text.splitlines()
    assert text.splitlines()[-1] == "| `config/plan.py:9` | AddNot | `a \\| b` | `a & b` |"
    assert text.count("config/plan.py") == 1
