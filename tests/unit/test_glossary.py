"""One word for one thing: pages, templates, help, errors and findings keep to docs/glossary.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypersphere.config.validation import read_mapping

from ..prose import other_words

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hypersphere"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
TEMPLATES = [
    *sorted(SOURCE.glob("report/templates/*.[hmt]*")),
    *sorted(SOURCE.glob("certificate/templates/*.[hmt]*")),
    *sorted(ROOT.glob("paper/*.typ")),
]
FINDINGS = sorted(ROOT.glob("papers/**/findings.yaml"))
CODE = [*sorted(SOURCE.rglob("*.py")), *sorted(ROOT.glob("plugins/*/src/**/*.py"))]


def prose(page: str) -> str:
    """A page of Markdown without its code, its addresses and its comments."""
    page = re.sub(r"```.*?```|~~~.*?~~~", "", page, flags=re.DOTALL)
    page = re.sub(
        r"^## How we write$.*?(?=^## |\Z)", "", page, flags=re.DOTALL | re.MULTILINE
    )  # it shows what not to write
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", page)


def of_template(text: str) -> str:
    """What a template shows: its text and its quoted strings, without names of fields."""
    text = re.sub(r"\{#.*?#\}|<style.*?</style>|<script.*?</script>", "", text, flags=re.DOTALL)
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", text, flags=re.DOTALL)
    return re.sub(r"//.*|#?\b[\w.-]*[._][\w.-]*|[\w-]+:", " ", text)


def strings(node: ast.AST) -> Iterator[str]:
    """The text of the strings under a node; what stands in quotes or backquotes there is a name."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield re.sub(r"'[^']*'|`[^`]*`|\b\w+[._]\w[\w.]*|\b\w+: ", "", one.value)


def messages(file: Path) -> Iterator[tuple[int, str]]:
    """The sentences of the errors that a file raises and of the help that it gives, with their lines."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield from ((node.lineno, text) for text in strings(node.exc))
        elif isinstance(node, ast.keyword) and node.arg in ("help", "description", "epilog"):
            yield from ((node.value.lineno, text) for text in strings(node.value))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_keeps_to_the_words(page: Path) -> None:
    assert other_words(prose(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda page: page.name)
def test_a_template_keeps_to_the_words(template: Path) -> None:
    assert other_words(of_template(template.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("file", FINDINGS, ids=lambda page: page.parent.name)
def test_findings_keep_to_the_words(file: Path) -> None:
    for name, question in read_mapping(file).items():
        texts = [question["question"], question.get("adds", ""), *question.get("limits", [])]
        texts += [*question["headline"].values(), *question.get("says", {}).values()]
        assert [one for text in texts for one in other_words(text)] == [], name


def test_errors_and_help_keep_to_the_words() -> None:
    found = []
    for file in CODE:
        for line, text in messages(file):
            found += [f"{file.relative_to(ROOT)}:{line}: {one}" for one in other_words(text)]
    assert not found, "\n".join(found)


def test_each_word_is_refused_in_each_place() -> None:
    """The control: a slip is seen in a page, a template, an error and a help text, and names are left alone."""
    assert other_words(prose("What is printed."))
    assert other_words(of_template("<p>{{ x }} that of the document</p>"))
    assert not other_words(prose("The column `printed` ([here](printed.md)).\n```\nprinted\n```\n"))
    assert not other_words(of_template('{{ row["printed"] }} <b class="printed">'))
    code = ast.parse('raise ValueError(f"{a}: is no name")').body[0]
    assert isinstance(code, ast.Raise)
    assert code.exc is not None
    assert any(other_words(text) for text in strings(code.exc))
