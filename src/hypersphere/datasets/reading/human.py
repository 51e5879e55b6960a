"""People's labels of CIFAR's images: CIFAR-10H, CIFAR-10N and CIFAR-100N, with every byte checked before use.

CIFAR-10H: J. C. Peterson, R. M. Battleday, T. L. Griffiths, O. Russakovsky, Human uncertainty makes classification more
robust, ICCV 2019; CC BY-NC-SA 4.0: cite the paper, no commercial use, share alike. CIFAR-10N and CIFAR-100N: J. Wei,
Z. Zhu, H. Cheng, T. Liu, G. Niu, Y. Liu, Learning with noisy labels revisited: a study using real-world human
annotations, ICLR 2022; CC BY-NC 4.0: cite the paper, no commercial use.

Files are in ``human/`` of a data folder: one .npy file per array, or the files as published. CIFAR-N is published as
pickles, which are opened after their sha256 is checked.
"""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int64

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.archives import Shelf
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays


class HumanLabels(NamedTuple):
    """Row i is image i of the set's official order. Classes are 0 … 9, fine ones 0 … 99, coarse ones 0 … 19.

    ``clean`` labels are the official ones. CIFAR-10N has the labels of three people per image (``random``), their
    majority's label (``aggre``), and one of their wrong labels if there is any (``worse``). CIFAR-100N has the label of
    one person.
    """

    cifar10h_counts: Int64[np.ndarray, "10000 10"]
    """Number of people who chose each class, for each test image of CIFAR-10."""
    cifar10n_clean_label: Int64[np.ndarray, "50000"]
    cifar10n_aggre_label: Int64[np.ndarray, "50000"]
    cifar10n_worse_label: Int64[np.ndarray, "50000"]
    cifar10n_random_label1: Int64[np.ndarray, "50000"]
    cifar10n_random_label2: Int64[np.ndarray, "50000"]
    cifar10n_random_label3: Int64[np.ndarray, "50000"]
    cifar100n_clean_label: Int64[np.ndarray, "50000"]
    cifar100n_noisy_label: Int64[np.ndarray, "50000"]
    cifar100n_clean_coarse_label: Int64[np.ndarray, "50000"]
    cifar100n_noisy_coarse_label: Int64[np.ndarray, "50000"]


PUBLISHED = {
    "cifar10h-counts.npy": "cifar10h",
    "CIFAR-10_human.pt": "cifar_n",
    "CIFAR-100_human.pt": "cifar_n",
}
"""The published files, and the rows of data/datasets.csv that have their addresses."""
PICKLED = {"CIFAR-10_human.pt": "cifar10n-", "CIFAR-100_human.pt": "cifar100n-"}
"""Published files that hold several arrays, and how the names of their arrays begin here."""

CIFAR10H = "cifar10h"
ENTROPY = f"{CIFAR10H}-entropy"


def human(root: Path, download: bool = True) -> HumanLabels:
    """The labels of all three sets, from ``human/`` of the data folder."""
    arrays: dict[str, np.ndarray] = {}
    for file, dataset in PUBLISHED.items():
        prefix = PICKLED.get(file, file)
        as_published = root / "human" / file
        beginning = f"human/{prefix}"
        paths = [root / name for name in published.checksums() if name.startswith(beginning)]
        if as_published in paths or not all(path.exists() for path in paths):
            paths = [as_published]
            published.require(published.table()[dataset].files[file], as_published, download)
        for path in paths:
            read = Shelf(path.parent).read(path.name)
            content = io.BytesIO(published.checked(read, f"human/{path.name}", path))
            if path.name in PICKLED:
                # coarse ones are lists
                for name, labels in torch.load(content, weights_only=False).items():
                    arrays[f"{prefix}{name}"] = np.asarray(labels, dtype=np.int64)
            else:
                arrays[path.stem] = np.load(content)
    return HumanLabels(**{name.replace("-", "_"): labels for name, labels in arrays.items()})


def add(arrays: Arrays, people: HumanLabels) -> Arrays:
    """CIFAR-10 or CIFAR-100 with people's labels of the training images beside the official ones.

    CIFAR-10's test split gets the label ``cifar10h``, the class that most people chose (of several, the first), and the
    attributes ``cifar10h-agreement``, the share of people who chose it, and ``cifar10h-entropy``, see ``entropies``.
    """
    class_names = dict(arrays.class_names)
    classes = class_names[CLASS]
    train, test = arrays.splits[TRAIN], arrays.splits[TEST]
    if len(classes) == 10:
        labels = {
            "cifar10n-aggregate": people.cifar10n_aggre_label,
            "cifar10n-worst": people.cifar10n_worse_label,
            "cifar10n-random-1": people.cifar10n_random_label1,
            "cifar10n-random-2": people.cifar10n_random_label2,
            "cifar10n-random-3": people.cifar10n_random_label3,
        }
        class_names |= dict.fromkeys((*labels, CIFAR10H), classes)
        votes = people.cifar10h_counts
        majority = votes.argmax(axis=1).astype(np.int64)
        agreement = votes.max(axis=1) / votes.sum(axis=1)
        attributes = {f"{CIFAR10H}-agreement": agreement, ENTROPY: entropies(votes)}
        test = test._replace(
            labels={**test.labels, CIFAR10H: majority},
            attributes={**test.attributes, **attributes},
        )
    else:
        labels = {
            "cifar100n": people.cifar100n_noisy_label,
            "cifar100n-coarse": people.cifar100n_noisy_coarse_label,
        }
        class_names["cifar100n"] = classes
        class_names["cifar100n-coarse"] = class_names["coarse"]
    train = train._replace(labels={**train.labels, **labels})
    return arrays._replace(splits={TRAIN: train, TEST: test}, class_names=class_names)


def entropies(counts: Int64[np.ndarray, "images classes"]) -> Float[np.ndarray, "images"]:
    """-sum p ln p of each image's label distribution, p = count/people (norms paper, Sec. 5, Fig. 4 right), in nats."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
