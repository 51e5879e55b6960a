"""Images of one's own: what is refused, and a prepared copy that follows its folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command.cli import main
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.folder import folder
from hypersphere.errors import HypersphereError

from .miniatures import PLAIN, SPLITS, noise, picture, write

DATASET: dict[str, Any] = {"name": "mine", "source": {"name": "folder", "path": "mine", "size": 20}}


def test_a_class_may_be_called_train(tmp_path: Path) -> None:
    """A folder ``train`` with images in it is a class: there are no splits."""
    write(tmp_path / "mine", {"train/1.png": picture(noise(0, 9, 9, 3)), "car/1.png": picture(noise(0, 9, 9, 3))})
    assert folder(tmp_path, path="mine", size=20).class_names["class"] == ("car", "train")


REFUSED: dict[str, tuple[dict[str, bytes], dict[str, Any]]] = {
    "no folder": ({}, {}),
    "empty": ({"none/": b""}, {"path": "mine/none"}),
    "absolute": (PLAIN, {"path": "/etc"}),
    "upwards": (PLAIN, {"path": "mine/../.."}),
    "class without images": (PLAIN | {"dog/": b""}, {}),
    "class with hidden files": (PLAIN | {"dog/.DS_Store": b""}, {}),
    "image beside classes": (PLAIN | {"1.png": b"x"}, {}),
    "deeper": (PLAIN | {"cat/more/1.png": b"x"}, {}),
    "empty and deeper": (PLAIN | {"cat/more/": b""}, {}),
    "no image": (PLAIN | {"cat/notes.txt": b"x"}, {}),
    "another class": (SPLITS | {"val/dog/1.png": b"x"}, {}),
    "class less": ({name: content for name, content in SPLITS.items() if not name.startswith("val/cat")}, {}),
    "no test": (SPLITS, {"test": "valid"}),
    "two tests": (SPLITS | {"test/ant/1.png": b"x"}, {"test": "val"}),
    "mixed": (SPLITS | {"more/ant/1.png": b"x"}, {}),
    "words in a split": (SPLITS | {"more/notes.txt": b"x"}, {}),
    "file beside splits": (SPLITS | {"notes.txt": b"x"}, {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_does_not_fit_is_a_sentence(case: str, tmp_path: Path, refused: Any) -> None:
    files, parameters = REFUSED[case]
    if files:
        write(tmp_path / "mine", files)
    dataset = {"name": "mine", "source": {**DATASET["source"], **parameters}}
    with refused():
        store.prepare(Dataset.model_validate(dataset), tmp_path, tmp_path)


def test_an_image_that_is_none_leaves_nothing_half_prepared(tmp_path: Path) -> None:
    write(tmp_path / "mine", PLAIN | {"cat/3.png": PLAIN["cat/1.jpg"][:300]})
    with pytest.raises(HypersphereError):
        store.prepare(Dataset.model_validate(DATASET), tmp_path, tmp_path)
    assert [path.name for path in (tmp_path / "processed").iterdir() if path.suffix != ".lock"] == []


# what is done to the folder, whether it is prepared again, and whether to other bytes
@pytest.mark.parametrize(
    ("change", "again", "other"),
    [
        (lambda root: None, False, False),
        (lambda root: root.rename(root.with_name("away")), False, False),
        (lambda root: (root / "cat" / ".thumbnails").write_bytes(b"x"), False, False),
        (lambda root: os.utime(root / "cat" / "1.jpg", ns=(1, 1)), True, False),
        (lambda root: (root / "cat" / "2.png").rename(root / "cat" / "3.png"), True, False),
        (lambda root: (root / "cat" / "2.png").unlink(), True, True),
        (lambda root: (root / "cat" / "4.png").write_bytes(picture(noise(1, 30, 30, 3))), True, True),
        (lambda root: write(root, {"new/4.png": picture(noise(1, 30, 30, 3))}), True, True),
    ],
)
def test_a_changed_folder_is_prepared_again(
    change: Callable[[Path], None], again: bool, other: bool, tmp_path: Path
) -> None:
    """And one that is unchanged, or gone, is not: its copy's files are the same ones."""
    root = write(tmp_path / "mine", PLAIN)
    dataset = Dataset.model_validate(DATASET)
    made = store.prepare(dataset, tmp_path, tmp_path)
    before, digest = (made / "manifest.json").stat(), store.open(made).digest
    change(root)
    assert store.prepare(dataset, tmp_path, tmp_path) == made
    assert ((made / "manifest.json").stat().st_ino != before.st_ino) == again
    assert (store.open(made).digest != digest) == other


def test_the_command_prepares_a_folder_that_yaml_names(
    tiny_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], approve: Any
) -> None:
    monkeypatch.chdir(tiny_root)
    with (tiny_root / "config" / "datasets.yaml").open("a") as handle:
        handle.write("\nmine: {source: {name: folder, path: mine, size: 20}}\n")
    write(tmp_path / "data of ours" / "mine", PLAIN)
    command = ["prepare", "mine", "--set", f"data_root={tmp_path / 'data of ours'}"]
    assert main(command) == 0
    made = Path(capsys.readouterr().out.splitlines()[-1])
    assert store.open(made).manifest["counts"] == {"train": [1, 1, 3]}
    write(tmp_path / "data of ours" / "mine", {"dog/": b""})
    assert main(command) == 2
    approve(capsys.readouterr().err)
    store.verify(made)  # the copy of before is whole
