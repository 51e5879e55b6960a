"""docs/datasets.md is what data/datasets.csv makes of it."""

from pathlib import Path

from hypersphere.datasets import showing
from hypersphere.datasets.reading.published import table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"


def test_the_page_is_current() -> None:
    made = showing.page(table())
    assert PAGE.read_text(encoding="utf-8") == made, "run: python -m hypersphere.datasets.showing docs/datasets.md"
