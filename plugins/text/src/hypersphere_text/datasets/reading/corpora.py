"""Corpora of plain text by name: 14 novels, chapters of one that is in this repository, or a folder of one's own."""

from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.download import has_md5
from hypersphere.errors import HypersphereError
from hypersphere.provenance import data_files
from hypersphere_text.datasets.reading import words

FOLDER = "text/books"
CHAPTERS = data_files.FOLDER / "pride_and_prejudice.txt"
HELD_OUT = "\nChapter 21\n"
"""The line where the chapters begin that are left for tasks."""
NOVELS, EMBEDDED = "novels", "chapters"
TESTED = 0.05
"""The last share of each text that is for tests."""


class Divided(NamedTuple):
    """A corpus as words of sentences, by title: the part to train on, and the end, which is held out."""

    train: dict[str, list[list[str]]]
    test: dict[str, list[list[str]]]
    about: dict[str, str]
    """Where the texts are from."""

    def vocabulary(self, size: int) -> dict[str, int]:
        """The most frequent words of the part to train on."""
        return words.vocabulary(chain.from_iterable(self.train.values()), size)


def divided(root: Path, name: str) -> Divided:
    """A corpus by its name, in sentences of at least one word.

    Args:
        root: the data folder.
        name: ``novels``: the 14 novels, in text/books. ``chapters``: the first twenty chapters of Pride and Prejudice,
            which are part of this repository. Else a folder below ``root``, whose files ``*.txt`` are the texts.
    """
    about = {"source": f"the folder {name}", "licence": "not stated", "citation": "none"}
    if name == NOVELS:
        listed = published.table()[NOVELS]
        texts = {
            file.name: text(root / FOLDER / file.name, file=file) for file in listed.files.values()
        }
        about = listed.about()
    elif name == EMBEDDED:
        first, _ = chapters()
        texts = {CHAPTERS.name: first}
        about = published.table()[EMBEDDED].about()
    else:
        texts = _of_folder(root, name)
    train, test = {}, {}
    for title, content in texts.items():
        split = map(words.words, words.all_sentences(words.paragraphs(content)))
        sentences = [sentence for sentence in split if sentence]
        end = len(sentences) - int(np.ceil(TESTED * len(sentences)))
        if end < 2:
            raise HypersphereError(
                f"corpus {name}: {title}: has {len(sentences)} sentences, which are too few"
            )
        train[title], test[title] = sentences[:end], sentences[end:]
    return Divided(train, test, about)


def _of_folder(root: Path, name: str) -> dict[str, str]:
    """The texts of a folder below the data folder, by their files' names."""
    folder, path = root / name, PurePosixPath(name)
    is_below = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    if not is_below or not folder.is_dir():
        raise HypersphereError(
            f"corpus {name}: is neither {NOVELS} nor {EMBEDDED} nor a folder below {root}; your own copy goes "
            "there, as files *.txt"
        )
    texts = {file.name: text(file).removeprefix("\ufeff") for file in sorted(folder.glob("*.txt"))}
    if not texts:
        raise HypersphereError(f"{folder}: holds no file *.txt")
    return texts


def chapters() -> tuple[str, str]:
    """The embedded novel's first twenty chapters, and the next ten, which are left for tasks."""
    listed = published.table()[EMBEDDED].files[CHAPTERS.name]
    first, _, rest = text(CHAPTERS, file=listed).partition(HELD_OUT)
    return first, rest


def text(path: Path, encoding: str = "utf-8", file: published.File | None = None) -> str:
    """A file's text. A published ``file`` is only looked at and never fetched; its bytes must be the published ones."""
    if file is not None and not path.is_file():
        raise HypersphereError(
            f"{path}: the file is missing; it is not fetched: data/datasets.csv says what it is"
        )
    if file is not None and not has_md5(path, file.md5):
        raise HypersphereError(
            f"{path}: damaged: {path.stat().st_size} bytes with another md5 than {file.md5}"
        )
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        raise HypersphereError(f"{path}: is not text in {encoding} (byte {error.start})") from None
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
