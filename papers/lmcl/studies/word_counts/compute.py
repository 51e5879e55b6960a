"""What the words of a sentence say by themselves of its class, beside what LMCL's Table 4 prints of trained encoders.

Two of its columns look swapped (L20): the tasks' own files can tell, because a bag of words needs no training corpus.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config.claims import PRINTED, load
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.exact.study import Context, ExactNumber, ExactStudy, ending, everywhere
from hypersphere_text.datasets.reading import text_tasks
from hypersphere_text.datasets.reading.text_tasks import Example
from hypersphere_text.datasets.reading.words import words

NEEDS = "hypersphere_text"
"""The plug-in that reads the tasks."""
TASKS = ("mr", "cr", "subj", "mpqa", "trec", "msrp")
SWAPPED = {"subj": "mpqa", "mpqa": "subj"}
READING = "L20"
CLAIM = "lmcl.word_counts"
FOLDS = 10

Columns = Mapping[str, list[float]]
"""The printed accuracies of the encoders by task, in percent."""


class Counted(NamedTuple):
    """Accuracies in percent."""

    examples: int
    """The number of examples that are tested."""
    majority: float
    """The accuracy of always naming the class that is most frequent among the training examples."""
    words: float


def word_counts(context: Context) -> ExactStudy:
    """Fit bags of words on the six tasks, and compare them with the columns of the table."""
    counts = {
        name: bag_of_words(text_tasks.task(context.config.downloads, name).splits) for name in TASKS
    }
    printed = table_4(context)
    rows = [(name, *counts[name], min(printed[name]), max(printed[name])) for name in TASKS]
    table = pd.DataFrame(rows, columns=["task", "examples", "majority", "words", "least", "most"])
    return ExactStudy({"word_counts": table}, answers(counts, printed))


def table_4(context: Context) -> Columns:
    printed: dict[str, list[float]] = {name: [] for name in TASKS}
    for claim in load(context.config.claims_file(context.paper)):
        if claim.artifact == "table4" and claim.kind == "value" and claim.reported is not None:
            task = str(claim.coordinates["target"]).removeprefix("text_")
            printed[task].append(claim.reported)
    return printed


def bag_of_words(splits: Mapping[str, list[Example]]) -> Counted:
    """Logistic regression on which words occur, with scikit-learn's default penalty: no choice is left to make.

    The words are those of the examples to train on, by the rules for corpora. Of a pair, the words of one sentence
    alone and those of both count. A task with a test set is fitted on its training set, others in ten folds.
    """
    train = splits[TRAIN]
    if TEST in splits:
        return _rates(splits[TEST], _hits(train, splits[TEST]))
    hits = [_hits(part, held_out) for part, held_out in _folds(train)]
    return _rates(train, sum(hits, np.zeros(2)))


def _folds(examples: list[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """What to train on, and what is held out, in each fold."""
    from sklearn.model_selection import StratifiedKFold  # here, because its import takes a second

    labels = [example.label for example in examples]
    for fit, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(labels, labels):
        yield [examples[i] for i in fit], [examples[i] for i in held_out]


def _rates(tested: list[Example], hits: np.ndarray) -> Counted:
    majority, words = hits
    return Counted(
        len(tested),
        100 * float(majority) / len(tested),
        100 * float(words) / len(tested),
    )


def _hits(train: list[Example], test: list[Example]) -> np.ndarray:
    """How many of ``test`` are right by the most frequent class, and by the words."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = chain.from_iterable(example.texts for example in train)
    counts = CountVectorizer(analyzer=words, binary=True).fit(texts)
    labels = np.array([example.label for example in train])
    truth = np.array([example.label for example in test])
    model = LogisticRegression(max_iter=1000).fit(_features(counts, train), labels)
    by_words = model.predict(_features(counts, test)) == truth
    by_majority = truth == np.bincount(labels).argmax()
    return np.array([by_majority.sum(), by_words.sum()])


def _features(counts: Any, examples: list[Example]) -> Any:
    """A sparse row for each example."""
    from scipy.sparse import hstack

    texts = zip(*(example.texts for example in examples), strict=True)
    first, *others = [counts.transform(side) for side in texts]
    if not others:
        return first
    (second,) = others
    return hstack([abs(first - second), first.multiply(second)]).tocsr()


def answers(counts: Mapping[str, Counted], printed: Columns) -> list[ExactNumber]:
    """Is SUBJ above its words, as printed and with two columns swapped? Is no other order of columns nearer?"""
    swapped = tuple(SWAPPED.get(name, name) for name in TASKS)
    return [
        *_in_order(counts, printed, TASKS, PRINTED),
        *_in_order(counts, printed, swapped, READING),
    ]


def _in_order(
    counts: Mapping[str, Counted],
    printed: Columns,
    order: tuple[str, ...],
    reading: str,
) -> list[ExactNumber]:
    subj = printed[order[TASKS.index("subj")]]
    above = [value >= counts["subj"].words for value in subj]
    here = distance(counts, printed, order)
    others = [distance(counts, printed, other) for other in permutations(TASKS) if other != order]
    no_nearer = [other >= here for other in others]
    end = ending(reading)
    return [
        everywhere(f"{CLAIM}.subj{end}", above, reading),
        everywhere(f"{CLAIM}.order{end}", no_nearer, reading),
    ]


def distance(counts: Mapping[str, Counted], printed: Columns, order: tuple[str, ...]) -> float:
    """The variance over tasks of how far a column's mean is above the words of the task, columns in this order."""
    above = []
    for name, column in zip(TASKS, order, strict=True):
        above.append(np.mean(printed[column]) - counts[name].words)
    return float(np.var(above))
