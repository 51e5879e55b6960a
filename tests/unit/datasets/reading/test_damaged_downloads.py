"""Archives of other datasets through the real download code, from a server that damages them, to a prepared dataset.

Miniatures in the official layouts, served on this machine; the digest must be that of the same files in a folder.
"""

from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.run import Dataset
from hypersphere.datasets import flowers102, stl10, store, tiny_imagenet
from hypersphere.datasets.reading import download
from hypersphere.errors import HypersphereError

from .. import miniatures

FLOWERS, TABLES = miniatures.flowers102()
# source -> its parameters, its folder below a data folder, the files of that folder, and the published files
SETS: dict[str, tuple[dict[str, Any], str, dict[str, bytes], dict[str, bytes]]] = {
    "stl10": (
        {},
        stl10.FOLDER,
        miniatures.stl10(),
        {stl10.ARCHIVE: miniatures.tar_gz(miniatures.stl10(), stl10.FOLDER)},
    ),
    "tiny_imagenet": (
        {},
        tiny_imagenet.FOLDER,
        miniatures.tiny_imagenet(),
        {tiny_imagenet.ARCHIVE: miniatures.zipped(miniatures.tiny_imagenet(), tiny_imagenet.FOLDER)},
    ),
    "flowers102": (
        {"size": 24, "train": "test", "test": "val"},
        flowers102.FOLDER,
        {**TABLES, **{f"jpg/{name}": content for name, content in FLOWERS.items()}},
        {**TABLES, flowers102.ARCHIVE: miniatures.tar_gz(FLOWERS, "jpg")},
    ),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The miniatures have as many images as published, and a connection is given up at once."""
    for part, count in miniatures.STL10_COUNTS.items():
        monkeypatch.setitem(stl10.IMAGES, part, count)
    monkeypatch.setattr(tiny_imagenet, "CLASSES", len(miniatures.TINY_IDS))
    monkeypatch.setattr(tiny_imagenet, "PER_CLASS", miniatures.TINY_PER_CLASS)
    monkeypatch.setattr(tiny_imagenet, "TESTED", miniatures.TINY_TESTED)
    monkeypatch.setattr(flowers102, "TOTAL", len(FLOWERS))
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    monkeypatch.setattr(download, "STALLED", 0.4)


@pytest.mark.parametrize("fault", ["404", "wrong byte", "half a file", "closed", "stalled"])
@pytest.mark.parametrize("name", SETS)
def test_a_damaged_download_prepares_nothing_and_the_next_run_recovers(
    name: str, fault: str, tmp_path: Path, server: Any
) -> None:
    parameters, folder, files, contents = SETS[name]
    dataset = Dataset.model_validate({"name": name, "source": {"name": name, **parameters}})
    server.publish(name, contents)
    server.habits.fault, server.habits.ranges = fault, False
    with pytest.raises(HypersphereError) as caught:
        store.prepare(dataset, tmp_path, None)
    said = str(caught.value)
    assert server.address in said
    assert str(tmp_path / "raw") in said
    assert "\n" not in said
    assert [path.name for path in (tmp_path / "processed").iterdir() if path.suffix != ".lock"] == []
    server.habits.fault = ""
    fetched = store.open(store.prepare(dataset, tmp_path, None))
    own = miniatures.write(tmp_path / "own" / folder, files).parent
    assert store.open(store.prepare(dataset, tmp_path / "other", own)).digest == fetched.digest


@pytest.mark.parametrize("name", SETS)
def test_a_damaged_archive_of_ours_is_fetched_again(name: str, tmp_path: Path, server: Any) -> None:
    """One bit is flipped in each file that was fetched; the control is that whole ones are not asked for again."""
    parameters, _, _, contents = SETS[name]
    dataset = Dataset.model_validate({"name": name, "source": {"name": name, **parameters}})
    server.publish(name, contents)
    prepared = store.prepare(dataset, tmp_path, None)
    digest = store.open(prepared).digest
    for damage in (False, True):
        asked = len(server.log)
        (prepared / "manifest.json").unlink()
        fetched = [path for path in (tmp_path / "raw").rglob("[!.]*") if path.name in contents]
        assert len(fetched) == len(contents)
        for path in fetched if damage else []:
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        assert store.open(store.prepare(dataset, tmp_path, None)).digest == digest
        assert len(server.log) - asked == (len(contents) if damage else 0)
