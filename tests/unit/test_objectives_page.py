"""docs/objectives.md lists every component of objectives/, once, and nothing else."""

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
    config = files.read_yaml(Path(__file__).resolve().parents[2] / "config" / "papers" / "double_metric" / "paper.yaml")
    (row,) = re.findall(rf"^\|.*{authors}.*double metric Table 7.*$", PAGE, re.MULTILINE)
    assert f"`{config['variants'][variant]['objective']['name']}`" in row
