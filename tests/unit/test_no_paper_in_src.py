"""The package knows no paper: only docstrings of equations say where they come from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAPERS = sorted(file.parent.name for file in (ROOT / "papers").glob("*/paper.yaml"))
WORDS = {"ours", "margins", "lecture", "double_metric"}
"""Names of papers that mean something else, too: the origin of a claim, words of prose, an equation's file."""
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")])
OTHERS = sorted(
    [
        *(
            path
            for path in (ROOT / "src").rglob("*.*")
            if path.suffix in (".html", ".md", ".csv", ".txt")
        ),
        *(
            path
            for path in (ROOT / "workflow").rglob("*")
            if path.suffix in ("", ".smk", ".py") and path.is_file()
        ),
        ROOT / "Snakefile",
    ]
)
EQUATIONS = ROOT / "src" / "hypersphere" / "objectives"


def named(text: str) -> set[str]:
    """The papers that a text names: as a word of its own, or before an artifact (``margins/table2``) or a claim."""
    found = {paper for paper in PAPERS if paper not in WORDS and re.search(rf"\b{paper}\b", text)}
    return found | {paper for paper in PAPERS if re.search(rf"\b{paper}[/.]\w", text)}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Each text of a Python file with its line; of equations all but docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
            and EQUATIONS in path.parents
        ):
            said |= {id(one.value) for one in node.body[:1] if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def test_no_text_of_the_package_names_a_paper() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {papers}"
        for path in SOURCES
        for line, text in texts(path)
        if (papers := named(text))
    ]
    found += [
        f"{path.relative_to(ROOT)}: {papers}"
        for path in OTHERS
        if (papers := named(path.read_text()))
    ]
    assert found == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_name_would_be_found(paper: str) -> None:
    assert named(f"{paper}/table1") == {paper}
    assert named(f"papers.{paper}.theorems") == {paper}
    assert named("marginal lectures of papers") == set()
