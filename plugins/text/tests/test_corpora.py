"""Texts: sentences, words, vocabularies, corpora by name, and the sentences that are held out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere_text.datasets.reading import corpora
from hypersphere_text.datasets.reading.words import PADDING, UNKNOWN, encode, paragraphs, sentences, vocabulary, words


def test_headings_are_left_out_and_lines_joined() -> None:
    text = 'CHAPTER 1\r\n\r\nIt was late.\r\nThe wind rose.\r\n\r\n\r\n"Why?"\r\n'
    assert paragraphs(text) == ["It was late. The wind rose.", '"Why?"']


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("It was late. The wind rose.", ["It was late.", "The wind rose."]),
        ("Mr. B and J. Smith left. So did I. No one saw.", ["Mr. B and J. Smith left.", "So did I.", "No one saw."]),
        ('"Is he married?" said she. "No!" "Oh!"', ['"Is he married?" said she.', '"No!"', '"Oh!"']),
        ("It cost 3.5 pounds... and more", ["It cost 3.5 pounds... and more"]),
    ],
)  # fmt: skip
def test_sentences(paragraph: str, expected: list[str]) -> None:
    assert sentences(paragraph) == expected


def test_words_split_clitics_wherever_they_stand() -> None:
    assert words("You're _very_ late, it 's 10!") == ["you", "'re", "very", "late", ",", "it", "'s", "10", "!"]
    assert words("you 're") == words("you’re")


def test_a_vocabulary_is_by_frequency_then_alphabet() -> None:
    assert vocabulary([["b", "a", "c"], ["b", "d"]], 5) == {"b": 2, "a": 3, "c": 4}
    assert vocabulary([["a"]], 1) == {}


def test_unknown_words_are_numbered_and_counted() -> None:
    found = encode([["a", "x", "b", "y"], [], ["b"]], {"a": 2, "b": 3}, 3)
    expected = [[2, UNKNOWN, 3], [PADDING] * 3, [3, PADDING, PADDING]]
    np.testing.assert_array_equal(found.tokens, np.array(expected, dtype=np.int32))
    assert found.tokens.dtype == np.int32
    assert found.words.tolist() == [4, 0, 1]
    assert found.unknown.tolist() == [2, 0, 0]  # beyond the length, too


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


BROKEN = {
    "missing": ("novels", "other.txt", b""),
    "nowhere": ("nowhere", "other.txt", b""),
    "outside": ("../mine", "other.txt", b""),
    "without texts": ("none", "none/other.md", b""),
    "encoding": ("mine", "mine/book.txt", b"caf\xe9"),
    "too short": ("mine", "mine/book.txt", b"One sentence."),
    "damaged": ("novels", f"{corpora.FOLDER}/anna-karenina.txt", b"Not the novel."),
}
"""The corpus that is asked for, and a file that is there."""


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_missing_or_broken_is_a_sentence(own: Path, broken: str, refused: Any) -> None:
    name, file, content = BROKEN[broken]
    (own / file).parent.mkdir(parents=True, exist_ok=True)
    (own / file).write_bytes(content)
    with refused():
        corpora.divided(own, name)
