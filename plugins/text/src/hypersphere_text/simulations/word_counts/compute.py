"""What the words of a sentence say by themselves of its class, beside what LMCL's Table 4 prints of trained encoders.

Two of its columns look swapped (L20): the tasks' own files can tell, because a bag of words needs no training corpus.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config.claims import PRINTED, load
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.simulations.study import Context, ExactNumber, ExactStudy, counted
from hypersphere_text.datasets.reading import text_tasks
from hypersphere_text.datasets.reading.text_tasks import Example
from hypersphere_text.datasets.reading.words import words

TASKS = ("mr", "cr", "subj", "mpqa", "trec", "msrp")
SWAPPED = {"subj": "mpqa", "mpqa": "subj"}
READING = "L20"
CLAIM = "lmcl.word_counts"
FOLDS = 10

Columns = Mapping[str, list[float]]
"""By task, the printed accuracies of the encoders, in percent."""


class Counted(NamedTuple):
    """Accuracies in percent."""

    examples: int
    """That are tested."""
    majority: float
    """Of the class that is most frequent among the examples to train on."""
    words: float


def word_counts(context: Context) -> ExactStudy:
    """Fit bags of words on the six tasks, and compare them with the columns of the table."""
    folder = context.config.downloads
    found = {name: bag_of_words(text_tasks.task(folder, name).splits) for name in TASKS}
    printed: dict[str, list[float]] = {name: [] for name in TASKS}
    for one in load(context.config.claims_file(context.paper)):
        if one.artifact == "table4" and one.kind == "value" and one.reported is not None:
            printed[str(one.coordinates["target"]).removeprefix("text_")].append(one.reported)
    rows = [(name, *found[name], min(printed[name]), max(printed[name])) for name in TASKS]
    names = ["task", "examples", "majority", "words", "least", "most"]
    return ExactStudy({"word_counts": pd.DataFrame(rows, columns=names)}, answers(found, printed))


def bag_of_words(splits: Mapping[str, list[Example]]) -> Counted:
    """Logistic regression on which words occur, with scikit-learn's default penalty: no choice is left to make.

    The words are those of the examples to train on, by the rules for corpora. Of a pair, the words of one sentence
    alone and those of both count. A task with a test set is fitted on its training set, others in ten folds.
    """
    from sklearn.model_selection import StratifiedKFold  # here, because its import takes a second

    train = splits[TRAIN]
    if TEST in splits:
        tests, hits = len(splits[TEST]), _hits(train, splits[TEST])
    else:
        labels = [one.label for one in train]
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(labels, labels)
        tests = len(train)
        hits = sum((_hits([train[i] for i in fit], [train[i] for i in held]) for fit, held in folds), np.zeros(2))
    return Counted(tests, *(100 * float(hit) / tests for hit in hits))


def _hits(train: list[Example], test: list[Example]) -> np.ndarray:
    """How many of ``test`` are right by the most frequent class, and by the words."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    counts = CountVectorizer(analyzer=words, binary=True).fit(text for one in train for text in one.texts)
    labels, truth = (np.array([one.label for one in examples]) for examples in (train, test))
    model = LogisticRegression(max_iter=1000).fit(_features(counts, train), labels)
    right = model.predict(_features(counts, test)) == truth
    return np.array([(truth == np.bincount(labels).argmax()).sum(), right.sum()])


def _features(counts: Any, examples: list[Example]) -> Any:
    """A sparse row for each example."""
    from scipy.sparse import hstack

    sides = [counts.transform(side) for side in zip(*(one.texts for one in examples), strict=True)]
    return sides[0] if len(sides) == 1 else hstack([abs(sides[0] - sides[1]), sides[0].multiply(sides[1])]).tocsr()


def answers(found: Mapping[str, Counted], printed: Columns) -> list[ExactNumber]:
    """As printed, and with two columns swapped: is SUBJ above its words, and is no other order of columns nearer?"""
    orders = list(permutations(TASKS))
    given = []
    for reading, order in ((PRINTED, TASKS), (READING, tuple(SWAPPED.get(name, name) for name in TASKS))):
        suffix = "" if reading == PRINTED else f".{reading.lower()}"
        subj = printed[order[TASKS.index("subj")]]
        above = sum(value >= found["subj"].words for value in subj)
        nearer = sum(distance(found, printed, other) < distance(found, printed, order) for other in orders)
        given.append(counted(f"{CLAIM}.subj{suffix}", above, len(subj), reading))
        given.append(counted(f"{CLAIM}.order{suffix}", len(orders) - 1 - nearer, len(orders) - 1, reading))
    return given


def distance(found: Mapping[str, Counted], printed: Columns, order: tuple[str, ...]) -> float:
    """The variance over tasks of how far a column's mean is above the words of the task, columns in this order."""
    above = [np.mean(printed[column]) - found[name].words for name, column in zip(TASKS, order, strict=True)]
    return float(np.var(above))
