"""docs/objectives.md lists every component of objectives/, once, and nothing else."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config import registry

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "objectives.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
KINDS: dict[str, tuple[registry.Kind, ...]] = {
    "Losses": ("objectives",),
    "Maps": ("logits",),
    "Gradients": ("gradients", "initialisations"),
}


@pytest.mark.parametrize("section", KINDS)
def test_every_component_has_its_row(section: str) -> None:
    (text,) = [text for title, text in SECTIONS.items() if title.startswith(section)]
    listed = Counter(
        name for row in re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    )
    assert listed == Counter(name for kind in KINDS[section] for name in registry.names(kind))


@pytest.mark.parametrize(("variant", "authors"), [("wang_isola", "Wang & Isola"), ("wang_liu", "Wang & Liu")])
def test_the_page_names_the_loss_that_table_7_trains(variant: str, authors: str) -> None:
    config = files.read_yaml(Path(__file__).resolve().parents[2] / "config" / "papers" / "double_metric.yaml")
    (row,) = re.findall(rf"^\|.*{authors}.*double metric Table 7.*$", PAGE, re.MULTILINE)
    assert f"`{config['variants'][variant]['objective']['name']}`" in row


COMPONENTS = [name for kinds in KINDS.values() for kind in kinds for name in registry.names(kind)]


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_component_is_short_and_has_tests_of_its_own(name: str) -> None:
    """At most 25 lines of code in each of its file's functions, docstrings apart."""
    tree = ast.parse((Path(registry.__file__).parents[1] / "objectives" / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            assert not body or (body[-1].end_lineno or 0) - body[0].lineno < 25, node.name
    tests = Path(__file__).parent / "objectives" / f"test_{name}.py"
    assert len(re.findall(r"^def test_", tests.read_text(encoding="utf-8"), re.MULTILINE)) >= 3
