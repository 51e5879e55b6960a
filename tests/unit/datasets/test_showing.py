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


def test_pictures_are_small() -> None:
    for path in (ROOT / "docs" / showing.IMAGES).glob("*"):
        assert path.suffix == ".png"
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


@pytest.mark.parametrize(
    ("count", "classes", "shape"),
    [(7, 0, (1, 7)), (25, 0, (2, 10)), (44, 0, (4, 10)), (9, 4, (2, 4)), (40, 4, (5, 4)), (44, 11, (4, 10))],
)
def test_classes_have_columns_if_there_are_enough(count: int, classes: int, shape: tuple[int, int], make: Make) -> None:
    """Otherwise any images are shown; each once. A small set makes a small grid."""
    places = choose(make(count, classes), "train", 5, 10)
    assert places.shape == shape
    assert len(np.unique(places)) == places.size
    if 0 < classes <= 10:
        assert (places % classes == np.arange(classes)).all()


@pytest.mark.parametrize(("side", "drawn"), [(8, 32), (12, 24), (20, 20), (32, 32), (128, 96)])
def test_small_images_are_enlarged_by_a_whole_factor_and_large_ones_shrunk(side: int, drawn: int, make: Make) -> None:
    """Each with its grey value, its number, in the middle."""
    prepared, step = make(8, 4, side), drawn + showing.GAP
    content = showing.grid(prepared)
    page = Image.open(io.BytesIO(content)).convert("RGB")
    assert (page.height, page.width) == (2 * step - showing.GAP, 4 * step - showing.GAP)
    middles = np.asarray(page)[drawn // 2 :: step, drawn // 2 :: step, 0]
    assert middles.tolist() == choose(prepared, "train", 5, 10).tolist()
    assert showing.grid(prepared) == content
