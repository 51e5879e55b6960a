"""docs/datasets.md is what data/datasets.csv makes of it, and shows the pictures that there are."""

from pathlib import Path

from PIL import Image

from hypersphere.datasets import showing
from hypersphere.datasets.reading.published import File, Published, table

ROOT = Path(__file__).resolve().parents[3]
ONE = Published(
    "one", "one", "A Set", "three images", "v2", "https://home", "free", "A. Author, A Title, 2001",
    {"a.zip": File("a.zip", "https://x/a.zip", "https://y/a.zip", "0" * 32, 2_640_397_119),
     "b.zip": File("b.zip", "https://x/b.zip", "", "1" * 32, None)},
)  # fmt: skip


def test_the_page_is_current() -> None:
    docs = ROOT / "docs"
    written = (docs / "datasets.md").read_text(encoding="utf-8")
    assert written == showing.page(table(), showing.pictures(docs)), (
        "run: python -m hypersphere.datasets.showing docs/datasets.md"
    )


def test_a_page_says_all_that_the_table_says() -> None:
    page = showing.page({"one": ONE, "two": ONE._replace(name="two", title="Two", files={})}, {"one"})
    assert "| `one` | [A Set](#a-set) |  | free |" in page  # the size of one of its files is not known
    assert "Three images. Version: v2. <https://home>" in page
    assert "![Images of A Set](images/datasets/one.png)" in page
    assert f"| `a.zip` | 2,640,397,119 | `{'0' * 32}` | <https://x/a.zip>; archive <https://y/a.zip> |" in page
    assert f"| `b.zip` |  | `{'1' * 32}` | <https://x/b.zip> |" in page
    assert "Cite: A. Author, A Title, 2001." in page
    assert "Not downloaded: put the folder" in page.partition("## Two")[2]
    assert "![" not in page.partition("## Two")[2]


def test_sizes_are_rounded_to_three_digits() -> None:
    sizes = {2_640_397_119: "2.64 GB", 170_498_071: "170 MB", 28_881: "28.9 kB", 502: "502 bytes"}
    assert {count: showing._size(count) for count in sizes} == sizes


def test_pictures_are_small_and_shown() -> None:
    folder = ROOT / "docs" / showing.IMAGES
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    for path in folder.glob("*"):
        assert path.suffix == ".png"
        assert path.stem not in table() or f"({showing.IMAGES}/{path.name})" in page
        assert path.stat().st_size <= 60_000
        with Image.open(path) as image:
            image.load()
