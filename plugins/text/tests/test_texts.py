"""Sentences, words, vocabularies and corpora; tasks from files of their form, and the real ones where at hand."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.reading import published
from hypersphere_text.datasets.reading import corpora, text_tasks
from hypersphere_text.datasets.reading.words import (
    PADDING,
    UNKNOWN,
    encode,
    paragraphs,
    sentences,
    vocabulary,
    words,
)
from hypersphere_text.datasets.sentences import sentences as sentence_pairs
from hypersphere_text.datasets.text_task import text_task


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
    assert words("You're _very_ late, it 's 10!") == [
        "you",
        "'re",
        "very",
        "late",
        ",",
        "it",
        "'s",
        "10",
        "!",
    ]
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


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    book = ["Chapter 1", *(f"This is sentence {i}. It has a neighbour." for i in range(20))]
    (tmp_path / "mine" / "book.txt").write_text("\n\n".join(book), encoding="utf-8")
    return tmp_path


def test_a_folder_of_plain_text(own: Path) -> None:
    found = corpora.divided(own, "mine")
    assert [len(found.train["book.txt"]), len(found.test["book.txt"])] == [38, 2]
    assert found.test["book.txt"][-1] == ["it", "has", "a", "neighbour", "."]
    assert "19" not in found.vocabulary(1000)  # it is in the held-out sentences alone
    assert "18" in found.vocabulary(1000)


def test_a_byte_order_mark_is_no_word_of_a_text(own: Path) -> None:
    """Of one that begins with a sentence. Nor do the ends of lines of Windows make other sentences."""
    path = own / "mine" / "book.txt"
    content = path.read_bytes().removeprefix(b"Chapter 1\n\n")
    path.write_bytes(content)
    plain = corpora.divided(own, "mine")
    for saved in (codecs.BOM_UTF8 + content, content.replace(b"\n", b"\r\n")):
        path.write_bytes(saved)
        assert corpora.divided(own, "mine") == plain


def test_the_embedded_chapters_are_a_corpus_and_leave_some_for_tasks(tmp_path: Path) -> None:
    first, rest = corpora.chapters()
    assert "truth universally acknowledged" in first
    assert "Chapter 20" in first
    assert "Chapter 22" in rest
    assert len(corpora.divided(tmp_path, "chapters").train["pride_and_prejudice.txt"]) > 1500


BROKEN = {
    "missing": ("text/books/anna-karenina.txt", "novels", "other.txt", b""),
    "nowhere": ("corpus nowhere", "nowhere", "other.txt", b""),
    "outside": ("corpus ../mine", "../mine", "other.txt", b""),
    "without texts": ("none", "none", "none/other.md", b""),
    "encoding": ("mine/book.txt", "mine", "mine/book.txt", b"caf\xe9"),
    "too short": ("corpus mine: book.txt", "mine", "mine/book.txt", b"One sentence."),
    "damaged": (
        "text/books/anna-karenina.txt",
        "novels",
        f"{corpora.FOLDER}/anna-karenina.txt",
        b"Not the novel.",
    ),
}
"""What is named, the corpus that is asked for, and a file that is there."""


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_missing_or_broken_is_a_sentence(own: Path, broken: str, refused: Any) -> None:
    place, name, file, content = BROKEN[broken]
    (own / file).parent.mkdir(parents=True, exist_ok=True)
    (own / file).write_bytes(content)
    with refused(place):
        corpora.divided(own, name)


# Datasets

SMALL = {"corpus": "chapters", "vocabulary": 500, "length": 8}
COUNTS = {  # as papers print them, by split and class
    "mr": {"train": [5331, 5331]},
    "cr": {"train": [1368, 2407]},
    "subj": {"train": [5000, 5000]},
    "mpqa": {"train": [7294, 3312]},
    "trec": {"train": 5452, "test": 500},
    "msrp": {"train": 4076, "test": 1725},
}


def test_neighbours_are_the_next_row(tmp_path: Path) -> None:
    arrays = sentence_pairs(tmp_path, **SMALL)
    train = arrays.splits["train"]
    assert train.images.shape[1:] == (2, 8)
    np.testing.assert_array_equal(train.images[:-1, 1], train.images[1:, 0])
    assert train.images.max() < 500
    assert 0 < train.attributes["unknown"].sum() < train.attributes["words"].sum()


def test_neighbours_are_of_one_text(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("a", "b"):
        content = "\n\n".join(f"{name} sentence {i}." for i in range(10))
        (tmp_path / "mine" / f"{name}.txt").write_text(content, encoding="utf-8")
    arrays = sentence_pairs(tmp_path, corpus="mine", vocabulary=100, length=4)
    train = arrays.splits["train"]
    # nine sentences to train on have eight next ones
    assert np.bincount(train.labels["class"]).tolist() == [8, 8]
    # both begin with their text's letter
    assert (train.images[:, 0, 0] == train.images[:, 1, 0]).all()


@pytest.mark.parametrize("name", ["speech", "neighbours"])
def test_made_tasks_are_balanced(tmp_path: Path, name: str) -> None:
    arrays = text_task(tmp_path, task=name, **SMALL)
    for split in arrays.splits.values():
        assert len(set(np.bincount(split.labels["class"]).tolist())) == 1
    assert set(arrays.splits) == ({"train"} if name == "speech" else {"train", "test"})


def test_no_tested_pair_has_a_sentence_that_is_trained_on_and_no_told_one_quotation_marks() -> None:
    splits = text_tasks.task(Path("unused"), "neighbours").splits
    train, test = (
        {text for one in splits[name] for text in one.texts} for name in ("train", "test")
    )
    assert not train & test
    examples = text_tasks.task(Path("unused"), "speech").splits["train"]
    assert not any('"' in text for example in examples for text in example.texts)


@pytest.mark.shared_data
def test_the_novels_are_the_ones_in_the_table(unpacked: Callable[[str], Path]) -> None:
    train = corpora.divided(unpacked("text"), "novels").train
    assert len(train) == 14
    assert sum(len(words) for text in train.values() for words in text) > 3_400_000


@pytest.mark.shared_data
@pytest.mark.parametrize("name", list(COUNTS))
def test_the_real_tasks_have_the_counts_in_print(
    unpacked: Callable[[str], Path], name: str
) -> None:
    found = text_tasks.task(unpacked("text"), name)
    for split, expected in COUNTS[name].items():
        labels = np.bincount([example.label for example in found.splits[split]])
        assert (labels.tolist() if isinstance(expected, list) else labels.sum()) == expected
    texts = [
        text for examples in found.splits.values() for example in examples for text in example.texts
    ]
    assert not any("\ufffd" in text or "\t" in text for text in texts)


def test_a_line_is_an_example_in_the_files_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MR's two files, which count as the published ones whatever they hold."""
    monkeypatch.setattr(corpora, "has_md5", lambda path, md5: True)
    folder = tmp_path / text_tasks.FOLDER
    folder.mkdir(parents=True)
    (folder / "rt-polarity.neg").write_bytes(b"d\xe9j\xe0 vu\x85 again \nbad\n")
    (folder / "rt-polarity.pos").write_bytes(b"good\n")
    texts = [
        (example.texts[0], example.label)
        for example in text_tasks.task(tmp_path, "mr").splits["train"]
    ]
    assert texts == [("déjà vu\x85 again", 0), ("bad", 0), ("good", 1)]


def test_a_missing_and_a_damaged_file_of_a_task_are_refused(tmp_path: Path, refused: Any) -> None:
    with refused("text/tasks/TREC.train"):
        text_tasks.task(tmp_path, "trec")
    (tmp_path / text_tasks.FOLDER).mkdir(parents=True)
    (tmp_path / text_tasks.FOLDER / "TREC.train").write_bytes(b"HUM:ind Who?\n")
    with refused("text/tasks/TREC.train"):
        text_tasks.task(tmp_path, "trec")


def test_all_files_that_are_read_are_in_the_table() -> None:
    for name, (files, _) in text_tasks.SORTED.items():
        assert set(files) == set(published.table()[name].files)
    assert set(text_tasks.TREC.values()) == set(published.table()["trec"].files)
    assert set(text_tasks.MSRP.values()) == set(published.table()["msrp"].files)
