"""The human labels of Sec. 5 of the embedding-norms paper: how many people, how far they agree, how often they err.

The paper uses the accuracy of labels in CIFAR-10-N and CIFAR-100-N, and the entropy of labels in CIFAR-10-H, for each
image. These are the same quantities, computed from the label files without an encoder.
"""

import numpy as np
import pandas as pd
from jaxtyping import Int64

from hypersphere.datasets.reading.human import HumanLabels, entropies, human
from hypersphere.exact.study import Context, ExactNumber, ExactStudy, counted

CLAIM = "norms.human_labels"
TENS = 10  # people: "about 50" is read as a number rounded to tens


def human_labels(context: Context) -> ExactStudy:
    """Read the label files. Without a ``data_root`` they are downloaded."""
    return counts(
        human(context.config.downloads, download=context.config.settings.data_root is None)
    )


def error_rate(labels: Int64[np.ndarray, "images"], official: Int64[np.ndarray, "images"]) -> float:
    """Labels that differ from the official ones, in percent (Sec. 5, Fig. 4 middle)."""
    return 100 * float((labels != official).mean())


def counts(labels: HumanLabels) -> ExactStudy:
    """What the labels of each set say, and the paper's sentences on them."""
    rows = cifar10h(labels) + cifar10n(labels) + cifar100n(labels)
    table = pd.DataFrame(rows, columns=["labels", "quantity", "value", "unit"])
    return ExactStudy({"human_labels": table}, answers(labels))


Agreement = tuple[str, str, float, str]
"""A row of the table: labels, quantity, value, unit."""


def cifar10h(labels: HumanLabels) -> list[Agreement]:
    people = labels.cifar10h_counts.sum(axis=1)
    labels_given = (labels.cifar10h_counts > 0).sum(axis=1)
    entropy = entropies(labels.cifar10h_counts)
    in_tens = np.rint(people / TENS) * TENS
    return [
        ("CIFAR-10H", "test images", len(people), "images"),
        ("CIFAR-10H", "people per image, mean", people.mean(), "people"),
        ("CIFAR-10H", "people per image, least", people.min(), "people"),
        ("CIFAR-10H", "people per image, most", people.max(), "people"),
        ("CIFAR-10H", "number of people not 50 in tens", (in_tens != 50).sum(), "images"),
        ("CIFAR-10H", "all gave one label", 100 * (labels_given == 1).mean(), "%"),
        ("CIFAR-10H", "entropy, mean", entropy.mean(), "nat"),
        ("CIFAR-10H", "entropy, highest", entropy.max(), "nat"),
    ]


def cifar10n(labels: HumanLabels) -> list[Agreement]:
    official = labels.cifar10n_clean_label
    differ = votes(labels).max(axis=1) == 1
    return [
        ("CIFAR-10N", "three different labels", differ.sum(), "images"),
        ("CIFAR-10N", "aggregate in error", error_rate(labels.cifar10n_aggre_label, official), "%"),
        (
            "CIFAR-10N",
            "first person in error",
            error_rate(labels.cifar10n_random_label1, official),
            "%",
        ),
        (
            "CIFAR-10N",
            "second person in error",
            error_rate(labels.cifar10n_random_label2, official),
            "%",
        ),
        (
            "CIFAR-10N",
            "third person in error",
            error_rate(labels.cifar10n_random_label3, official),
            "%",
        ),
        (
            "CIFAR-10N",
            "worst of the three in error",
            error_rate(labels.cifar10n_worse_label, official),
            "%",
        ),
    ]


def cifar100n(labels: HumanLabels) -> list[Agreement]:
    coarse = error_rate(labels.cifar100n_noisy_coarse_label, labels.cifar100n_clean_coarse_label)
    fine = error_rate(labels.cifar100n_noisy_label, labels.cifar100n_clean_label)
    return [
        ("CIFAR-100N", "coarse label in error", coarse, "%"),
        ("CIFAR-100N", "fine label in error", fine, "%"),
    ]


def votes(labels: HumanLabels) -> Int64[np.ndarray, "images 10"]:
    """How many of CIFAR-10N's three people gave each label."""
    people = [
        labels.cifar10n_random_label1,
        labels.cifar10n_random_label2,
        labels.cifar10n_random_label3,
    ]
    of_label = np.stack(people)[:, :, None] == np.arange(10)
    return of_label.sum(axis=0)


def answers(labels: HumanLabels) -> list[ExactNumber]:
    """About 50 people: the mean over images, in tens. A consensus: CIFAR-100N has one label per image (N49).

    In CIFAR-10N no label has more votes than the aggregate, and three different labels tie. In CIFAR-100N the human
    fine label belongs to the human coarse label: one person's opinion.
    """
    people = labels.cifar10h_counts.sum(axis=1).mean()
    in_tens = round(people / TENS) * TENS
    of_image = votes(labels)
    of_aggregate = of_image[np.arange(len(of_image)), labels.cifar10n_aggre_label]
    agreed = of_aggregate == of_image.max(axis=1)
    coarse_of = np.zeros(100, dtype=np.int64)
    coarse_of[labels.cifar100n_clean_label] = labels.cifar100n_clean_coarse_label
    single = coarse_of[labels.cifar100n_noisy_label] == labels.cifar100n_noisy_coarse_label
    images = len(agreed) + len(single)
    consensus = int(agreed.sum())
    return [
        counted(f"{CLAIM}.people", int(in_tens == 50), 1),
        counted(f"{CLAIM}.consensus", consensus, images),
        counted(f"{CLAIM}.consensus.n49", consensus + int(single.sum()), images, "N49"),
    ]
