"""The human labels of Sec. 5 of the embedding-norms paper: how many people, how far they agree, how often they err.

The paper uses the accuracy of labels in CIFAR-10-N and CIFAR-100-N, and the entropy of labels in CIFAR-10-H, for each
image. These are the same quantities, computed from the label files without an encoder.
"""

import numpy as np
import pandas as pd
from jaxtyping import Int64

from hypersphere.datasets.reading.human import HumanLabels, entropies, human
from hypersphere.simulations.study import Answer, Context, Study, counted

CLAIM = "norms.human_labels"
TENS = 10  # people: "about 50" is read as a number rounded to tens


def human_labels(context: Context) -> Study:
    """Read the label files. Without a ``data_root`` they are downloaded."""
    labels = human(context.config.downloads, download=context.config.settings.data_root is None)
    return Study({"human_labels": table(labels)}, answers(labels))


def error_rate(labels: Int64[np.ndarray, "images"], official: Int64[np.ndarray, "images"]) -> float:
    """Labels that differ from the official ones, in percent (Sec. 5, Fig. 4 middle)."""
    return 100 * float((labels != official).mean())


def training_labels(labels: HumanLabels) -> Int64[np.ndarray, "3 50000"]:
    """The labels of three people for CIFAR-10's training images."""
    return np.stack([labels.cifar10n_random_label1, labels.cifar10n_random_label2, labels.cifar10n_random_label3])


def votes(labels: HumanLabels) -> Int64[np.ndarray, "50000 10"]:
    """How many of the three people gave each label."""
    return (training_labels(labels)[:, :, None] == np.arange(10)).sum(axis=0)


def answers(labels: HumanLabels) -> list[Answer]:
    """About 50 people: the mean over images, in tens. A consensus: CIFAR-100N has one label per image (N49).

    In CIFAR-10N no label has more votes than the aggregate, and three different labels tie. In CIFAR-100N the human
    fine label belongs to the human coarse label: one person's opinion.
    """
    people = float(labels.cifar10h_counts.sum(axis=1).mean())
    counts = votes(labels)
    agreed = counts[np.arange(len(counts)), labels.cifar10n_aggre_label] == counts.max(axis=1)
    coarse_of = np.zeros(100, dtype=np.int64)
    coarse_of[labels.cifar100n_clean_label] = labels.cifar100n_clean_coarse_label
    single = coarse_of[labels.cifar100n_noisy_label] == labels.cifar100n_noisy_coarse_label
    images = len(agreed) + len(single)
    return [
        counted(f"{CLAIM}.people", int(round(people / TENS) * TENS == 50), 1),
        counted(f"{CLAIM}.consensus", int(agreed.sum()), images),
        counted(f"{CLAIM}.consensus.n49", int(agreed.sum() + single.sum()), images, "N49"),
    ]


def table(labels: HumanLabels) -> pd.DataFrame:
    """What the labels of each set say: a number, and its unit."""
    people, entropy = labels.cifar10h_counts.sum(axis=1), entropies(labels.cifar10h_counts)
    ten = labels.cifar10n_clean_label
    aggregate, worst = error_rate(labels.cifar10n_aggre_label, ten), error_rate(labels.cifar10n_worse_label, ten)
    first, second, third = (error_rate(given, ten) for given in training_labels(labels))
    fine = error_rate(labels.cifar100n_noisy_label, labels.cifar100n_clean_label)
    coarse = error_rate(labels.cifar100n_noisy_coarse_label, labels.cifar100n_clean_coarse_label)
    rows = [
        ("CIFAR-10H", "test images", len(people), "images"),
        ("CIFAR-10H", "people per image, mean", people.mean(), "people"),
        ("CIFAR-10H", "people per image, least", people.min(), "people"),
        ("CIFAR-10H", "people per image, most", people.max(), "people"),
        ("CIFAR-10H", "number of people not 50 in tens", (np.rint(people / TENS) * TENS != 50).sum(), "images"),
        ("CIFAR-10H", "all gave one label", 100 * ((labels.cifar10h_counts > 0).sum(axis=1) == 1).mean(), "%"),
        ("CIFAR-10H", "entropy, mean", entropy.mean(), "nat"),
        ("CIFAR-10H", "entropy, highest", entropy.max(), "nat"),
        ("CIFAR-10N", "three different labels", (votes(labels).max(axis=1) == 1).sum(), "images"),
        ("CIFAR-10N", "aggregate in error", aggregate, "%"),
        ("CIFAR-10N", "first person in error", first, "%"),
        ("CIFAR-10N", "second person in error", second, "%"),
        ("CIFAR-10N", "third person in error", third, "%"),
        ("CIFAR-10N", "worst of the three in error", worst, "%"),
        ("CIFAR-100N", "coarse label in error", coarse, "%"),
        ("CIFAR-100N", "fine label in error", fine, "%"),
    ]
    return pd.DataFrame(rows, columns=["labels", "quantity", "value", "unit"])
