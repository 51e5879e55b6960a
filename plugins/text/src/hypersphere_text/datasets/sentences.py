"""Neighbouring sentences of a corpus of plain text, as numbers of words."""

from pathlib import Path

import numpy as np

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere_text.datasets.reading import corpora
from hypersphere_text.datasets.reading.words import encode

SIZED = "{corpus}"
"""Its row of data/images.csv."""
LISTED = "{corpus}"
"""The folder whose listing, sizes and times are an input of the prepared copy, where the corpus is a folder."""


def sentences(
    root: Path,
    download: bool = True,
    *,
    corpus: str,
    vocabulary: PositiveInt = 20000,
    length: PositiveInt = 30,
) -> Arrays:
    """Each sentence of a corpus with the next one: ``images`` are tokens [N, 2, L], int32.

    Neighbours are of one text. The last twentieth of each text is the split ``test``. ``class`` is the text's number.
    The attributes ``words`` and ``unknown`` count the words of the first sentence, and those that the vocabulary lacks.

    Args:
        corpus: ``novels``, ``chapters`` or a folder below ``root``.
        vocabulary: numbers of words in use; the most frequent ones of the part to train on, by number from 2 on.
        length: L, words of a sentence that are kept.
    """
    divided = corpora.divided(root, corpus)
    known = divided.vocabulary(vocabulary)
    splits = {}
    for name, texts in ((TRAIN, divided.train), (TEST, divided.test)):
        tokens, labels, words, unknown = [], [], [], []
        for number, listed in enumerate(texts.values()):
            text = encode(listed, known, length)
            pairs = np.stack([text.tokens[:-1], text.tokens[1:]], axis=1)
            tokens.append(pairs)
            labels.append(np.full(len(pairs), number, dtype=np.int64))
            words.append(text.words[:-1])
            unknown.append(text.unknown[:-1])
        splits[name] = Split(
            np.concatenate(tokens),
            {CLASS: np.concatenate(labels)},
            {"words": np.concatenate(words), "unknown": np.concatenate(unknown)},
        )
    return Arrays(splits, {CLASS: tuple(divided.train)}, divided.about)
