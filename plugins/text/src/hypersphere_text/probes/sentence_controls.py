"""What a task of sentences gives away without an encoder: its most frequent class, and its counts of words."""

import numpy as np
import torch

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere_text.datasets.reading.words import UNKNOWN
from hypersphere_text.probes.cross_validation import accuracy, of_pairs, parts

MEASURES = ("bag_of_words_accuracy", "majority_accuracy")


def sentence_controls(
    frozen: Frozen,
    *,
    words: PositiveInt = 1000,
    folds: PositiveInt = 10,
    iterations: PositiveInt = 200,
) -> ProbeResult:
    """The classifier of ``cross_validation`` on whether each word occurs, and the most frequent class.

    The encoder takes no part. Words are those of the corpus's vocabulary; pairs are represented as there.

    Args:
        words: how many are counted, the corpus's most frequent ones.
        folds: of a task without a test set.
        iterations: upper limit of L-BFGS, in each fit.

    Returns:
        ``bag_of_words_accuracy``, and ``majority_accuracy``, for which training examples alone are counted.
    """
    last = UNKNOWN + words
    labels = {split: frozen.labels(split) for split in frozen.splits}
    bags = {}
    for split in labels:
        tokens = torch.from_numpy(np.array(frozen.images(split))).long().to(frozen.device)
        examples, sentences, _ = tokens.shape
        occurs = torch.zeros(examples, sentences, last + 1, device=frozen.device)
        occurs.scatter_(2, torch.where(tokens <= last, tokens, 0), 1.0)
        bags[split] = of_pairs(occurs[:, :, UNKNOWN + 1 :].flatten(1), sentences)
    of_words = accuracy(bags, labels, folds=folds, iterations=iterations)
    train = labels[TRAIN]
    truth = labels.get(TEST, train)
    guessed = train.bincount().argmax().repeat(len(truth))
    if TEST not in labels:
        for test in parts(len(train), folds, "outer"):
            others = np.setdiff1d(np.arange(len(train)), test)
            guessed[test] = train[others].bincount().argmax()
    most_frequent = 100 * (guessed == truth).double().mean().item()
    return ProbeResult(dict(zip(MEASURES, (of_words, most_frequent), strict=True)), n=len(truth))
