"""From plain text to numbers: paragraphs, sentences, words, and a vocabulary by frequency.

The rules are our own and few, so that nothing is downloaded and every release gives the same numbers. A paragraph is
what stands between empty lines; one that does not end with a punctuation mark is a heading, and is left out. A sentence
ends at a full stop, question mark or exclamation mark, with the closing quotes after it, before white space and a
capital letter, unless the word before is a title (Mr.) or one letter (an initial). Words are in lower case: runs of
letters, runs of digits, the clitics ('s, 're …), and every other mark by itself; underscores, which mark emphasis in
plain text, are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64

PADDING, UNKNOWN = 0, 1
"""Numbers of the place after a sentence's end, and of a word that the vocabulary lacks; words follow from 2 on."""
TITLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "messrs",
        "dr",
        "st",
        "rev",
        "hon",
        "esq",
        "capt",
        "col",
        "gen",
        "lieut",
        "no",
    ]
)
_END = re.compile(r"""[.!?]["'”’)\]_]*\s+(?=["'“‘(\[_]*[A-Z])""")
_LAST_WORD = re.compile(r"([^\W\d_]+)\.$")
_WORD = re.compile(r"'(?:s|re|ve|ll|d|m|t|em)\b|[^\W\d_]+|\d+|[^\w\s]")
_PUNCTUATION = tuple(""".!?:;,-"'”’)]_*""")


class Encoded(NamedTuple):
    """Sentences as numbers of words."""

    tokens: Int32[np.ndarray, "N L"]
    """The first L words of each sentence, then ``PADDING``."""
    words: Int64[np.ndarray, "N"]
    """Words of each sentence, those beyond L included."""
    unknown: Int64[np.ndarray, "N"]
    """How many of them the vocabulary lacks."""


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line, without headings."""
    blocks = re.split(r"\n\s*\n", text.replace("\r\n", "\n"))
    joined = (" ".join(block.split()) for block in blocks)
    return [block for block in joined if block.endswith(_PUNCTUATION)]


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph."""
    listed = []
    start = 0
    for match in _END.finditer(paragraph):
        last = _LAST_WORD.search(paragraph[start : match.start() + 1])
        word = last[1] if last else ""
        is_initial = len(word) == 1 and word != "I"
        if is_initial or word.lower() in TITLES:
            continue
        listed.append(paragraph[start : match.end()].strip())
        start = match.end()
    rest = paragraph[start:].strip()
    return [*listed, rest] if rest else listed


def all_sentences(paragraphs: Iterable[str]) -> Iterator[str]:
    """The sentences of paragraphs, one paragraph after the other."""
    return chain.from_iterable(map(sentences, paragraphs))


def words(sentence: str) -> list[str]:
    """The words and marks of a sentence, in lower case."""
    return _WORD.findall(sentence.lower().replace("’", "'").replace("_", " "))


def vocabulary(texts: Iterable[Sequence[str]], size: int) -> dict[str, int]:
    """Numbers of the most frequent words, from 2 on; of equally frequent ones, the first in the alphabet.

    ``size`` numbers are in use, with those of padding and of unknown words.
    """
    counted = Counter(chain.from_iterable(texts))
    by_frequency = sorted(counted, key=lambda word: (-counted[word], word))
    most_frequent = by_frequency[: max(0, size - 2)]
    return {word: number for number, word in enumerate(most_frequent, start=2)}


def encode(texts: Sequence[Sequence[str]], known: Mapping[str, int], length: int) -> Encoded:
    """Sentences, given as words, as numbers; words that are not known become ``UNKNOWN``, and are counted."""
    tokens = np.full((len(texts), length), PADDING, dtype=np.int32)
    counts = np.zeros(len(texts), dtype=np.int64)
    unknown = np.zeros(len(texts), dtype=np.int64)
    for i, text in enumerate(texts):
        numbers = [known.get(word, UNKNOWN) for word in text]
        counts[i] = len(numbers)
        unknown[i] = numbers.count(UNKNOWN)
        tokens[i, : min(length, len(numbers))] = numbers[:length]
    return Encoded(tokens, counts, unknown)
