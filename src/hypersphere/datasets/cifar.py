"""CIFAR-10 and CIFAR-100 in torchvision's folders or archives, with every byte checked before a pickle is opened.

Unpickling a file executes code in it, and the published checksums are only md5. So the sha256 of each file is first
compared with data/checksums.csv. Files are read into memory, from the archive or from the unpacked folder, and those
same bytes are unpickled: nothing can change in between, and a kill leaves no half-unpacked folder.
"""

import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torchvision.datasets import CIFAR10, CIFAR100

from hypersphere.datasets.reading import human, published
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split

SETS: dict[int, Any] = {10: CIFAR10, 100: CIFAR100}
COARSE = "coarse"
LABELS = {"labels": CLASS, "fine_labels": CLASS, "coarse_labels": COARSE}
"""Name of labels in the files -> our name."""


def cifar(
    root: Path, download: bool = True, *, classes: Literal[10, 100] = 10, human_labels: bool = False
) -> Arrays:
    """50,000 training and 10,000 test images, 32 × 32.

    Args:
        classes: 10 for CIFAR-10, 100 for CIFAR-100. CIFAR-100's main labels are its 100 fine classes; its 20
            superclasses are the labels ``coarse``.
        human_labels: add the labels that people gave: CIFAR-10N's or CIFAR-100N's to the training images, and
            CIFAR-10H's to CIFAR-10's test images (see ``human.add``).
    """
    official, about = SETS[classes], published.table()[f"cifar{classes}"]
    contents = published.contents(
        root / official.base_folder, about.files[official.filename], download
    )
    # All have the right sha256 before any is unpickled.
    batches = {name: pickle.loads(content, encoding="latin1") for name, content in contents.items()}
    meta = batches[official.meta["filename"]]
    names = {CLASS: tuple(meta[official.meta["key"]])}
    if "coarse_label_names" in meta:
        names[COARSE] = tuple(meta["coarse_label_names"])
    splits = {}
    for part, listed in ((TRAIN, official.train_list), (TEST, official.test_list)):
        own = [batches[name] for name, _ in listed]
        images = np.concatenate([batch["data"] for batch in own])
        colours_first = images.reshape(-1, 3, 32, 32)
        labels = {}
        for key, name in LABELS.items():
            if key in own[0]:
                values = np.concatenate([batch[key] for batch in own])
                labels[name] = values.astype(np.int64)
        splits[part] = Split(colours_first.transpose(0, 2, 3, 1), labels)
    arrays = Arrays(splits, names, about.about())
    return human.add(arrays, human.human(root, download)) if human_labels else arrays
