"""The images of a certificate: those of the project under the same names, or a folder of images by class."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from hypersphere.certificate import images

from ...fixtures import Refused

ROOT = Path(__file__).parents[3]


def test_a_known_dataset_is_the_project_s_of_that_name(tmp_path: Path) -> None:
    """Its side is that of data/images.csv; the prepared digits have it."""
    declared = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text(encoding="utf-8"))
    assert {name: declared[name] for name in images.KNOWN} == images.KNOWN
    sides = {name: images.find(name, None, None).side for name in images.KNOWN}
    assert sides == {"digits": 8, "cifar10": 32, "cifar100": 32, "mnist": 28}
    prepared = images.prepare(images.find("digits", None, None), tmp_path)
    assert prepared.manifest["image_shape"] == [8, 8, 3]


def folder(place: Path, splits: tuple[str, ...] = ("train", "test"), side: int = 6) -> Path:
    for split in splits:
        for label, name in enumerate(("cat", "dog")):
            (place / split / name).mkdir(parents=True)
            for number in range(3):
                pixels = np.full((side, side, 3), 60 * number + 100 * label, np.uint8)
                Image.fromarray(pixels).save(place / split / name / f"{number}.png")
    return place


def test_a_folder_of_images_is_read_where_it_lies(tmp_path: Path) -> None:
    place = folder(tmp_path / "my images")
    found = images.find(str(place), 4, None)
    prepared = images.prepare(found, tmp_path / "data")
    assert prepared.class_names() == ("cat", "dog")
    assert prepared.split("test").images.shape == (6, 4, 4, 3)
    assert prepared.split("test").images[3, 0, 0, 0] == 100  # the first dog
    assert found.side == 4
    # all six test images are training images, too
    assert prepared.repeated is not None
    assert prepared.repeated["splits"]["test"]["in_train"] == 6


def test_what_is_no_set_of_images_is_refused_and_nothing_is_written(
    tmp_path: Path, refused: Refused
) -> None:
    with refused("--dataset"):
        images.find("cifar11", None, None)
    place = folder(tmp_path / "mine", ("train",))
    with refused(place):
        images.find(str(place), 4, None)
    folder(place, ("test",))
    with refused("--size"):
        images.find(str(place), None, None)
    (place / "test" / "cat" / "0.png").write_bytes(b"no image")
    with refused(place / "test" / "cat" / "0.png"):
        images.prepare(images.find(str(place), 4, None), tmp_path / "data")
    assert [*(tmp_path / "data" / "processed").glob("[!.]*")] == []


def test_a_folder_that_has_files_already_is_only_read(tmp_path: Path, refused: Refused) -> None:
    found = images.find("cifar10", None, tmp_path / "empty")
    (tmp_path / "empty").mkdir()
    with refused(tmp_path / "empty" / "cifar-10-python.tar.gz"):
        images.prepare(found, tmp_path / "data")


@pytest.mark.shared_data
@pytest.mark.heavy
def test_real_cifar_has_the_images_that_its_authors_count(
    real_cifar10: Path, tmp_path: Path
) -> None:
    prepared = images.prepare(images.find("cifar10", None, real_cifar10), tmp_path)
    assert [len(prepared.split(name).images) for name in ("train", "test")] == [50_000, 10_000]
