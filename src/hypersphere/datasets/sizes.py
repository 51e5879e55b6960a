"""How many examples a dataset has, and how large they are, before any of it is on disk (data/images.csv)."""

from typing import NamedTuple

from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.provenance import data_files

SUPERCLASSES = 20
"""CIFAR-100 has so many."""


class Size(NamedTuple):
    """The training examples of a dataset."""

    side: float
    """Pixels of an image; of a sentence, its words, on average."""
    classes: int
    train: int
    about: bool = False
    """Whether ``train`` is known only roughly."""


def stated(dataset: Dataset) -> Size | None:
    """The size of a dataset by data/images.csv and the parameters of its source, before any of it is on disk."""
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
