"""Images of one's own: what is refused, and a prepared copy that follows its folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command.cli import main
from hypersphere.config.run import Dataset
from hypersphere.datasets import store

from .miniatures import SPLITS, noise, picture, write

DATASET: dict[str, Any] = {"name": "mine", "source": {"name": "folder", "path": "mine", "size": 20}}

REFUSED: dict[str, tuple[str, dict[str, bytes], str]] = {
    "no folder": ("mine", {}, "mine"),
    "absolute": ("folder: path", SPLITS, "/etc"),
    "upwards": ("folder: path", SPLITS, "mine/../.."),
    "class without images": ("mine/train/dog", SPLITS | {"train/dog/": b""}, "mine"),
    "class with hidden files": ("mine/train/dog", SPLITS | {"train/dog/.DS_Store": b""}, "mine"),
    "empty and deeper": ("mine/train/cat/more/", SPLITS | {"train/cat/more/": b""}, "mine"),
    "empty": ("mine/none", {"none/": b""}, "mine/none"),
    "no train": ("mine", {"test/cat/1.png": b"x"}, "mine"),
    "image beside classes": ("mine/train/1.png", SPLITS | {"train/1.png": b"x"}, "mine"),
    "deeper": ("mine/train/cat/more/1.png", SPLITS | {"train/cat/more/1.png": b"x"}, "mine"),
    "no image": ("mine/train/cat/notes.txt", SPLITS | {"train/cat/notes.txt": b"x"}, "mine"),
    "cut image": (
        "mine/train/cat/3.png",
        SPLITS | {"train/cat/3.png": SPLITS["train/cat/1.jpg"][:300]},
        "mine",
    ),
    "another class": ("mine/test/dog/1.png", SPLITS | {"test/dog/1.png": b"x"}, "mine"),
    "class less": (
        "mine/test",
        {name: one for name, one in SPLITS.items() if not name.startswith("test/cat")},
        "mine",
    ),
    "empty class of training": ("mine/train/emu", SPLITS | {"train/emu/": b""}, "mine"),
    "empty class everywhere": (
        "mine/train/emu",
        SPLITS | {"train/emu/": b"", "test/emu/": b""},
        "mine",
    ),
    "empty class of testing": ("mine/test/emu/", {**SPLITS, "test/emu/": b""}, "mine"),
    "emptied class of testing": (
        "mine/test/cat",
        {name: one for name, one in SPLITS.items() if not name.startswith("test/cat")}
        | {"test/cat/": b""},
        "mine",
    ),
    "empty split": ("mine/val", SPLITS | {"val/": b""}, "mine"),
    "empty training": (
        "mine",
        {**{n: one for n, one in SPLITS.items() if n.startswith("test")}, "train/": b""},
        "mine",
    ),
    "hidden files alone": ("mine", {"train/.DS_Store": b"x"}, "mine"),
    "file beside splits": ("mine/notes.txt", SPLITS | {"notes.txt": b"x"}, "mine"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_does_not_fit_is_a_sentence(case: str, tmp_path: Path, refused: Any) -> None:
    place, files, path = REFUSED[case]
    write(tmp_path / "mine", files)
    dataset = Dataset.model_validate(
        {"name": "mine", "source": {**DATASET["source"], "path": path}}
    )
    with refused(place):
        store.prepare(dataset, tmp_path, tmp_path)
    assert not list(tmp_path.glob("processed/*mine-????????"))


# what is done to the folder, whether it is prepared again, and whether to other bytes
@pytest.mark.parametrize(
    ("change", "again", "other"),
    [
        (lambda root: None, False, False),
        (lambda root: root.rename(root.with_name("away")), False, False),
        (lambda root: (root / "train" / "cat" / ".thumbnails").write_bytes(b"x"), False, False),
        (lambda root: os.utime(root / "train" / "cat" / "1.jpg", ns=(1, 1)), True, False),
        (lambda root: write(root, {"train/cat/4.png": picture(noise(1, 30, 30, 3))}), True, True),
    ],
)
def test_a_changed_folder_is_prepared_again(
    change: Callable[[Path], None], again: bool, other: bool, tmp_path: Path
) -> None:
    """And one that is unchanged, or gone, is not: its copy's files are the same ones."""
    root = write(tmp_path / "mine", SPLITS)
    dataset = Dataset.model_validate(DATASET)
    made = store.prepare(dataset, tmp_path, tmp_path)
    before, digest = (made / "manifest.json").stat(), store.open(made).digest
    change(root)
    assert store.prepare(dataset, tmp_path, tmp_path) == made
    assert ((made / "manifest.json").stat().st_ino != before.st_ino) == again
    assert (store.open(made).digest != digest) == other


def test_the_command_prepares_a_folder_that_yaml_names(
    tiny_root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tiny_root)
    with (tiny_root / "config" / "datasets.yaml").open("a") as handle:
        handle.write("\nmine: {source: {name: folder, path: mine, size: 20}}\n")
    write(tmp_path / "data of ours" / "mine", SPLITS)
    assert main(["prepare", "mine", "--set", f"data_root={tmp_path / 'data of ours'}"]) == 0
    made = Path(capsys.readouterr().out.splitlines()[-1])
    assert store.open(made).split("train").labels["class"].tolist() == [0, 1, 2, 2, 2]
