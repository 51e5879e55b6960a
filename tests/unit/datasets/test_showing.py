"""docs/datasets.md is what data/datasets.csv makes of it, and shows the pictures that there are."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import showing, store
from hypersphere.datasets.reading.published import File, Published, table
from hypersphere.datasets.showing import choose
from hypersphere.datasets.store import Prepared
from hypersphere.datasets.types import Arrays, Split

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


def test_a_page_says_all_that_the_table_says(approve: Callable[[object], None]) -> None:
    approve(showing.page({"one": ONE, "two": ONE._replace(name="two", title="Two", files={})}, {"one"}))


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


Make = Callable[..., Prepared]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Prepare images whose grey value is their number; ``classes`` of them in turn, or without classes."""

    def prepared(count: int, classes: int, side: int = 8) -> Prepared:
        images = np.repeat(np.arange(count, dtype=np.uint8), side * side * 3).reshape(count, side, side, 3)
        labels = {"class": np.arange(count) % classes} if classes else {}
        names = {"class": tuple(map(str, range(classes)))} if classes else {}
        about = {"source": "made up", "licence": "none", "citation": "none"}
        arrays = Arrays({"train": Split(images, labels)}, names, about)
        monkeypatch.setattr(registry, "load", lambda kind, name: lambda root, download: arrays)
        dataset = Dataset.model_validate({"name": f"made_{count}_{classes}_{side}", "source": {"name": "digits"}})
        return store.open(store.prepare(dataset, tmp_path, None))

    return prepared


def shown(content: bytes, side: int) -> list[list[int]]:
    """Grey values at the middles of the grid's images."""
    page = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    step = side + showing.GAP
    return page[side // 2 :: step, side // 2 :: step, 0].tolist()


def test_classes_have_columns_if_there_are_enough(make: Make) -> None:
    found = shown(showing.grid(make(40, 4), rows=3), 32)
    assert [[value % 4 for value in row] for row in found] == [[0, 1, 2, 3]] * 3
    assert len({value for row in found for value in row}) == 12


@pytest.mark.parametrize("classes", [0, 11])
def test_otherwise_any_images_are_shown_once(classes: int, make: Make) -> None:
    found = shown(showing.grid(make(44, classes), rows=3), 32)
    assert [len(row) for row in found] == [10] * 3
    assert len({value for row in found for value in row}) == 30


@pytest.mark.parametrize(("count", "classes", "shape"), [(7, 0, (1, 7)), (25, 0, (2, 10)), (9, 4, (2, 4))])
def test_a_small_set_makes_a_small_grid(count: int, classes: int, shape: tuple[int, int], make: Make) -> None:
    assert choose(make(count, classes), "train", 5, 10).shape == shape


@pytest.mark.parametrize(("side", "drawn"), [(8, 32), (12, 24), (20, 20), (32, 32), (128, 96)])
def test_small_images_are_enlarged_by_a_whole_factor_and_large_ones_shrunk(side: int, drawn: int, make: Make) -> None:
    content = showing.grid(make(4, 4, side))
    page = Image.open(io.BytesIO(content))
    assert (page.height, page.width) == (drawn, 4 * (drawn + showing.GAP) - showing.GAP)
    assert showing.grid(make(4, 4, side)) == content
