"""What a source returns is refused where it does not fit together, one misfit at a time."""

import numpy as np
import pytest

from hypersphere.datasets import store
from hypersphere.datasets.types import Arrays, Split
from hypersphere.errors import HypersphereError

TWO = np.zeros((2, 2, 2, 3), np.uint8)
MISFITS: dict[str, tuple[dict[str, Split], str]] = {
    "no train": ({"test": Split(TWO, {})}, "has no split train, only test"),
    "image shape": (
        {"test": Split(TWO[:, :1], {})},
        r"split test: images are uint8 \(1, 2, 3\), not uint8 \(2, 2, 3\)",
    ),
    "image type": ({"test": Split(TWO.astype(float), {})}, "split test: images are float64"),
    "label range": (
        {"test": Split(TWO, {"class": np.array([0, 2])})},
        "labels class: must be integers .* from 0 to below 2",
    ),
    "label sign": (
        {"test": Split(TWO, {"class": np.array([0, -1])})},
        "labels class: must be integers .* from 0 to below 2",
    ),
    "label type": (
        {"test": Split(TWO, {"class": np.array([0.0, 1.0])})},
        "labels class: must be integers .* from 0 to below 2",
    ),
    "unnamed": ({"test": Split(TWO, {"fine": np.array([0, 1])})}, "labels fine: must be integers .* from 0 to below 0"),
    "length": ({"test": Split(TWO, {"class": np.array([0])})}, r"class: has shape \(1,\), but there are 2 images"),
    "split": ({"../a": Split(TWO, {})}, r"split \.\./a: '\.\./a': a name consists of"),
    "object": (
        {"test": Split(TWO, {}, {"a": np.array([{}, None])})},
        "attribute a: must be booleans, numbers or words",
    ),
    "name": ({"test": Split(TWO, {}, {"../a": np.array([0, 1])})}, r"'\.\./a': a name consists of"),
}


def test_what_fits_together_passes() -> None:
    """The control: two sorts of labels, attributes of several types, a split of another size and without labels."""
    about = {"angle": np.array([0.0, 0.5]), "colour": np.array(["red", "blue"])}
    train = Split(TWO, {"class": np.array([0, 1]), "coarse-2": np.array([0, 0])}, about)
    splits = {"train": train, "unlabelled": Split(TWO[:1], {})}
    store.check(Arrays(splits, {"class": ("a", "b"), "coarse-2": ("c",)}, {}), "datasets/made_up")


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_misfit_is_a_sentence_that_names_it(misfit: str) -> None:
    splits, words = MISFITS[misfit]
    train = {} if misfit == "no train" else {"train": Split(TWO, {})}
    with pytest.raises(HypersphereError, match=words) as caught:
        store.check(Arrays(train | splits, {"class": ("a", "b")}, {}), "datasets/made_up")
    assert str(caught.value).startswith("datasets/made_up: ")
    assert "\n" not in str(caught.value)
