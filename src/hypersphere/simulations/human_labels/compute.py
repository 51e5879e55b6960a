"""The human labels of Sec. 5 of the embedding-norms paper: how many people, how far they agree, how often they err.

The paper uses the accuracy of labels in CIFAR-10-N and CIFAR-100-N, and the entropy of labels in CIFAR-10-H, for each
image. These are the same quantities, computed from the label files without an encoder.
"""

import numpy as np
import pandas as pd
from jaxtyping import Int64

from hypersphere.datasets.reading.human import HumanLabels, entropies, human
from hypersphere.simulations.study import Context, ExactStudy, counted

CLAIM = "norms.human_labels"
TENS = 10  # people: "about 50" is read as a number rounded to tens


def human_labels(context: Context) -> ExactStudy:
    """Read the label files. Without a ``data_root`` they are downloaded."""
    return counts(human(context.config.downloads, download=context.config.settings.data_root is None))


def error_rate(labels: Int64[np.ndarray, "images"], official: Int64[np.ndarray, "images"]) -> float:
    """Labels that differ from the official ones, in percent (Sec. 5, Fig. 4 middle)."""
    return 100 * float((labels != official).mean())


def counts(labels: HumanLabels) -> ExactStudy:
    """What the labels of each set say, and the paper's sentences on them.

    About 50 people: the mean over images, in tens. A consensus: CIFAR-100N has one label per image (N49). In CIFAR-10N
    no label has more votes than the aggregate, and three different labels tie. In CIFAR-100N the human fine label
    belongs to the human coarse label: one person's opinion.
    """
    people, entropy = labels.cifar10h_counts.sum(axis=1), entropies(labels.cifar10h_counts)
    official = labels.cifar10n_clean_label
    given = np.stack([labels.cifar10n_random_label1, labels.cifar10n_random_label2, labels.cifar10n_random_label3])
    votes = (given[:, :, None] == np.arange(10)).sum(axis=0)  # of three people, by image and label
    first, second, third = (error_rate(person, official) for person in given)
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
        ("CIFAR-10N", "three different labels", (votes.max(axis=1) == 1).sum(), "images"),
        ("CIFAR-10N", "aggregate in error", error_rate(labels.cifar10n_aggre_label, official), "%"),
        ("CIFAR-10N", "first person in error", first, "%"),
        ("CIFAR-10N", "second person in error", second, "%"),
        ("CIFAR-10N", "third person in error", third, "%"),
        ("CIFAR-10N", "worst of the three in error", error_rate(labels.cifar10n_worse_label, official), "%"),
        ("CIFAR-100N", "coarse label in error", coarse, "%"),
        ("CIFAR-100N", "fine label in error", fine, "%"),
    ]
    agreed = votes[np.arange(len(votes)), labels.cifar10n_aggre_label] == votes.max(axis=1)
    coarse_of = np.zeros(100, dtype=np.int64)
    coarse_of[labels.cifar100n_clean_label] = labels.cifar100n_clean_coarse_label
    single = coarse_of[labels.cifar100n_noisy_label] == labels.cifar100n_noisy_coarse_label
    images = len(agreed) + len(single)
    answers = [
        counted(f"{CLAIM}.people", int(round(people.mean() / TENS) * TENS == 50), 1),
        counted(f"{CLAIM}.consensus", int(agreed.sum()), images),
        counted(f"{CLAIM}.consensus.n49", int(agreed.sum() + single.sum()), images, "N49"),
    ]
    return ExactStudy({"human_labels": pd.DataFrame(rows, columns=["labels", "quantity", "value", "unit"])}, answers)
