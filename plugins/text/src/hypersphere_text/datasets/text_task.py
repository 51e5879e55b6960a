"""A task of sentences with labels, in the vocabulary of a corpus, so that an encoder trained on it can read them."""

from pathlib import Path
from typing import Literal

import numpy as np

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import CLASS, Arrays, Split
from hypersphere_text.datasets.reading import corpora, text_tasks
from hypersphere_text.datasets.reading.words import encode, words

LISTED = "{corpus}"
"""The folder whose listing, sizes and times are an input of the prepared copy, where the corpus is a folder."""


def text_task(
    root: Path,
    download: bool = True,
    *,
    task: Literal["mr", "cr", "subj", "mpqa", "trec", "msrp", "speech", "neighbours"],
    corpus: str,
    vocabulary: PositiveInt = 20000,
    length: PositiveInt = 30,
) -> Arrays:
    """Labelled sentences: ``images`` are tokens [N, 1, L], int32; [N, 2, L] where a task is of pairs.

    A task with an official division has the splits ``train`` and ``test``, others ``train`` alone. The attributes
    ``words`` and ``unknown`` count an example's words, and those that the vocabulary lacks.

    Args:
        task: MR, CR, SUBJ, MPQA, TREC and MSRP; ``speech`` and ``neighbours`` are made of chapters in this repository.
        corpus: whose words are known, as the source ``sentences`` takes it.
        vocabulary: as that source has it.
        length: words of a sentence that are kept.
    """
    labelled = text_tasks.task(root, task)
    known = corpora.divided(root, corpus).vocabulary(vocabulary)
    splits = {}
    for name, examples in labelled.splits.items():
        sides = []
        for texts in zip(*(example.texts for example in examples), strict=True):
            sides.append(encode(list(map(words, texts)), known, length))
        tokens = np.stack([side.tokens for side in sides], axis=1)
        labels = np.array([example.label for example in examples], dtype=np.int64)
        counts = {
            "words": np.sum([side.words for side in sides], axis=0),
            "unknown": np.sum([side.unknown for side in sides], axis=0),
        }
        splits[name] = Split(tokens, {CLASS: labels}, counts)
    return Arrays(splits, {CLASS: labelled.class_names}, labelled.about)
