"""How many training examples a dataset has, and how large they are, before any is on disk (data/images.csv).

The size of a test set is not here. ``test_sizes`` of a paper's audit.yaml has the published one. The size of ours
follows from the parameters in config/datasets.yaml, and each measurement has it as ``n_test``.
"""

from typing import NamedTuple

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.provenance import data_files

SUPERCLASSES = 20
"""The number of superclasses of CIFAR-100."""


class Size(NamedTuple):
    """The training examples of a dataset."""

    side: float
    """The side of an image in pixels, or the mean number of words of a sentence."""
    classes: int
    train: int
    about: bool = False
    """Whether ``train`` is known only roughly."""


def stated(dataset: Dataset) -> Size | None:
    """A dataset's size by data/images.csv and the parameters of its source; None: neither states it."""
    if dataset.source is None:
        return None
    name = dataset.source.name
    schema = registry.schema("datasets", name)
    given = schema.model_validate(dataset.source.parameters).model_dump()
    rows = {row["name"]: row for row in data_files.rows(data_files.FOLDER / "images.csv")}
    candidates = (
        given.get("base"),
        registry.read_constant("datasets", name, "SIZED", "").format(**given),
        f"{name}{given.get('classes')}",
        f"{name}_{given.get('task')}",
        f"{name}_{given.get('train')}",
        name,
    )
    row = next((rows[candidate] for candidate in candidates if candidate in rows), None)
    if row is None:
        return None
    side = given.get("canvas") or given.get("side") or given.get("size") or row["side"]
    if row["words"]:
        side = min(given["length"], float(row["words"]))
    classes = int(row["classes"])
    train = int(row["train"] or 0)
    if given.get("train_per_class"):
        train = given["train_per_class"] * classes
    elif isinstance(given.get("train"), int):
        train = given["train"] or train
    if given.get("labels", "class") != "class":
        classes = SUPERCLASSES
    if dataset.imbalance is not None:
        train = sum(store.images_per_class(dataset.imbalance, classes))
    return Size(float(side), classes, train, row["about"] == "yes")
