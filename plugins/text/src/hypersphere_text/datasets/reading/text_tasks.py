"""Sentences with labels: six public tasks from their raw files, and two made from the chapters in this repository."""

from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from hypersphere.datasets.reading import published
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere_text.datasets.reading import corpora, words

FOLDER = "text/tasks"
LATIN = "latin-1"
MADE = 150
"""Sentences of each class in a made task; a fixed number, so that both classes have as many."""
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
            rows = [line.partition(" ") for line in lines(file, LATIN)]
            splits[split] = [
                Example((text,), QUESTIONS.index(label.partition(":")[0]))
                for label, _, text in rows
            ]
    elif name == "msrp":
        class_names = ("other", "paraphrase")
        for split, file in MSRP.items():
            # below a line of headings
            fields = [line.split("\t") for line in lines(file, "utf-8-sig")[1:]]
            splits[split] = [
                Example((first, second), int(label)) for label, _, _, first, second in fields
            ]
    else:
        files, class_names = SORTED[name]
        of_classes = enumerate(lines(file, encoding) for file, encoding in files.items())
        splits[TRAIN] = [
            Example((line,), label) for label, of_class in of_classes for line in of_class
        ]
    return Task(splits, class_names, listed.about())


def _made(name: str) -> Task:
    """A task of the chapters that are left for tasks.

    ``speech``: sentences of paragraphs that are one speech, and of paragraphs without any; quotation marks are left
    out. ``neighbours``: pairs of neighbouring sentences, and of sentences ``APART`` places apart, by turns; a third is
    tested, and no tested pair has a sentence that is trained on.
    """
    blocks = words.paragraphs(corpora.chapters()[1])
    if name == "speech":
        class_names, what = ("told", "spoken"), "told and spoken sentences"
        spoken = [
            b[1:-1] for b in blocks if b.count('"') == 2 and b.startswith('"') and b.endswith('"')
        ]
        told = [block for block in blocks if '"' not in block]
        splits: dict[str, list[Example]] = {TRAIN: []}
        for label, chosen in enumerate((told, spoken)):
            listed = [
                one
                for block in chosen
                for one in words.sentences(block)
                if len(words.words(one)) > 4
            ]
            splits[TRAIN] += [Example((one,), label) for one in listed[:MADE]]
    else:
        class_names, what = ("apart", "neighbours"), "neighbours"
        listed = [
            one for block in blocks for one in words.sentences(block) if len(words.words(one)) > 4
        ]
        near = [Example(pair, 1) for pair in pairwise(listed)]
        far = [Example(pair, 0) for pair in zip(listed, listed[APART:], strict=False)]
        turns = list(zip(far[::2], near[1::2], strict=False))
        cut = 4 * MADE // 3
        train = [one for turn in turns[:cut] for one in turn]
        trained_on = {text for one in train for text in one.texts}
        unseen = (
            turn
            for turn in turns[cut:]
            if trained_on.isdisjoint(chain(*(one.texts for one in turn)))
        )
        splits = {
            TRAIN: train,
            TEST: [one for turn in islice(unseen, 2 * MADE // 3) for one in turn],
        }
    about = published.table()[corpora.EMBEDDED].about()
    return Task(
        splits, class_names, about | {"source": f"{about['source']}, chapters 21 to 30: {what}"}
    )
