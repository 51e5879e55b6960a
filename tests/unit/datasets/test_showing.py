"""docs/datasets.md is what data/datasets.csv makes of it."""

from collections.abc import Callable
from pathlib import Path

from hypersphere.datasets import showing
from hypersphere.datasets.reading.published import File, Published, table

ROOT = Path(__file__).resolve().parents[3]
ONE = Published(
    "one", "one", "A Set", "three images", "v2", "https://home", "free", "A. Author, A Title, 2001",
    {"a.zip": File("a.zip", "https://x/a.zip", "https://y/a.zip", "0" * 32, 2_640_397_119),
     "b.zip": File("b.zip", "https://x/b.zip", "", "1" * 32, None)},
)  # fmt: skip


def test_the_page_is_current() -> None:
    written = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    assert written == showing.page(table()), "run: python -m hypersphere.datasets.showing docs/datasets.md"


def test_a_page_says_all_that_the_table_says(approve: Callable[[object], None]) -> None:
    approve(showing.page({"one": ONE, "two": ONE._replace(name="two", title="Two", files={})}))
