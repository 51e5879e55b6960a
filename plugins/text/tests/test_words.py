"""Sentences, words and vocabularies, on texts whose answers are plain to see."""

import numpy as np
import pytest

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
