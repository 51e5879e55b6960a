"""ImageNet-100: the classes of the list, from a folder of ImageNet that has others, too.

Three classes stand for the hundred, and torchvision's ImageFolder is the independent reader.
"""

from pathlib import Path

import numpy as np
import pytest
from torchvision.datasets import ImageFolder
from torchvision.transforms import CenterCrop, Compose, Resize

from hypersphere.config.run import Dataset
from hypersphere.datasets import imagenet100 as module
from hypersphere.datasets import store
from hypersphere.datasets.imagenet100 import imagenet100
from hypersphere.errors import HypersphereError

from .miniatures import noise, photograph, picture, write

IDS = ("n02869837", "n01749939", "n13037406")
OTHER = "n01440764"  # a class of ImageNet that is not in the list
FILES = {
    **{
        f"{part}/{identifier}/{identifier}_{number}.JPEG": photograph(10 * place + number, 50, 40)
        for part, numbers in (("train", (1, 2)), ("val", (3,)))
        for place, identifier in enumerate((*IDS, OTHER))
        for number in numbers
    },
    f"train/{IDS[0]}/{IDS[0]}_9.JPEG": picture(noise(9, 30, 30)),  # grey, and a PNG by its content
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(IDS) + "\n")
    monkeypatch.setattr(module, "LIST", listed)
    return write(tmp_path / "data" / "imagenet", FILES).parent


def test_the_list_has_a_hundred_ids() -> None:
    """Of the source named in the file's head: 100 WordNet ids; its first and last, and no other class of ImageNet."""
    ids = module.class_ids()
    assert len(set(ids)) == len(ids) == 100
    assert all(len(identifier) == 9 and identifier[0] == "n" and identifier[1:].isdecimal() for identifier in ids)
    assert {"n02869837", "n02090622"} < set(ids)
    assert OTHER not in ids


def test_images_are_those_of_torchvisions_reader(own: Path) -> None:
    arrays = imagenet100(own, False, size=32)
    for part, name in (("train", "train"), ("test", "val")):
        theirs = ImageFolder(own / "imagenet" / name)
        known = {identifier: number for number, identifier in enumerate(sorted(IDS))}
        kept = [(image, theirs.classes[label]) for image, label in theirs if theirs.classes[label] in known]
        found = arrays.splits[part].images[np.arange(len(kept))]
        for image, (expected, _) in zip(found, kept, strict=True):
            squared = Compose([CenterCrop(min(expected.size)), Resize(32)])(expected)
            np.testing.assert_array_equal(image, np.asarray(squared))
        assert arrays.splits[part].labels["class"].tolist() == [known[identifier] for _, identifier in kept]
    assert arrays.class_names["class"] == tuple(sorted(IDS))


def test_it_is_prepared_from_a_folder_of_another_name(own: Path, tmp_path: Path) -> None:
    (own / "imagenet").rename(own / "ILSVRC2012")
    source = {"name": "imagenet100", "path": "ILSVRC2012", "size": 16}
    prepared = store.open(store.prepare(Dataset.model_validate({"name": "in100", "source": source}), tmp_path, own))
    assert prepared.manifest["counts"] == {"train": [2, 3, 2], "test": [1, 1, 1]}


def test_what_is_missing_is_a_sentence(own: Path, tmp_path: Path) -> None:
    root = own / "imagenet"
    (root / "train" / IDS[2]).rename(root / "away")
    with pytest.raises(HypersphereError, match=f"train/{IDS[2]}: no such folder; 1 of 3 are missing"):
        imagenet100(own, False)
    (root / "train" / IDS[2]).mkdir()
    with pytest.raises(HypersphereError, match=f"train/{IDS[2]}: has no images"):
        imagenet100(own, False)
    (root / "away").rename(root / "train" / IDS[2])
    (root / "val").rename(root / "validation")
    with pytest.raises(HypersphereError, match=r"val: no such folder; imagenet100 reads train/<WordNet id> and val/"):
        imagenet100(own, False)
    with pytest.raises(HypersphereError, match=r"imagenet/train: no such folder; .* not downloaded"):
        imagenet100(tmp_path, True)
