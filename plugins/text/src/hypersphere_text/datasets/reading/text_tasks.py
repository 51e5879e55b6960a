"""Sentences with labels: six public tasks from their raw files, and two made from the chapters in this repository."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from hypersphere.datasets.reading import published
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere_text.datasets.reading import corpora, words

FOLDER = "text/tasks"
LATIN = "latin-1"
MADE = 150
"""Sentences of each class in a made task; a fixed number, so that both classes have as many."""
SPEECH = re.compile('"[^"]*"')
"""A paragraph that is one speech."""
APART = 25
"""Places between two sentences that are no neighbours."""


class Example(NamedTuple):
    """One sentence, or a pair, with its label."""

    texts: tuple[str, ...]
    label: int


class Task(NamedTuple):
    """A task's examples by split: ``train`` alone where it is cross-validated."""

    splits: dict[str, list[Example]]
    class_names: tuple[str, ...]
    about: dict[str, str]


SORTED: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "mr": ({"rt-polarity.neg": LATIN, "rt-polarity.pos": LATIN}, ("negative", "positive")),
    "cr": ({"custrev.neg": "utf-8", "custrev.pos": "utf-8"}, ("negative", "positive")),
    "subj": ({"subj.objective": "utf-8", "subj.subjective": LATIN}, ("objective", "subjective")),
    "mpqa": ({"mpqa.neg": "utf-8", "mpqa.pos": "utf-8"}, ("negative", "positive")),
}
"""Tasks with one file for each class, a sentence on each line: the files with their encodings, and the classes."""
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
"""TREC's coarse classes."""
TREC = {TRAIN: "TREC.train", TEST: "TREC.test"}
MSRP = {TRAIN: "msr_paraphrase_train.txt", TEST: "msr_paraphrase_test.txt"}


def task(root: Path, name: str) -> Task:
    """A task by its name, as ``text_task`` takes it; the raw files are in text/tasks of the data folder."""
    if name in ("speech", "neighbours"):
        return _made(name)
    listed = published.table()[name]

    def lines(file: str, encoding: str) -> list[str]:
        content = corpora.text(root / FOLDER / file, encoding, listed.files[file])
        # Not splitlines(), which splits at other marks too. Empty lines count in print (CR, MPQA).
        return [line.strip() for line in content.removesuffix("\n").split("\n")]

    splits: dict[str, list[Example]] = {}
    class_names: tuple[str, ...]
    if name == "trec":
        class_names = QUESTIONS
        for split, file in TREC.items():
            splits[split] = []
            for line in lines(file, LATIN):
                label, _, text = line.partition(" ")
                kind, _, _ = label.partition(":")
                splits[split].append(Example((text,), QUESTIONS.index(kind)))
    elif name == "msrp":
        class_names = ("other", "paraphrase")
        for split, file in MSRP.items():
            splits[split] = []
            # below a line of headings
            for line in lines(file, "utf-8-sig")[1:]:
                label, _, _, first, second = line.split("\t")
                splits[split].append(Example((first, second), int(label)))
    else:
        files, class_names = SORTED[name]
        splits[TRAIN] = []
        for number, (file, encoding) in enumerate(files.items()):
            splits[TRAIN] += [Example((line,), number) for line in lines(file, encoding)]
    return Task(splits, class_names, listed.about())


def _made(name: str) -> Task:
    """A task of the chapters that are left for tasks; a sentence of fewer than five words is left out."""
    _, chapters = corpora.chapters()
    blocks = words.paragraphs(chapters)
    about = published.table()[corpora.EMBEDDED].about()
    about["source"] += ", chapters 21 to 30: "
    if name == "speech":
        about["source"] += "told and spoken sentences"
        return Task(_speech(blocks), ("told", "spoken"), about)
    about["source"] += "neighbours"
    return Task(_neighbours(blocks), ("apart", "neighbours"), about)


def _long(blocks: Iterable[str]) -> list[str]:
    """The sentences of paragraphs that have five words or more."""
    return [text for text in words.all_sentences(blocks) if len(words.words(text)) > 4]


def _speech(blocks: Sequence[str]) -> dict[str, list[Example]]:
    """Sentences of paragraphs without any speech (0), and of paragraphs that are one speech (1).

    Quotation marks are left out.
    """
    told = [block for block in blocks if '"' not in block]
    spoken = [block[1:-1] for block in blocks if SPEECH.fullmatch(block)]
    examples = []
    for label, chosen in enumerate((told, spoken)):
        examples += [Example((text,), label) for text in _long(chosen)[:MADE]]
    return {TRAIN: examples}


def _neighbours(blocks: Sequence[str]) -> dict[str, list[Example]]:
    """Pairs of sentences ``APART`` places apart (0), and of neighbouring ones (1), by turns.

    A third is tested, and no tested pair has a sentence that is trained on.
    """
    texts = _long(blocks)
    far = list(zip(texts, texts[APART:], strict=False))
    near = list(pairwise(texts))
    turns = list(zip(far[::2], near[1::2], strict=False))
    cut = 4 * MADE // 3
    known = {*chain.from_iterable(chain.from_iterable(turns[:cut]))}
    unseen = [turn for turn in turns[cut:] if known.isdisjoint(chain.from_iterable(turn))]
    splits: dict[str, list[Example]] = {}
    for split, chosen in ((TRAIN, turns[:cut]), (TEST, unseen[: 2 * MADE // 3])):
        splits[split] = []
        for apart, together in chosen:
            splits[split] += [Example(apart, 0), Example(together, 1)]
    return splits
