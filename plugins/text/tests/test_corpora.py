"""Corpora by name, and the sentences that are held out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.errors import HypersphereError
from hypersphere_text.datasets.reading import corpora

BOOK = "Chapter 1\n\n" + "\n\n".join(f"This is sentence {i}. It has a neighbour." for i in range(20))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "book.txt").write_text(BOOK, encoding="utf-8")
    return tmp_path


def test_a_folder_of_plain_text(own: Path) -> None:
    found = corpora.divided(own, "mine", held_out=0.1)
    assert [len(found.train["book.txt"]), len(found.test["book.txt"])] == [36, 4]
    assert found.test["book.txt"][-1] == ["it", "has", "a", "neighbour", "."]
    assert "18" not in found.vocabulary(1000)  # it is in the held-out sentences alone
    assert "17" in found.vocabulary(1000)


def test_the_embedded_chapters_are_a_corpus_and_leave_some_for_tasks(tmp_path: Path) -> None:
    first, rest = corpora.chapters()
    assert "truth universally acknowledged" in first
    assert "Chapter 20" in first
    assert "Chapter 22" in rest
    assert len(corpora.divided(tmp_path, "chapters").train["pride_and_prejudice.txt"]) > 1500


def _without_texts(root: Path) -> str:
    (root / "none").mkdir()
    return "none"


def _of_another_encoding(root: Path) -> str:
    (root / "mine" / "book.txt").write_bytes(b"caf\xe9")
    return "mine"


def _too_short(root: Path) -> str:
    (root / "mine" / "book.txt").write_text("One sentence.", encoding="utf-8")
    return "mine"


@pytest.mark.parametrize(
    ("breaking", "words"),
    [
        (lambda root: "novels", "anna-karenina.txt: the file is missing"),
        (lambda root: "nowhere", "is neither novels nor chapters nor a folder"),
        (lambda root: "../mine", "is neither novels nor chapters nor a folder"),
        (_without_texts, r"holds no file \*\.txt"),
        (_of_another_encoding, "is no text in utf-8"),
        (_too_short, "has 1 sentences, which are too few"),
    ],
)
def test_what_is_missing_or_broken_is_a_sentence(own: Path, breaking: Callable[[Path], str], words: str) -> None:
    with pytest.raises(HypersphereError, match=words):
        corpora.divided(own, breaking(own))


def test_a_damaged_novel_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / corpora.FOLDER
    folder.mkdir(parents=True)
    (folder / "anna-karenina.txt").write_text("Not the novel.", encoding="utf-8")
    with pytest.raises(HypersphereError, match=r"anna-karenina\.txt: damaged: 14 bytes with another md5"):
        corpora.corpus(tmp_path, "novels")
