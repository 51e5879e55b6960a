"""The human labels of Sec. 5 of the embedding-norms paper: how many people, how far they agree, how often they err.

The paper uses the accuracy of labels in CIFAR-10-N and CIFAR-100-N, and the entropy of labels in CIFAR-10-H, for each
image. These are the same quantities, computed from the label files without an encoder.
"""

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int64

from hypersphere.datasets.reading.human import HumanLabels, entropies, human
from hypersphere.simulations.study import Answer, Context, Study, counted

CLAIM = "norms.human_labels"
TENS = 10  # people: "about 50" is read as a number rounded to tens
BIN = 0.1  # nats
HIGHEST = 2.0  # nats: above the highest entropy in the data


def human_labels(context: Context) -> Study:
    """Read the label files. Without a ``data_root`` they are downloaded."""
    labels = human(context.config.downloads, download=context.config.settings.data_root is None)
    return Study({"human_labels": table(labels)}, answers(labels))


def error_rate(labels: Int64[np.ndarray, "images"], official: Int64[np.ndarray, "images"]) -> float:
    """Labels that differ from the official ones, in percent (Sec. 5, Fig. 4 middle)."""
    return 100 * float((labels != official).mean())


def votes(labels: Int64[np.ndarray, "people images"], classes: int) -> Int64[np.ndarray, "images classes"]:
    """Number of people who gave each label."""
    return (labels[:, :, None] == np.arange(classes)).sum(axis=0)


def training_labels(labels: HumanLabels) -> Int64[np.ndarray, "3 50000"]:
    """The labels of three people for CIFAR-10's training images."""
    return np.stack([labels.cifar10n_random_label1, labels.cifar10n_random_label2, labels.cifar10n_random_label3])


def consensus(labels: HumanLabels) -> Bool[np.ndarray, "50000"]:
    """Images of CIFAR-10N where no label has more votes than the aggregate. Three different labels tie."""
    counts = votes(training_labels(labels), 10)
    return np.take_along_axis(counts, labels.cifar10n_aggre_label[:, None], axis=1)[:, 0] == counts.max(axis=1)


def one_opinion(labels: HumanLabels) -> Bool[np.ndarray, "50000"]:
    """Images of CIFAR-100N whose human fine label belongs to their human coarse label: one person's opinion."""
    coarse_of = np.zeros(100, dtype=np.int64)
    coarse_of[labels.cifar100n_clean_label] = labels.cifar100n_clean_coarse_label
    return coarse_of[labels.cifar100n_noisy_label] == labels.cifar100n_noisy_coarse_label


def answers(labels: HumanLabels) -> list[Answer]:
    """About 50 people: the mean over images, in tens. A consensus: CIFAR-100N has one label per image (N49)."""
    people = float(labels.cifar10h_counts.sum(axis=1).mean())
    agreed, single = consensus(labels), one_opinion(labels)
    images = len(agreed) + len(single)
    return [
        counted(f"{CLAIM}.people", int(round(people / TENS) * TENS == 50), 1),
        counted(f"{CLAIM}.consensus", int(agreed.sum()), images),
        counted(f"{CLAIM}.consensus.n49", int(agreed.sum() + single.sum()), images, "N49"),
    ]


def table(labels: HumanLabels) -> pd.DataFrame:
    """Columns panel, series, x, value. Values are percent of images or labels, except in the panel ``numbers``."""
    return pd.concat([_people(labels), _entropy(labels), _errors(labels), _numbers(labels)], ignore_index=True)


def _panel(panel: str, series: str, x: object, value: object) -> pd.DataFrame:
    return pd.DataFrame({"panel": panel, "series": series, "x": x, "value": value})


def _people(labels: HumanLabels) -> pd.DataFrame:
    """Share of images by the number of people who labelled them."""
    people, images = np.unique(labels.cifar10h_counts.sum(axis=1), return_counts=True)
    return _panel("people", "CIFAR-10H", people, 100 * images / images.sum())


def _entropy(labels: HumanLabels) -> pd.DataFrame:
    """Share of images by entropy; x is the left edge of a bin. Unanimous images are counted apart."""
    entropy = entropies(labels.cifar10h_counts)
    unanimous = (labels.cifar10h_counts > 0).sum(axis=1) == 1
    edges = np.linspace(0, HIGHEST, round(HIGHEST / BIN) + 1)
    images = np.histogram(entropy[~unanimous], edges)[0]
    return pd.concat(
        [
            _panel("entropy", "unanimous", [0.0], [100 * unanimous.mean()]),
            _panel("entropy", "not unanimous", edges[:-1], 100 * images / len(entropy)),
        ]
    )


def _errors(labels: HumanLabels) -> pd.DataFrame:
    """Error rates; x counts from top to bottom."""
    ten, fine = labels.cifar10n_clean_label, labels.cifar100n_clean_label
    rates = {
        "CIFAR-10N aggregate": error_rate(labels.cifar10n_aggre_label, ten),
        "CIFAR-10N random 1": error_rate(labels.cifar10n_random_label1, ten),
        "CIFAR-10N random 2": error_rate(labels.cifar10n_random_label2, ten),
        "CIFAR-10N random 3": error_rate(labels.cifar10n_random_label3, ten),
        "CIFAR-10N worst": error_rate(labels.cifar10n_worse_label, ten),
        "CIFAR-100N coarse": error_rate(labels.cifar100n_noisy_coarse_label, labels.cifar100n_clean_coarse_label),
        "CIFAR-100N fine": error_rate(labels.cifar100n_noisy_label, fine),
    }
    return pd.concat([_panel("errors", name, [place], [rate]) for place, (name, rate) in enumerate(rates.items())])


def _numbers(labels: HumanLabels) -> pd.DataFrame:
    """Numbers for the figure's note."""
    people, entropy = labels.cifar10h_counts.sum(axis=1), entropies(labels.cifar10h_counts)
    numbers = {
        "images": len(people),
        "people mean": people.mean(),
        "people least": people.min(),
        "people most": people.max(),
        "images not 50 in tens": (np.rint(people / TENS) * TENS != 50).sum(),
        "entropy mean": entropy.mean(),
        "entropy highest": entropy.max(),
        "three different": (votes(training_labels(labels), 10).max(axis=1) == 1).sum(),
    }
    return pd.concat([_panel("numbers", name, [0], [float(value)]) for name, value in numbers.items()])
