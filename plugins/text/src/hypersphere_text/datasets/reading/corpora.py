"""Corpora of plain text by name: 14 novels, chapters of one that is in this repository, or a folder of one's own."""

from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.download import has_md5
from hypersphere.errors import HypersphereError
from hypersphere_text.datasets.reading import words

FOLDER = "text/books"
CHAPTERS = published.DATA / "pride_and_prejudice.txt"
HELD_OUT = "\nChapter 21\n"
"""The line where the chapters begin that are left for tasks."""
NOVELS, EMBEDDED = "novels", "chapters"


def corpus(root: Path, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """A corpus by its name: texts by title, and where they are from.

    Args:
        root: the data folder.
        name: ``novels``: the 14 novels, in text/books. ``chapters``: the first twenty chapters of Pride and Prejudice,
            which are part of this repository. Else a folder below ``root``, whose files ``*.txt`` are the texts.
    """
    if name == NOVELS:
        known = published.table()[NOVELS]
        texts = {file.name: text(root / FOLDER / file.name, file) for file in known.files.values()}
        return texts, known.about()
    if name == EMBEDDED:
        return {CHAPTERS.name: chapters()[0]}, published.table()[EMBEDDED].about()
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or not (root / name).is_dir():
        raise HypersphereError(
            f"corpus {name}: is neither {NOVELS} nor {EMBEDDED} nor a folder below {root}; your own copy goes there, "
            "as files *.txt"
        )
    files = sorted((root / name).glob("*.txt"))
    if not files:
        raise HypersphereError(f"{root / name}: holds no file *.txt")
    about = {"source": f"the folder {name}", "licence": "not stated", "citation": "none"}
    return {file.name: decoded(file, "utf-8") for file in files}, about


def chapters() -> tuple[str, str]:
    """The embedded novel's first twenty chapters, and the next ten, which are left for tasks."""
    first, _, rest = text(CHAPTERS, published.table()[EMBEDDED].files[CHAPTERS.name]).partition(HELD_OUT)
    return first, rest


def text(path: Path, file: published.File, encoding: str = "utf-8") -> str:
    """A published file of text, which is only looked at and never fetched."""
    if not path.is_file():
        raise HypersphereError(f"{path}: the file is missing; it is not fetched: docs/datasets.md says what it is")
    if not has_md5(path, file.md5):
        raise HypersphereError(f"{path}: damaged: {path.stat().st_size} bytes with another md5 than {file.md5}")
    return decoded(path, encoding)


def decoded(path: Path, encoding: str) -> str:
    """A file's text."""
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        raise HypersphereError(f"{path}: is no text in {encoding} (byte {error.start})") from None
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


class Divided(NamedTuple):
    """A corpus as words of sentences, by title: the part to train on, and the end, which is held out."""

    train: dict[str, list[list[str]]]
    test: dict[str, list[list[str]]]
    about: dict[str, str]

    def vocabulary(self, size: int) -> dict[str, int]:
        """The most frequent words of the part to train on."""
        return words.vocabulary((one for listed in self.train.values() for one in listed), size)


def divided(root: Path, name: str, held_out: float = 0.05) -> Divided:
    """A corpus in sentences of at least one word; the last share ``held_out`` of each text is for tests."""
    (texts, about), train, test = corpus(root, name), {}, {}
    for title, content in texts.items():
        split = (words.words(one) for block in words.paragraphs(content) for one in words.sentences(block))
        listed = [one for one in split if one]
        end = len(listed) - int(np.ceil(held_out * len(listed)))
        if end < 2:
            raise HypersphereError(f"corpus {name}: {title}: has {len(listed)} sentences, which are too few")
        train[title], test[title] = listed[:end], listed[end:]
    return Divided(train, test, about)
